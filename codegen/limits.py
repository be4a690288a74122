"""What a robot may have at most: these numbers bound time and memory before anything is built from a file.

They lie far beyond real robots. The guide's page on robots states them (`codegen/guide/robots.md`).
"""

from __future__ import annotations

# files
LARGEST_FILE = 32 * 2**20  # bytes of a robot file, and of each file that it includes
MOST_FILES = 100  # that an MJCF file includes and attaches, over all levels
DEEPEST = 256  # elements of XML, or lists and objects of JSON, within each other
LONGEST_NAME = 256  # characters of a name
LONGEST_SHOWN = 80  # characters of a name or a value that an error message repeats

# robots
MOST_LINKS = 10_000
MOST_FRAMES = 10_000  # beside those of the links
MOST_JOINTS = 1000  # that move
MOST_LOOPS = 1000
MOST_TIED = 400  # joints that loops tie into one cluster
MOST_CLOSED = 10_000  # equations of implicit loops, times joints, of one such cluster
LONGEST_FORMULA = 10_000  # characters
DEEPEST_FORMULA = 100  # parentheses, functions and signs within each other
MOST_FORMULAS = 100_000  # characters of all formulas of a robot
LARGEST = 1e12  # of lengths, masses, inertias, ratios and all other numbers of the dynamics, in SI units
SMALLEST = 1e-30  # of masses, moments of inertia (their trace) and armatures that are not zero, in SI units

# what MuJoCo builds of an MJCF file
MOST_ELEMENTS = 20_000  # once its includes, replicates and attached models are written out
MOST_COPIES = 10_000  # that replicates make of elements
MOST_CELLS = 4_000_000  # of a height field

# the child process in which MuJoCo weighs meshes
LARGEST_MESHES = 256 * 2**20  # bytes of the mesh files of a robot
CHILD_MEMORY = 4 * 2**30  # bytes
CHILD_SECONDS = 60

# derivatives
MOST_BY_AD = 3_000_000  # operations of a Hessian by AD, of which expressions would fill gigabytes
MOST_SLOPES = 1_000_000  # results times arguments of a function of which solvers get the Jacobian
MOST_SECONDS = 300_000  # elements of the second derivatives of all results
