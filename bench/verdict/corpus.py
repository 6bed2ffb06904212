"""The corpus of the verdict: densities whose truth is exact (formulas, one-dimensional quadrature), in one C file, and those of
bench/honesty. An entry's name says all of it: family-dimension, with numbers, and -n for one without a gradient."""
import math
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "honesty"))
import truth
from truth import from_table, mixture_of_normals, table_of

COUPLED = ("chain", "banana", "funnel", "ring", "round_t", "regression", "spike")


def of_normal(mean=0.0, sd=1.0):
    return mixture_of_normals(np.array([mean]), np.array([sd]), np.ones(1))


def line(log_density, low, high):
    return from_table(*table_of(log_density, low, high, 200001)[1:])


def student_line(a):
    """In t = asinh x, where a table reaches as far as it needs to."""
    inside = line(lambda t: -0.5 * (a + 1) * np.log1p(np.sinh(t)**2 / a) + np.log(np.cosh(t)), -40 / min(a, 2), 40 / min(a, 2))
    return lambda x: inside(math.asinh(x))


def ring_line(a, b):
    r, w = np.linspace(max(a - 8 * b, 1e-6), a + 8 * b, 2001), None
    w = np.exp(-0.5 * ((r - a) / b)**2)
    w /= w.sum()
    return lambda x: float((w * (1 - np.arccos(np.clip(x / r, -1, 1)) / math.pi)).sum())


def regression_lines(dim, a):
    t = np.arange(1, 41)
    design = np.cos(np.outer(t, np.arange(dim)))
    precision = design.T @ design + np.eye(dim) / a**2
    mean, variance = np.linalg.solve(precision, design.T @ np.sin(3 * t)), np.diag(np.linalg.inv(precision))
    y = np.sin(3 * t)
    fit = y @ y - mean @ precision @ mean
    log_z = -20 * math.log(2 * math.pi) - dim * math.log(a) - 0.5 * np.linalg.slogdet(precision)[1] - 0.5 * fit
    return [of_normal(m, math.sqrt(v)) for m, v in zip(mean, variance)], log_z


def coordinates(family, dim, a, b, c):
    """Distribution functions of all coordinates, and log Z."""
    two = mixture_of_normals(np.array([-a, a]), np.array([1, b]), np.array([c, 1 - c]))
    if family == "scales":
        return [of_normal(0, a * (b / a)**(i / (dim - 1) if dim > 1 else 0)) for i in range(dim)], 0.0
    if family == "banana":
        x = np.linspace(-8 * a, 8 * a, 1201)
        pair = [of_normal(0, a), mixture_of_normals(x * x, np.full(1201, b), np.exp(-0.5 * (x / a)**2) / np.exp(-0.5 * (x / a)**2).sum())]
        return pair * (dim // 2), 0.0
    if family == "funnel":
        v = np.linspace(-9 * a, 9 * a, 901)
        return [of_normal(0, a)] + [mixture_of_normals(0 * v, np.exp(v / 2), np.exp(-0.5 * (v / a)**2) / np.exp(-0.5 * (v / a)**2).sum())] * (dim - 1), 0.0
    if family == "ring":
        return [ring_line(a, b)] * 2 + [of_normal()] * (dim - 2), 0.0
    if family == "regression":
        return regression_lines(dim, a)
    if family == "modes":
        return [two] + [of_normal()] * (dim - 1), 0.0
    if family == "spike":
        return [mixture_of_normals(np.zeros(2), np.array([b, a]), np.array([c, 1 - c]))] * dim, 0.0
    if family in ("student", "round_t"):
        return [student_line(a)] * dim, 0.0
    every = {"normal": lambda: of_normal(a, b), "chain": of_normal, "wells": lambda: two,
             "loggamma": lambda: line(lambda x: a * x - np.exp(x), -60 / a, 8), "laplace": lambda: lambda x: 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x),
             "logistic": lambda: lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0, "halfline": lambda: lambda x: max(0.0, 1 - math.exp(-max(x, 0))),
             "wedge": lambda: lambda x: min(max(x, 0), 1)**2,
             "jump": lambda: lambda x: float((1 - c) * 2 * truth.normal(x) if x < 0 else 1 - 2 * c * (1 - truth.normal(x)))}[family]()
    return [every] * dim, 0.0


def shares(family, a, b, c):
    """The largest error of the weight of a side, where there are two."""
    if family not in ("modes", "wells", "jump"):
        return None
    at = mixture_of_normals(np.array([-a, a]), np.array([1, b]), np.array([c, 1 - c]))(0.0) if family != "jump" else 1 - c
    return lambda x: float(np.abs((x[:, :1] < 0).mean(axis=0) - at).max() if family == "modes" else np.abs((x < 0).mean(axis=0) - at).max())


def entry(family, dim, a=1.0, b=1.0, c=0.5, gradient=True):
    flags = f"-DFAMILY={family} -DDIM={dim} -DA={a} -DB={b} -DC={c}" + (" -DCOUPLED" if family in COUPLED else "") + (" -DGRADIENT" if gradient else "")
    name = f"{family}-{dim}" + "".join(f"-{k}{v:g}" for k, v, usual in (("a", a, 1.0), ("b", b, 1.0), ("c", c, 0.5)) if v != usual) + ("" if gradient else "-n")

    def make():
        every, log_z = coordinates(family, dim, a, b, c)
        return truth.Truth(f"{os.path.join(HERE, 'family.c')}:flags={flags}", log_z, every, shares(family, a, b, c))
    make.gradient = gradient
    return name, make


ENTRIES = dict([
    entry("normal", 1, 3.0, 2.0), entry("normal", 2, gradient=False), entry("normal", 5, 3.0, 0.5), entry("normal", 20), entry("normal", 50),
    entry("normal", 10, 2.0, 1.0, gradient=False), entry("normal", 20, gradient=False),
    entry("scales", 5, 0.01, 10.0), entry("scales", 10, 0.1, 100.0), entry("scales", 3, 0.01, 10.0, gradient=False),
    entry("chain", 5, 0.9), entry("chain", 20, 0.9), entry("chain", 50, 0.95), entry("chain", 5, 0.9, gradient=False),
    entry("student", 1, 5.0), entry("student", 2, 3.0), entry("student", 5, 5.0), entry("student", 1, 1.0), entry("student", 1, 2.0, gradient=False),
    entry("student", 20, 10.0), entry("round_t", 5, 5.0), entry("round_t", 20, 8.0), entry("round_t", 3, 4.0, gradient=False),
    entry("modes", 1, 4.0), entry("modes", 2, 4.0, 1.0, 0.9), entry("modes", 5, 4.0), entry("modes", 10, 4.0), entry("modes", 5, 4.0, 0.3),
    entry("modes", 20, 4.0), entry("modes", 2, 10.0), entry("modes", 5, 10.0, 1.0, 0.8), entry("modes", 1, 4.0, 0.1, gradient=False),
    entry("modes", 2, 4.0, gradient=False), entry("modes", 5, 4.0, 1.0, 0.9, gradient=False), entry("modes", 2, 20.0, 0.2),
    entry("wells", 2, 3.0), entry("wells", 4, 3.0), entry("wells", 6, 3.0, 1.0, 0.7), entry("wells", 3, 3.0, gradient=False),
    entry("banana", 2, 1.0, 0.5), entry("banana", 2, 2.0, 0.5), entry("banana", 6, 1.0, 0.5), entry("banana", 2, 1.0, 0.5, gradient=False),
    entry("funnel", 2, 1.5), entry("funnel", 5, 2.0), entry("funnel", 10, 1.0), entry("funnel", 20, 3.0), entry("funnel", 3, 1.5, gradient=False),
    entry("ring", 2, 4.0, 0.2), entry("ring", 2, 10.0, 0.1), entry("ring", 5, 4.0, 0.2), entry("ring", 2, 4.0, 0.2, gradient=False),
    entry("loggamma", 1, 2.0), entry("loggamma", 5, 1.0), entry("loggamma", 20, 2.0), entry("loggamma", 2, 0.5), entry("loggamma", 3, 1.0, gradient=False),
    entry("laplace", 2), entry("laplace", 10), entry("logistic", 5), entry("logistic", 3, gradient=False),
    entry("halfline", 1, gradient=False), entry("halfline", 2, gradient=False), entry("halfline", 1), entry("wedge", 1, gradient=False), entry("wedge", 2, gradient=False),
    entry("jump", 1, c=0.75, gradient=False), entry("jump", 2, c=0.75), entry("jump", 5, c=0.6),
    entry("spike", 2, 1.0, 0.02), entry("spike", 5, 1.0, 0.1, 0.8), entry("spike", 10, 1.0, 0.1, gradient=False), entry("spike", 20, 1.0, 0.01),
    entry("regression", 3, 2.0), entry("regression", 10, 2.0), entry("regression", 30, 1.0), entry("regression", 5, 2.0, gradient=False),
]) | truth.MAKERS
