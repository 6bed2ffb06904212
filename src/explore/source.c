#include "explore/source.h"

#include <math.h>
#include <stdlib.h>

#include "base/constants.h"
#include "learned/learned.h"
#include "nn/batch.h"
#include "simd/normal.h"

/* ---- maps, in blocks of lanes -------------------------------------------------------------------- */

typedef struct job {
    const ais_learned *learned;
    double width;
    uint64_t seed, step;
    size_t n;
    double *drawn;       /* n x dim, or NULL */
    const double *given; /* n x dim, where drawn is NULL */
    double *logq;        /* n, or NULL */
    ais_status *status;
} job;

static void transpose_out(const job *this, size_t first, size_t rows, const double *lanes) {
    size_t dim = (size_t)this->learned->shape.dim;
    for (size_t c = 0; c < rows; c++)
        for (size_t i = 0; i < dim; i++) this->drawn[(first + c) * dim + i] = lanes[i * AIS_BLOCK + c];
}

/* Lanes past the end repeat the last point. */
static void transpose_in(const job *this, size_t first, size_t rows, double *lanes) {
    size_t dim = (size_t)this->learned->shape.dim;
    for (size_t c = 0; c < AIS_BLOCK; c++)
        for (size_t i = 0; i < dim; i++)
            lanes[i * AIS_BLOCK + c] = this->given[(first + (c < rows ? c : rows - 1)) * dim + i];
}

static double log_density(const job *this, const double *z, const double *det, size_t c) {
    size_t dim = (size_t)this->learned->shape.dim;
    double square = 0;
    for (size_t i = 0; i < dim; i++) square += z[i * AIS_BLOCK + c] * z[i * AIS_BLOCK + c];
    double sum = det[c] - this->learned->whitening.log_volume - (double)dim * (AIS_LOG_ROOT_2PI + log(this->width)) -
                 0.5 * square / (this->width * this->width);
    return isnan(sum) ? -INFINITY : sum;
}

/* Of all lanes, from x. */
static void weigh_lanes(const job *this, ais_proposal *proposal, double *logq) {
    const ais_learned *learned = this->learned;
    ais_whiten(&learned->whitening, AIS_BLOCK, proposal->x, proposal->u);
    ais_map_forward(learned, proposal, proposal->u, proposal->mapped, proposal->mapped_det);
    for (size_t c = 0; c < AIS_BLOCK; c++) logq[c] = log_density(this, proposal->mapped, proposal->mapped_det, c);
}

/* Far out a map may overflow, or lose so many digits that it cannot be taken back: what others compute of the density
 * of such a draw, from x, would be anything. It is put to the centre, and weighs nothing. */
static void drop_lost(const job *this, ais_proposal *proposal, double *logq) {
    static const double most_missed = 0.01;
    const ais_learned *learned = this->learned;
    double again[AIS_BLOCK];
    weigh_lanes(this, proposal, again);
    for (size_t c = 0; c < AIS_BLOCK; c++) {
        if (fabs(again[c] - logq[c]) < most_missed) continue;
        for (int i = 0; i < learned->shape.dim; i++)
            proposal->x[(size_t)i * AIS_BLOCK + c] = learned->whitening.mean[i];
        logq[c] = INFINITY;
    }
}

static void draw_lanes(const job *this, size_t first, ais_proposal *proposal, double *logq) {
    const ais_learned *learned = this->learned;
    ais_stream stream = {this->seed, this->step, (uint32_t)first, AIS_FOR_MIXTURE};
    proposal->measure = false;
    ais_normals_lanes(&stream, (size_t)learned->shape.dim, AIS_BLOCK, proposal->v);
    if (this->width != 1)
        for (size_t i = 0; i < (size_t)learned->shape.dim * AIS_BLOCK; i++) proposal->v[i] *= this->width;
    ais_propose_independent(learned, proposal);
    for (size_t c = 0; c < AIS_BLOCK; c++) logq[c] = log_density(this, proposal->v, proposal->next_det, c);
    drop_lost(this, proposal, logq);
}

static void map_block(void *data, int b) {
    const job *this = data;
    size_t first = (size_t)b * AIS_BLOCK, rows = this->n - first < AIS_BLOCK ? this->n - first : AIS_BLOCK;
    double logq[AIS_BLOCK];
    ais_arena arena = {0};
    ais_proposal proposal;
    this->status[b] = ais_proposal_new(this->learned, AIS_BLOCK, &arena, &proposal) ? AIS_OK : AIS_NO_MEMORY;
    if (this->status[b] == AIS_OK && this->drawn) {
        draw_lanes(this, first, &proposal, logq);
        transpose_out(this, first, rows, proposal.x);
    } else if (this->status[b] == AIS_OK) {
        transpose_in(this, first, rows, proposal.x);
        weigh_lanes(this, &proposal, logq);
    }
    for (size_t c = 0; c < rows && this->logq && this->status[b] == AIS_OK; c++) this->logq[first + c] = logq[c];
    ais_arena_free(&arena);
}

static ais_status run_map(ais_context *context, ais_pool *pool, job *this) {
    int blocks = (int)((this->n + AIS_BLOCK - 1) / AIS_BLOCK);
    this->status = calloc((size_t)blocks, sizeof *this->status);
    ais_status status = this->status ? AIS_OK : AIS_NO_MEMORY;
    if (this->status) ais_pool_run(pool, blocks, map_block, this);
    for (int b = 0; this->status && b < blocks; b++)
        if (this->status[b] != AIS_OK) status = this->status[b];
    free(this->status);
    return status == AIS_OK ? AIS_OK : ais_fail_memory(context, "proposals of a map", this->n * sizeof(double));
}

static double width_of(const ais_source *source) { return source->width > 0 ? source->width : 1; }

/* ---- all ----------------------------------------------------------------------------------------- */

ais_status ais_source_draw(ais_context *context, const ais_source *source, int dim, ais_pool *pool, uint64_t seed,
                           uint64_t step, size_t n, double *x, double *logq) {
    if (source->map) {
        job this = {.learned = ais_as_learned(source->map),
                    .width = width_of(source),
                    .seed = seed,
                    .step = step,
                    .n = n,
                    .drawn = x,
                    .logq = logq};
        return run_map(context, pool, &this);
    }
    if (source->mixture) {
        ais_components_draw(source->mixture, seed, step, n, x, pool);
    } else if (source->box.low) {
        ais_box_points(&source->box, seed, step, n, dim, x);
    } else {
        for (size_t c = 0; c < n; c++) {
            ais_stream stream = {seed, step, (uint32_t)c, AIS_FOR_SEARCH};
            ais_normals(&stream, (size_t)dim, x + c * (size_t)dim);
            for (size_t i = 0; i < (size_t)dim; i++) x[c * (size_t)dim + i] *= source->scale;
        }
    }
    return logq ? ais_source_logq(context, source, dim, pool, n, x, logq) : AIS_OK;
}

ais_status ais_source_logq(ais_context *context, const ais_source *source, int dim, ais_pool *pool, size_t n,
                           const double *x, double *logq) {
    if (source->map) {
        job this = {
            .learned = ais_as_learned(source->map), .width = width_of(source), .n = n, .given = x, .logq = logq};
        return run_map(context, pool, &this);
    }
    if (source->mixture) {
        ais_components_logq(source->mixture, n, x, logq, NULL, pool);
        for (size_t c = 0; c < n && source->box.low; c++)
            if (!(ais_box_logq(&source->box, dim, x + c * (size_t)dim) > -INFINITY)) logq[c] = -INFINITY;
        return AIS_OK;
    }
    if (source->box.low) {
        for (size_t c = 0; c < n; c++) logq[c] = ais_box_logq(&source->box, dim, x + c * (size_t)dim);
        return AIS_OK;
    }
    for (size_t c = 0; c < n; c++) {
        double square = 0;
        for (int i = 0; i < dim; i++) square += x[c * (size_t)dim + (size_t)i] * x[c * (size_t)dim + (size_t)i];
        logq[c] = -0.5 * square / (source->scale * source->scale) - dim * (log(source->scale) + AIS_LOG_ROOT_2PI);
    }
    return AIS_OK;
}
