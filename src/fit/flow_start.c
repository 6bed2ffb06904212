#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/streams.h"
#include "fit/flow_start.h"
#include "look/eigen.h"
#include "simd/normal.h"

static const double centre = 2.5, last_layer = 0.01;

void ais_flow_spread(ais_kernel *kernel, uint64_t seed, double bump_slope) {
    ais_learned *learned = (ais_learned *)kernel;
    for (int l = 0; l < learned->flow.layers; l++) {
        const ais_flow_layer *layer = &learned->flow.layer[l];
        const ais_perceptron *net = &layer->net;
        if (layer->marginal || layer->neck) continue;
        ais_real *w = learned->weights + layer->offset, *bias = w + (size_t)net->inputs * (size_t)net->hidden;
        for (int o = 0; o < net->hidden && bump_slope > 0 && net->depth > 0; o++) {
            uint64_t at = (uint64_t)l << 24 | (uint64_t)o;
            ais_stream stream = ais_stream_for(AIS_USE_FLOW_SPREAD, seed, at, 0);
            bias[o] = 0;
            for (int i = 0; i < net->inputs; i++) {
                double normal, u = ais_random_uniform(&stream, (uint32_t)(2 * i + 1));
                ais_stream own = ais_stream_for(AIS_USE_FLOW_SPREAD, seed, at, (uint64_t)i + 1);
                ais_normals(&own, 1, &normal);
                double weight = bump_slope * normal / sqrt(net->inputs);
                w[o * net->inputs + i] = (ais_real)weight;
                bias[o] -= (ais_real)(weight * centre * (2 * u - 1));
            }
        }
        size_t last = (size_t)net->outputs * (size_t)(net->depth ? net->hidden : net->inputs),
               whole = ais_perceptron_weights(net);
        ais_real *out = w + whole - last - (size_t)net->outputs;
        for (size_t i = 0; i < last; i++) out[i] *= (ais_real)(net->depth ? last_layer / 0.1 : 0); /* 0.1 as drawn */
    }
}

/* Covariance of the population, dim x dim. */
static void covariance(const ais_population *population, const double *mean, double *matrix) {
    size_t dim = (size_t)population->target->dim;
    memset(matrix, 0, dim * dim * sizeof *matrix);
    for (int b = 0; b < population->blocks; b++)
        for (size_t c = 0; c < AIS_BLOCK; c++)
            for (size_t i = 0; i < dim; i++)
                for (size_t j = 0; j <= i; j++) {
                    const double *x = population->state[b]->x;
                    matrix[i * dim + j] += (x[i * AIS_BLOCK + c] - mean[i]) * (x[j * AIS_BLOCK + c] - mean[j]);
                }
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j <= i; j++) matrix[j * dim + i] = matrix[i * dim + j] /= population->chains - 1;
}

ais_status ais_flow_whiten(ais_context *context, ais_kernel *kernel, const ais_population *population,
                           ais_whitening_kind kind) {
    size_t dim = (size_t)population->target->dim;
    double *mean = calloc(2 * dim + 3 * dim * dim, sizeof *mean);
    if (!mean) return ais_fail_memory(context, "a whitening", 3 * dim * dim * sizeof *mean);
    double *sd = mean + dim, *factor = sd + dim, *axes = factor + dim * dim, *matrix = axes + dim * dim;
    ais_population_moments(population, mean, sd);
    for (size_t i = 0; i < dim; i++) sd[i] = sd[i] > 0 ? sd[i] : 1;
    for (size_t i = 0; i < dim; i++) factor[i * dim + i] = sd[i];
    if (kind == AIS_WHITEN_FULL && dim > 1) {
        covariance(population, mean, matrix);
        bool whole = ais_eigen(dim, matrix, sd, axes); /* sd: now the variances along the axes, rising */
        for (size_t i = 0; whole && i < dim; i++)
            for (size_t j = 0; j < dim; j++)
                factor[i * dim + j] = axes[j * dim + i] * sqrt(fmax(sd[j], 1e-12 * sd[dim - 1]));
    }
    ais_status status = ais_kernel_whiten(context, kernel, mean, factor);
    free(mean);
    return status;
}

double ais_flow_bound(const ais_population *population) {
    const double least = 4, most = 40, room = 1.25; /* principal axes see about what coordinates see */
    size_t dim = (size_t)population->target->dim;
    double *mean = calloc(2 * dim, sizeof *mean), reach = least;
    if (!mean) return least;
    double *sd = mean + dim;
    ais_population_moments(population, mean, sd);
    for (int b = 0; b < population->blocks; b++)
        for (size_t c = 0; c < AIS_BLOCK; c++) {
            double sum = 0;
            for (size_t i = 0; i < dim; i++) {
                double u = (population->state[b]->x[i * AIS_BLOCK + c] - mean[i]) / (sd[i] > 0 ? sd[i] : 1);
                sum = fmax(sum, fabs(u));
            }
            reach = fmax(reach, sum * room);
        }
    free(mean);
    return fmin(reach, most);
}
