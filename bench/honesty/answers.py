"""Whether the draws of a run are right: beside what is exactly true of the density (truth.py)."""
import os

import numpy as np

import command

SHARE, ERRORS = 0.03, 5
TAILS = (0.01, 0.05, 0.95, 0.99)


def effective(x):
    """Of an indicator, chains x draws, by Geyer's initial monotone sequence on split chains (docs/diagnostics.md)."""
    half = x.shape[1] // 2
    x = np.concatenate([x[:, :half], x[:, -half:]]).astype(float)
    centred = x - x.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(centred, 2 * half, axis=1)) ** 2
    covariance = np.fft.irfft(power, axis=1)[:, :half].mean(axis=0) / half
    within, between = covariance[0] * half / (half - 1), x.mean(axis=1).var(ddof=1)
    total = within * (half - 1) / half + between
    if not total > 0:
        return x.size
    rho = 1 - (within - covariance) / total
    pairs = rho[: half // 2 * 2].reshape(-1, 2).sum(axis=1)
    pairs = pairs[: np.argmax(pairs <= 0)] if (pairs <= 0).any() else pairs
    return x.size / max(-1 + 2 * np.minimum.accumulate(pairs).sum(), 1e-3) if len(pairs) else x.size


def tail_error(draws, quantiles):
    """The largest error of a tail's probability in standard errors, with its coordinate and tail. draws: chains x draws x dim."""
    worst = (0.0, 0, 0.0)
    for i, points in enumerate(quantiles):
        for probability, point in zip(TAILS, points):
            beyond = draws[:, :, i] < point
            count = min(effective(beyond), beyond.size)
            error = np.sqrt(probability * (1 - probability) / count)
            worst = max(worst, (abs(beyond.mean() - probability) / error, i, probability))
    return worst


def compare(result, exact, folder):
    x = command.draws(folder)
    result["share_error"] = exact.share(x) if exact.share else 0.0
    worst = tail_error(x.reshape(result["chains"], result["draws"], -1), exact.quantiles)
    result["tail_error"], result["tail_coordinate"], result["tail"] = float(worst[0]), worst[1], worst[2]
    summary = command.read_json(os.path.join(folder, "summary.json"))
    result |= {key: summary[key] for key in ("log_z", "log_z_error", "checks") if key in summary}
    error = result.get("log_z_error")
    result["log_z_off"] = abs(result["log_z"] - exact.log_z) / error if error else 0.0


def wrong(r):
    """What is wrong with an answer; empty if it is right."""
    said = []
    if r["share_error"] > SHARE:
        said.append(f"share off by {r['share_error']:.3f}")
    if r["log_z_off"] > ERRORS:
        said.append(f"log Z off by {r['log_z_off']:.1f} errors")
    if r["tail_error"] > ERRORS:
        said.append(f"x.{r['tail_coordinate'] + 1} below its {100 * r['tail']:.0f}% point off by {r['tail_error']:.1f} errors")
    return said


def seeds_of(text):
    low, _, high = text.partition("-")
    return range(int(low), int(high or low) + 1)
