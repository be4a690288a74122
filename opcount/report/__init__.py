"""The report: one HTML page with the studies' tables and figures, claims, breakdowns, formulas and emitted C.

`rigidc report` writes it. It holds all that it shows, and opens from disk without a network.
"""
