"""How much the log predictive density of table 2 depends on which tenth of the rows is tested.

    python3 bench/splits.py build/aisampler [heart german australian]

Each of ten folds in turn is the test set: its rows are put last, the posterior of the other nine tenths is sampled by
`aisampler sample --sampler nuts` (4 chains of 1000), and the mean over the fold of the log of the mean likelihood is printed, then
their mean and standard deviation. The last fold is the split of `aisampler reproduce`. Standard library only.
"""
import csv
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

FOLDS = 10


def read_rows(path):
    with open(path) as file:
        return [[float(cell) for cell in row] for row in csv.reader(file) if row]


def standardise(rows):
    """Covariates over all rows, a bias in front; the label's larger value becomes 1."""
    columns = list(zip(*rows))
    label = [1 if value == max(columns[-1]) else 0 for value in columns[-1]]
    scaled = []
    for column in columns[:-1]:
        mean, sd = statistics.fmean(column), statistics.pstdev(column)
        scaled.append([(value - mean) / sd for value in column])
    return [[1.0, *x] for x in zip(*scaled)], label


def read_draws(folder):
    draws = []
    for path in sorted(pathlib.Path(folder).glob("draws-*.csv")):
        with open(path) as file:
            lines = csv.reader(line for line in file if not line.startswith("#"))
            header = next(lines)
            use = [k for k, name in enumerate(header) if not name.endswith("__")]
            draws += [[float(row[k]) for k in use] for row in lines][::4]
    return draws


def predictive(draws, covariates, label):
    total = 0
    for x, y in zip(covariates, label):
        likelihood = 0
        for w in draws:
            t = sum(a * b for a, b in zip(x, w))
            likelihood += 1 / (1 + math.exp(-t if y else t))
        total += math.log(likelihood / len(draws))
    return total / len(label)


def one_fold(command, rows, fold, work):
    first, last = len(rows) * fold // FOLDS, len(rows) * (fold + 1) // FOLDS
    turned = rows[:first] + rows[last:] + rows[first:last]
    path = pathlib.Path(work, "turned.csv")
    path.write_text("".join(",".join(f"{cell:.17g}" for cell in row) + "\n" for row in turned))
    share = (len(rows) - (last - first)) / len(rows)
    subprocess.run([command, "sample", f"blr:{path}:rows={share:.17g},label=last", "--sampler", "nuts", "-j", "1", "-q", "--format",
                    "csv", "-o", f"{work}/out"], check=True, stdout=subprocess.DEVNULL)
    covariates, label = standardise(turned)
    test = len(rows) - (last - first)
    return predictive(read_draws(f"{work}/out"), covariates[test:], label[test:])


def main():
    command, names = sys.argv[1], sys.argv[2:] or ["heart", "german", "australian"]
    data = pathlib.Path(__file__).parent.parent / "data"
    for name in names:
        rows = read_rows(data / f"{name}.csv")
        with tempfile.TemporaryDirectory() as work:
            value = [one_fold(command, rows, fold, work) for fold in range(FOLDS)]
        print(f"{name:10}", " ".join(f"{v:.3f}" for v in value),
              f"  mean {statistics.fmean(value):.3f}, sd {statistics.stdev(value):.3f}", flush=True)


if __name__ == "__main__":
    main()
