"""Our code against its peers in one run: same robot, same states, one core, calls interleaved.

    python -m opcount.bench iiwa talos -a aba --seconds 2 --out build/bench

A race is one algorithm of one robot. Everybody who takes part is a compiled function that runs over the
same random states and times itself in C; results must agree before anything is timed.
"""
