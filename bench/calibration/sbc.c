/* Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari and Gelman 2018): parameters from the prior, data
 * from them, draws from the posterior; among these the rank of the parameters that made the data is uniform, if all is
 * right: kernel, sampler, model.
 *
 *     sbc [runs=200] [first=1] [model=NAME] [way=NAME] [ranks=FILE.csv] [broken=0]
 *
 * Models: a logistic regression, a hierarchical model (centred), a mixture of two (the labels make two modes). Ways:
 * the independent proposals of a map, reflections, NUTS in its latent space with three proposals between its steps, a
 * ladder on it, a cycle of it and the random walk; and `run`, which learns a kernel for every data set. The others have
 * an affine map by the moments of a short run of NUTS, or of the prior (the mixture): exactness does not depend on it.
 * Ranks of every parameter and of log p among DRAWS thinned draws.
 *
 * Told per model and way: the largest chi^2 of its quantities (16 bins of the rank) as a probability, and the largest
 * distance D of a cumulative distribution of ranks from the straight line, with its probability by Kolmogorov's law,
 * which is conservative for ranks. Exits 1 when the smallest of all probabilities, times their number, is below 0.01.
 * ranks: all ranks, for bench/calibration/plot.py. broken=E: the draws come from p^(1 - E): it has to end with 1. */
#include <math.h>
#include <stdio.h>

#include <aisampler/aisampler.h>

#include "../arguments.h"
#include "base/special.h"
#include "base/streams.h"
#include "simd/normal.h"

enum { MOST_DIM = 6, MOST_DATA = 24, DRAWS = 63, BINS = 16, MODELS = 3, WAYS = 6, RUN = 5, QUANTITIES = MOST_DIM + 1 };

/* ---- models: log p(theta, data) with its gradient, and how both are made -------------------------------------------
 */

typedef struct problem {
    double y[MOST_DATA], tempered;
} problem;

static double scaled(const problem *d, int dim, double value, double *gradient) {
    for (int i = 0; gradient && i < dim; i++) gradient[i] *= d->tempered;
    return d->tempered * value;
}

/* P(y_i = 1) = 1 / (1 + exp(-(a + b u_i + c u_i^2))), u_i evenly in [-1.5, 1.5], priors N(0, 1). */
enum { ROWS = 12 };
static double covariate(int i) { return -1.5 + 3.0 * i / (ROWS - 1); }
static double regression(const double *x, double *gradient, const problem *d) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        sum -= 0.5 * x[k] * x[k];
        if (gradient) gradient[k] = -x[k];
    }
    for (int i = 0; i < ROWS; i++) {
        double u = covariate(i), z = x[0] + x[1] * u + x[2] * u * u, sign = d->y[i] > 0 ? 1 : -1;
        sum -= sign * z > 0 ? log1p(exp(-sign * z)) : -sign * z + log1p(exp(sign * z));
        for (int k = 0; gradient && k < 3; k++) gradient[k] += sign / (1 + exp(sign * z)) * pow(u, k);
    }
    return scaled(d, 3, sum, gradient);
}
static void make_regression(const double *normal, const double *uniform, double *x, problem *d) {
    for (int k = 0; k < 3; k++) x[k] = normal[k];
    for (int i = 0; i < ROWS; i++) {
        double u = covariate(i);
        d->y[i] = uniform[i] < 1 / (1 + exp(-(x[0] + x[1] * u + x[2] * u * u)));
    }
}

/* mu ~ N(0, 1), log tau ~ N(-0.5, 0.5^2), four effects ~ N(mu, tau^2), three data each ~ N(effect, 1). */
enum { GROUPS = 4, EACH = 3 };
static double hierarchy(const double *x, double *gradient, const problem *d) {
    double tau = exp(x[1]), away = (x[1] + 0.5) / 0.5, sum = -0.5 * x[0] * x[0] - 0.5 * away * away;
    double slope[MOST_DIM] = {-x[0], -away / 0.5};
    for (int j = 0; j < GROUPS; j++) {
        double z = (x[2 + j] - x[0]) / tau;
        sum += -0.5 * z * z - x[1];
        slope[0] += z / tau;
        slope[1] += z * z - 1;
        slope[2 + j] -= z / tau;
        for (int k = 0; k < EACH; k++) {
            double e = d->y[EACH * j + k] - x[2 + j];
            sum -= 0.5 * e * e;
            slope[2 + j] += e;
        }
    }
    if (gradient) memcpy(gradient, slope, (2 + GROUPS) * sizeof *slope);
    return scaled(d, 2 + GROUPS, sum, gradient);
}
static void make_hierarchy(const double *normal, const double *uniform, double *x, problem *d) {
    (void)uniform;
    x[0] = normal[0];
    x[1] = -0.5 + 0.5 * normal[1];
    for (int j = 0; j < GROUPS; j++) {
        x[2 + j] = x[0] + exp(x[1]) * normal[2 + j];
        for (int k = 0; k < EACH; k++) d->y[EACH * j + k] = x[2 + j] + normal[8 + EACH * j + k];
    }
}

/* y_i ~ (N(m_1, 1) + N(m_2, 1)) / 2, priors N(0, 2^2). */
enum { POINTS = 8 };
static double mixture(const double *x, double *gradient, const problem *d) {
    double sum = -0.125 * (x[0] * x[0] + x[1] * x[1]), slope[2] = {-0.25 * x[0], -0.25 * x[1]};
    for (int i = 0; i < POINTS; i++) {
        double a = d->y[i] - x[0], b = d->y[i] - x[1], one = -0.5 * a * a, other = -0.5 * b * b;
        double share = 1 / (1 + exp(other - one));
        sum += fmax(one, other) + log1p(exp(-fabs(one - other)));
        slope[0] += share * a;
        slope[1] += (1 - share) * b;
    }
    if (gradient) memcpy(gradient, slope, sizeof slope);
    return scaled(d, 2, sum, gradient);
}
static void make_mixture(const double *normal, const double *uniform, double *x, problem *d) {
    for (int k = 0; k < 2; k++) x[k] = 2 * normal[k];
    for (int i = 0; i < POINTS; i++) d->y[i] = x[uniform[i] < 0.5] + normal[8 + i];
}

typedef struct model {
    const char *name;
    int dim;
    double (*value)(const double *, double *, const problem *);
    void (*make)(const double *normal, const double *uniform, double *x, problem *);
} model;
static const model models[MODELS] = {{"regression", 3, regression, make_regression},
                                     {"hierarchy", 2 + GROUPS, hierarchy, make_hierarchy},
                                     {"mixture", 2, mixture, make_mixture}};

typedef struct posterior {
    const model *model;
    problem data;
} posterior;
static double logp(const double *x, void *data) {
    const posterior *p = data;
    return p->model->value(x, NULL, &p->data);
}
static double grad(const double *x, double *gradient, void *data) {
    const posterior *p = data;
    return p->model->value(x, gradient, &p->data);
}

/* ---- ways ----------------------------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    int thin;
} ways[WAYS] = {{"independent", 20}, {"reflections", 60}, {"latent nuts", 16},
                {"ladder", 20},      {"cycle", 20},       {"run", 0}};

static ais_status kernel_of(ais_context *context, int way, ais_kernel *map, ais_kernel **kernel) {
    static const double angles[] = {15, 40, 90}, beta[] = {0, 0.15, 0.5, 1}, scale[] = {1, 0.7, 0.5, 0.35};
    ais_kernel *other = NULL;
    ais_status status = AIS_OK;
    *kernel = map;
    if (way == 1) return ais_kernel_set_angles(context, map, 3, angles);
    *kernel = way == 0 ? map : NULL;
    if (way == 2) {
        status = ais_kernel_nuts(context, &(ais_nuts_options){.step_size = 0.5}, &other);
        if (status == AIS_OK) status = ais_kernel_latent(context, map, other, kernel);
        return status == AIS_OK ? ais_kernel_set_proposals(context, *kernel, 3) : status; /* modes need them */
    }
    if (way == 3)
        return ais_kernel_ladder(
            context, map, &(ais_ladder_options){.rungs = 4, .beta = beta, .scale = scale, .leapfrogs = 3}, kernel);
    if (way == 4) {
        status = ais_kernel_rwm(context, &(ais_rwm_options){.scale = 0.5}, &other);
        return status == AIS_OK ? ais_kernel_cycle(context, (ais_kernel *[]){map, other}, 2, kernel) : status;
    }
    return status;
}

/* An affine map whose normal has the moments of the posterior, about, and is a little wider. */
static ais_status fit_map(ais_context *context, const ais_target *target, bool several, uint64_t seed,
                          ais_kernel **map) {
    enum { SOME = 300 };
    size_t dim = (size_t)target->dim;
    double mean[MOST_DIM] = {0}, factor[MOST_DIM * MOST_DIM] = {0};
    const ais_shape affine = {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = target->dim};
    const ais_sample_options options = {
        .seed = seed + 1000000, .chains = 1, .warmup = 200, .draws = SOME, .threads = 1};
    ais_kernel *nuts = NULL;
    ais_sink *sink = NULL;
    ais_draws *draws = NULL;
    ais_status status = ais_kernel_learned(context, &affine, 1, map);
    for (size_t i = 0; i < dim; i++) factor[i * dim + i] = 2.5;
    if (status == AIS_OK && !several) status = ais_kernel_nuts(context, NULL, &nuts);
    if (status == AIS_OK && !several) status = ais_sink_memory(context, &sink);
    if (status == AIS_OK && !several) status = ais_sample(context, target, nuts, &options, &sink, 1, NULL);
    if (status == AIS_OK && !several) draws = ais_sink_memory_take(sink);
    for (size_t i = 0; draws && i < dim; i++) {
        const double *x = draws->value + i * SOME;
        double square = 0;
        for (int t = 0; t < SOME; t++) mean[i] += x[t] / SOME;
        for (int t = 0; t < SOME; t++) square += (x[t] - mean[i]) * (x[t] - mean[i]) / SOME;
        factor[i * dim + i] = 1.3 * sqrt(square);
    }
    if (status == AIS_OK) status = ais_kernel_whiten(context, *map, mean, factor);
    ais_draws_free(draws);
    ais_sink_free(sink);
    ais_kernel_free(nuts);
    return status;
}

/* DRAWS draws of one way; the caller frees them. */
static ais_status draw(ais_context *context, const ais_target *target, int way, bool several, uint64_t seed,
                       ais_draws **draws) {
    ais_kernel *map = NULL, *kernel = NULL;
    ais_sink *sink = NULL;
    const ais_sample_options options = {
        .seed = seed, .chains = 1, .warmup = 10 * ways[way].thin, .draws = DRAWS, .thin = ways[way].thin, .threads = 1};
    ais_status status = fit_map(context, target, several, seed, &map);
    if (status == AIS_OK) status = kernel_of(context, way, map, &kernel);
    if (status == AIS_OK) status = ais_sink_memory(context, &sink);
    if (status == AIS_OK) status = ais_sample(context, target, kernel, &options, &sink, 1, NULL);
    if (status == AIS_OK) *draws = ais_sink_memory_take(sink);
    ais_sink_free(sink);
    ais_kernel_free(kernel);
    return status;
}

/* The same of a whole run: the last draws of as many chains. */
static ais_status draw_by_run(ais_context *context, const ais_target *target, uint64_t seed, ais_draws **draws) {
    enum { LAST = 100 };
    ais_run_result *result = NULL;
    const ais_run_options options = {AIS_RUN_HEAD, .seed = seed, .chains = DRAWS, .draws = LAST, .threads = 1};
    ais_status status = ais_run(context, target, &options, &result);
    if (status == AIS_OK) status = ais_draws_new(context, target->dim, 1, DRAWS, 0, draws);
    for (int c = 0; status == AIS_OK && c < DRAWS; c++) {
        for (int i = 0; i < target->dim; i++)
            (*draws)->value[i * DRAWS + c] = result->draws->value[(i * DRAWS + c) * LAST + LAST - 1];
        (*draws)->logp[c] = result->draws->logp[c * LAST + LAST - 1];
    }
    ais_run_free(result);
    return status;
}

/* rank[q]: how many of DRAWS draws are below the parameters that made the data, for every coordinate and log p. */
static ais_status ranks_of(ais_context *context, const model *m, int way, uint64_t seed, int *rank) {
    posterior p = {.model = m, .data.tempered = 1};
    double normal[MOST_DATA + 8], uniform[MOST_DATA], truth[MOST_DIM];
    ais_stream stream = ais_stream_for(AIS_USE_SEARCH, seed, 0, 0);
    ais_normals(&stream, MOST_DATA + 8, normal);
    for (uint32_t i = 0; i < MOST_DATA; i++) uniform[i] = ais_random_uniform(&stream, (1U << 20) + i);
    m->make(normal, uniform, truth, &p.data);
    double height = logp(truth, &p);
    p.data.tempered = 1 - number("broken", 0);
    const ais_target target = {
        .name = m->name, .dim = m->dim, .logp = logp, .grad = grad, .data = &p, .start_scale = 2};
    ais_draws *draws = NULL;
    ais_status status = way == RUN ? draw_by_run(context, &target, seed, &draws)
                                   : draw(context, &target, way, m->value == mixture, seed, &draws);
    for (int q = 0; status == AIS_OK && q <= m->dim; q++) {
        rank[q] = 0;
        for (int t = 0; t < DRAWS; t++)
            rank[q] += q < m->dim ? draws->value[q * DRAWS + t] < truth[q] : draws->logp[t] / p.data.tempered < height;
    }
    ais_draws_free(draws);
    return status;
}

/* ---- tests ---------------------------------------------------------------------------------------------------------
 */

/* Of a chi^2 with 15 degrees of freedom, by Wilson and Hilferty. */
static double chance_of_chi2(const int *rank, int runs) {
    double count[BINS] = {0}, expected = (double)runs / BINS, sum = 0, k = BINS - 1;
    for (int r = 0; r < runs; r++) count[rank[r] * BINS / (DRAWS + 1)]++;
    for (int b = 0; b < BINS; b++) sum += (count[b] - expected) * (count[b] - expected) / expected;
    double z = (cbrt(sum / k) - (1 - 2 / (9 * k))) / sqrt(2 / (9 * k));
    return 0.5 * erfc(z / sqrt(2));
}

static double distance_of(const int *rank, int runs) {
    double below[DRAWS + 1] = {0}, sum = 0, distance = 0;
    for (int r = 0; r < runs; r++) below[rank[r]] += 1.0 / runs;
    for (int k = 0; k <= DRAWS; k++) {
        sum += below[k];
        distance = fmax(distance, fabs(sum - (k + 1.0) / (DRAWS + 1)));
    }
    return distance;
}

static double chance_of_distance(double distance, int runs) {
    double root = sqrt((double)runs), t = distance * (root + 0.12 + 0.11 / root), sum = 0;
    for (int k = 1; k <= 100; k++) sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * t * t);
    return t < 0.3 ? 1 : fmin(fmax(sum, 0), 1);
}

static double judge(const model *m, int way, int runs, const int *rank, FILE *file, int *tests) {
    double least[2] = {1, 1}, largest = 0;
    for (int q = 0; q <= m->dim; q++) {
        const int *mine = rank + (size_t)q * (size_t)runs;
        double distance = distance_of(mine, runs);
        least[0] = fmin(least[0], chance_of_chi2(mine, runs));
        least[1] = fmin(least[1], chance_of_distance(distance, runs));
        largest = fmax(largest, distance);
        *tests += 2;
        for (int r = 0; file && r < runs; r++) fprintf(file, "%s,%s,%d,%d\n", m->name, ways[way].name, q, mine[r]);
    }
    printf("| %s | %s | %d | %d | %.3f | %.3f | %.3f |\n", m->name, ways[way].name, runs, m->dim + 1, least[0], largest,
           least[1]);
    fflush(stdout);
    return fmin(least[0], least[1]);
}

int main(int count, char **argument) {
    words = count, word = argument;
    int runs = (int)number("runs", 200), tests = 0, here[QUANTITIES],
        *rank = calloc((size_t)runs * QUANTITIES, sizeof *rank);
    uint64_t first = (uint64_t)number("first", 1);
    const char *only = text("model", NULL), *one = text("way", NULL), *path = text("ranks", NULL);
    FILE *file = path ? fopen(path, "w") : NULL;
    double least = 1;
    if (!rank || (path && !file)) return fprintf(stderr, "sbc: no memory, or %s cannot be written\n", path), 2;
    if (file) fprintf(file, "model,way,quantity,rank\n");
    printf("| model | way | data sets | quantities | smallest probability, chi^2 | largest D | its probability |\n"
           "|---|---|---|---|---|---|---|\n");
    for (int m = 0; m < MODELS; m++)
        for (int w = 0; w < WAYS; w++) {
            if ((only && strcmp(only, models[m].name) != 0) || (one && strcmp(one, ways[w].name) != 0)) continue;
            for (int r = 0; r < runs; r++) {
                ais_context context = {0};
                if (ranks_of(&context, &models[m], w, first + (uint64_t)r, here) != AIS_OK)
                    return fprintf(stderr, "sbc: %s, %s, seed %d: %s\n", models[m].name, ways[w].name, r,
                                   context.message),
                           2;
                for (int q = 0; q <= models[m].dim; q++) rank[q * runs + r] = here[q];
            }
            least = fmin(least, judge(&models[m], w, runs, rank, file, &tests));
        }
    free(rank);
    if (file && fclose(file) != 0) return 2;
    printf("\nsmallest of %d probabilities: %.2g, times their number %.2g\n", tests, least, least * tests);
    return least * tests < 0.01;
}
