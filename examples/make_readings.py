"""Makes examples/readings.csv: 40 readings of two sensors, before and after a pause. Which sensor gave a reading was not
noted. One rises by 1 per hour from 2, the other falls by 0.4 per hour from 6; the noise has a standard deviation of 0.4.

    python3 examples/make_readings.py > examples/readings.csv"""

import random

chance = random.Random(5)
print("hour,reading")
for begin, end in ((0, 1), (4, 5)):
    for _ in range(20):
        hour = chance.uniform(begin, end)
        level = 2 + hour if chance.random() < 0.5 else 6 - 0.4 * hour
        print(f"{hour:.2f},{chance.gauss(level, 0.4):.2f}")
