"""`run` against NUTS on the posteriors of posteriordb: evaluations and seconds to so many effective draws, one thread each.

    bash bench/posteriordb/run.sh CHECKOUT [--out DIR] [--who nuts,run] [--only NAMES] [--limit 300] [--effective 4000,40000]
                                  [--seed 1] [--threads 1] [--dimensions 100] [--processor] [--shuffle SEED]

CHECKOUT is a checkout of github.com/stan-dev/posteriordb. Taken is every posterior that stanli compiles and that has at most
100 unconstrained dimensions. Each result is a file in DIR (out/posteriordb), and what is there is not measured again, so that
the program can be killed and started again, and run in pieces (delete *-run.json to measure our side again):

    NAME-model.json   dimension, microseconds of a gradient, or why there is no model
    NAME-nuts.json    our NUTS with Stan's defaults: 4 chains, 1000 warm-up, diagonal metric, acceptance .8
    NAME-run.json     `run --effective N`, for each N

table.py DIR prints the table. Evaluations are those that the density counted itself: warm-up, start and checks are in them.
NUTS is run for 4 x 1000 draws, then once for each N with as many draws as its ESS so far (pooled worst bulk ESS over x and
x^2) says it needs; evaluations and seconds of the draws, not those of the warm-up, are then scaled by N / ESS. Where that run
would take longer than the limit the one before is scaled, which is noted ("extrapolated")."""
import argparse
import math
import multiprocessing
import os
import random
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import command
import stan

MOST_NUMBERS = 5e7  # in one file of draws


def leapfrogs(folder):
    """After warm-up, all chains."""
    import h5py

    with h5py.File(os.path.join(folder, "draws.nc")) as file:
        return int(np.sum(file["sample_stats"]["n_steps"]))


def gradient_cost(model):
    """Median microseconds at points near 0, where chains start."""
    points, times = np.random.RandomState(1), []
    gradient = np.empty(model.dim)
    for _ in range(16):
        x = 0.1 * points.randn(model.dim)
        model.gradient(x, gradient)
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < 0.01:
            model.gradient(x, gradient)
            count += 1
        times.append((time.perf_counter() - began) / count)
    return 1e6 * float(np.median(times))


def errors(model, folder, reference):
    """Largest differences of means and sds from the reference, in its sds, over what both have."""
    draws = command.draws(folder)
    values = model.constrain(draws[:: 1 + len(draws) // 20000])
    mean, sd = [], []
    for name in reference.keys() & values.keys():
        scale = np.std(reference[name])
        if scale > 1e-12 * max(1, abs(np.mean(reference[name]))):
            mean.append(abs(np.mean(values[name]) - np.mean(reference[name])) / scale)
            sd.append(abs(np.std(values[name]) / scale - 1))
    return {"compared": len(mean), "mean_error": float(max(mean)), "sd_error": float(max(sd))} if mean else {}


def moments(folder):
    """On the unconstrained scale, for a comparison of ours with NUTS where there is no reference."""
    return [[p["mean"], p["sd"], p["mcse"]] for p in command.read_json(os.path.join(folder, "summary.json"))["parameters"]]


class Bench:
    def __init__(self, wish, name, folder):
        self.wish, self.folder = wish, folder
        self.posterior = stan.Posterior(wish.checkout, name)
        self.model = stan.Model(self.posterior, folder)
        self.reference = self.posterior.reference()
        self.density = self.model.density_file(folder)

    def compile(self):
        """What the compiler takes is paid once per density, not once per run."""
        with command.scratch() as folder:
            command.call("sample", self.density, "--sampler", "rwm", "--chains", 1, "--warmup", 0, "--draws", 10, folder=folder,
                         limit=self.wish.limit)

    def call(self, *arguments):
        """A run and, when it has draws, its answer beside the reference."""
        with command.scratch() as folder:
            result = command.call(*arguments, "--threads", self.wish.threads, "--seed", self.wish.seed, folder=folder,
                                  limit=self.wish.limit, processor=self.wish.processor)
            result["wall"] -= result["counted"].get("setup_seconds", 0)  # a model's data are read by both alike
            if "worst_ess" in result:
                result["moments"] = moments(folder)
                if self.reference:
                    result |= errors(self.model, folder, self.reference)
                if result["sampler"] == "nuts":
                    result["leapfrogs"] = leapfrogs(folder)
        return result

    def sample(self, draws):
        return self.call("sample", self.density, "--sampler", "nuts", "--chains", 4, "--warmup", 1000, "--draws", draws)

    def nuts(self):
        first = best = self.sample(1000)
        result = {"first": first}
        if not first.get("worst_ess"):
            return result
        for wanted in self.wish.effective:
            draws = math.ceil(1.05 * wanted * best["draws"] / best["worst_ess"])
            busy = best["processor"] / best["wall"] if self.wish.processor else 1
            seconds = busy * (best["wall"] + best["sample_seconds"] * (draws / best["draws"] - 1))
            if draws > best["draws"] and seconds < self.wish.limit and 4 * draws * self.model.dim < MOST_NUMBERS:
                longer = self.sample(draws)
                best = longer if longer.get("worst_ess") else best
            scale = wanted / best["worst_ess"]
            result[str(wanted)] = {**best, "extrapolated": scale > 1.5,
                                   "evaluations": command.total(best) + (scale - 1) * best["leapfrogs"],
                                   "seconds": best["wall"] + (scale - 1) * best["sample_seconds"]}
        result["gradient_us"] = 1e6 * first["sample_seconds"] / first["leapfrogs"]
        return result

    def run(self):
        result = {}
        for wanted in self.wish.effective:
            result[str(wanted)] = run = self.call("run", self.density, "--effective", wanted)
            if run["counted"]:
                run |= {"evaluations": command.total(run), "seconds": run["wall"]}
            if run["late"]:
                break  # more takes longer
        return result


def result_path(wish, name, who):
    return os.path.join(wish.out, f"{name}-{who}.json")


def one(wish, name, about):
    """All that is missing of one posterior, in a process of its own: a model may crash."""
    with command.scratch() as folder:
        try:
            bench = Bench(wish, name, folder)
        except Exception as reason:
            command.keep(result_path(wish, name, "model"), {"name": name, "refused": str(reason).strip()[-300:]})
            return
        fits = bench.model.dim <= wish.dimensions
        model = {"name": name, "dim": bench.model.dim, "reference": bench.reference is not None, **about}
        if fits:
            model["gradient_us"] = gradient_cost(bench.model)
        else:
            model["refused"] = f"{bench.model.dim} dimensions"
        command.keep(result_path(wish, name, "model"), model)
        if not fits:
            return
        bench.compile()
        for who, measure in (("nuts", bench.nuts), ("run", bench.run)):
            if who in wish.who and not os.path.exists(result_path(wish, name, who)):
                command.keep(result_path(wish, name, who), {"name": name, "dim": bench.model.dim, **about, **measure()})


def finished(wish, name):
    model = command.read_json(result_path(wish, name, "model"))
    return "refused" in model or all(os.path.exists(result_path(wish, name, who)) for who in wish.who)


def say(wish, name):
    model = command.read_json(result_path(wish, name, "model"))
    text = [f"{name}:", model.get("refused") or f"d = {model.get('dim')}"]
    for who in wish.who:
        result = command.read_json(result_path(wish, name, who))
        for wanted in map(str, wish.effective):
            if wanted in result and "evaluations" in result[wanted]:
                text.append(f"{who} {wanted}: {result[wanted]['evaluations']:.0f} evaluations, {result[wanted]['seconds']:.2f} s;")
            elif result and "refused" not in model:
                text.append(f"{who} {wanted}: nothing;")
    print(" ".join(text), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--out", default=os.path.join(command.ROOT, "out", "posteriordb"))
    parser.add_argument("--who", default="nuts,run", type=lambda text: text.split(","))
    parser.add_argument("--only", default=[], type=lambda text: text.split(","), help="names, or the beginnings of names")
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    parser.add_argument("--effective", default="4000,40000", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dimensions", type=int, default=100, help="at most")
    parser.add_argument("--shuffle", type=int, help="take the posteriors in a random order, so that a part of them is a fair sample")
    parser.add_argument("--processor", action="store_true", help="the limit counts seconds of the processor")
    wish = parser.parse_args()
    unknown = [who for who in wish.who if who not in ("nuts", "run")]
    if unknown:
        sys.exit(f"unknown part {unknown[0]}: nuts or run")
    names = [n for n in stan.posteriors(wish.checkout) if not wish.only or n.startswith(tuple(wish.only))]
    if not names:
        sys.exit(f"no posterior of {wish.checkout} is called {', '.join(wish.only)}")
    if wish.shuffle is not None:
        random.Random(wish.shuffle).shuffle(names)
    os.makedirs(wish.out, exist_ok=True)
    about = {"seed": wish.seed, "threads": wish.threads, "limit": wish.limit, "processor": wish.processor, "machine": command.machine()}
    for name in names:
        if finished(wish, name):
            continue
        process = multiprocessing.Process(target=one, args=(wish, name, about))
        process.start()
        process.join()
        if process.exitcode == command.USAGE:
            sys.exit(command.USAGE)
        if process.exitcode != 0 and not os.path.exists(result_path(wish, name, "model")):
            command.keep(result_path(wish, name, "model"), {"name": name, "refused": f"stanli ended with {process.exitcode}"})
        say(wish, name)


if __name__ == "__main__":
    main()
