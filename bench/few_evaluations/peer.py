"""nautilus on one target: peer.py NAME SEED EFFECTIVE SECONDS. One line of JSON.

nautilus asks for a prior on the unit cube; it gets the box of the C file, whose likelihood it calls one point at a time, and
its log Z, which is of prior and likelihood together, has the volume of the box added. It gives no error of its log Z."""
import json
import sys
import time

import numpy as np
from nautilus import Prior, Sampler
from threadpoolctl import threadpool_limits

import targets

target, seed, effective, seconds = targets.BY_NAME[sys.argv[1]], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
logp = target.logp()


def likelihood(points):
    return np.array([logp(np.ascontiguousarray(point)) for point in np.atleast_2d(points)])


prior = Prior()
for i in range(target.dim):
    prior.add_parameter(f"x{i}", dist=(target.low, target.high))
with threadpool_limits(1):
    began, before = time.perf_counter(), time.process_time()
    sampler = Sampler(prior, likelihood, pass_dict=False, vectorized=True, seed=seed)
    complete = sampler.run(n_eff=effective, timeout=seconds, verbose=False)
    wall, processor = time.perf_counter() - began, time.process_time() - before
points, log_weight, _ = sampler.posterior()
print(json.dumps({"calls": int(sampler.n_like), "wall": wall, "processor": processor, "complete": bool(complete), "effective": float(sampler.n_eff),
                  "log_z": float(sampler.log_z) + target.log_volume,
                  "share_error": target.share_error(points, np.exp(log_weight))}))
