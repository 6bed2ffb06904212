/* Random-walk Metropolis: all chains of the block propose together, so that the target's batch form
 * is used. Warm-up learns a variance per coordinate in windows and the scale by dual averaging. */
#include <math.h>
#include <string.h>

#include "classical/classical.h"
#include "classical/dual_averaging.h"
#include "classical/welford.h"
#include "classical/windows.h"
#include "kernel/kernel.h"
#include "simd/normal.h"

/* Of dual averaging. On a Gaussian in ten dimensions the kept scale then accepts 0.22 to 0.24 of
 * proposals, where 0.234 is wanted; with Stan's 0.05, 0.16 to 0.18. */
static const double gamma_ = 0.2;

typedef struct rwm {
    ais_kernel kernel;
    ais_rwm_options options;
} rwm;

typedef struct tuner { /* of one chain */
    ais_dual_averaging averaging;
    ais_windows windows;
    ais_welford welford;
} tuner;

typedef struct block {
    double *proposal; /* dim x lanes */
    double *logp;     /* lanes */
    double *uniform;  /* lanes */
    double *scale;    /* lanes */
    double *sd;       /* dim x lanes */
    double *point;    /* dim */
    tuner *tuner;     /* chains, or NULL when nothing is tuned */
    uint64_t left;    /* steps to come that tune */
    double best;      /* scale that is right for a Gaussian with known variances (Gelman et al. 1996) */
} block;

static ais_status tuners_new(ais_context *context, const rwm *kernel, ais_state *state, block *b) {
    int dim = state->target->dim;
    double target = kernel->options.target_accept;
    if (target == 0) target = dim == 1 ? 0.44 : 0.234;
    b->tuner = AIS_TAKE(&state->arena, tuner, state->chains);
    for (int c = 0; c < state->chains; c++) {
        if (!b->tuner || !ais_welford_take(&b->tuner[c].welford, &state->arena, dim, false))
            return ais_fail_memory(context, "rwm", 3 * (size_t)dim * sizeof(double));
        b->tuner[c].windows = ais_windows_new(b->left);
        ais_dual_averaging_restart(&b->tuner[c].averaging, gamma_, target, log(b->best));
    }
    return AIS_OK;
}

static ais_status init(ais_context *context, const ais_kernel *base, ais_state *state, void **own) {
    const rwm *kernel = (const rwm *)base;
    size_t dim = (size_t)state->target->dim, lanes = (size_t)state->lanes;
    bool tuned = kernel->options.scale == 0;
    block *b = AIS_TAKE(&state->arena, block, 1);
    double *memory = AIS_TAKE(&state->arena, double, 2 * dim * lanes + 3 * lanes + dim);
    if (!b || !memory) return ais_fail_memory(context, "rwm", 2 * dim * lanes * sizeof(double));
    b->proposal = memory;
    b->sd = b->proposal + dim * lanes;
    b->logp = b->sd + dim * lanes;
    b->uniform = b->logp + lanes;
    b->scale = b->uniform + lanes;
    b->point = b->scale + lanes;
    b->best = 2.38 / sqrt((double)dim);
    b->left = tuned && state->warmup > state->step ? state->warmup - state->step : 0;
    for (size_t k = 0; k < dim * lanes; k++) b->sd[k] = 1;
    for (size_t c = 0; c < lanes; c++) b->scale[c] = tuned ? b->best : kernel->options.scale;
    *own = b;
    return b->left ? tuners_new(context, kernel, state, b) : AIS_OK;
}

/* Proposals for all lanes. One that overflowed is replaced by the chain's own point, and its uniform
 * by 2, so that the target never sees it and the test refuses it. */
static void propose(const ais_state *state, block *b) {
    size_t dim = (size_t)state->target->dim, lanes = (size_t)state->lanes;
    ais_stream walk = ais_state_stream(state, 0, AIS_FOR_WALK), test = ais_state_stream(state, 0, AIS_FOR_TEST);
    ais_normals_lanes(&walk, dim, lanes, b->proposal);
    ais_uniforms_lanes(&test, 0, lanes, b->uniform);
    for (size_t i = 0; i < dim; i++)
        for (size_t c = 0; c < lanes; c++) {
            size_t k = i * lanes + c;
            b->proposal[k] = state->x[k] + b->scale[c] * b->sd[k] * b->proposal[k];
            if (!isfinite(b->proposal[k])) b->uniform[c] = 2;
        }
    for (size_t c = 0; c < lanes; c++)
        for (size_t i = 0; b->uniform[c] > 1 && i < dim; i++) b->proposal[i * lanes + c] = state->x[i * lanes + c];
}

static ais_status learn(ais_context *context, const ais_state *state, block *b, size_t c, double acceptance) {
    size_t dim = (size_t)state->target->dim, lanes = (size_t)state->lanes;
    tuner *t = &b->tuner[c];
    b->scale[c] = ais_dual_averaging_next(&t->averaging, acceptance);
    ais_window window = ais_windows_advance(&t->windows);
    if (window != AIS_WINDOW_OUTSIDE) {
        for (size_t i = 0; i < dim; i++) b->point[i] = state->x[i * lanes + c];
        ais_welford_add(&t->welford, b->point);
    }
    if (window == AIS_WINDOW_END) {
        ais_welford_regularised(&t->welford, b->point);
        ais_welford_restart(&t->welford);
        for (size_t i = 0; i < dim; i++) {
            if (!(b->point[i] < INFINITY))
                return ais_fail(context, AIS_BAD_DENSITY,
                                "chain %u: the variances of warm-up overflow: is the integral of target %.100s finite?",
                                state->chain + (uint32_t)c + 1, state->target->name ? state->target->name : "");
            b->sd[i * lanes + c] = sqrt(b->point[i]);
        }
        b->scale[c] = b->best;
        ais_dual_averaging_restart(&t->averaging, gamma_, t->averaging.target, log(b->best));
    }
    if (b->left == 1) b->scale[c] = ais_dual_averaging_final(&t->averaging, b->scale[c]);
    return AIS_OK;
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own, ais_info *info) {
    (void)kernel;
    block *b = own;
    size_t dim = (size_t)state->target->dim, lanes = (size_t)state->lanes;
    propose(state, b);
    ais_status status =
        ais_state_logp(context, state->target, state->chains, state->lanes, b->proposal, b->point, b->logp);
    for (size_t c = 0; status == AIS_OK && c < (size_t)state->chains; c++) {
        double ratio = b->logp[c] - state->logp[c];
        double acceptance = b->uniform[c] > 1 ? 0 : ratio > 0 ? 1 : exp(ratio);
        info[c] = (ais_info){.accept_stat = acceptance, .step_size = b->scale[c]};
        if (b->uniform[c] < acceptance) {
            for (size_t i = 0; i < dim; i++) state->x[i * lanes + c] = b->proposal[i * lanes + c];
            state->logp[c] = b->logp[c];
            state->version[c]++;
        }
        if (b->left) status = learn(context, state, b, c, acceptance);
    }
    if (b->left) b->left--;
    return status;
}

/* `left` is the block's: every chain tells the same. */
static void persist(const ais_kernel *kernel, ais_state *state, void *own, int lane, ais_record *record) {
    (void)kernel;
    block *b = own;
    size_t dim = (size_t)state->target->dim, lanes = (size_t)state->lanes;
    ais_record_lane(record, b->scale, 1, lanes, (size_t)lane);
    ais_record_lane(record, b->sd, dim, lanes, (size_t)lane);
    ais_record_bytes(record, &b->left, sizeof b->left);
    if (!b->tuner) return;
    tuner *t = &b->tuner[lane];
    ais_record_bytes(record, &t->averaging, sizeof t->averaging);
    ais_record_bytes(record, &t->windows, sizeof t->windows);
    ais_welford_persist(&t->welford, record);
}

static const ais_kernel_type type = {
    .name = "rwm",
    .info = 1u << AIS_INFO_ACCEPT_STAT | 1u << AIS_INFO_STEP_SIZE,
    .init = init,
    .step = step,
    .persist = persist,
    .free = ais_classical_free,
};

ais_status ais_kernel_rwm(ais_context *context, const ais_rwm_options *options, ais_kernel **kernel) {
    ais_rwm_options wish = options ? *options : (ais_rwm_options){0};
    *kernel = NULL;
    if (!(wish.scale >= 0 && wish.scale < INFINITY))
        return ais_fail(context, AIS_BAD_ARGUMENT, "rwm: scale is %g, but must be positive, or 0 to have it tuned",
                        wish.scale);
    if (!(wish.target_accept >= 0 && wish.target_accept < 1))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "rwm: target_accept is %g, but must lie between 0 and 1 (0 itself means the default)",
                        wish.target_accept);
    const rwm made = {.kernel = {.type = &type}, .options = wish};
    return ais_classical_keep(context, &made.kernel, sizeof made, kernel);
}

static ais_status make(ais_context *context, const ais_classical_options *options, ais_kernel **kernel) {
    const ais_rwm_options own = {.scale = options->scale, .target_accept = options->target_accept};
    return ais_kernel_rwm(context, &own, kernel);
}

static ais_classical_options options_of(const ais_kernel *kernel) {
    const ais_rwm_options *own = &((const rwm *)kernel)->options;
    return (ais_classical_options){.scale = own->scale, .target_accept = own->target_accept};
}

const ais_classical ais_classical_rwm = {{"rwm", "random walk", "scale target_accept", false}, &type, make, options_of};
