"""Elimination of joints whose motion a contact determines: detection, elimination, back substitution."""
