/* Are log Z and its error calibrated? Many whole runs on densities whose integral is known; their standardised errors
 * (log_z - truth) / log_z_error should have mean 0 and standard deviation 1.
 *
 *     log_z [runs=200] [first=1] [draws=1000] [only=NAME] [threads=1]
 *
 * Per density: how many runs gave a log Z and how many of them were trusted; mean and standard deviation of the
 * standardised errors of the trusted ones, with their own standard errors (1 / sqrt n and 1 / sqrt 2n); the largest;
 * the mean bias in natural logarithms, and the median error that was told. A row ends with "off" where mean or standard
 * deviation is more than 4 of their errors from 0 and 1. */
#include <math.h>
#include <stdio.h>

#include <aisampler/aisampler.h>

#include "../arguments.h"
#include "base/special.h"

static double exponential(const double *x, void *data) {
    (void)data;
    return x[0] > 0 ? -x[0] : -INFINITY;
}

/* Logarithms of five gamma variables of shape 1. */
enum { GAMMAS = 5 };
static double gammas(const double *x, void *data) {
    (void)data;
    double sum = 0;
    for (int i = 0; i < GAMMAS; i++) sum += x[i] - exp(x[i]);
    return sum;
}
static double gammas_slope(const double *x, double *gradient, void *data) {
    for (int i = 0; i < GAMMAS; i++) gradient[i] = 1 - exp(x[i]);
    return gammas(x, data);
}

/* Multivariate t with 5 degrees of freedom. */
enum { TEES = 5 };
static double tee(const double *x, void *data) {
    (void)data;
    double square = 0;
    for (int i = 0; i < TEES; i++) square += x[i] * x[i];
    return ais_log_gamma((5 + TEES) / 2.0) - ais_log_gamma(2.5) - 0.5 * TEES * log(5 * 3.14159265358979323846) -
           0.5 * (5 + TEES) * log1p(square / 5);
}
static double tee_slope(const double *x, double *gradient, void *data) {
    double square = 0;
    for (int i = 0; i < TEES; i++) square += x[i] * x[i];
    for (int i = 0; i < TEES; i++) gradient[i] = -(5 + TEES) * x[i] / (5 + square);
    return tee(x, data);
}

typedef struct problem {
    const char *name, *spec; /* of a built-in target, whose reference has log Z; or */
    ais_target own;          /* one of the above */
    double log_z;
    bool ladder;
} problem;
static const problem problems[] = {
    {.name = "mog6", .spec = "mog6"},
    {.name = "triangle", .spec = "triangle"},
    {.name = "banana", .spec = "banana"},
    {.name = "gaussian, d = 20", .spec = "gaussian:dim=20,cond=100"},
    {.name = "funnel, d = 5", .spec = "funnel:dim=5"},
    {.name = "two modes, d = 8", .spec = "twomodes"},
    {.name = "half-line, no gradient", .own = {.name = "half-line", .dim = 1, .logp = exponential}},
    {.name = "log gammas, d = 5", .own = {.name = "gammas", .dim = GAMMAS, .logp = gammas, .grad = gammas_slope}},
    {.name = "t, d = 5", .own = {.name = "t", .dim = TEES, .logp = tee, .grad = tee_slope}},
    {.name = "ring5", .spec = "ring5"},
    {.name = "triangle, ladder", .spec = "triangle", .ladder = true},
};

typedef struct tally {
    int runs, answers, trusted;
    double sum, square, largest, bias, *error;
} tally;

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ais_status add(ais_context *context, const problem *p, const ais_target *target, double truth, uint64_t seed,
                      tally *t) {
    const ais_train_options learning = {.ladder = p->ladder};
    const ais_run_options options = {AIS_RUN_HEAD,
                                     .seed = seed,
                                     .chains = 16,
                                     .draws = (int)number("draws", 1000),
                                     .threads = (int)number("threads", 1),
                                     .learning = p->ladder ? &learning : NULL};
    ais_run_result *result = NULL;
    ais_status status = ais_run(context, target, &options, &result);
    t->runs++;
    if (status == AIS_OK && result->log_z_error > 0) {
        t->answers++;
        if (result->trust) {
            double off = result->log_z - truth, z = off / result->log_z_error;
            t->sum += z;
            t->square += z * z;
            t->bias += off;
            if (fabs(z) > fabs(t->largest)) t->largest = z;
            t->error[t->trusted++] = result->log_z_error;
        }
    }
    ais_run_free(result);
    return status;
}

static bool tell(const problem *p, const tally *t) {
    double n = t->trusted, mean = t->sum / n, sd = sqrt((t->square - n * mean * mean) / (n - 1));
    qsort(t->error, (size_t)t->trusted, sizeof *t->error, by_size);
    bool off = !(fabs(mean) < 4 / sqrt(n) && fabs(sd - 1) < 4 / sqrt(2 * n));
    printf("| %s | %d | %d | %d | %.2f +- %.2f | %.2f +- %.2f | %.1f | %.2g | %.2g | %s |\n", p->name, t->runs,
           t->answers, t->trusted, mean, 1 / sqrt(n), sd, 1 / sqrt(2 * n), t->largest, t->bias / n,
           t->trusted ? t->error[t->trusted / 2] : NAN, off ? "off" : "");
    fflush(stdout);
    return off;
}

int main(int count, char **argument) {
    words = count, word = argument;
    int runs = (int)number("runs", 200);
    uint64_t first = (uint64_t)number("first", 1);
    const char *only = text("only", NULL);
    bool off = false;
    printf("| density | runs | with log Z | trusted | mean | sd | largest | bias | error told (median) | |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        const problem *p = &problems[k];
        if (only && strcmp(only, p->name) != 0) continue;
        ais_context context = {0};
        ais_target *opened = NULL;
        ais_status status = p->spec ? ais_target_open(&context, p->spec, &opened) : AIS_OK;
        tally t = {.error = calloc((size_t)runs, sizeof *t.error)};
        for (int r = 0; r < runs && status == AIS_OK && t.error; r++)
            status = add(&context, p, opened ? opened : &p->own, opened ? opened->reference->log_z : p->log_z,
                         first + (uint64_t)r, &t);
        if (status == AIS_OK)
            off |= tell(p, &t);
        else
            fprintf(stderr, "log_z: %s, run %d: %s\n", p->name, t.runs, context.message);
        free(t.error);
        ais_target_close(opened);
        if (status != AIS_OK) return 2;
    }
    return off;
}
