#include "trainer/components.h"

#include <math.h>
#include <string.h>

#include "simd/normal.h"
#include "trainer/evaluate.h"

#define PI 3.14159265358979323846
enum { ROWS = 64, CHOICE = 1 << 30 }; /* CHOICE: the index of a uniform, far from those of the normals */

bool ais_components_take(ais_components *components, ais_arena *arena, int dim, int room) {
    size_t d = (size_t)dim, k = (size_t)room;
    *components = (ais_components){.dim = dim,
                                   .room = room,
                                   .mean = AIS_TAKE(arena, double, k *d),
                                   .axis = AIS_TAKE(arena, double, k *d *d),
                                   .sd = AIS_TAKE(arena, double, k *d),
                                   .whiten = AIS_TAKE(arena, double, k *d *d),
                                   .height = AIS_TAKE(arena, double, k),
                                   .log_sd = AIS_TAKE(arena, double, k),
                                   .weight = AIS_TAKE(arena, double, k),
                                   .unbounded = AIS_TAKE(arena, bool, k)};
    return components->mean && components->axis && components->sd && components->whiten && components->height &&
           components->log_sd && components->weight && components->unbounded;
}

bool ais_components_set(ais_components *components, int k, const double *mean, double height, const double *sd,
                        const double *axis, bool unbounded) {
    size_t dim = (size_t)components->dim, place = (size_t)k;
    double log_sd = 0;
    for (size_t j = 0; j < dim; j++) log_sd += log(sd[j]);
    if (k >= components->room || !isfinite(log_sd)) return false;
    memmove(components->mean + place * dim, mean, dim * sizeof *mean);
    memmove(components->sd + place * dim, sd, dim * sizeof *sd);
    memmove(components->axis + place * dim * dim, axis, dim * dim * sizeof *axis);
    for (size_t j = 0; j < dim; j++)
        for (size_t i = 0; i < dim; i++)
            components->whiten[(place * dim + j) * dim + i] =
                components->axis[(place * dim + j) * dim + i] / components->sd[place * dim + j];
    components->height[k] = height;
    components->log_sd[k] = log_sd;
    components->unbounded[k] = unbounded;
    if (k == components->count) components->count++;
    return true;
}

void ais_components_keep(ais_components *components, int count, const int *places) {
    size_t dim = (size_t)components->dim;
    for (int k = 0; k < count; k++) {
        size_t from = (size_t)places[k], to = (size_t)k;
        if (from == to) continue;
        memcpy(components->mean + to * dim, components->mean + from * dim, dim * sizeof(double));
        memcpy(components->sd + to * dim, components->sd + from * dim, dim * sizeof(double));
        memcpy(components->axis + to * dim * dim, components->axis + from * dim * dim, dim * dim * sizeof(double));
        memcpy(components->whiten + to * dim * dim, components->whiten + from * dim * dim, dim * dim * sizeof(double));
        components->height[to] = components->height[from];
        components->log_sd[to] = components->log_sd[from];
        components->weight[to] = components->weight[from];
        components->unbounded[to] = components->unbounded[from];
    }
    components->count = count;
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

double ais_components_evidence(const ais_components *components, int k) {
    return components->height[k] + components->log_sd[k] + 0.5 * components->dim * log(2 * PI);
}

void ais_components_weigh(ais_components *components) {
    double top = -INFINITY, sum = 0;
    int count = components->count;
    for (int k = 0; k < count; k++) top = fmax(top, ais_components_evidence(components, k));
    for (int k = 0; k < count; k++) sum += components->weight[k] = exp(ais_components_evidence(components, k) - top);
    for (int k = 0; k < count; k++) components->weight[k] = 0.9 * components->weight[k] / sum + 0.1 / count;
}

/* m + sum_j sd_j z_j e_j / sqrt(chi^2 / freedom). */
static void draw_from(const ais_components *components, int k, const ais_stream *stream, double *x) {
    size_t dim = (size_t)components->dim;
    const double *axis = components->axis + (size_t)k * dim * dim, *sd = components->sd + (size_t)k * dim;
    double block[2 * 16], square = 0;
    ais_stream radius = *stream;
    radius.step |= (uint64_t)1 << 55;
    ais_normals(&radius, AIS_FREEDOM, block);
    for (int i = 0; i < AIS_FREEDOM; i++) square += block[i] * block[i];
    double stretch = sqrt(AIS_FREEDOM / square);
    memcpy(x, components->mean + (size_t)k * dim, dim * sizeof *x);
    for (size_t first = 0; first < dim; first += 32) {
        ais_stream part = *stream; /* blocks of 32 normals, each from a step of its own */
        part.step |= (uint64_t)(first / 32) << 40;
        size_t many = dim - first < 32 ? dim - first : 32;
        ais_normals(&part, many, block);
        for (size_t j = 0; j < many; j++) {
            double along = stretch * sd[first + j] * block[j];
            for (size_t i = 0; i < dim; i++) x[i] += along * axis[(first + j) * dim + i];
        }
    }
}

static int choose(const ais_components *components, double u) {
    int k = 0;
    while (k + 1 < components->count && u >= components->weight[k]) u -= components->weight[k++];
    return k;
}

void ais_components_draw_one(const ais_components *components, const ais_stream *stream, double *x) {
    draw_from(components, choose(components, ais_random_uniform(stream, CHOICE)), stream, x);
}

typedef struct job {
    const ais_components *components;
    ais_stream stream;
    double shift;
    size_t n;
    double *x, *logq, *share;
    const double *point;
} job;

static void draw_task(void *data, int block) {
    const job *draws = data;
    size_t first = (size_t)block * ROWS, end = first + ROWS < draws->n ? first + ROWS : draws->n;
    for (size_t c = first; c < end; c++) {
        ais_stream stream = draws->stream;
        stream.chain = (uint32_t)c;
        int k = choose(draws->components, ((double)c + draws->shift) / (double)draws->n);
        draw_from(draws->components, k, &stream, draws->x + c * (size_t)draws->components->dim);
    }
}

void ais_components_draw(const ais_components *components, uint64_t seed, uint64_t step, size_t n, double *x,
                         ais_pool *pool) {
    job draws = {.components = components, .stream = {seed, step, 0, AIS_FOR_MIXTURE}, .n = n, .x = x};
    draws.shift = ais_random_uniform(&draws.stream, CHOICE);
    ais_share_out(pool, (int)((n + ROWS - 1) / ROWS), draw_task, &draws);
}

/* term[k] = log(weight_k t(x; component k)); returns the logarithm of their sum. */
static double log_terms(const ais_components *components, const double *x, double *term) {
    double freedom = AIS_FREEDOM, dim = components->dim, top = -INFINITY, sum = 0;
    if (!components->count) return top;
    double constant = lgamma(0.5 * (freedom + dim)) - lgamma(0.5 * freedom) - 0.5 * dim * log(freedom * PI);
    for (int k = 0; k < components->count; k++) {
        double distance = ais_components_distance(components, k, x, INFINITY);
        term[k] = log(components->weight[k]) + constant - components->log_sd[k] -
                  0.5 * (freedom + dim) * log1p(distance / freedom);
        top = fmax(top, term[k]);
    }
    for (int k = 0; k < components->count; k++)
        if (term[k] > top - 40) sum += exp(term[k] - top);
    return top + log(sum);
}

enum { MOST = 512 }; /* components of any mixture here */

static void logq_task(void *data, int block) {
    const job *all = data;
    double term[MOST];
    int count = all->components->count;
    size_t first = (size_t)block * ROWS, end = first + ROWS < all->n ? first + ROWS : all->n;
    for (size_t c = first; c < end; c++) {
        all->logq[c] = log_terms(all->components, all->point + c * (size_t)all->components->dim, term);
        for (int k = 0; k < count && all->share; k++)
            all->share[c * (size_t)count + (size_t)k] = exp(term[k] - all->logq[c]);
    }
}

void ais_components_logq(const ais_components *components, size_t n, const double *x, double *logq, double *share,
                         ais_pool *pool) {
    job all = {.components = components, .n = n, .logq = logq, .share = share, .point = x};
    ais_share_out(pool, (int)((n + ROWS - 1) / ROWS), logq_task, &all);
}
