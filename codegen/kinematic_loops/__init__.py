"""Kinematic loops: formulas, constraints and their derivatives, closure, and which joints are independent."""
