#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/draws.h>

#include "base/streams.h"
#include "kernel/kernel.h"
#include "simd/check_lanes.h"
#include "simd/normal.h"

enum { START_ATTEMPTS = 100, POINT_TEXT = 640 };

static const char *name_of(const ais_target *target) { return target->name ? target->name : "(without a name)"; }

ais_status ais_fail_density(ais_context *context, const ais_target *target, double value, const double *x) {
    char text[POINT_TEXT];
    ais_target_point(target, x, text, sizeof text);
    return ais_fail(context, AIS_BAD_DENSITY,
                    "the log density of target %.100s is %s at %s: it must be a number, or -infinity outside "
                    "the support",
                    name_of(target), isnan(value) ? "nan" : "+infinity", text);
}

static ais_status check_value(ais_context *context, const ais_target *target, double value, const double *x) {
    return value < INFINITY ? AIS_OK : ais_fail_density(context, target, value, x);
}

ais_status ais_state_logp(ais_context *context, const ais_target *target, int chains, int lanes, const double *x,
                          double *point, double *logp) {
    if (target->batch && chains == 1) { /* a single chain need not pay for the other lanes */
        for (int i = 0; i < target->dim; i++) point[i] = x[(size_t)i * (size_t)lanes];
        target->batch(1, point, logp, target->data);
        if (logp[0] < INFINITY) return AIS_OK;
    } else if (target->batch) {
        target->batch((size_t)lanes, x, logp, target->data);
        if (AIS_CHOOSE(ais_all_at_most)((size_t)chains, logp, DBL_MAX)) return AIS_OK;
    }
    for (int c = 0; c < chains; c++) {
        if (target->batch && logp[c] < INFINITY) continue;
        for (int i = 0; i < target->dim; i++) point[i] = x[(size_t)i * lanes + c];
        if (!target->batch) logp[c] = target->logp(point, target->data);
        ais_status status = check_value(context, target, logp[c], point);
        if (status != AIS_OK) return status;
    }
    for (int c = chains; c < lanes && !target->batch; c++) logp[c] = -INFINITY;
    return AIS_OK;
}

/* The caller's point of one chain. */
static ais_status given_start(ais_context *context, const ais_state *state, int c, const double *point, double *logp) {
    const ais_target *target = state->target;
    char text[POINT_TEXT];
    for (int i = 0; i < target->dim; i++)
        if (!isfinite(point[i]))
            return ais_fail(context, AIS_BAD_ARGUMENT,
                            "coordinate %d of the start of chain %u is %g: it must be finite", i + 1,
                            state->chain + (uint32_t)c + 1, point[i]);
    *logp = target->logp(point, target->data);
    ais_status status = check_value(context, target, *logp, point);
    if (status != AIS_OK || *logp > -INFINITY) return status;
    ais_target_point(target, point, text, sizeof text);
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "chain %u starts at %s, where the density of target %.100s is zero: start inside the support",
                    state->chain + (uint32_t)c + 1, text, name_of(target));
}

/* One of an empirical target's draws. */
static void drawn_start(const ais_state *state, int c, double *point) {
    const ais_draws *draws = state->target->draws;
    size_t count = (size_t)draws->chains * (size_t)draws->draws;
    ais_stream stream = ais_stream_for(AIS_USE_STARTS, state->seed, 0, state->chain + (uint32_t)c);
    size_t member = (size_t)ais_random_below(&stream, 0, count);
    for (int i = 0; i < draws->dim; i++) point[i] = draws->value[(size_t)i * count + member];
}

static ais_status random_start(ais_context *context, const ais_state *state, ais_use use, int c, double *point,
                               double *logp) {
    const ais_target *target = state->target;
    double scale = target->start_scale > 0 ? target->start_scale : 1;
    char text[POINT_TEXT];
    *logp = 0;
    if (target->draws) drawn_start(state, c, point);
    if (target->draws) return AIS_OK;
    for (uint64_t attempt = 0; attempt < START_ATTEMPTS; attempt++) {
        ais_stream stream = ais_stream_for(use, state->seed, attempt, state->chain + (uint32_t)c);
        ais_normals(&stream, (size_t)target->dim, point);
        for (int i = 0; i < target->dim; i++) point[i] *= scale;
        *logp = target->logp(point, target->data);
        ais_status status = check_value(context, target, *logp, point);
        if (status != AIS_OK || *logp > -INFINITY) return status;
    }
    ais_target_point(target, point, text, sizeof text);
    return ais_fail(context, AIS_BAD_DENSITY,
                    "the density of target %.100s is zero at all %d points tried as a start of chain %u, drawn from "
                    "N(0, %g^2), the last of them %s: give starting points or another start scale",
                    name_of(target), START_ATTEMPTS, state->chain + (uint32_t)c + 1, scale, text);
}

/* *logp stays -infinity when the density is zero at all candidates of chain c. */
static ais_status tried_start(ais_context *context, const ais_state *state, int c, const ais_candidates *candidates,
                              double *point, double *logp) {
    const ais_target *target = state->target;
    size_t dim = (size_t)target->dim;
    *logp = -INFINITY;
    for (int a = 0; a < candidates->count && *logp == -INFINITY; a++) {
        memcpy(point, candidates->x + (size_t)a * candidates->stride + (size_t)c * dim, dim * sizeof *point);
        *logp = target->logp(point, target->data);
        ais_status status = check_value(context, target, *logp, point);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

static ais_status start_of(ais_context *context, const ais_state *state, int c, const double *start,
                           const ais_candidates *candidates, double *point) {
    size_t dim = (size_t)state->target->dim;
    if (start) memcpy(point, start + (size_t)c * dim, dim * sizeof *point);
    if (start) return given_start(context, state, c, point, &state->logp[c]);
    if (candidates) {
        ais_status status = tried_start(context, state, c, candidates, point, &state->logp[c]);
        if (status != AIS_OK || state->logp[c] > -INFINITY) return status;
    }
    return random_start(context, state, candidates ? AIS_USE_STARTS_INSTEAD : AIS_USE_STARTS, c, point,
                        &state->logp[c]);
}

static ais_status fill(ais_context *context, ais_state *state, const double *start, const ais_candidates *candidates) {
    int dim = state->target->dim, lanes = state->lanes;
    state->x = AIS_TAKE(&state->arena, double, (size_t)dim *(size_t)lanes);
    state->logp = AIS_TAKE(&state->arena, double, lanes);
    state->version = AIS_TAKE(&state->arena, uint32_t, lanes);
    double *point = AIS_TAKE(&state->arena, double, dim);
    if (!state->x || !state->logp || !state->version || !point)
        return ais_fail_memory(context, "a block of chains", (size_t)dim * (size_t)lanes * sizeof(double));
    for (int c = 0; c < state->chains; c++) {
        ais_status status = start_of(context, state, c, start, candidates, point);
        if (status != AIS_OK) return status;
        for (int i = 0; i < dim; i++) state->x[(size_t)i * lanes + c] = point[i];
    }
    for (int c = state->chains; c < lanes; c++) { /* padding: points that a batch form can handle */
        for (int i = 0; i < dim; i++) state->x[(size_t)i * lanes + c] = state->x[(size_t)i * lanes];
        state->logp[c] = state->logp[0];
    }
    return AIS_OK;
}

static ais_status make(ais_context *context, const ais_target *target, uint64_t seed, uint32_t first_chain, int chains,
                       uint64_t warmup, const double *start, const ais_candidates *candidates, ais_state **out) {
    *out = NULL;
    if (chains < 1) return ais_fail(context, AIS_BAD_ARGUMENT, "a block of %d chains: at least 1 is needed", chains);
    if (target->dim < 1 || !target->logp)
        return ais_fail(context, AIS_BAD_ARGUMENT, "target %.100s has dimension %d and %s log density: it needs both",
                        name_of(target), target->dim, target->logp ? "a" : "no");
    ais_state *state = ais_allocate(sizeof *state);
    if (!state) return ais_fail_memory(context, "a block of chains", sizeof *state);
    *state = (ais_state){.target = target,
                         .seed = seed,
                         .chain = first_chain,
                         .chains = chains,
                         .lanes = (int)ais_padded((size_t)chains),
                         .warmup = warmup};
    ais_status status = fill(context, state, start, candidates);
    if (status != AIS_OK) {
        ais_state_free(state);
        return status;
    }
    *out = state;
    return AIS_OK;
}

ais_status ais_state_new(ais_context *context, const ais_target *target, uint64_t seed, uint32_t first_chain,
                         int chains, uint64_t warmup, const double *start, ais_state **state) {
    return make(context, target, seed, first_chain, chains, warmup, start, NULL, state);
}

ais_status ais_state_try(ais_context *context, const ais_target *target, uint64_t seed, uint32_t first_chain,
                         int chains, uint64_t warmup, const ais_candidates *candidates, ais_state **state) {
    return make(context, target, seed, first_chain, chains, warmup, NULL, candidates, state);
}

void ais_state_free(ais_state *state) {
    if (!state) return;
    ais_arena_free(&state->arena);
    free(state);
}
