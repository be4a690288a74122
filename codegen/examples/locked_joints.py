"""Locked joints: a humanoid whose grippers do not move, and one of its arms alone."""

import codegen

robot = codegen.load("talos")
grippers = [name for name in robot.joint_names if name.startswith("gripper")]
body = robot.lock(grippers)  # at neutral; lock({name: position}) chooses positions
arm = robot.subtree("arm_left_1_joint").lock(["gripper_left_joint"])

for model in (robot, body, arm):
    rnea = codegen.build(model, "rnea")
    print(f"{model.name}: {model.nv} degrees of freedom, rnea takes {rnea.count}")
