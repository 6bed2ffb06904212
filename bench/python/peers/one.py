"""One stage of one problem, as a program of its own: one.py NAME SEED truth|peer|ours [EFFECTIVE] prints one line of JSON."""

import dataclasses
import importlib
import json
import sys
import warnings

import numpy as np


def plain(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(type(value))


def main():
    warnings.simplefilter("ignore")
    name, seed, stage = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    problem = importlib.import_module(name)
    if stage == "truth":
        log_z, mean = problem.truth()
        answer = {"log_z": log_z, "mean": mean}
    elif stage == "peer":
        answer = dataclasses.asdict(problem.peer(seed))
    else:
        answer = dataclasses.asdict(problem.ours(seed, float(sys.argv[4])))
    print(json.dumps(answer, default=plain))


if __name__ == "__main__":
    main()
