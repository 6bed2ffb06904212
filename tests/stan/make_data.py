"""Makes the data of the programs in this folder, which are kept: python3 tests/stan/make_data.py"""
import json
import math
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(14)


def keep(name, **data):
    with open(os.path.join(HERE, name + ".json"), "w") as file:
        json.dump(data, file)
        file.write("\n")


def rounded(values):
    return [round(value, 3) for value in values]


keep("mixture", N=60, y=rounded(rng.gauss(-2, 0.8) if rng.random() < 0.35 else rng.gauss(2, 1.2) for _ in range(60)))
keep("switching", N=24, y=rounded(rng.gauss(-2.5 if i % 2 else 2.5, 1) for i in range(24)))

absorb, clear, times = 1.2, 0.4, [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 10, 12]
keep("decay", T=len(times), t=times, y=rounded(
    10 * absorb / (absorb - clear) * (math.exp(-clear * t) - math.exp(-absorb * t)) * math.exp(rng.gauss(0, 0.15))
    for t in times))

county, x, y = [], [], []
for j in range(24):
    intercept = rng.gauss(1, 0.7)
    slope = -0.6 + 0.3 * (intercept - 1) + rng.gauss(0, 0.3)
    for _ in range(6):
        county.append(j + 1)
        x.append(round(rng.uniform(-1, 1), 3))
        y.append(round(intercept + slope * x[-1] + rng.gauss(0, 0.6), 3))
keep("counties", N=len(y), J=24, county=county, x=x, y=y)

x = rounded(rng.gauss(0, 1) for _ in range(80))
grade = []
for value in x:
    at = 0.9 * value + math.log(1 / rng.uniform(1e-6, 1) - 1)
    grade.append(1 + sum(at > cut for cut in (-2, -0.5, 0.7, 2)))
keep("grades", N=80, grade=grade, x=x)
