#include "look/anneal.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/block.h"
#include "base/constants.h"
#include "base/random.h"
#include "base/streams.h"
#include "look/importance.h"
#include "simd/normal.h"

enum { CHOICE = 1 << 30, BISECTIONS = 60 };

typedef struct annealing {
    ais_evaluator *evaluator;
    const ais_anneal_options *options;
    size_t n, dim;
    double *x, *logp, *base; /* base: log N(x; 0, s^2 I) */
    double *fresh, *fresh_logp, *weight;
    size_t *index;
    double *factor;  /* dim x dim, of the population's covariance, lower */
    double scale[2]; /* of isotropic and of shaped moves */
    double beta;
    uint64_t step;
    bool shaped;
} annealing;

static double base_density(const annealing *a, const double *x) {
    double square = 0, s = a->options->scale;
    for (size_t i = 0; i < a->dim; i++) square += x[i] * x[i];
    return -0.5 * square / (s * s) - (double)a->dim * (log(s) + 0.5 * log(2 * AIS_PI));
}

/* The share of the living that weights (logp - base) (to - beta) leave effective. */
static double share_at(const annealing *a, double to) {
    double top = -INFINITY, sum = 0, squares = 0, alive = 0;
    for (size_t c = 0; c < a->n; c++)
        if (a->logp[c] > -INFINITY) top = fmax(top, a->logp[c] - a->base[c]);
    for (size_t c = 0; c < a->n; c++) {
        if (!(a->logp[c] > -INFINITY)) continue;
        double w = exp((to - a->beta) * (a->logp[c] - a->base[c] - top));
        sum += w;
        squares += w * w;
        alive++;
    }
    return alive > 0 ? sum * sum / squares / alive : 0;
}

/* math.md (21). */
static double next_beta(const annealing *a) {
    if (share_at(a, 1) >= 0.5) return 1;
    double low = a->beta, high = 1;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = 0.5 * (low + high);
        if (share_at(a, middle) > 0.5)
            low = middle;
        else
            high = middle;
    }
    return fmax(low, a->beta + 1e-12);
}

/* The weights of one temperature and their part of log Z, math.md (22). */
static void resample(annealing *a, double to, ais_annealing *result) {
    for (size_t c = 0; c < a->n; c++)
        a->weight[c] = a->logp[c] > -INFINITY ? (to - a->beta) * (a->logp[c] - a->base[c]) : -INFINITY;
    ais_weighing weighing = ais_weigh(a->n, a->weight, a->fresh_logp);
    result->log_z += weighing.log_mean;
    result->log_z_error = sqrt(result->log_z_error * result->log_z_error + weighing.log_error * weighing.log_error);
    ais_stream stream = ais_stream_for(AIS_USE_ANNEAL_CHOICE, a->options->seed, a->step++, 0);
    ais_systematic(a->n, a->weight, ais_random_uniform(&stream, 0), a->n, a->index);
    for (size_t c = 0; c < a->n; c++) { /* uses `fresh` and `weight`, which hold nothing of use here */
        memcpy(a->fresh + c * a->dim, a->x + a->index[c] * a->dim, a->dim * sizeof *a->x);
        a->fresh_logp[c] = a->logp[a->index[c]];
        a->weight[c] = a->base[a->index[c]];
    }
    memcpy(a->x, a->fresh, a->n * a->dim * sizeof *a->x);
    memcpy(a->logp, a->fresh_logp, a->n * sizeof *a->logp);
    memcpy(a->base, a->weight, a->n * sizeof *a->base);
    a->beta = to;
}

/* The lower factor of the population's covariance; false when it has none. */
static bool shape(annealing *a) {
    size_t dim = a->dim;
    double *l = a->factor, *mean = a->weight;
    if (a->n < dim) return false; /* weight holds n numbers, and fewer members than dimensions say little */
    memset(l, 0, dim * dim * sizeof *l);
    memset(mean, 0, dim * sizeof *mean);
    for (size_t c = 0; c < a->n; c++)
        for (size_t i = 0; i < dim; i++) mean[i] += a->x[c * dim + i] / (double)a->n;
    for (size_t c = 0; c < a->n; c++)
        for (size_t i = 0; i < dim; i++) {
            double away = (a->x[c * dim + i] - mean[i]) / (double)a->n;
            for (size_t j = 0; j <= i; j++) l[i * dim + j] += away * (a->x[c * dim + j] - mean[j]);
        }
    for (size_t i = 0; i < dim; i++) l[i * dim + i] *= 1 + 1e-9;
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = l[i * dim + j];
            for (size_t k = 0; k < j; k++) sum -= l[i * dim + k] * l[j * dim + k];
            if (i == j && !(sum > 0 && sum < INFINITY)) return false;
            l[i * dim + j] = i == j ? sqrt(sum) : sum / l[j * dim + j];
        }
    return true;
}

static void propose_task(void *data, int block) {
    const annealing *a = data;
    size_t first = (size_t)block * AIS_BLOCK, end = first + AIS_BLOCK < a->n ? first + AIS_BLOCK : a->n, dim = a->dim;
    for (size_t c = first; c < end; c++) {
        ais_stream stream = ais_stream_for(AIS_USE_ANNEAL, a->options->seed, a->step, c);
        double *y = a->fresh + c * dim;
        const double *x = a->x + c * dim;
        /* Lengths from a quarter of the scale to four times the scale: modes may differ in width. */
        double length = a->scale[a->shaped] * exp(2.8 * (ais_random_uniform(&stream, CHOICE + 1) - 0.5));
        ais_normals(&stream, dim, y);
        for (size_t i = dim; a->shaped && i-- > 0;) { /* from below, in place */
            double sum = 0;
            for (size_t j = 0; j <= i; j++) sum += a->factor[i * dim + j] * y[j];
            y[i] = sum;
        }
        for (size_t i = 0; i < dim; i++) y[i] = x[i] + length * y[i];
    }
}

static ais_status move(annealing *a) {
    ais_share_out(a->evaluator->pool, (int)((a->n + AIS_BLOCK - 1) / AIS_BLOCK), propose_task, a);
    ais_status status = ais_evaluate(a->evaluator, a->n, a->fresh, a->fresh_logp);
    if (status != AIS_OK) return status;
    size_t accepted = 0;
    for (size_t c = 0; c < a->n; c++) {
        ais_stream stream = ais_stream_for(AIS_USE_ANNEAL, a->options->seed, a->step, c);
        double base = base_density(a, a->fresh + c * a->dim);
        double ratio = a->beta * (a->fresh_logp[c] - a->logp[c]) + (1 - a->beta) * (base - a->base[c]);
        if (!(log(ais_random_uniform(&stream, CHOICE)) < ratio)) continue;
        memcpy(a->x + c * a->dim, a->fresh + c * a->dim, a->dim * sizeof *a->x);
        a->logp[c] = a->fresh_logp[c];
        a->base[c] = base;
        accepted++;
    }
    a->scale[a->shaped] *= exp((double)accepted / (double)a->n - 0.3);
    a->step++;
    return AIS_OK;
}

static ais_status begin(annealing *a) {
    double s = a->options->scale;
    for (size_t c = 0; c < a->n; c++) {
        ais_stream stream = ais_stream_for(AIS_USE_ANNEAL, a->options->seed, a->step, c);
        ais_normals(&stream, a->dim, a->x + c * a->dim);
        for (size_t i = 0; i < a->dim; i++) a->x[c * a->dim + i] *= s;
        a->base[c] = base_density(a, a->x + c * a->dim);
    }
    a->step++;
    a->scale[0] = 2.38 / sqrt((double)a->dim) * s;
    a->scale[1] = 2.38 / sqrt((double)a->dim);
    ais_status status = ais_evaluate(a->evaluator, a->n, a->x, a->logp);
    if (status != AIS_OK) return status;
    for (size_t c = 0; c < a->n; c++)
        if (a->logp[c] > -INFINITY) return AIS_OK;
    return ais_fail(a->evaluator->context, AIS_BAD_DENSITY,
                    "the density is zero at all %zu points drawn from N(0, %g^2) to anneal from: give another start "
                    "scale",
                    a->n, s);
}

static ais_status cool(annealing *a, ais_annealing *result) {
    ais_status status = begin(a);
    while (status == AIS_OK && a->beta < 1 && result->temperatures < a->options->temperatures) {
        resample(a, next_beta(a), result);
        result->temperatures++;
        bool good = shape(a);
        for (int m = 0; m < a->options->moves && status == AIS_OK; m++) {
            a->shaped = good && m % 2;
            status = move(a);
        }
        if (a->options->progress) a->options->progress("annealing", a->beta, a->options->progress_data);
    }
    result->reached = a->beta;
    result->step = a->scale[0];
    return status;
}

ais_status ais_anneal(ais_evaluator *evaluator, const ais_anneal_options *options, double *x, double *logp,
                      ais_annealing *result) {
    size_t n = (size_t)options->population, dim = (size_t)evaluator->target->dim;
    ais_arena arena = {0};
    annealing a = {.evaluator = evaluator,
                   .options = options,
                   .n = n,
                   .dim = dim,
                   .x = x,
                   .logp = logp,
                   .base = AIS_TAKE(&arena, double, n),
                   .fresh = AIS_TAKE(&arena, double, n *dim),
                   .fresh_logp = AIS_TAKE(&arena, double, n),
                   .weight = AIS_TAKE(&arena, double, n),
                   .index = AIS_TAKE(&arena, size_t, n),
                   .factor = AIS_TAKE(&arena, double, dim *dim)};
    *result = (ais_annealing){0};
    ais_status status = a.base && a.fresh && a.fresh_logp && a.weight && a.index && a.factor
                            ? cool(&a, result)
                            : ais_fail_memory(evaluator->context, "a population", n * dim * sizeof(double));
    ais_arena_free(&arena);
    return status;
}
