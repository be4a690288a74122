"""Operation counts: forward dynamics of one arm by two algorithms, and contacts by several."""

import codegen
import opcount

for algorithm in ("aba", "ltl"):
    written = opcount.count("iiwa", algorithm, tier="written").total
    emitted = opcount.count("iiwa", algorithm).total
    print(f"iiwa {algorithm}: {written} operations as written, {emitted} as emitted")

robot = codegen.load("solo12")
feet = [robot.contact("FL_FOOT", 3), robot.contact("HR_FOOT", 3)]
for algorithm in ("pv_early", "pv", "constrained_aba", "aba_prox"):
    print(f"solo12 on two feet, {algorithm}: {opcount.count(robot, algorithm, contacts=feet)}")
print("cheapest:", codegen.auto(robot, "constrained", contacts=feet).algorithm)
