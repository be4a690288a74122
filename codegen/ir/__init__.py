"""The graph of operations that passes rewrite and backends print; counting, interpreting and cutting it into stages."""
