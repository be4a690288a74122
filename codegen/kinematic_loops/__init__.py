"""Kinematic loops: constraints and their derivatives, closure, and which joints are independent."""
