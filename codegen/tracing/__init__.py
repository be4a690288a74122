"""From an algorithm on CasADi's symbols to a graph: the only room that knows both mathematics and graphs."""
