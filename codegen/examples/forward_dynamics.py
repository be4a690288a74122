"""Forward dynamics of an arm: it falls from rest for two seconds, and its energy stays what it was."""

import numpy as np

import codegen

robot = codegen.load("iiwa")
aba = codegen.build(robot, "aba")
crba = codegen.build(robot, "crba")
rnea = codegen.build(robot, "rnea")
print(robot)
print(aba)

q = np.array([0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0])
v, tau = np.zeros(robot.nv), np.zeros(robot.nv)
step, work = 1e-4, 0.0
for _ in range(20_000):
    middle = v + 0.5 * step * aba(q, v, tau)
    half = q + 0.5 * step * middle
    a = aba(half, middle, tau)
    weight = rnea(half, np.zeros(robot.nv), np.zeros(robot.nv))  # joint forces that hold the arm against gravity
    v = v + step * a
    q = q + step * middle
    work -= step * weight @ middle  # of gravity

kinetic = 0.5 * v @ crba(q) @ v
print(f"kinetic energy {kinetic:.4f} J, work of gravity {work:.4f} J")
assert abs(kinetic - work) < 1e-3 * abs(work)
