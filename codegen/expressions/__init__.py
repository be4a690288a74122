"""Formulas as texts of plain arithmetic: read without being executed, written from SymPy and CasADi, differentiated."""
