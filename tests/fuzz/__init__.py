"""Mutants of robot files, loaded by memory-limited child processes: `make fuzz`."""
