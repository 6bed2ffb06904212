"""Stan programs: means beside those of stanli's own sampler, densities, data, variables, errors. stan.sh runs it."""

import csv
import ctypes
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import aisampler
from aisampler import _stan
from aisampler._library import Context, Target, lib

stanli = pytest.importorskip("stanli")

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "stan"
LIMIT = 4.5  # combined standard errors; of some 250 means


def place(file):
    """Of a program or its data: among the examples, or here."""
    return next(path for path in (ROOT / "examples" / f"07_{file}", PROGRAMS / file) if path.exists())


def program(name):
    return place(f"{name}.stan")


def data_of(name):
    return json.loads(place(f"{name}.json").read_text())


def error_of(x):
    x = np.ascontiguousarray(x, dtype=float)
    return lib.ais_mcse_mean(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), *x.shape)


def nuts(name, data, samples=1000):
    """Column -> chains x draws, by Stan's sampler in stanli."""
    fit = stanli.Model(stan_file=str(program(name)), data=data).sample(
        chains=4, seed=3, samples=samples, delta=0.95, refresh=0, parallel_chains=1)
    return lambda column: np.asarray(fit.draws(column))


def bracketed(name):
    parts = name.split(".")
    return name if len(parts) == 1 else f"{parts[0]}[{','.join(parts[1:])}]"


def assert_agree(name, ours, theirs, slack=0):
    if np.ptp(ours) < 1e-9:
        assert np.ptp(theirs) < 1e-9 and abs(ours.mean() - theirs.mean()) < 1e-9, name
        return
    error = np.hypot(error_of(ours), error_of(theirs))
    assert abs(ours.mean() - theirs.mean()) < LIMIT * error + slack * theirs.std(), (name, ours.mean(), theirs.mean(), error)


@pytest.mark.parametrize("name, columns, draws", [
    ("eight_schools", 36, 1000), ("mixture", 6, 3000), ("decay", 3, 300), ("counties", 106, 500), ("grades", 17, 500)])
def test_means_are_those_of_nuts(name, columns, draws):
    result = aisampler.sample(stan=program(name), data=place(f"{name}.json"), draws=draws, threads=1)
    reference = nuts(name, data_of(name))
    assert len(result.names) == columns
    for i, column in enumerate(result.names):
        assert_agree(column, result.draws[:, :, i], reference(bracketed(column)))


def test_the_centred_form_is_the_same_posterior():
    result = aisampler.sample(stan=program("eight_schools_centred"), data=data_of("eight_schools"), draws=2000, threads=1)
    reference = nuts("eight_schools", data_of("eight_schools"), 2000)
    assert result.names[:3] == ["mu", "tau", "theta.1"] and result.unconstrained.shape[2] == 10
    np.testing.assert_allclose(np.exp(result.unconstrained[:, :, 1]), result.draws[:, :, 1], rtol=1e-12)
    for i, column in enumerate(result.names):  # of a funnel: draws that are a little off must say so
        assert_agree(column, result.draws[:, :, i], reference(bracketed(column)), 0 if result.trust else 0.1)


def test_labels_are_exchanged():
    """NUTS stays at one of two answers that differ by their labels; the draws here must have both."""
    result = aisampler.sample(stan=program("switching"), data=data_of("switching"), threads=1)
    reference = nuts("switching", data_of("switching"))
    theirs = np.stack([reference("mu[1]"), reference("mu[2]")])
    for k, end in enumerate((np.min, np.max)):
        assert_agree(f"end {k} of mu", end(result.draws, axis=2), end(theirs, axis=0))
    first = (result.draws[:, :, 0] < result.draws[:, :, 1]).astype(float)
    assert abs(first.mean() - 0.5) < LIMIT * error_of(first)
    assert result.trust


def heart():
    with open(ROOT / "data" / "heart.csv") as file:
        table = np.array([[float(cell) for cell in row] for row in csv.reader(file)])
    x, y = table[:, :-1], table[:, -1]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return {"N": len(y), "K": x.shape[1], "x": x, "y": (y == y.max()).astype(int)}


def value(target, x):
    x = np.ascontiguousarray(x)
    return target.contents.logp(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), target.contents.data)


def test_logistic_regression_is_that_of_blr():
    context, regression = Context(), ctypes.POINTER(Target)()
    assert lib.ais_target_open(context, f"blr:{ROOT / 'data' / 'heart.csv'}:label=14".encode(), regression) == 0, context.message
    stan = _stan.open_stan(str(program("logistic")), _stan.data_text(heart()), 0)
    rng = np.random.default_rng(5)
    points = rng.normal(scale=0.7, size=(20, 14))
    apart = [value(stan, x) - value(regression, x) for x in points]
    lib.ais_target_close(stan)
    lib.ais_target_close(regression)
    np.testing.assert_allclose(apart, apart[0], atol=1e-8)
    ours = aisampler.sample(stan=program("logistic"), data=heart(), draws=300, threads=1)
    theirs = aisampler.sample(f"blr:{ROOT / 'data' / 'heart.csv'}:label=14", draws=300, threads=1)
    assert ours.names == ["alpha"] + [f"beta.{k}" for k in range(1, 14)]
    for i, name in enumerate(ours.names):
        assert_agree(name, ours.draws[:, :, i], theirs.draws[:, :, i])


def test_generated_quantities_are_drawn_anew_for_every_draw():
    result = aisampler.sample(stan=program("eight_schools"), data=data_of("eight_schools"), threads=2, draws=400)
    again = aisampler.sample(stan=program("eight_schools"), data=data_of("eight_schools"), threads=1, draws=400)
    np.testing.assert_array_equal(result.draws, again.draws)
    found = _stan.variables(result.names, result.draws)
    assert found["theta"].shape == found["y_rep"].shape == (16, 400, 8)
    z = (found["y_rep"] - found["theta"]) / np.array(data_of("eight_schools")["sigma"])
    assert abs(z.mean()) < 0.03 and abs(z.std() - 1) < 0.02
    assert abs(np.corrcoef(z[:, 1:, 0].ravel(), z[:, :-1, 0].ravel())[0, 1]) < 0.06
    assert len(np.unique(z)) == z.size
    assert result.log_likelihood["log_lik"].shape == (16, 400, 8)


def test_variables_have_their_shapes():
    result = aisampler.sample(stan=program("grades"), data=data_of("grades"), draws=100, threads=1)
    found = _stan.variables(result.names, result.draws)
    assert found["table"].shape == (16, 100, 2, 3)
    np.testing.assert_array_equal(found["table"][3, 7], [[11, 12, 13], [21, 22, 23]])
    np.testing.assert_allclose(found["weight"].sum(axis=2), 1)
    assert (np.diff(found["cut"], axis=2) > 0).all()
    assert _stan.variables(["a.1", "a.3", "b"], np.zeros((1, 1, 3))).keys() == {"a.1", "a.3", "b"}


def test_a_program_may_be_text_and_its_kernel_kept(tmp_path):
    code = "data { int N; vector[N] y; } parameters { real mu; real<lower=0> s; } model { y ~ normal(mu, s); s ~ exponential(1); }"
    data = {"N": np.int64(4), "y": np.array([1, 2, 3, 5], dtype=np.float32)}
    first = aisampler.sample(stan=code, data=data, draws=200, threads=1)
    assert first.names == ["mu", "s"]
    first.kernel.save(tmp_path / "k.ais")
    second = aisampler.sample(stan=code, data=json.dumps({"N": 4, "y": [1, 2, 3, 5]}), draws=200, threads=1,
                              kernel=tmp_path / "k.ais", seed=2)
    assert_agree("mu", second.draws[:, :, 0], first.draws[:, :, 0])
    assert "Stan" not in first.report().html or first.note


def test_where_the_program_failed_is_told():
    result = aisampler.sample(stan=program("rejects"), draws=200, threads=1)
    assert "the Stan program failed at" in result.note and "a is 1.0" in result.note and "note: " in repr(result)
    assert result.draws[:, :, 0].max() <= 1


@pytest.mark.parametrize("wish, kind, said", [
    (dict(stan=program("eight_schools_centred"), data={"J": 8}), aisampler.Error, "cannot be used with these data: unknown data variable y, which they lack"),
    (dict(stan=program("eight_schools_centred")), aisampler.Error, "without data"),
    (dict(stan=program("eight_schools_centred"), data={"J": 1, "y": [float("nan")], "sigma": [1]}), ValueError, r"data\['y'\]"),
    (dict(stan=program("eight_schools_centred"), data={"J": 1, "y": "text", "sigma": [1]}), TypeError, r"data\['y'\]"),
    (dict(stan=program("eight_schools_centred"), data=[1, 2]), TypeError, "must be a dict"),
    (dict(stan=program("eight_schools_centred"), data="absent.json"), aisampler.Error, "cannot open absent.json"),
    (dict(stan=program("fixed")), aisampler.Error, "no parameters"),
    (dict(stan=program("broken")), aisampler.Error, "line 6, column 7"),
    (dict(stan="model {"), aisampler.Error, "the Stan program does not compile"),
    (dict(stan=program("rejects"), dim=2), TypeError, "are for functions"),
    (dict(logp="mog6", data={"N": 1}), TypeError, "data are for a Stan program"),
    (dict(logp="mog6", stan=program("rejects")), TypeError, "not both"),
])
def test_what_is_wrong_is_said(wish, kind, said):
    with pytest.raises(kind, match=said):
        aisampler.sample(**wish)


def test_the_command_finds_the_stanli_of_this_python(tmp_path):
    done = subprocess.run([sys.executable, "-m", "aisampler", "run", f"stan:{program('rejects')}", "--draws", "100", "--quiet"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 3) and "the Stan program failed at" in done.stderr, done.stderr  # 3: few draws
