"""What a result does: report, kernel, log likelihoods, copies."""

import pickle
import re
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import pytest

import aisampler
from densities import LOG_Z, MEAN, grad, logp


def page(result, **choice):
    """A report without cairo's running numbers."""
    return re.sub(r"(f\d+p\d+[a-z]+)[\d-]+", r"\1", result.report(**choice).html)


@pytest.fixture(scope="module")
def result():
    return aisampler.sample(logp, 2, grad=grad, names=["slope", "bend"])


def test_a_report(result, tmp_path):
    page = result.report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert text == page.html and [file.name for file in tmp_path.iterdir()] == ["r.html"]
    xml.etree.ElementTree.fromstring(text)
    for words in ("logp by ", "slope", "bend", ">seed</th><td>1<", ">chains</th><td>16<", "Trust these draws"):
        assert words in text
    shown = page._repr_html_()
    assert shown.startswith("<iframe") and "&lt;html" in shown and "r.html" in repr(page)


def test_a_report_of_a_named_target_knows_its_truth():
    result = aisampler.sample("mog6", draws=100)
    assert "jumps" in result.report().html and "mog6 by" in result.report().html


def test_a_report_shows_what_is_asked_for(result):
    whole, one = page(result, parameters=["slope", "bend"]), page(result, parameters="bend")
    assert whole == page(result, parameters=["slope", "bend"]) and one.count("<path") < whole.count("<path")
    assert page(result, truth={"bend": 0.5}).count("<path") > page(result).count("<path")  # lines more
    outside = "The true bend, 1e+06, is far outside its panel"
    assert outside in page(result, parameters="bend", truth={"bend": 1e6})
    assert outside not in page(result, parameters="slope", truth={"bend": 1e6})


def test_a_report_knows_vectors():
    result = aisampler.sample(lambda x: -0.5 * (x**2).sum(axis=1), 3, draws=100, names=["a.1", "a.2", "b"])
    both = page(result, parameters=["a"], truth={"a": [0.5, -0.5]})
    assert both == page(result, parameters=["a.1", "a.2"], truth={"a.1": 0.5, "a.2": -0.5})
    assert both != page(result, parameters=["a.1", "a.2"], truth={"a.1": 0.5})
    for wrong, words in ((dict(parameters=["c"]), "no parameter 'c'; there are a.1, a.2, b"),
                         (dict(parameters=[]), "parameters is empty"),
                         (dict(truth={"a": [1, 2, 3]}), "no parameter 'a.3'; did you mean"),
                         (dict(truth={"b": float("nan")}), "true value of b must be finite")):
        with pytest.raises(ValueError, match=words):
            result.report(**wrong)


def test_a_kernel_is_saved_loaded_and_drawn_with(result, tmp_path):
    file = tmp_path / "k.ais"
    result.kernel.save(file)
    loaded = aisampler.load_kernel(file)
    assert loaded.name == result.kernel.name and loaded.dim == 2 and loaded.name in repr(loaded)
    draws = []
    for kernel in (result.kernel, loaded, file):
        again = aisampler.sample(logp, 2, grad=grad, kernel=kernel, names=["slope", "bend"], draws=300)
        assert again.evaluations.learning == 0
        assert abs(again.log_z - LOG_Z) < 5 * again.log_z_error + 1e-3  # by the proposals of the drawing
        for row, mean in zip(again.summary().values(), MEAN):
            assert abs(row["mean"] - mean) < 5 * row["mcse"]
        draws.append(again.draws)
        assert again.kernel.name == loaded.name and again.report().html
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])


def test_a_kernel_outlives_its_result():
    kernel = aisampler.sample(logp, 2, grad=grad, draws=50).kernel
    assert aisampler.sample(logp, 2, grad=grad, draws=50, kernel=kernel).draws.shape == (16, 50, 2)


def test_kernels_that_do_not_fit(result, tmp_path):
    with pytest.raises(aisampler.Error, match="dimension|parameters"):
        aisampler.sample(lambda x: -0.5 * (x**2).sum(axis=1), 3, kernel=result.kernel)
    (tmp_path / "no.ais").write_bytes(b"nothing of the kind")
    with pytest.raises(aisampler.Error, match="no.ais"):
        aisampler.load_kernel(tmp_path / "no.ais")
    with pytest.raises(TypeError, match="kernel must be"):
        aisampler.sample(logp, 2, kernel=7)
    with pytest.raises(aisampler.Error, match="cannot|No such"):
        result.kernel.save(tmp_path / "nowhere" / "k.ais")


@pytest.mark.parametrize("vectorized", [True, False, None])
def test_log_likelihoods(vectorized):
    y = np.array([0.25, -1.5, 3.0])
    result = aisampler.sample(logp, 2, draws=30)
    one = lambda x: -0.5 * (y - x[0]) ** 2
    result.add_log_likelihood(one if vectorized is False else lambda x: -0.5 * (y - x[:, :1]) ** 2, "z", vectorized)
    np.testing.assert_allclose(result.log_likelihood["z"], -0.5 * (y - result.draws[:, :, :1]) ** 2)


def test_log_likelihoods_that_are_none():
    result = aisampler.sample(logp, 2, draws=30)
    with pytest.raises(aisampler.DensityError, match="a row of observations for each"):
        result.add_log_likelihood(logp, vectorized=True)
    with pytest.raises(aisampler.DensityError, match="ZeroDivisionError"):
        result.add_log_likelihood(lambda x: 1 / 0)


def test_a_copy_has_the_draws(result):
    copy = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(copy.draws, result.draws)
    assert copy.log_z == result.log_z and abs(copy.log_z - LOG_Z) < 0.1
    with pytest.raises(aisampler.Error, match="pickled"):
        copy.report()


def test_without_arviz_posterior_says_what_to_install():
    program = ("import sys; sys.modules['arviz'] = None; import aisampler\n"
               "try: aisampler.sample('mog2', draws=20).posterior\n"
               "except ModuleNotFoundError as error: print(error.name, error)")
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("arviz posterior is made by ArviZ") and "pip install arviz" in said
