"""Recursions that algorithms and lowering share."""
