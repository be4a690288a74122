"""The commands of `rigidc`, one file each: `configure(parser)` states the arguments, `run(args)`
the work.

`run` returns the exit code: 0, or 1 where a check failed. Whatever is wrong with the input is
raised and becomes one sentence and exit code 2 in `codegen.__main__`.
"""

COMMANDS = ("robots", "info", "convert", "generate", "count", "check", "bench", "study", "report", "examples", "cache")
