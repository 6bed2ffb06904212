/* One line or two? Readings of two sensors that were not told apart, and the evidence of two models (docs/tutorial.md).
 *
 *     aisampler run examples/08_two_lines.c:data=examples/readings.csv --draws 4000
 *     aisampler run examples/08_two_lines.c:data=examples/readings.csv,flags=-DLINES=1
 *
 * A reading comes from the first line with probability `share`, else from the second; the noise is normal. Exchanging
 * the lines changes nothing, and the readings leave open which end belongs to which beginning: four modes. */
#include <aisampler/density.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef LINES
#define LINES 2
#endif

enum { MOST = 1000 };
typedef struct table {
    int rows;
    double hour[MOST], reading[MOST];
} table;

static double log_normal(double x, double mean, double sd) {
    double z = (x - mean) / sd;
    return -0.5 * z * z - log(sd) - 0.918938533204672742; /* log(2 pi) / 2 */
}

static double likelihood(const double *theta, void *data) {
    const table *of = data;
    double sum = 0;
    for (int r = 0; r < of->rows; r++) {
        double first = log_normal(of->reading[r], theta[1] + theta[2] * of->hour[r], theta[0]);
        if (LINES == 1) {
            sum += first;
            continue;
        }
        double second = log_normal(of->reading[r], theta[3] + theta[4] * of->hour[r], theta[0]);
        double a = first + log(theta[5]), b = second + log1p(-theta[5]);
        sum += fmax(a, b) + log1p(exp(-fabs(a - b))); /* log(e^a + e^b) */
    }
    return sum;
}

static int read_table(const char *file, ais_density *density, char *message, size_t size) {
    if (!file) return snprintf(message, size, "name a table, e.g. data=examples/readings.csv");
    FILE *in = fopen(file, "r");
    table *of = calloc(1, sizeof *of);
    char line[256];
    while (in && of && of->rows < MOST && fgets(line, sizeof line, in))
        if (sscanf(line, "%lf,%lf", &of->hour[of->rows], &of->reading[of->rows]) == 2) of->rows++;
    if (in) fclose(in);
    density->data = of;
    if (of && of->rows > 0) return 0;
    free(of);
    return snprintf(message, size, "there is no row of hour,reading in it");
}

static void free_table(ais_density *density) { free(density->data); }

static const ais_parameter parameters[] = {
    {"sigma", AIS_HALF_NORMAL(2)}, {"level1", AIS_NORMAL(5, 5)}, {"slope1", AIS_NORMAL(0, 1)},
    {"level2", AIS_NORMAL(5, 5)},  {"slope2", AIS_NORMAL(0, 1)}, {"share", AIS_BETA(2, 2)},
};
enum { COUNT = LINES == 1 ? 3 : 6 };
AIS_DENSITY = {AIS_DENSITY_HEAD,        .dim = COUNT,        .logp = likelihood,
               .open = read_table,      .close = free_table, .parameters = parameters,
               .parameter_count = COUNT};
