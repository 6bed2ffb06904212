"""Files of draws, exchanged with ArviZ and CmdStan. Arguments: draws_probe, a scratch folder."""

import csv
import glob
import importlib.util
import io
import os
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")

import arviz
import h5netcdf
import netCDF4
import numpy as np
import xarray

PROBE, WORK = sys.argv[1:3]
STAN = os.path.join(importlib.util.find_spec("prophet").submodule_search_locations[0], "stan_model")
CMDSTAN = glob.glob(os.path.join(STAN, "cmdstan-*", "bin"))[0]

STATS = {
    "lp__": "lp",
    "accept_stat__": "acceptance_rate",
    "stepsize__": "step_size",
    "treedepth__": "tree_depth",
    "n_leapfrog__": "n_steps",
    "divergent__": "diverging",
    "energy__": "energy",
    "round_trip__": "round_trip",
    "log_weight__": "log_weight",
}


def check(condition, what):
    if not condition:
        sys.exit(f"read_by_others: {what}")


def same(a, b, what):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    check(a.shape == b.shape and np.array_equal(a, b, equal_nan=True), f"{what}: numbers differ")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(command)} failed: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def ours(*paths):
    """What our reader makes of files: {column: chains x draws}."""
    rows = list(csv.reader(io.StringIO(run(PROBE, "read", *paths))))
    table = np.array(rows[1:], dtype=float)
    chains = int(table[:, 0].max()) + 1
    return {name: table[:, i].reshape(chains, -1) for i, name in enumerate(rows[0]) if i >= 2}


def write(kind, name, *options):
    folder = os.path.join(WORK, name)
    run(PROBE, "write", kind, folder, *options)
    return folder


def flat(variable):
    """{Stan's column name: chains x draws} of an array (chain, draw, ...)."""
    values = variable.transpose("chain", "draw", ...).values
    names = [()] if values.ndim == 2 else np.ndindex(*values.shape[2:])
    return {".".join([variable.name, *(str(i + 1) for i in n)]): values[(slice(None), slice(None), *n)] for n in names}


def compare(data, columns, what):
    """An InferenceData against our columns: every parameter and every statistic, to the bit."""
    seen = set()
    for variable in data.posterior.data_vars.values():
        for name, values in flat(variable).items():
            check(name in columns, f"{what}: no column {name}")
            same(columns[name], values, f"{what}: {name}")
            seen.add(name)
    check(seen == {n for n in columns if not n.endswith("__")}, f"{what}: other parameters than {sorted(seen)}")
    for name, values in columns.items():
        if name.endswith("__"):
            same(values, data.sample_stats[STATS.get(name, name[:-2])].values, f"{what}: {name}")


def csv_files(folder):
    return sorted(glob.glob(os.path.join(folder, "draws-*.csv")), key=lambda p: int(p.rsplit("-", 1)[1][:-4]))


def arviz_reads_ours():
    for label, options in {
        "plain": [],
        "warmup": ["warmup=37", "save=1"],
        "odd": ["odd=1", "chunk=7"],
        "names": ["names=1"],
        "stopped": ["stop=333", "chains=3"],
        "bare": ["info=0", "dim=1"],
        "blocks": ["draws=5000", "chains=2", "stop=4500", "dim=2"],
    }.items():
        folder = write("netcdf", label, *options)
        write("csv", label, *options)
        path = os.path.join(folder, "draws.nc")
        columns = ours(path)
        csv_columns = ours(*csv_files(folder))
        check(columns.keys() == csv_columns.keys(), f"{label}: the two formats have other columns")
        for name in columns:
            same(columns[name], csv_columns[name], f"{label}: {name} in CSV and netCDF")
        compare(arviz.from_netcdf(path), columns, f"{label} netCDF")
        compare(arviz.from_netcdf(path, engine="netcdf4"), columns, f"{label} netCDF4")
        data = arviz.from_cmdstan(csv_files(folder), save_warmup=True)
        compare(data, columns, f"{label} from_cmdstan")
        with h5netcdf.File(path, "r") as file:
            check(file.attrs["inference_library"] == "aisampler", "attributes are not readable through h5netcdf")
        if label == "warmup":
            warm = arviz.from_netcdf(path)
            check(warm.warmup_posterior.sizes["draw"] == 37, "37 warm-up draws")
            same(warm.warmup_posterior["x"].values, data.warmup_posterior["x"].values, "warm-up in both formats")
            check(not np.array_equal(warm.warmup_posterior["x"][:, 0], warm.posterior["x"][:, 0]), "warm-up is its own")
            check(warm.sample_stats["diverging"].dtype == bool, "diverging is a bool")
        if label == "stopped":
            check(data.posterior.sizes["draw"] == 333, "a stopped run has the draws made")
    print("ArviZ reads our netCDF and CSV: same numbers")


def stansummary(*paths):
    out = os.path.join(WORK, "summary.csv")
    if os.path.exists(out):
        os.remove(out)
    run(os.path.join(CMDSTAN, "stansummary"), "-s", "15", "-c", out, *paths)
    with open(out) as file:
        return {row["name"]: row for row in csv.DictReader(line for line in file if not line.startswith("#"))}


def cmdstan_reads_ours():
    for label, options in {"plain": [], "warmup": ["warmup=37", "save=1"], "stopped": ["stop=333", "chains=3"]}.items():
        paths = csv_files(os.path.join(WORK, label))
        columns = ours(*paths)
        summary = stansummary(*paths)
        for name, values in columns.items():
            base, *index = name.split(".")
            shown = f"{base}[{','.join(index)}]" if index else base
            check(shown in summary, f"stansummary shows no {shown}")
            mean, sd = float(summary[shown]["Mean"]), float(summary[shown]["StdDev"])
            check(np.isclose(mean, values.mean(), rtol=1e-9, atol=1e-12), f"{label}: mean of {name}")
            check(np.isclose(sd, values.std(ddof=1), rtol=1e-9, atol=1e-12), f"{label}: sd of {name}")
        text = run(os.path.join(CMDSTAN, "stansummary"), *paths)
        count = columns["lp__"].shape[1]
        check(f"iter={count};" in text and f"{count} iterations saved" in text, f"{label}: stansummary counts {count}")
        # Equal runs give equal files, so no file carries its seconds; run.json does.
        check("Warmup took (0.00" in text and "Sampling took (0.00" in text, f"{label}: no times")
        text = run(os.path.join(CMDSTAN, "diagnose"), *paths)
        divergent = int(columns["divergent__"].sum())
        check(f"{divergent} of {columns['lp__'].size}" in text, f"{label}: {divergent} divergences, not: {text}")
    print("stansummary and diagnose read our CSV: same numbers")


def example():
    rng = np.random.default_rng(1)
    posterior = {
        "mu": rng.normal(size=(3, 50)),
        "theta": rng.normal(size=(3, 50, 4)),
        "L": rng.normal(size=(3, 50, 2, 3)),
        "single": rng.normal(size=(3, 50)).astype(np.float32),
        "count": rng.integers(-5, 5, size=(3, 50)),
    }
    stats = {
        "lp": rng.normal(size=(3, 50)),
        "diverging": rng.random(size=(3, 50)) < 0.3,
        "tree_depth": rng.integers(1, 9, size=(3, 50)),
        "energy": rng.normal(size=(3, 50)),
        "acceptance_rate": rng.random(size=(3, 50)),
        "step_size": rng.random(size=(3, 50)),
        "n_steps": rng.integers(1, 255, size=(3, 50)),
        "perf_counter_diff": rng.random(size=(3, 50)),
        "gradient": rng.normal(size=(3, 50, 2)),  # left out by us
    }
    return arviz.from_dict(posterior=posterior, sample_stats=stats, observed_data={"y": rng.normal(size=5)})


def we_read_arviz():
    data = example()
    for engine in ("netcdf4", "h5netcdf"):
        path = os.path.join(WORK, f"{engine}.nc")
        data.to_netcdf(path, engine=engine)
        columns = ours(path)
        check(len([n for n in columns if not n.endswith("__")]) == 13, f"{engine}: 13 parameters")
        check("gradient__" not in columns and "perf_counter_diff__" in columns, f"{engine}: which statistics")
        compare(data, columns, f"written through {engine}")
    both = ours(os.path.join(WORK, "netcdf4.nc"), os.path.join(WORK, "h5netcdf.nc"))
    check(both["mu"].shape == (6, 50), "two files make six chains")
    turned = os.path.join(WORK, "turned.nc")
    data.posterior.transpose("draw", ..., "chain").to_netcdf(turned, group="posterior")
    compare(arviz.InferenceData(posterior=data.posterior), ours(turned), "dimensions in another order")
    packed = os.path.join(WORK, "packed.nc")
    data.posterior[["mu"]].to_netcdf(
        packed, group="posterior", encoding={"mu": {"dtype": "i4", "scale_factor": 1e-6, "add_offset": 0.5}}
    )
    back = xarray.open_dataset(packed, group="posterior")["mu"].values
    check(np.allclose(ours(packed)["mu"], back, rtol=0, atol=1e-12), "packed numbers")
    none = os.path.join(WORK, "none.nc")
    data.observed_data.to_netcdf(none, group="observed_data")
    done = subprocess.run([PROBE, "read", none], capture_output=True, text=True)
    check(done.returncode == 1 and "no group 'posterior'; it has observed_data" in done.stderr.replace(
        ": not ArviZ InferenceData with draws", ""), done.stderr)
    classic = os.path.join(WORK, "classic.nc")
    netCDF4.Dataset(classic, "w", format="NETCDF3_CLASSIC").close()
    done = subprocess.run([PROBE, "read", classic], capture_output=True, text=True)
    check(done.returncode == 1 and "no group 'posterior'" in done.stderr, done.stderr)
    print("we read ArviZ's netCDF of both engines: same numbers")


def we_read_cmdstan():
    """Real CmdStan output: the model that prophet carries, run on eight points."""
    data = os.path.join(WORK, "data.json")
    with open(data, "w") as file:
        file.write(
            '{"T":8,"K":1,"t":[0,0.1,0.2,0.3,0.4,0.5,0.6,1],"cap":[1,1,1,1,1,1,1,1],'
            '"y":[0.1,0.2,0.35,0.3,0.4,0.6,0.7,1],"S":1,"t_change":[0.5],"trend_indicator":0,'
            '"X":[[0],[0],[0],[0],[0],[0],[0],[0]],"sigmas":[1],"tau":0.05,'
            '"s_a":[1],"s_m":[0]}'
        )
    model = os.path.join(STAN, "prophet_model.bin")
    for label, options in {
        "plain": [],
        "warmup": ["save_warmup=1"],
        "thin": ["save_warmup=1", "thin=2"],
        "thin3": ["save_warmup=1", "thin=3"],
        "fixed": ["save_warmup=1", "algorithm=fixed_param"],
    }.items():
        out = os.path.join(WORK, f"stan-{label}.csv")
        run(model, "sample", "num_samples=100", "num_warmup=100", *options, "random", "seed=7", "data", f"file={data}",
            "output", f"file={out}", "sig_figs=17")
        thin = {"thin": 2, "thin3": 3}.get(label, 1)
        columns = ours(out)
        rows = -(-100 // thin)
        check(columns["k"].shape == (1, rows), f"CmdStan {label}: {columns['k'].shape} instead of {rows} draws")
        with open(out) as file:
            lines = [line for line in file if not line.startswith("#")]
        table = np.array([line.split(",") for line in lines[1:]], dtype=float)[-rows:]
        for i, name in enumerate(lines[0].strip().split(",")):
            same(columns[name][0], table[:, i], f"CmdStan {label}: {name}")
    out = os.path.join(WORK, "optimize.csv")
    run(model, "optimize", "iter=5", "random", "seed=7", "data", f"file={data}", "output", f"file={out}")
    done = subprocess.run([PROBE, "read", out], capture_output=True, text=True)
    check(done.returncode == 1 and "optimize" in done.stderr, done.stderr)
    print("we read CmdStan's CSV: same numbers")


arviz_reads_ours()
cmdstan_reads_ours()
we_read_arviz()
we_read_cmdstan()
