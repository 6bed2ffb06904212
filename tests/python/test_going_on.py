"""Runs that are killed and go on, and results that are extended."""

import subprocess
import sys
import time

import numpy as np
import pytest

import aisampler

PROGRAM = """
import sys, time, numpy as np, aisampler
def logp(x):
    time.sleep({nap})
    return -0.5 * np.sum((x - 1)**2, axis=1) - 0.1 * x[:, 0]**4
result = aisampler.sample(logp, 2, chains=4, draws=400, checkpoint="c", resume=True)
np.save("draws.npy", result.draws)
print(result.evaluations.total, result.verdict)
"""


def program(folder, nap):
    return subprocess.Popen([sys.executable, "-c", PROGRAM.format(nap=nap)], cwd=folder, stdout=subprocess.PIPE, text=True)


def test_a_killed_run_goes_on(tmp_path):
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    whole = program(tmp_path / "whole", 0).communicate(timeout=120)[0]
    job = program(tmp_path / "killed", 0.003)
    checkpoint = tmp_path / "killed" / "c"
    while not checkpoint.exists() and job.poll() is None:
        time.sleep(0.005)
    time.sleep(0.2)
    assert job.poll() is None, "it was too fast to be killed"
    job.kill()
    job.communicate()
    assert program(tmp_path / "killed", 0).communicate(timeout=120)[0] == whole
    assert np.array_equal(np.load(tmp_path / "whole" / "draws.npy"), np.load(tmp_path / "killed" / "draws.npy"))
    assert not (tmp_path / "killed" / "c.training").exists()


@pytest.mark.parametrize("target", ["function", "mog6"])
def test_a_result_is_extended(tmp_path, target):
    def logp(x):
        return -0.5 * np.sum(x**2, axis=1)

    what = dict(logp=logp, dim=3) if target == "function" else dict(logp="mog6")
    whole = aisampler.sample(**what, chains=4, draws=300, checkpoint=tmp_path / "whole")
    short = aisampler.sample(**what, chains=4, draws=100, checkpoint=tmp_path / "c")
    longer = short.extend(50).extend(150)
    assert short.draws.shape[1] == 100
    assert np.array_equal(longer.draws, whole.draws)
    assert np.array_equal(longer.logp, whole.logp)
    assert longer.evaluations == whole.evaluations
    assert (longer.log_z, longer.verdict) == (whole.log_z, whole.verdict)
    assert longer.report()


def test_what_cannot_go_on_says_so(tmp_path):
    def logp(x):
        return -0.5 * np.sum(x**2, axis=1)

    result = aisampler.sample(logp, 2, chains=4, draws=50)
    with pytest.raises(aisampler.Error, match="give sample\\(\\) a checkpoint"):
        result.extend(10)
    with pytest.raises(TypeError, match="resume needs checkpoint"):
        aisampler.sample(logp, 2, resume=True)
    kept = aisampler.sample(logp, 2, chains=4, draws=50, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="1 or more"):
        kept.extend(0)
    with pytest.raises(aisampler.Error, match="there it is 'seed 1', here 'seed 2'"):
        aisampler.sample(logp, 2, chains=4, draws=50, checkpoint=tmp_path / "c", resume=True, seed=2)
    with pytest.raises(aisampler.Error, match="the density has changed"):
        aisampler.sample(lambda x: logp(x) - 3, 2, chains=4, draws=50, checkpoint=tmp_path / "c", resume=True).extend(5)
