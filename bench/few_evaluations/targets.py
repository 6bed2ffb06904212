"""The densities of targets/*.c as Python sees them: box, exact log Z (of the likelihood over the box, without the prior's
density), modes and their exact shares. log Z and shares come from formulas or quadrature here, not from a sampler.

    python targets.py        prints the table, and fails where quadrature of the C file, for d = 2, gives another log Z"""
import ctypes
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "..", "..", "include")


class Density(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("size", ctypes.c_int), ("dim", ctypes.c_int),
                ("logp", ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p))]


def nearest(points):
    return lambda x: ((x[:, None, :] - points) ** 2).sum(axis=2).argmin(axis=1)


def forty_means():
    with open(os.path.join(HERE, "targets", "forty.c")) as file:
        return np.array(re.findall(r"\{(-?[\d.]+), (-?[\d.]+)\}", file.read()), float)


def eggbox_peaks():
    return np.array([(2 * math.pi * i, 2 * math.pi * j) for i in range(6) for j in range(6) if (i + j) % 2 == 0])


def eggbox_shares():
    edges = np.isclose(eggbox_peaks() % (10 * math.pi), 0).sum(axis=1)
    return 0.5**edges / (0.5**edges).sum()


def forty_shares():
    """Of the points nearest to each mean: the modes overlap."""
    means, sd, step = forty_means(), math.log1p(math.e), 0.1
    share, label = np.zeros(40), nearest(means)
    axis = np.arange(-50 + step / 2, 50, step)
    for y in axis:
        x = np.column_stack([axis, np.full_like(axis, y)])
        density = np.exp(-((x[:, None, :] - means) ** 2).sum(axis=2) / (2 * sd**2)).mean(axis=1) / (2 * math.pi * sd**2)
        share += np.bincount(label(x), density, minlength=40) * step**2
    return share / share.sum()


def ring5_masses():
    """2 pi int r exp(-(r - k)^2 / .04) dr over the radii nearest to ring k."""
    def mass(k, low, high, n=20000):
        r = low + (np.arange(n) + 0.5) * (high - low) / n
        return 2 * math.pi * (r * np.exp(-((r - k) ** 2) / 0.04)).sum() * (high - low) / n
    edges = [0, 1.5, 2.5, 3.5, 4.5, 10]
    return np.array([mass(k + 1, edges[k], edges[k + 1]) for k in range(5)])


def shells_log_z(dim):
    r = 1 + (np.arange(100000) + 0.5) * 2e-5
    radial = (r ** (dim - 1) * np.exp(-0.5 * ((r - 2) / 0.1) ** 2)).sum() * 2e-5 / (0.1 * math.sqrt(2 * math.pi))
    return math.log(2 * 2 * math.pi ** (dim / 2) / math.gamma(dim / 2) * radial)


def eggbox_log_z(n=4000):
    c = np.cos((np.arange(n) + 0.5) * 5 * math.pi / n)
    base = (2 + c[:, None] * c) ** 5
    return base.max() + math.log(np.exp(base - base.max()).mean()) + 2 * math.log(10 * math.pi)


class Target:
    def __init__(self, name, title, dim, low, high, log_z, shares, label, plane=False):
        self.name, self.title, self.dim, self.low, self.high, self.plane = name, title, dim, low, high, plane
        self._log_z, self.shares, self.label = log_z, shares, label
        self.path = os.path.join(HERE, "targets", name + ".c")
        self.log_volume = dim * math.log(high - low)

    @property
    def log_z(self):
        return self._log_z()

    def share_error(self, x, weights=None):
        """The largest difference of a mode's share from the exact one."""
        exact = np.asarray(self.shares())
        found = np.bincount(self.label(np.asarray(x)), weights, minlength=len(exact))
        return float(np.abs(found / found.sum() - exact).max())

    def logp(self):
        """The C file's own log density, for a point (a contiguous array of doubles)."""
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, self.name + ".so")
            subprocess.run(["cc", "-std=gnu17", "-O3", "-fPIC", "-shared", "-I", INCLUDE, self.path, "-o", made, "-lm"], check=True)
            library = ctypes.CDLL(made)
        density = Density.in_dll(library, "aisampler_density")
        logp = density.logp
        return lambda x: logp(x.ctypes.data, None)


def sixth(x):
    return np.round(np.arctan2(x[:, 1], x[:, 0]) / (math.pi / 3)).astype(int) % 6


def ring(x):
    return np.clip(np.round(np.hypot(x[:, 0], x[:, 1])), 1, 5).astype(int) - 1


def right(x):
    return (x.sum(axis=1) > 0).astype(int)


def right_shell(x):
    return (x[:, 0] > 0).astype(int)


TARGETS = [
    Target("mog6", "mog6", 2, -10, 10, lambda: math.log(math.pi / 2), lambda: np.full(6, 1 / 6), sixth, plane=True),
    Target("ring5", "ring5", 2, -10, 10, lambda: math.log(ring5_masses().sum()),
           lambda: ring5_masses() / ring5_masses().sum(), ring, plane=True),
    Target("forty", "40 modes", 2, -50, 50, lambda: 0.0, forty_shares, nearest(forty_means()), plane=True),
    Target("eggbox", "eggbox", 2, 0, 10 * math.pi, eggbox_log_z, eggbox_shares, nearest(eggbox_peaks()), plane=True),
    Target("shells2", "gaussian shells, d = 2", 2, -6, 6, lambda: shells_log_z(2), lambda: [0.5, 0.5], right_shell, plane=True),
    Target("shells10", "gaussian shells, d = 10", 10, -6, 6, lambda: shells_log_z(10), lambda: [0.5, 0.5], right_shell),
    Target("pair4", "pair of modes, d = 4", 4, -10, 10, lambda: 0.0, lambda: [0.3, 0.7], right),
]
BY_NAME = {target.name: target for target in TARGETS}


def quadrature(target, n=300):
    logp = target.logp()
    axis = target.low + (np.arange(n) + 0.5) * (target.high - target.low) / n
    values = np.array([logp(np.array([x, y])) for x in axis for y in axis])
    return values.max() + math.log(np.exp(values - values.max()).mean()) + target.log_volume


def main():
    wrong = []
    print(f"{'target':10} {'dim':>3} {'box':>18} {'log Z':>10} {'with the prior':>15} {'by quadrature':>14}  shares")
    for t in TARGETS:
        check = quadrature(t) if t.dim == 2 else t.log_z
        if abs(check - t.log_z) > 0.001:
            wrong.append(t.name)
        shares = np.asarray(t.shares())
        text = " ".join(f"{s:.4f}" for s in shares) if len(shares) < 7 else f"{len(shares)} of {shares.min():.4f} to {shares.max():.4f}"
        print(f"{t.name:10} {t.dim:3d} {f'[{t.low:.4g}, {t.high:.4g}]':>18} {t.log_z:10.4f} {t.log_z - t.log_volume:15.4f} "
              f"{f'{check:.4f}' if t.dim == 2 else '':>14}  {text}")
    if wrong:
        sys.exit(f"log Z is not that of the C file: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
