"""aisampler.sample: functions of a batch and of a point, targets by name, budgets, threads."""

import concurrent.futures
import csv
import pathlib
import subprocess

import numpy as np
import pytest

import aisampler
from aisampler import _library
from densities import LOG_Z, MEAN, grad, grad_point, logp, logp_point

ROOT = pathlib.Path(__file__).resolve().parents[2]


def assert_right(result):
    assert result.trust and not result.warnings and result.verdict.startswith("trust these draws")
    for i, row in enumerate(result.summary().values()):
        assert abs(row["mean"] - MEAN[i]) < 5 * row["mcse"]
        assert row["rhat"] < 1.01 and row["ess_bulk"] > 1000
    assert abs(result.log_z - LOG_Z) < 5 * result.log_z_error + 1e-3
    assert result.log_z_error < 0.1


@pytest.mark.parametrize(
    "arguments",
    [
        dict(logp=logp),
        dict(logp=logp, grad=grad),
        dict(logp=logp_point, vectorized=False),
        dict(logp=logp_point, grad=grad_point, vectorized=False),
    ],
    ids=["batch", "batch with gradient", "point", "point with gradient"],
)
def test_a_function(arguments):
    result = aisampler.sample(**arguments, dim=2)
    assert result.draws.shape == (16, 1000, 2) and result.logp.shape == (16, 1000)
    np.testing.assert_allclose(result.logp[3], logp(result.draws[3]), rtol=1e-9)
    assert (result.evaluations.gradients > 0) == ("grad" in arguments)
    assert_right(result)


def test_evaluations_are_counted_and_limited():
    asked = 0

    def counted(x):
        nonlocal asked
        asked += len(x)
        return logp(x)

    result = aisampler.sample(counted, 2, evaluations=5000, draws=100000)
    assert result.evaluations.total == asked <= 5000
    count = result.evaluations
    assert count.start + count.learning + count.drawing + count.judging == asked


def test_a_mode_without_weight():
    """One that is nothing beside the others once ended the run."""
    result = aisampler.sample(logp_point, 2, vectorized=False, evaluations=1200, draws=10, chains=8, seed=4)
    assert result.draws.shape == (8, 10, 2) and result.evaluations.total <= 1200


def test_effective_draws_and_names():
    result = aisampler.sample(logp, 2, grad=grad, effective=3000, chains=4, names=["slope", "bent one"])
    assert result.names == ["slope", "bent one"] and list(result.summary()) == result.names
    assert min(row["ess_bulk"] for row in result.summary().values()) >= 3000
    assert "slope" in repr(result) and "log Z" in repr(result)


def test_a_wide_start_finds_what_is_far_away():
    far = lambda x: logp(x - 40.0)
    assert abs(aisampler.sample(far, 2, grad=lambda x: grad(x - 40.0), start_scale=30).draws.mean() - 40.375) < 0.1


def test_a_name_gives_what_the_command_gives(tmp_path):
    result = aisampler.sample("mog6", seed=3, draws=50)
    subprocess.run(
        [_library.find_command(), "run", "mog6", "--seed", "3", "--draws", "50", "--quiet", "--out", tmp_path]
    )
    rows = [row for row in csv.reader(open(tmp_path / "draws-5.csv")) if not row[0].startswith("#")]
    drawn = np.array([row[-2:] for row in rows[1:]], float)
    np.testing.assert_array_equal(result.draws[4], drawn)


def test_a_file_in_c():
    result = aisampler.sample(ROOT / "examples/03_own_density.c", draws=100)
    assert result.draws.shape[:2] == (16, 100) and np.isfinite(result.draws).all()


def test_the_same_seed_gives_the_same_draws_on_any_number_of_threads():
    one, two = (aisampler.sample(logp, 2, seed=9, draws=50, threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.draws, two.draws)
    assert (aisampler.sample(logp, 2, seed=10, draws=50).draws != one.draws).any()


def test_two_at_once():
    def shifted(by):
        return aisampler.sample(lambda x: logp(x - by), 2, grad=lambda x: grad(x - by), draws=200).draws

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        both = list(pool.map(shifted, (0.0, 3.0)))
    for by, draws in zip((0.0, 3.0), both):
        np.testing.assert_array_equal(draws, shifted(by))
