"""One line or two? The model of 08_two_lines.c in Python; docs/tutorial.md explains it.

    PYTHONPATH=python python3 examples/08_two_lines.py"""

import pathlib

import numpy as np

import aisampler

hour, reading = np.loadtxt(pathlib.Path(__file__).with_name("readings.csv"), delimiter=",", skiprows=1, unpack=True)
HALF_LOG_2_PI = 0.5 * np.log(2 * np.pi)


def one_line(theta):  # (n, 3) -> (n, 40): one value per reading
    sigma, level, slope = (theta[:, k : k + 1] for k in range(3))
    return -0.5 * ((reading - level - slope * hour) / sigma) ** 2 - np.log(sigma) - HALF_LOG_2_PI


def two_lines(theta):  # (n, 6) -> (n, 40)
    share = theta[:, 5:6]
    return np.logaddexp(np.log(share) + one_line(theta[:, [0, 1, 2]]), np.log1p(-share) + one_line(theta[:, [0, 3, 4]]))


prior = {"sigma": "half_normal(2)", "level1": "normal(5, 5)", "slope1": "normal(0, 1)",
         "level2": "normal(5, 5)", "slope2": "normal(0, 1)", "share": "beta(2, 2)"}


def main():
    two = aisampler.sample(likelihood=two_lines, prior=prior, draws=4000)
    one = aisampler.sample(likelihood=one_line, prior={name: prior[name] for name in ("sigma", "level1", "slope1")})
    print(two)
    first, second = two.draws[..., 1:3], two.draws[..., 3:5]
    gap = [(first - second) @ (1, at) for at in (0.5, 4.5)]  # between the lines, before and after the pause
    print(f"the lines cross: {np.mean(gap[0] * gap[1] < 0):.3f} of the draws")
    print(f"log evidence for two lines: {two.log_z - one.log_z:.2f} +- {np.hypot(two.log_z_error, one.log_z_error):.2f}")


if __name__ == "__main__":
    main()
