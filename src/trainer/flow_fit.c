/* The pivot layer of an affine flow, fitted without gradient descent: place and width of every coordinate as parabolas
 * of one. For a coordinate x with features f of the kept one, T maps x to (x + b.f) exp(a.f), and -log q is
 * half its square less a.f: least squares in b, convex in a; in turn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/feature_lanes.h"
#include "trainer/flow_trainer.h"

enum { FEATURES = 3, TURNS = 4, NEWTONS = 20 };

/* Solves the symmetric A w = r of the first k features in place (w in r), A lightly weighted on its diagonal. */
static void solve(int k, double a[FEATURES][FEATURES], double r[FEATURES]) {
    for (int i = 0; i < k; i++) a[i][i] += 1e-9 + 1e-9 * a[i][i];
    for (int i = 0; i < k; i++)
        for (int l = i + 1; l < k; l++) {
            double share = a[l][i] / a[i][i];
            for (int j = i; j < k; j++) a[l][j] -= share * a[i][j];
            r[l] -= share * r[i];
        }
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++) r[i] -= a[i][j] * r[j];
        r[i] /= a[i][i];
    }
}

static double dot(const double *w, const double *f) { return w[0] * f[0] + w[1] * f[1] + w[2] * f[2]; }

/* What is to be explained: n points of one coordinate, the kept one's features beside. */
typedef struct sample {
    size_t n;
    const double *f, *x;
} sample;

/* The place -b.f nearest to x, errors weighing exp(2 a.f). */
static void place(const sample *of, int k, const double *a, double *b) {
    double matrix[FEATURES][FEATURES] = {{0}}, right[FEATURES] = {0};
    const double *f = of->f;
    for (size_t c = 0; c < of->n; c++, f += FEATURES) {
        double weight = exp(2 * dot(a, f));
        for (int i = 0; i < k; i++) {
            right[i] -= weight * of->x[c] * f[i];
            for (int j = 0; j < k; j++) matrix[i][j] += weight * f[i] * f[j];
        }
    }
    solve(k, matrix, right);
    memcpy(b, right, sizeof right);
}

/* One step of Newton's method for the log scale a; how far it went. */
static double widen(const sample *of, int k, const double *b, double *a) {
    double matrix[FEATURES][FEATURES] = {{0}}, right[FEATURES] = {0}, far = 0;
    const double *f = of->f;
    for (size_t c = 0; c < of->n; c++, f += FEATURES) {
        double z = (of->x[c] + dot(b, f)) * exp(dot(a, f));
        for (int i = 0; i < k; i++) {
            right[i] += (1 - z * z) * f[i];
            for (int j = 0; j < k; j++) matrix[i][j] += 2 * z * z * f[i] * f[j];
        }
    }
    solve(k, matrix, right);
    for (int i = 0; i < k; i++) {
        a[i] += fmax(-1, fmin(1, right[i]));
        far = fmax(far, fabs(right[i]));
    }
    return far;
}

/* Fits with scale_terms and place_terms features; -log q at the sample. */
static double fit(const sample *of, int scale_terms, int place_terms, double *a, double *b) {
    double sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        place(of, place_terms, a, b);
        for (int k = 0; k < NEWTONS && widen(of, scale_terms, b, a) > 1e-6; k++) {
        }
    }
    place(of, place_terms, a, b);
    for (size_t c = 0; c < of->n; c++) {
        const double *f = of->f + c * FEATURES;
        double z = (of->x[c] + dot(b, f)) * exp(dot(a, f));
        sum += 0.5 * z * z - dot(a, f);
    }
    return sum;
}

/* Constant, line or parabola, for scale and place: what Schwarz's criterion prefers. A term without need would do
 * harm where the sample does not reach. */
static void choose(const sample *of, double *scale, double *shift) {
    double least = INFINITY;
    for (int i = 1; i <= FEATURES; i++)
        for (int j = 1; j <= FEATURES; j++) {
            double a[FEATURES] = {0}, b[FEATURES] = {0};
            double value = fit(of, i, j, a, b) + 0.5 * (i + j) * log((double)of->n);
            if (!(value < least)) continue;
            least = value;
            memcpy(scale, a, sizeof a);
            memcpy(shift, b, sizeof b);
        }
}

static void features(size_t n, const double *kept, double *f) {
    for (size_t c = 0; c < n; c++, f += FEATURES) {
        f[0] = 1;
        f[1] = ais_linear_feature * kept[c];
        f[2] = ais_quadratic_feature * (kept[c] * kept[c] - 1);
    }
}

size_t ais_flow_governor(const ais_population *population, const double *mean, const double *sd) {
    size_t dim = (size_t)population->target->dim, n = (size_t)population->chains, best = dim - 1;
    double *u = malloc((dim + FEATURES) * n * sizeof *u), least = INFINITY;
    if (!u) return best;
    double *f = u + dim * n;
    for (size_t i = 0; i < dim; i++)
        for (size_t c = 0; c < n; c++)
            u[i * n + c] = (population->state[c / AIS_BLOCK]->x[i * AIS_BLOCK + c % AIS_BLOCK] - mean[i]) / sd[i];
    for (size_t i = 0; i < dim; i++) {
        double sum = 0;
        features(n, u + i * n, f);
        for (size_t j = 0; j < dim; j++) {
            double a[FEATURES] = {0}, b[FEATURES] = {0};
            if (j != i) sum += fit(&(sample){.n = n, .f = f, .x = u + j * n}, FEATURES, FEATURES, a, b);
        }
        if (sum < least) best = i;
        least = fmin(sum, least);
    }
    free(u);
    return best;
}

bool ais_flow_fit_pivot(ais_kernel *kernel, const ais_population *population) {
    ais_learned *learned = (ais_learned *)kernel;
    const ais_flow *flow = &learned->flow;
    const ais_flow_layer *layer = flow->layer;
    while (layer < flow->layer + flow->layers && layer->marginal) layer++;
    if (!flow->quadratic || layer == flow->layer + flow->layers || layer->kept != 1 || layer->spline) return false;
    size_t n = (size_t)population->chains, dim = (size_t)flow->dim;
    double *u = malloc((dim * n + FEATURES * n + dim * AIS_BLOCK) * sizeof *u);
    if (!u) return false;
    double *f = u + dim * n, *row = f + FEATURES * n;
    for (int b = 0; b < population->blocks; b++) {
        ais_whiten(&learned->whitening, AIS_BLOCK, population->state[b]->x, row);
        for (size_t i = 0; i < dim; i++)
            memcpy(u + i * n + (size_t)b * AIS_BLOCK, row + i * AIS_BLOCK, AIS_BLOCK * sizeof *u);
    }
    features(n, u + (size_t)layer->index[0] * n, f);
    ais_real *weights = learned->weights + layer->offset, *bias = weights + 2 * (size_t)layer->net.outputs;
    for (int m = 0; m < layer->mapped; m++) {
        double w[2][FEATURES] = {{0}};
        choose(&(sample){.n = n, .f = f, .x = u + (size_t)layer->index[1 + m] * n}, w[0], w[1]);
        for (int k = 0; k < 2; k++) {
            size_t output = 2 * (size_t)m + (size_t)k;
            bias[output] = (ais_real)w[k][0];
            weights[2 * output] = (ais_real)w[k][1];
            weights[2 * output + 1] = (ais_real)w[k][2];
        }
    }
    free(u);
    return true;
}

ais_status ais_flow_settle(ais_context *context, ais_kernel *kernel, ais_population *population, int rounds) {
    enum { SWEEPS = 10 };
    ais_status status = AIS_OK;
    for (int k = 0; k < rounds && status == AIS_OK; k++) {
        status = ais_flow_whiten(context, kernel, population, AIS_WHITEN_GOVERNED);
        if (status != AIS_OK || !ais_flow_fit_pivot(kernel, population)) break;
        status = ais_population_use(context, population, kernel);
        if (status == AIS_OK) status = ais_population_move(context, population, SWEEPS, 1);
        if (status == AIS_OK) ais_population_scale_walk(population);
    }
    return status;
}
