"""What is exactly true of the densities that honesty is measured on: log Z, the shares of modes, and the distribution function
of every coordinate, from formulas and one-dimensional quadrature, never from a sampler.

    python3 bench/honesty/truth.py        checks the eight schools' evidence against the C file: log p(x) less the logarithms of the
                                          exact conditional densities is log Z at every x"""
import math
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(BENCH, "few_evaluations"))
import targets as plane

normal = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))


def mixture_of_normals(mean, sd, weight):
    """The distribution function of sum_k weight_k N(mean_k, sd_k^2)."""
    return lambda x: float((weight * normal((x - mean) / sd)).sum())


def quantile(distribution, probability, low=-1e6, high=1e6):
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if distribution(middle) < probability else (low, middle)
    return 0.5 * (low + high)


def table_of(log_density, low, high, n=40001):
    """log of the integral, grid, weights of a density on a line."""
    x = np.linspace(low, high, n)
    logp = log_density(x)
    p = np.exp(logp - logp.max())
    return logp.max() + math.log(p.sum() * (x[1] - x[0])), x, p / p.sum()


def from_table(x, weight):
    below = np.cumsum(weight) - 0.5 * weight
    return lambda at: float(np.interp(at, x, below, left=0, right=1))


class Truth:
    """log_z or None; coordinate: the distribution function of each coordinate, those that are alike sharing one; share: a
    function of the draws, the largest error of a mode's share."""

    def __init__(self, target, log_z, coordinate, share=None):
        self.target, self.log_z, self.share = target, log_z, share
        at = {f: [quantile(f, p) for p in (0.01, 0.05, 0.95, 0.99)] for f in set(coordinate)}
        self.quantiles = [at[f] for f in coordinate]


EFFECT, ERROR = np.array([28, 8, -3, 7, -1, 1, 18, 12.0]), np.array([15, 10, 16, 11, 9, 11, 10, 18.0])


def given_tau(log_tau):
    """log p(y, log tau), with mu and the effects integrated out, and mean and variance of mu given tau."""
    tau2 = np.exp(2 * log_tau)
    v = ERROR**2 + tau2
    precision = 1 / 25 + (1 / v).sum()
    mean = (EFFECT / v).sum() / precision
    logp = -0.5 * (np.log(2 * math.pi * v) + EFFECT**2 / v).sum() - 0.5 * math.log(25 * precision) + 0.5 * mean**2 * precision
    return logp + math.log(10 / math.pi) - math.log(25 + tau2) + log_tau, mean, 1 / precision


def eight_schools():
    y, s = EFFECT, ERROR
    log_z, grid, weight = table_of(lambda t: np.array([given_tau(a)[0] for a in t]), -14, 9, 4001)
    mean, variance = np.array([given_tau(a)[1:] for a in grid]).T
    tau2 = np.exp(2 * grid)
    coordinate = [mixture_of_normals(mean, np.sqrt(variance), weight), from_table(grid, weight)]
    for j in range(8):
        pull = tau2 / (tau2 + s[j]**2)  # theta_j = pull y_j + (1 - pull) mu + noise, given mu and tau
        sd = np.sqrt(pull * s[j]**2 + (1 - pull)**2 * variance)
        coordinate.append(mixture_of_normals(pull * y[j] + (1 - pull) * mean, sd, weight))
    return Truth(os.path.join(HERE, "targets", "eight_schools.c"), log_z, coordinate)


def many_wells(dim=8):
    well_log_z, x, weight = table_of(lambda a: (6 - a**2) * a**2 + a / 2, -5, 5)
    share = weight[x > 0].sum()
    pair = [from_table(x, weight), mixture_of_normals(np.zeros(1), np.ones(1), np.ones(1))]
    return Truth(os.path.join(BENCH, "ladder", "targets", f"manywell{dim}.c"),
                 dim / 2 * (well_log_z + 0.5 * math.log(2 * math.pi)), pair * (dim // 2),
                 lambda draws: float(np.abs((draws[:, ::2] > 0).mean(axis=0) - share).max()))


def spike():
    sd, half = np.sqrt([0.08, 0.8]), np.full(2, 0.5)
    ahead, aside = mixture_of_normals(np.array([6, 2.5]), sd, half), mixture_of_normals(np.zeros(2), sd, half)
    # Along (1, 1) the two are 4.95 apart; 7 / sqrt 2 from the slab's centre lies 5 sds of the spike before its own.
    above = (half * normal((np.array([6, 2.5]) * math.sqrt(2) - 7) / sd)).sum()
    return Truth(os.path.join(HERE, "targets", "spike10.c"), 0.0, [ahead] * 2 + [aside] * 8,
                 lambda draws: float(abs(((draws[:, 0] + draws[:, 1]) / math.sqrt(2) > 7).mean() - above)))


def funnel(dim=10):
    _, v, weight = table_of(lambda v: -v**2 / 18, -30, 30, 2001)
    return Truth("funnel", 0.0, [mixture_of_normals(np.zeros(1), np.full(1, 3.0), np.ones(1))]
                 + [mixture_of_normals(0 * v, np.exp(v / 2), weight)] * (dim - 1))


def student(dim=10):
    def distribution(x):
        a = x / math.sqrt(3)
        return 0.5 + (math.atan(a) + a / (1 + a * a)) / math.pi
    return Truth(os.path.join(HERE, "targets", "student10.c"), 0.0, [distribution] * dim)


def forty():
    target, means, sd = plane.BY_NAME["forty"], plane.forty_means(), math.log1p(math.e)
    return Truth(target.path, target.log_z,
                 [mixture_of_normals(means[:, i], np.full(40, sd), np.full(40, 1 / 40)) for i in range(2)], target.share_error)


def eggbox():
    target, n = plane.BY_NAME["eggbox"], 2000
    middle = (np.arange(n) + 0.5) * 10 * math.pi / n
    base = (2 + np.cos(middle[:, None] / 2) * np.cos(middle / 2)) ** 5
    side = np.exp(base - base.max()).sum(axis=1)
    return Truth(target.path, target.log_z, [from_table(middle, side / side.sum())] * 2, target.share_error)


MAKERS = {"eight_schools": eight_schools, "manywell8": many_wells, "spike10": spike, "funnel": funnel, "forty": forty,
          "student10": student, "eggbox": eggbox}


def log_normal(x, mean, variance):
    return -0.5 * ((x - mean) ** 2 / variance + np.log(2 * math.pi * variance))


def main():
    truth, random = eight_schools(), np.random.RandomState(1)
    logp = plane.Target("eight_schools", "", 10, 0, 1, None, None, None)
    logp.path = truth.target
    logp, worst = logp.logp(), 0.0
    for _ in range(100):
        x = random.normal(size=10) * np.r_[5, 2, np.full(8, 10)]
        joint, mean, variance = given_tau(x[1])
        pull = np.exp(2 * x[1]) / (np.exp(2 * x[1]) + ERROR**2)
        effects = log_normal(x[2:], pull * EFFECT + (1 - pull) * x[0], pull * ERROR**2).sum()
        worst = max(worst, abs(logp(x) - joint - log_normal(x[0], mean, variance) - effects))
    print(f"eight schools: log Z {truth.log_z:.6f}, log tau's 1% point {truth.quantiles[1][0]:.4f}; C file and conditionals differ by {worst:.2g}")
    if worst > 1e-8:
        sys.exit("the C file is another density")


if __name__ == "__main__":
    main()
