"""A humanoid on two feet: constrained forward dynamics, and the forces under its soles."""

import numpy as np

import codegen

robot = codegen.load("talos")
soles = [robot.contact("left_sole_link", 6), robot.contact("right_sole_link", 6)]
forward = codegen.build(robot, "constrained_aba", contacts=soles, iterations=5)
print(f"{robot.nv} degrees of freedom, 12 constraint rows, {forward.count}")

q, v, tau = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
a, lam = forward(q, v, tau)  # joints are free: the robot begins to sink
print("acceleration of the base (m/s^2):", np.round(a[:3], 3))

wrenches = codegen.contact_wrenches(soles, lam)
for sole, wrench in zip(soles, wrenches, strict=True):
    print(f"{sole.frame.name}: force {np.round(wrench[:3], 1)} N, moment {np.round(wrench[3:], 1)} N m")
