"""Embedding: writes a folder of C, compiles its example with the C compiler at hand, and runs it."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import codegen

robot = codegen.load("iiwa")
compiler = os.environ.get("RIGIDC_CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), "cc")
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for path in codegen.generate(robot, ("rnea", "aba"), folder):
        print(f"{path.name:16} {path.stat().st_size:7,} bytes")
    sources = [str(path) for path in sorted(folder.glob("*.c"))]
    program = folder / "example"
    subprocess.run([compiler, "-O2", *sources, "-lm", "-o", str(program)], check=True)
    print(subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout)
