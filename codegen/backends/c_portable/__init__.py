"""Scalar ISO C99 without extensions of any compiler: one header and one source for each robot, made to be read.

What a reviewer or a compiler of another vendor takes: no vectors, attributes, builtins or pragmas, no state, one
assignment per statement, one exit per function. Sines and cosines are those of <math.h>. `spelling` knows the
operations, `names` what values are called, `statements` and `functions` write them down, `lines` keeps lines short, and
`files` makes them files; what a header says of its functions is emission's.
"""

from codegen.backends.c_portable.files import folder, style

__all__ = ["folder", "style"]
