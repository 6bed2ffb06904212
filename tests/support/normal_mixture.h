/* Mixtures of any number of isotropic normals, as targets for tests and tables of the cold start. */
#ifndef AIS_TESTS_NORMAL_MIXTURE_H
#define AIS_TESTS_NORMAL_MIXTURE_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include <aisampler/target.h>

#include "base/random.h"
#include "simd/normal.h"

enum { MIXTURE_MOST = 64, MIXTURE_MOST_DIM = 64 };

typedef struct normal_mixture {
    int dim, count;
    double mean[MIXTURE_MOST][MIXTURE_MOST_DIM], sd[MIXTURE_MOST], weight[MIXTURE_MOST];
    double constant[MIXTURE_MOST];
    double share[MIXTURE_MOST];         /* of the points that are nearest to mean k: weight k where modes are apart */
    double moment[4][MIXTURE_MOST_DIM]; /* of x_i: mean, variance; of x_i^2: mean, variance */
    ais_reference truth;
} normal_mixture;

static inline double normal_mixture_terms(const normal_mixture *m, const double *x, double *term) {
    double top = -INFINITY, sum = 0;
    for (int k = 0; k < m->count; k++) {
        double square = 0;
        for (int i = 0; i < m->dim; i++) square += (x[i] - m->mean[k][i]) * (x[i] - m->mean[k][i]);
        term[k] = m->constant[k] - 0.5 * square / (m->sd[k] * m->sd[k]);
        top = term[k] > top ? term[k] : top;
    }
    for (int k = 0; k < m->count; k++) sum += term[k] > top - 40 ? exp(term[k] - top) : 0;
    return top + log(sum);
}

static inline double normal_mixture_logp(const double *x, void *data) {
    double term[MIXTURE_MOST];
    return normal_mixture_terms(data, x, term);
}

static inline double normal_mixture_grad(const double *x, double *gradient, void *data) {
    const normal_mixture *m = data;
    double term[MIXTURE_MOST], value = normal_mixture_terms(m, x, term);
    for (int i = 0; i < m->dim; i++) gradient[i] = 0;
    for (int k = 0; k < m->count; k++) {
        double share = exp(term[k] - value) / (m->sd[k] * m->sd[k]);
        for (int i = 0; i < m->dim; i++) gradient[i] -= share * (x[i] - m->mean[k][i]);
    }
    return value;
}

static inline int normal_mixture_mode(const double *x, void *data) {
    const normal_mixture *m = data;
    int best = 0;
    double least = INFINITY;
    for (int k = 0; k < m->count; k++) {
        double square = 0;
        for (int i = 0; i < m->dim; i++) square += (x[i] - m->mean[k][i]) * (x[i] - m->mean[k][i]);
        if (square < least) best = k;
        if (square < least) least = square;
    }
    return best;
}

static inline void normal_mixture_moments(normal_mixture *m) {
    for (int i = 0; i < m->dim; i++) {
        double first = 0, second = 0, fourth = 0;
        for (int k = 0; k < m->count; k++) {
            double a = m->mean[k][i] * m->mean[k][i], v = m->sd[k] * m->sd[k];
            first += m->weight[k] * m->mean[k][i];
            second += m->weight[k] * (a + v);
            fourth += m->weight[k] * (a * a + 6 * a * v + 3 * v * v);
        }
        m->moment[0][i] = first;
        m->moment[1][i] = second - first * first;
        m->moment[2][i] = second;
        m->moment[3][i] = fourth - second * second;
    }
}

/* To be called once mean, sd and weight are set. */
static inline ais_target normal_mixture_target(normal_mixture *m, const char *name) {
    for (int k = 0; k < m->count; k++)
        m->constant[k] = log(m->weight[k]) - m->dim * (log(m->sd[k]) + 0.5 * log(2 * 3.14159265358979323846));
    normal_mixture_moments(m);
    if (!(m->share[0] > 0)) memcpy(m->share, m->weight, sizeof m->share);
    m->truth = (ais_reference){.mean = m->moment[0],
                               .variance = m->moment[1],
                               .square_mean = m->moment[2],
                               .square_variance = m->moment[3],
                               .modes = m->count,
                               .mode_weight = m->share,
                               .mode = normal_mixture_mode};
    return (ais_target){.name = name,
                        .dim = m->dim,
                        .logp = normal_mixture_logp,
                        .grad = normal_mixture_grad,
                        .reference = &m->truth,
                        .data = m};
}

/* Modes at -10 e and 10 e for a random direction e. */
static inline void two_apart(normal_mixture *m, int dim, uint64_t direction, double sd1, double sd2, double weight1) {
    ais_stream stream = {.seed = direction, .purpose = AIS_FOR_USER};
    double length = 0;
    *m = (normal_mixture){.dim = dim, .count = 2, .sd = {sd1, sd2}, .weight = {weight1, 1 - weight1}};
    ais_normals(&stream, (size_t)dim, m->mean[0]);
    for (int i = 0; i < dim; i++) length += m->mean[0][i] * m->mean[0][i];
    for (int i = 0; i < dim; i++) {
        m->mean[0][i] *= -10 / sqrt(length);
        m->mean[1][i] = -m->mean[0][i];
    }
}

/* A grid of 5 x 5 modes, 2.5 apart, of sd 0.2. */
static inline void grid_of_modes(normal_mixture *m) {
    *m = (normal_mixture){.dim = 2, .count = 25};
    for (int k = 0; k < 25; k++) {
        m->mean[k][0] = 2.5 * (k % 5 - 2);
        m->mean[k][1] = 2.5 * (k / 5 - 2);
        m->sd[k] = 0.2;
        m->weight[k] = 1.0 / 25;
    }
}

/* Modes that overlap: 2^20 exact draws say how much is nearest to each mean, to within 2e-4. */
static inline void normal_mixture_count_shares(normal_mixture *m, uint64_t seed) {
    enum { DRAWS = 1 << 20 };
    for (int t = 0; t < DRAWS; t++) {
        ais_stream stream = {.seed = seed, .step = (uint64_t)t, .chain = 1, .purpose = AIS_FOR_USER};
        double x[MIXTURE_MOST_DIM], u = ais_random_uniform(&stream, 1 << 20);
        int k = 0;
        for (; k + 1 < m->count && u > m->weight[k]; k++) u -= m->weight[k];
        ais_normals(&stream, (size_t)m->dim, x);
        for (int i = 0; i < m->dim; i++) x[i] = m->mean[k][i] + m->sd[k] * x[i];
        m->share[normal_mixture_mode(x, m)] += 1.0 / DRAWS;
    }
}

/* 40 modes, uniform in [-40, 40]^2, of sd softplus(1). */
static inline void forty_modes(normal_mixture *m, uint64_t seed) {
    *m = (normal_mixture){.dim = 2, .count = 40};
    for (int k = 0; k < 40; k++) {
        ais_stream stream = {.seed = seed, .step = (uint64_t)k, .purpose = AIS_FOR_USER};
        m->mean[k][0] = 80 * (ais_random_uniform(&stream, 0) - 0.5);
        m->mean[k][1] = 80 * (ais_random_uniform(&stream, 1) - 0.5);
        m->sd[k] = log1p(exp(1));
        m->weight[k] = 1.0 / 40;
    }
    normal_mixture_count_shares(m, seed);
}

#endif
