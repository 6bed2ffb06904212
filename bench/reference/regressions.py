#!/usr/bin/env python3
"""Reference moments of the regression posteriors heart, german and australian.

    python3 bench/reference/regressions.py [millions of draws, default 4] > src/target/reference_blr.h

Independent of the library: it shares no code with it and runs no Markov chain. Newton's method finds
the mode; importance sampling from a multivariate t (16 degrees of freedom) with the Laplace
covariance gives mean and covariance; a second t fitted to those gives the numbers. Draws come in
antithetic pairs. Every number gets a standard error from the weights, pair by pair; the run fails
when one of them is larger than promised. Only numpy is needed.
"""
import math
import os
import sys

import numpy as np

FREEDOM = 16
CHUNK = 20_000
ALLOWED = 0.002  # standard error of a mean, in posterior standard deviations
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")


def load(name):
    """Covariates standardised over all rows, bias first; the first nine tenths of the rows."""
    table = np.loadtxt(os.path.join(DATA, name + ".csv"), delimiter=",")
    x, y = table[:, :-1], table[:, -1]
    x = np.c_[np.ones(len(x)), (x - x.mean(0)) / x.std(0)]
    rows = 9 * len(x) // 10
    return x[:rows], y[:rows]


def log_posterior(w, x, y):
    """Of each row of w: likelihood times the normalised prior N(0, 1), so that Z is the evidence."""
    z = (w @ x.T) * (1 - 2 * y)
    log_one_plus = np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))
    return -log_one_plus.sum(1) - 0.5 * (w**2).sum(1) - 0.5 * w.shape[1] * np.log(2 * np.pi)


def laplace(x, y):
    w = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.eye(len(w))
        w = w + np.linalg.solve(hessian, x.T @ (y - p) - w)
    return w, np.linalg.inv(hessian)


def weighted(generator, count, centre, covariance, x, y):
    """Pairs (centre + s, centre - s) with their log weights, chunk by chunk."""
    dim = len(centre)
    lower = np.linalg.cholesky(covariance)
    log_constant = (math.lgamma(0.5 * (FREEDOM + dim)) - math.lgamma(0.5 * FREEDOM) -
                    np.log(np.diag(lower)).sum() - 0.5 * dim * np.log(np.pi * FREEDOM))
    for _ in range(0, count, 2 * CHUNK):
        normal = generator.standard_normal((CHUNK, dim))
        chi = generator.chisquare(FREEDOM, CHUNK) / FREEDOM
        step = (normal / np.sqrt(chi)[:, None]) @ lower.T
        radius = (normal**2).sum(1) / chi
        log_t = log_constant - 0.5 * (FREEDOM + dim) * np.log1p(radius / FREEDOM)
        for sign in (1, -1):
            w = centre + sign * step
            yield w, log_posterior(w, x, y) - log_t


def moments(generator, count, centre, covariance, x, y, shift):
    """Self-normalised estimates and their standard errors, by sums over antithetic pairs."""
    points, weights = [], []
    for w, log_weight in weighted(generator, count, centre, covariance, x, y):
        points.append(w)
        weights.append(np.exp(log_weight - shift))
    first, second = np.concatenate(points[0::2]), np.concatenate(points[1::2])
    u, v = np.concatenate(weights[0::2]), np.concatenate(weights[1::2])
    total = u.sum() + v.sum()

    def mean(f):
        a, b = f(first), f(second)
        m = (u @ a + v @ b) / total
        pair = u[:, None] * (a - m) + v[:, None] * (b - m)
        return m, np.sqrt((pair**2).sum(0)) / total

    m, m_error = mean(lambda w: w)
    variance, variance_error = mean(lambda w: (w - m)**2)
    s, s_error = mean(lambda w: w**2)
    square_variance, square_variance_error = mean(lambda w: (w**2 - s)**2)
    half = 0.5 * (u + v)
    log_z = shift + np.log(half.mean())
    log_z_error = half.std() / half.mean() / np.sqrt(len(half))
    covariance = sum((f * g[:, None]).T @ f for f, g in ((first - m, u), (second - m, v))) / total
    effective = total**2 / (u @ u + v @ v) / (2 * len(u))
    return dict(mean=(m, m_error), variance=(variance, variance_error), square_mean=(s, s_error),
                square_variance=(square_variance, square_variance_error), log_z=(log_z, log_z_error),
                covariance=covariance, effective=effective)


def array(name, field, values):
    lines, line = [], "   "
    for value in values:
        word = " %.10g," % value
        if len(line) + len(word) > 118:
            lines.append(line)
            line = "   "
        line += word
    lines.append(line)
    return "static const double %s_%s[%d] = {\n%s\n};\n" % (name, field, len(values), "\n".join(lines))


def main():
    count = int(1e6 * float(sys.argv[1] if len(sys.argv) > 1 else "4"))
    print("/* clang-format off */\n"
          "/* Reference moments of the regression posteriors. Generated; do not edit. Made by\n *\n"
          " *     python3 bench/reference/regressions.py %g > src/target/reference_blr.h\n *\n"
          " * with %g million importance-weighted draws each (numpy %s). Largest standard errors, in units of the\n"
          " * posterior standard deviation (mean), of the number itself (variance, square_variance) and of the standard\n"
          " * deviation of x^2 (square_mean), and the effective share of the draws:\n *" %
          (count / 1e6, count / 1e6, np.__version__))
    body = []
    for name in ("heart", "german", "australian"):
        x, y = load(name)
        generator = np.random.Generator(np.random.Philox(20240617))
        centre, covariance = laplace(x, y)
        shift = log_posterior(centre[None], x, y)[0] + 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
        pilot = moments(generator, count // 8, centre, covariance, x, y, shift)
        # A t of this covariance matrix has the posterior's covariance as its own.
        scale = pilot["covariance"] * (FREEDOM - 2) / FREEDOM
        result = moments(generator, count, pilot["mean"][0], scale, x, y, shift)
        sd = np.sqrt(result["variance"][0])
        errors = ((result["mean"][1] / sd).max(),
                  (result["variance"][1] / result["variance"][0]).max(),
                  (result["square_mean"][1] / np.sqrt(result["square_variance"][0])).max(),
                  (result["square_variance"][1] / result["square_variance"][0]).max())
        if errors[0] > ALLOWED:
            sys.exit("%s: a mean has the standard error %.4f sd; draw more" % (name, errors[0]))
        print((" *   %-10s mean %.5f variance %.5f square_mean %.5f square_variance %.5f log_z %.6f "
               "share %.2f") %
              ((name,) + errors + (result["log_z"][1], result["effective"])))
        for field in ("mean", "variance", "square_mean", "square_variance"):
            body.append(array(name, field, result[field][0]))
        body.append("#define %s_LOG_Z %.7f\n" % (name.upper(), result["log_z"][0]))
    print(" */\n#ifndef AIS_TARGET_REFERENCE_BLR_H\n#define AIS_TARGET_REFERENCE_BLR_H\n")
    print("\n".join(body), end="")
    print("\n#endif")


if __name__ == "__main__":
    main()
