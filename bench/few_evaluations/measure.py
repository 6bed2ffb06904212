"""Densities without a gradient, in the plane and in a few dimensions: evaluations for so many effective draws, nautilus and
we in one run, one thread each.

    bash bench/few_evaluations/run.sh [--out DIR] [--who nautilus,aisampler,slow] [--only NAMES] [--seeds 11,12]
                                      [--effective 10000] [--limit 900]

Each result is a file in DIR (out/few_evaluations), and what is there is not measured again: the program can be killed and
started again, and run in pieces. table.py DIR prints the tables. Our evaluations are those that the density counted itself.

slow: the pair of modes with 5 ms per evaluation, on 1 and 2 threads, with a deadline and with a budget."""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import command
import targets

SLOW = {
    "threads1": ["--effective", "{effective}", "--threads", "1"],
    "threads2": ["--effective", "{effective}", "--threads", "2"],
    "seconds60": ["--seconds", "60", "--threads", "2"],
    "evaluations5000": ["--evaluations", "5000", "--threads", "2"],
}


def nautilus(target, seed, wish):
    line = [sys.executable, os.path.join(HERE, "peer.py"), target.name, str(seed), str(wish.effective), str(wish.limit)]
    out = subprocess.run(line, capture_output=True, text=True)
    if out.returncode != 0:
        return {"message": out.stderr.strip()[-500:]}
    return json.loads(out.stdout.splitlines()[-1])


def ours(target, seed, options, limit, milliseconds=0):
    with command.scratch() as folder:
        # What the compiler takes is paid once per density, not once per run.
        command.call("sample", target.path, "--sampler", "rwm", "--chains", "1", "--warmup", "0", "--draws", "10",
                     folder=os.path.join(folder, "compiled"), limit=60)
        out = os.path.join(folder, "run")
        os.mkdir(out)
        result = command.call("run", target.path, *options, "--seed", seed, folder=out, limit=limit,
                              environment={"AIS_EVALUATION_MS": str(milliseconds)} if milliseconds else None)
        if "worst_ess" in result:
            result["share_error"] = target.share_error(command.draws(out))
    return result


def aisampler(target, seed, wish):
    return ours(target, seed, ["--effective", wish.effective, "--threads", "1"], wish.limit)


def measure(path, about, function):
    if os.path.exists(path):
        return
    print(f"{os.path.basename(path)[:-5]:28}", end=" ", flush=True)
    result = function()
    command.keep(path, {**about, **result})
    spent = result.get("calls") or (command.total(result) if result.get("counted") else "?")
    print(f"{spent} evaluations, {result.get('wall', 0):.1f} s {result.get('message', '')[:120]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.path.join(command.ROOT, "out", "few_evaluations"))
    parser.add_argument("--who", default="nautilus,aisampler,slow")
    parser.add_argument("--only", default=",".join(targets.BY_NAME))
    parser.add_argument("--seeds", default="11,12")
    parser.add_argument("--effective", type=int, default=10000)
    parser.add_argument("--limit", type=float, default=900, help="seconds of one run")
    wish = parser.parse_args()
    who, names, seeds = (text.split(",") for text in (wish.who, wish.only, wish.seeds))
    for word, known in [(word, ("nautilus", "aisampler", "slow")) for word in who] + [(word, targets.BY_NAME) for word in names]:
        if word not in known:
            sys.exit(f"unknown name {word}: one of {', '.join(known)}")
    os.makedirs(wish.out, exist_ok=True)
    machine = command.machine()
    for seed in map(int, seeds):
        about = {"seed": seed, "effective_wanted": wish.effective, "machine": machine}
        for name in names:
            target = targets.BY_NAME[name]
            for peer, function in (("nautilus", nautilus), ("aisampler", aisampler)):
                if peer in who:
                    measure(os.path.join(wish.out, f"{name}-{seed}-{peer}.json"), {"target": name, "who": peer, **about},
                            lambda: function(target, seed, wish))
        for row, options in SLOW.items() if "slow" in who else ():
            options = [word.format(effective=wish.effective) for word in options]
            measure(os.path.join(wish.out, f"slow-{seed}-{row}.json"), {"target": "pair4", "who": "slow", "row": row, **about},
                    lambda: ours(targets.BY_NAME["pair4"], seed, options, wish.limit, milliseconds=5))


main()
