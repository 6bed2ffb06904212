"""The tables of bench/posteriordb as Markdown: every posterior, then the goals. table.py DIR [--processor]

A ratio is ours over NUTS's, taken where NUTS gave an answer (its chains agree: R-hat below 1.05). It is infinite where `run`
did not end in time with the effective draws that were asked for, so that what is left out cannot improve a median.
--processor: seconds of the processor instead of wall time, for runs on a busy machine."""
import glob
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import command

AGREE = 1.05  # R-hat
WRONG_MEAN, WRONG_SD = 0.1, 0.1
SLOW_GRADIENT = 50  # microseconds


def load(folder):
    """{name: {"model": ..., "nuts": ..., "run": ...}}"""
    results = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        name, _, who = os.path.basename(path)[:-5].rpartition("-")
        results.setdefault(name, {"model": {}, "nuts": {}, "run": {}})[who] = command.read_json(path)
    if not results:
        sys.exit(f"no results in {folder}: make them with bash bench/posteriordb/run.sh CHECKOUT --out {folder}")
    if "--processor" in sys.argv:
        for run in (at for r in results.values() for who in ("nuts", "run") for at in r[who].values()):
            if isinstance(run, dict) and "seconds" in run:
                run["seconds"] *= run["processor"] / run["wall"]
    return results


def wanted(results):
    return sorted({int(key) for r in results.values() for who in ("nuts", "run") for key in r[who] if key.isdigit()})


def nuts_at(result, n):
    """NUTS's way to n effective draws, or None where its chains do not agree."""
    at = result["nuts"].get(str(n))
    return at if at and (at["rhat"] or 9) < AGREE else None


def ours_at(result, n):
    at = result["run"].get(str(n))
    return at if at and at.get("worst_ess", 0) >= n else None


def ratio(result, n, what):
    ours, nuts = ours_at(result, n), nuts_at(result, n)
    if not nuts or not result["run"]:
        return None
    return ours[what] / nuts[what] if ours else math.inf


def gradient_us(result):
    """As NUTS paid it, or as timed near 0 where there is no NUTS."""
    return result["nuts"].get("gradient_us") or result["model"].get("gradient_us")


def error(result, at):
    """(mean, sd, against what): largest errors in reference sds; against NUTS where posteriordb has no reference."""
    if "mean_error" in at:
        return at["mean_error"], at["sd_error"], "reference"
    nuts = result["nuts"].get(str(max((int(k) for k in result["nuts"] if k.isdigit()), default=0)))
    if not nuts or (nuts["rhat"] or 9) > 1.01:
        return None
    pairs = [(a, b) for a, b in zip(at["moments"], nuts["moments"]) if a[1] is not None and b[1]]
    return (max(abs(a[0] - b[0]) / b[1] for a, b in pairs), max(abs(a[1] / b[1] - 1) for a, b in pairs), "NUTS") if pairs else None


def wrong(found):
    return found is not None and (found[0] > WRONG_MEAN or found[1] > WRONG_SD)


def number(value, form=".2f"):
    return "-" if value is None else format(value, form)


def state(at):
    """What became of one of our runs."""
    if not at:
        return "not run"
    if at["late"]:
        return "no answer in time"
    if "worst_ess" not in at:
        return f"failed: {at.get('message', '')[:60]}"
    return {0: "trust", command.DISTRUST: "do not trust"}.get(at["code"], f"exit code {at['code']}")


def every_posterior(results, sizes):
    head = ["posterior", "d", "gradient, us"]
    for n in sizes:
        head += [f"{n:,}: NUTS evaluations, s, R-hat", f"{n:,}: `run` evaluations, s, effective", "ratio", "s", "verdict", "off (mean, sd)"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for name, r in results.items():
        if "refused" in r["model"]:
            continue
        row = [name, str(r["model"].get("dim", "-")), number(gradient_us(r), ".3g")]
        for n in sizes:
            nuts, ours = r["nuts"].get(str(n)), r["run"].get(str(n))
            row.append("-" if not nuts else f"{nuts['evaluations']:,.0f}, {nuts['seconds']:.2f}, {number(nuts['rhat'], '.3f')}"
                       f"{', extrapolated' if nuts['extrapolated'] else ''}")
            answer = ours and "worst_ess" in ours
            row.append(f"{ours['evaluations']:,.0f}, {ours['seconds']:.2f}, {ours['worst_ess']:,.0f}" if answer else "-")
            row += [number(ratio(r, n, "evaluations")), number(ratio(r, n, "seconds")), state(ours)]
            found = error(r, ours) if answer else None
            row.append(f"{found[0]:.3f}, {found[1]:.3f} of {found[2]}" if found else "-")
        print("| " + " | ".join(row) + " |")


def spread(ratios):
    """Median and worst."""
    if not ratios:
        return "none measured"
    worst = max(ratios, key=ratios.get)
    return f"median {statistics.median(ratios.values()):.3g}, worst {ratios[worst]:.3g} ({worst}), {len(ratios)} posteriors"


def listed(names):
    return ", ".join(names) if names else "none"


def goals(results, sizes):
    print("\n| | goal | here |\n|---|---|---|")
    goal = {4000: "median <= 0.5, none above 2", 40000: "median <= 0.1"}
    good = {name: r for name, r in results.items() if "refused" not in r["model"]}
    for n in sizes:
        ratios = {name: q for name, r in good.items() if (q := ratio(r, n, "evaluations")) is not None}
        print(f"| evaluations to {n:,} effective draws | {goal.get(n, '')} | {spread(ratios)}; above 2: "
              f"{listed([f'{name} {q:.1f}' for name, q in ratios.items() if q > 2])} |")
    n = sizes[0]
    walls = {name: q for name, r in good.items() if (q := ratio(r, n, "seconds")) is not None}
    late = [name for name, q in walls.items() if q * nuts_at(good[name], n)["seconds"] > 2 * nuts_at(good[name], n)["seconds"] + 1]
    costly = {name: q for name, q in walls.items() if (gradient_us(good[name]) or 0) >= SLOW_GRADIENT}
    print(f"| seconds to {n:,} | median <= 1, none above 2 times + 1 s | {spread(walls)}; above: {listed(late)} |")
    print(f"| the same where a gradient costs {SLOW_GRADIENT} us or more | median <= 0.5 | {spread(costly)} |")
    for n in sizes:
        runs = {name: r["run"].get(str(n)) or {"late": True} for name, r in good.items() if r["run"]}
        answered = {name: at for name, at in runs.items() if "worst_ess" in at}
        off = [name for name, at in answered.items() if wrong(error(good[name], at))]
        print(f"| {n:,}: no answer in time, or failed | | {listed([name for name in runs if name not in answered])} |")
        print(f"| {n:,}: fewer effective draws than asked for | | {listed([x for x, at in answered.items() if at['worst_ess'] < n])} |")
        print(f"| {n:,}: wrong (a mean off by more than {WRONG_MEAN} sd, an sd by more than {WRONG_SD:.0%}) and trusted | none | "
              f"{listed([name for name in off if answered[name]['code'] == 0])} |")
        print(f"| {n:,}: the program's count of evaluations is not the density's | none | "
              f"{listed([name for name, at in answered.items() if command.miscounted(at)])} |")
        print(f"| {n:,}: wrong and not trusted | | {listed([name for name in off if answered[name]['code'] != 0])} |")
    lost = [name for name, r in good.items() if r["nuts"] and not nuts_at(r, sizes[0])]
    print(f"| NUTS's chains do not agree, or no answer in time | | {listed(lost)} |")
    print(f"| of these, answered and trusted by `run` | | "
          f"{listed([name for name in lost if good[name]['run'].get(str(sizes[0]), {}).get('code') == 0])} |")
    print(f"\nNot taken: {listed([name + ' (' + r['model']['refused'][:70] + ')' for name, r in results.items() if 'refused' in r['model']])}.")


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--processor"]):
        sys.exit("usage: table.py DIR [--processor]")
    results = load(sys.argv[1])
    about = next((r[who] for r in results.values() for who in ("run", "nuts") if r[who]), None)
    if about is None:
        sys.exit(f"{sys.argv[1]} has models only, and no run")
    machine = about["machine"]
    print(f"{machine['processor']}, {machine['cores']} cores, AVX-512: {'yes' if machine['avx512'] else 'no'}, {machine['date']}, commit "
          f"{machine['commit'] or 'unknown'}; {about['threads']} thread, seed {about['seed']}, {about['limit']:.0f} s for a run"
          f"{'; seconds of the processor' if '--processor' in sys.argv else ''}\n")
    sizes = wanted(results)
    every_posterior(results, sizes)
    goals(results, sizes)


main()
