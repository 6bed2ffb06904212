/* A density of your own that reads a table: how many questions 80 students left open, in groups by how long they
 * learned.
 *
 *     aisampler run examples/05_data_file.c:data=examples/exam.csv
 *
 * Counts are Poisson, their rate is exp(a + b hours); priors a ~ N(0, 10^2), b ~ N(0, 1). open reads the file that
 * data= names, before anything else; a sentence in message is what the command says when it cannot. */
#include <aisampler/density.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000 };
typedef struct table {
    int rows;
    double hours[MOST], count[MOST];
} table;

static double gradient_and_logp(const double *x, double *gradient, void *data) {
    const table *of = data;
    double value = -x[0] * x[0] / 200 - x[1] * x[1] / 2;
    gradient[0] = -x[0] / 100;
    gradient[1] = -x[1];
    for (int r = 0; r < of->rows; r++) {
        double z = x[0] + x[1] * of->hours[r], rate = exp(z);
        value += of->count[r] * z - rate;
        gradient[0] += of->count[r] - rate;
        gradient[1] += (of->count[r] - rate) * of->hours[r];
    }
    return value;
}

static double logp(const double *x, void *data) {
    double unused[2];
    return gradient_and_logp(x, unused, data);
}

/* Lines of passed;hours;school;age;open. */
static int read_table(const char *file, ais_density *density, char *message, size_t size) {
    if (!file) return snprintf(message, size, "name a table, e.g. data=examples/exam.csv");
    FILE *in = fopen(file, "r");
    table *of = calloc(1, sizeof *of);
    char line[256];
    while (in && of && of->rows < MOST && fgets(line, sizeof line, in))
        if (sscanf(line, "%*[^;];%lf;%*[^;];%*[^;];%lf", &of->hours[of->rows], &of->count[of->rows]) == 2) of->rows++;
    if (in) fclose(in);
    density->data = of;
    if (of && of->rows > 0) return 0;
    free(of);
    return snprintf(message, size, "there is no row of passed;hours;school;age;open in it");
}

static void free_table(ais_density *density) { free(density->data); }

static const char *const names[] = {"a", "b"};
AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2,           .logp = logp,       .grad = gradient_and_logp,
               .names = names,   .open = read_table, .close = free_table};
