"""Random mechanisms with random algorithms, for as long as one likes: `make soak`, or PYTHONPATH=tests python -m soak.

Seed after seed, a mechanism (`loops.loop_mechanisms.anything`) and what is asked of it (`cases`) are drawn; the results
of the interpreted graph, and of compiled C now and then, are compared with the dense oracle (`verdict`) and with what
energy does (`energy`). What fails is cut down (`shrinking`) and written as a robot and a case, to be run again.
"""
