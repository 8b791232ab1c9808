"""Experiments with the call protocols: what a cut costs, what models write, how fast it is read."""
