"""bench/few_evaluations and bench/posteriordb on small inputs with known answers, and on wrong ones that they must notice."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
sys.path.insert(0, BENCH)
import command

failures = 0


def check(what, good):
    global failures
    if not good:
        failures += 1
        print(f"FAILED: {what}")


def python(*arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def densities():
    """Every C file has the log Z that its table says, no gradient, and counts every call."""
    code, said = python(os.path.join(BENCH, "few_evaluations", "targets.py"))
    check(f"targets.py: {said}", code == 0)
    for path in sorted(glob.glob(os.path.join(BENCH, "few_evaluations", "targets", "*.c"))):
        with command.scratch() as folder:
            result = command.call("sample", path, "--sampler", "rwm", "--chains", 2, "--warmup", 20, "--draws", 30, "--threads", 1,
                                  folder=folder, limit=60)
            check(f"{path} is drawn from: {result}", "worst_ess" in result)
            check(f"{path} has no gradient", result["counted"].get("gradients") == 0)
            check(f"{path} counts every step", result["counted"].get("densities", 0) >= 2 * (20 + 30))
            check(f"{path}: judging and files cost no evaluations: {result}", result["counted"].get("densities", 1e9) < 1000)
            check(f"{path} has its draws read", command.draws(folder).shape[0] == 60)
    with command.scratch() as folder:
        slow = command.call("sample", path, "--sampler", "rwm", "--chains", 1, "--warmup", 0, "--draws", 100, "--threads", 1,
                            folder=folder, limit=60, environment={"AIS_EVALUATION_MS": "2"})
        check(f"an evaluation takes 2 ms: {slow}", slow["wall"] >= 0.002 * command.total(slow))


def few_evaluations_table():
    """A run that is better than nautilus in all, and one whose log Z and cost are not."""
    about = {"seed": 1, "effective_wanted": 10000, "machine": command.machine()}
    peer = {"who": "nautilus", "calls": 20000, "wall": 60.0, "complete": True, "effective": 10100.0, "log_z": 0.45, **about}
    ours = {"who": "aisampler", "wall": 2.0, "code": 0, "worst_ess": 10050, "log_z": 0.4516, "log_z_error": 0.004,
            "share_error": 0.01, **about}
    with tempfile.TemporaryDirectory() as folder:
        for target, calls, off in (("mog6", 15000, 0.001), ("forty", 30000, 0.5)):
            command.keep(os.path.join(folder, f"{target}-1-nautilus.json"), {"target": target, **peer})
            command.keep(os.path.join(folder, f"{target}-1-aisampler.json"),
                         {"target": target, **ours, "log_z": {"mog6": 0.4516, "forty": 0}[target] + off,
                          "counted": {"densities": calls, "gradients": 0}, "said": {"total": 15000}})
        code, said = python(os.path.join(BENCH, "few_evaluations", "table.py"), folder)
    check(f"the ratio of a cheaper run is shown: {said}", code == 0 and "| 0.75 | 0.033 | trust |" in said)
    for goal in ("evaluations at most nautilus's", "the program counts every evaluation", "log Z within 0.02 and 3 of its own errors"):
        check(f"{goal} is missed by one only: {said}", f"| {goal} | missed by 40 modes, 1 |" in said)
    check("the goal of time is reached", "| seconds at most a tenth of nautilus's | reached by all |" in said)


MODEL = """
data { real centre; }
parameters { real mu; real<lower=0> tau; }
model {
  if (mu > centre + 30) reject("too far");
  mu ~ normal(centre, 2);
  tau ~ exponential(1);
}
"""


def write(root, path, text):
    path = os.path.join(root, "posterior_database", path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if path.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(os.path.basename(path)[:-4], text)
    else:
        with open(path, "w") as file:
            file.write(text)


def checkout(root):
    """Three posteriors: a right reference, one that is 1 sd off, and a program that does not compile."""
    random = np.random.RandomState(1)
    write(root, "data/data/point.json.zip", json.dumps({"centre": 1.0}))
    write(root, "models/stan/normal.stan", MODEL)
    write(root, "models/stan/broken.stan", MODEL.replace("mu ~", "nothing ~"))
    for name, model, off in (("right", "normal", 0), ("off", "normal", 2), ("broken", "broken", 0)):
        draws = [{"mu": list(1 + off + 2 * random.randn(5000)), "tau": list(random.exponential(size=5000))} for _ in range(2)]
        write(root, f"reference_posteriors/draws/draws/{name}.json.zip", json.dumps(draws))
        write(root, f"posteriors/{name}.json",
              json.dumps({"name": name, "model_name": model, "data_name": "point", "reference_posterior_name": name}))


def posteriordb():
    measure = os.path.join(BENCH, "posteriordb", "measure.py")
    with tempfile.TemporaryDirectory() as root:
        out = os.path.join(root, "out")
        checkout(root)
        order = (measure, root, "--out", out, "--who", "nuts", "--effective", "1000,3000", "--limit", "60")
        code, said = python(*order)
        check(f"the posteriors are measured: {said}", code == 0)
        result = {name: command.read_json(os.path.join(out, name + ".json")) for name in
                  ("right-model", "right-nuts", "off-nuts", "broken-model")}
        check(f"a program that does not compile is told: {result['broken-model']}", "refused" in result["broken-model"])
        check("the dimension is that of the model", result["right-model"].get("dim") == 2)
        at = result["right-nuts"].get("3000", {})
        check(f"warm-up is counted: {at}", at.get("evaluations", 0) > at.get("leapfrogs", 1e9) * 3000 / at.get("worst_ess", 1) + 4000)
        check(f"NUTS agrees with the reference: {at}", at.get("mean_error", 1) < 0.15 and at.get("compared") == 2)
        check("a reference that is 1 sd off is noticed", result["off-nuts"].get("3000", {}).get("mean_error", 0) > 0.85)
        before = {path: os.stat(path).st_mtime_ns for path in glob.glob(os.path.join(out, "*.json"))}
        python(*order)
        check("what was measured is not measured again", before == {path: os.stat(path).st_mtime_ns for path in before})
        # Runs of our own, made up from NUTS's: half its evaluations, three times its seconds.
        for name in ("right", "off"):
            nuts = command.read_json(os.path.join(out, f"{name}-nuts.json"))
            for n in ("1000", "3000"):
                nuts[n] |= {"evaluations": nuts[n]["evaluations"] / 2, "seconds": 3 * nuts[n]["seconds"] + 1, "worst_ess": 1e4, "code": 0}
            command.keep(os.path.join(out, f"{name}-run.json"), nuts)
        code, said = python(os.path.join(BENCH, "posteriordb", "table.py"), out)
        check(f"the table gives the ratio: {said}", code == 0 and "effective draws |  | median 0.5, worst 0.5 (" in said)
        check(f"a slow run is named: {said}", "above: off, right |" in said)
        check(f"a wrong answer that was trusted is named: {said}", "and trusted | none | off |" in said)


densities()
few_evaluations_table()
posteriordb()
print(f"{failures} failures")
sys.exit(failures > 0)
