"""A robot with a loop: a four-bar linkage swings under gravity and stays closed."""

import numpy as np

import codegen

robot = codegen.load("four_bar")
print(robot)
for loop in robot.loops:
    print(f"loop {loop.name}: joints {loop.joints}, independent {loop.independent}")

aba = codegen.build(robot, "aba")
integrate = codegen.build(robot, "integrate")  # moves the independent joint and closes the loop again
project = codegen.build(robot, "project")  # returns how far the loop is from closed

q, v, tau = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
step = 1e-3
for _ in range(1000):
    v = v + step * aba(q, v, tau)
    q = integrate(q, step * v)
print("positions after one second (rad):", np.round(q, 4))
print(f"the loop is closed to {project(q).residual:.1e}")
