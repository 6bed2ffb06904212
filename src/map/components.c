#include "map/components.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "base/constants.h"
#include "base/special.h"
#include "map/components_lanes.h"
#include "map/whitening.h"

static const double usual_freedom = 5; /* tails heavy enough that weights p / q stay bounded where p is near normal */

bool ais_components_take(ais_components *components, ais_arena *arena, int dim, int room) {
    size_t d = (size_t)dim, k = (size_t)room;
    *components = (ais_components){.dim = dim,
                                   .room = room,
                                   .freedom = usual_freedom,
                                   .mean = AIS_TAKE(arena, double, k *d),
                                   .factor = AIS_TAKE(arena, double, k *d *d),
                                   .whiten = AIS_TAKE(arena, double, k *d *d),
                                   .log_volume = AIS_TAKE(arena, double, k),
                                   .weight = AIS_TAKE(arena, double, k),
                                   .log_scale = AIS_TAKE(arena, double, k)};
    return components->mean && components->factor && components->whiten && components->log_volume &&
           components->weight && components->log_scale;
}

/* ---- components -------------------------------------------------------------------------------- */

static void add(ais_components *components, int k, const double *mean, double log_volume) {
    size_t dim = (size_t)components->dim;
    memmove(components->mean + (size_t)k * dim, mean, dim * sizeof *mean);
    components->log_volume[k] = log_volume;
    if (k == components->count) components->count++;
}

bool ais_components_set_axes(ais_components *components, int k, const double *mean, const double *sd,
                             const double *axis) {
    size_t dim = (size_t)components->dim, place = (size_t)k;
    double log_volume = 0;
    for (size_t j = 0; j < dim; j++) log_volume += log(sd[j]);
    if (k >= components->room || !isfinite(log_volume)) return false;
    double *factor = components->factor + place * dim * dim, *whiten = components->whiten + place * dim * dim;
    for (size_t j = 0; j < dim; j++)
        for (size_t i = 0; i < dim; i++) {
            factor[i * dim + j] = axis[j * dim + i] * sd[j];
            whiten[j * dim + i] = axis[j * dim + i] / sd[j];
        }
    add(components, k, mean, log_volume);
    return true;
}

ais_status ais_components_set_factor(ais_context *context, ais_components *components, int k, const double *mean,
                                     const double *factor) {
    size_t dim = (size_t)components->dim, square = dim * dim, place = (size_t)k * square;
    for (size_t i = 0; i < dim; i++)
        if (!isfinite(mean[i]))
            return ais_fail(context, AIS_BAD_ARGUMENT, "mixture: coordinate %zu of mean %d is %g, not a finite number",
                            i + 1, k + 1, mean[i]);
    double log_volume, *work = ais_allocate(2 * square * sizeof *work);
    if (!work) return ais_fail_memory(context, "a matrix inverse", 2 * square * sizeof *work);
    memcpy(work, factor, square * sizeof *work);
    bool regular = ais_invert(dim, work, work + square, &log_volume);
    if (regular) {
        memcpy(components->factor + place, factor, square * sizeof *factor);
        memcpy(components->whiten + place, work + square, square * sizeof *work);
        add(components, k, mean, log_volume);
    }
    free(work);
    if (regular) return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "mixture: factor %d is singular or holds what is not a finite number: it must be invertible",
                    k + 1);
}

void ais_components_copy(ais_components *components, const ais_components *from) {
    size_t count = (size_t)from->count, dim = (size_t)from->dim;
    components->count = from->count;
    components->freedom = from->freedom;
    memcpy(components->mean, from->mean, count * dim * sizeof(double));
    memcpy(components->factor, from->factor, count * dim * dim * sizeof(double));
    memcpy(components->whiten, from->whiten, count * dim * dim * sizeof(double));
    memcpy(components->log_volume, from->log_volume, count * sizeof(double));
    memcpy(components->weight, from->weight, count * sizeof(double));
    memcpy(components->log_scale, from->log_scale, count * sizeof(double));
}

void ais_components_keep(ais_components *components, int count, const int *places) {
    size_t dim = (size_t)components->dim;
    for (int k = 0; k < count; k++) {
        size_t from = (size_t)places[k], to = (size_t)k;
        if (from == to) continue;
        memcpy(components->mean + to * dim, components->mean + from * dim, dim * sizeof(double));
        memcpy(components->factor + to * dim * dim, components->factor + from * dim * dim, dim * dim * sizeof(double));
        memcpy(components->whiten + to * dim * dim, components->whiten + from * dim * dim, dim * dim * sizeof(double));
        components->log_volume[to] = components->log_volume[from];
        components->weight[to] = components->weight[from];
        components->log_scale[to] = components->log_scale[from];
    }
    components->count = count;
}

/* The logarithm of the density of a component with F = I at its mean. */
static double log_peak(double freedom, int dim) {
    if (isinf(freedom)) return -0.5 * dim * log(2 * AIS_PI);
    return ais_log_gamma(0.5 * (freedom + dim)) - ais_log_gamma(0.5 * freedom) - 0.5 * dim * log(freedom * AIS_PI);
}

void ais_components_weigh(ais_components *components) {
    double sum = 0, peak = log_peak(components->freedom, components->dim);
    for (int k = 0; k < components->count; k++) sum += components->weight[k];
    if (fabs(sum - 1) < 1e-9) sum = 1; /* what a file holds is taken over bit for bit */
    for (int k = 0; k < components->count; k++) {
        components->weight[k] /= sum;
        components->log_scale[k] = log(components->weight[k]) + peak - components->log_volume[k];
    }
}

double ais_components_distance(const ais_components *components, int k, const double *x, double limit) {
    size_t dim = (size_t)components->dim;
    const double *mean = components->mean + (size_t)k * dim, *row = components->whiten + (size_t)k * dim * dim;
    double sum = 0;
    for (size_t j = 0; j < dim && sum <= limit; j++, row += dim) {
        double part = 0;
        for (size_t i = 0; i < dim; i++) part += row[i] * (x[i] - mean[i]);
        sum += part * part;
    }
    return sum;
}

double ais_components_pull(const ais_components *components, double distance) {
    double freedom = components->freedom;
    return isinf(freedom) ? 1 : (freedom + components->dim) / (freedom + distance);
}

/* ---- log density ------------------------------------------------------------------------------- */

typedef struct job {
    const ais_components *components;
    size_t n;
    const double *x;
    double *logq, *share;
} job;

/* Rows past the end repeat the last one. */
static void logq_task(void *data, int block) {
    const job *all = data;
    double tile[AIS_COMPONENTS_MOST_DIM * AIS_LANES], logq[AIS_LANES];
    size_t dim = (size_t)all->components->dim, count = (size_t)all->components->count;
    size_t first = (size_t)block * AIS_BLOCK, end = all->n - first < AIS_BLOCK ? all->n : first + AIS_BLOCK;
    for (; first < end; first += AIS_LANES) {
        size_t rows = end - first < AIS_LANES ? end - first : AIS_LANES;
        for (size_t c = 0; c < AIS_LANES; c++) {
            const double *row = all->x + (first + (c < rows ? c : rows - 1)) * dim;
            for (size_t i = 0; i < dim; i++) tile[i * AIS_LANES + c] = row[i];
        }
        double *share = all->share ? all->share + first * count : NULL;
        AIS_CHOOSE(ais_components_tile)(all->components, rows, tile, logq, share);
        memcpy(all->logq + first, logq, rows * sizeof *logq);
        for (size_t i = 0; i < rows * count && share; i++) share[i] = exp(share[i] - logq[i / count]);
    }
}

void ais_components_logq(const ais_components *components, size_t n, const double *x, double *logq, double *share,
                         ais_pool *pool) {
    job all = {.components = components, .n = n, .x = x, .logq = logq, .share = share};
    ais_share_out(pool, (int)((n + AIS_BLOCK - 1) / AIS_BLOCK), logq_task, &all);
}

void ais_components_logq_lanes(const ais_components *components, size_t chains, size_t lanes,
                               const ais_components_work *work, const double *x, double *logq) {
    for (size_t first = 0; first < chains; first += AIS_LANES) {
        for (size_t i = 0; i < (size_t)components->dim; i++)
            memcpy(work->tile + i * AIS_LANES, x + i * lanes + first, AIS_LANES * sizeof *x);
        AIS_CHOOSE(ais_components_tile)
        (components, chains - first < AIS_LANES ? chains - first : AIS_LANES, work->tile, logq + first, NULL);
    }
}

bool ais_components_work_take(ais_components_work *work, ais_arena *arena, int dim, size_t lanes) {
    *work = (ais_components_work){.normal = AIS_TAKE(arena, double, (size_t)dim *lanes),
                                  .choice = AIS_TAKE(arena, double, lanes),
                                  .radius = AIS_TAKE(arena, double, lanes),
                                  .uniform = AIS_TAKE(arena, double, lanes),
                                  .point = AIS_TAKE(arena, double, 2 * dim),
                                  .tile = AIS_TAKE(arena, double, (size_t)dim *AIS_LANES)};
    return work->normal && work->choice && work->radius && work->uniform && work->point && work->tile;
}
