"""The tables of bench/few_evaluations as Markdown, and what of the goals is reached: table.py DIR [--processor]

--processor: seconds of the processor instead of wall time, for peers that were measured on a busy machine."""
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import command
import targets

PLANE_MOST, LOG_Z_WITHIN, OWN_ERRORS, WALL_SHARE = 20000, 0.02, 3, 0.1
SLOW_MOST, SLOW_GAIN, SECONDS_MOST, BUDGET = 25000, 1.8, 65, 5000


def load(folder):
    results = [command.read_json(path) for path in sorted(glob.glob(os.path.join(folder, "*.json")))]
    if not results:
        sys.exit(f"no results in {folder}: make them with bash bench/few_evaluations/run.sh --out {folder}")
    if "--processor" in sys.argv:
        for r in results:
            r["wall"] = r["wall"] if r["who"] == "slow" else r.get("processor", r.get("wall"))
    return results


def spent(ours):
    return command.total(ours) if ours.get("counted") else None


def number(value, form=",.0f"):
    return "-" if value is None else format(value, form)


def log_z(ours, truth):
    """Error, own error; None where there is none."""
    if ours.get("log_z") is None:
        return None, None
    return ours["log_z"] - truth, ours.get("log_z_error")


class Goals:
    """Each goal with the targets that miss it."""

    def __init__(self):
        self.missed = {}

    def check(self, goal, name, reached):
        self.missed.setdefault(goal, [])
        if not reached:
            self.missed[goal].append(name)

    def print(self):
        print("\n| goal | |\n|---|---|")
        for goal, names in self.missed.items():
            print(f"| {goal} | {'missed by ' + ', '.join(names) if names else 'reached by all'} |")


def against_nautilus(results, goals):
    of = {(r["target"], r["seed"], r["who"]): r for r in results}
    print("| target, seed | nautilus: calls, s, effective, log Z off | ours: evaluations, s, effective, log Z off ± own error, "
          "largest share error | evaluations | s | verdict |\n|---|---|---|---|---|---|")
    for target in targets.TARGETS:
        for seed in sorted({r["seed"] for r in results if r["target"] == target.name and r["who"] != "slow"}):
            peer, ours = (of.get((target.name, seed, who), {}) for who in ("nautilus", "aisampler"))
            name, truth = f"{target.title}, {seed}", target.log_z
            theirs, cost = peer.get("calls"), spent(ours)
            error, own = log_z(ours, truth)
            row = [name]
            row.append("not run" if theirs is None else f"{theirs:,}, {peer['wall']:.0f}, {peer['effective']:,.0f}"
                       f"{'' if peer['complete'] else ' at its time limit'}, {peer['log_z'] - truth:+.3f}")
            row.append("not run" if not ours else ours.get("message", "nothing") if "worst_ess" not in ours else
                       f"{number(cost)}, {ours['wall']:.2f}, {ours['worst_ess']:,.0f}, {number(error, '+.4f')} ± {number(own, '.4f')}, "
                       f"{ours['share_error']:.3f}")
            both = theirs and cost and "worst_ess" in ours
            row += [f"{cost / theirs:.2f}" if both else "-", f"{ours['wall'] / peer['wall']:.3f}" if both else "-",
                    {0: "trust", command.DISTRUST: "do not trust"}.get(ours.get("code"), "-")]
            print("| " + " | ".join(row) + " |")
            if not ours:
                continue
            goals.check("the program counts every evaluation", name, not command.miscounted(ours))
            enough = ours.get("worst_ess", 0) >= ours["effective_wanted"]
            goals.check(f"{ours['effective_wanted']:,} effective draws", name, enough)
            if theirs:
                goals.check("evaluations at most nautilus's", name, enough and cost <= theirs)
                goals.check("seconds at most a tenth of nautilus's", name, enough and ours["wall"] <= WALL_SHARE * peer["wall"])
            if target.plane:
                goals.check(f"planes: at most {PLANE_MOST:,} evaluations", name, enough and cost <= PLANE_MOST)
            goals.check(f"log Z within {LOG_Z_WITHIN} and {OWN_ERRORS} of its own errors", name,
                        error is not None and own is not None and abs(error) <= min(LOG_Z_WITHIN, OWN_ERRORS * own))


def stages(result):
    return [result.get("start_seconds"), result.get("train_seconds"),
            result["warmup_seconds"] + result["sample_seconds"] if "sample_seconds" in result else None]


def slow(results, goals):
    """5 ms per evaluation."""
    rows = [r for r in results if r["who"] == "slow"]
    if not rows:
        return
    print("\n| pair of modes, d = 4, 5 ms per evaluation | evaluations | s | start, learning, drawing s | effective | log Z off |\n"
          "|---|---|---|---|---|---|")
    for r in sorted(rows, key=lambda r: (r["seed"], r["row"])):
        name = f"{r['row']}, seed {r['seed']}"
        error, _ = log_z(r, targets.BY_NAME["pair4"].log_z)
        print(f"| {name} | {number(spent(r))} | {r['wall']:.1f} | {', '.join(number(s, '.1f') for s in stages(r))} "
              f"| {number(r.get('worst_ess'))} | {number(error, '+.4f')} |")
        goals.check("the program counts every evaluation", f"{name}, 5 ms", not command.miscounted(r))
        if r["row"].startswith("threads"):
            goals.check(f"5 ms: effective draws for at most {SLOW_MOST:,} evaluations", name,
                        r.get("worst_ess", 0) >= r["effective_wanted"] and spent(r) <= SLOW_MOST)
        if r["row"] == "seconds60":
            goals.check(f"--seconds 60 ends within {SECONDS_MOST} s", name, r["wall"] <= SECONDS_MOST)
        if r["row"] == "evaluations5000":
            goals.check(f"--evaluations {BUDGET} is kept", name, spent(r) is not None and spent(r) <= BUDGET)
    of = {(r["seed"], r["row"]): r for r in rows}
    for seed in sorted({r["seed"] for r in rows}):
        one, two = of.get((seed, "threads1")), of.get((seed, "threads2"))
        for stage, a, b in zip(("start", "learning", "drawing"), stages(one or {}), stages(two or {})):
            if a and b:
                goals.check(f"5 ms: two threads at least {SLOW_GAIN} times one", f"{stage} {a / b:.2f}, seed {seed}", a / b >= SLOW_GAIN)


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--processor"]):
        sys.exit("usage: table.py DIR [--processor]")
    results, goals = load(sys.argv[1]), Goals()
    machine = results[0]["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, AVX-512: {'yes' if machine['avx512'] else 'no'}, {machine['date']}, "
          f"commit {machine['commit'] or 'unknown'}{'; seconds of the processor' if '--processor' in sys.argv else ''}\n")
    against_nautilus(results, goals)
    slow(results, goals)
    goals.print()


main()
