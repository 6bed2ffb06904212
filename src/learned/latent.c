/* The inner kernel has a state of its own, whose points are z, on the density of learned/pullback.h. The chain's state
 * is z: x = S(z) is computed from it in the same way as by the density, so that nothing has to be inverted and rounding
 * of S does not matter. If another kernel of a cycle has moved x, z = T(x) is computed, up to rounding. */
#include "learned/latent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classical/classical.h"
#include "learned/mixture.h"
#include "simd/normal.h"

typedef struct block {
    ais_pullback density;
    ais_state inner;  /* on the density; x is z */
    void *own;        /* of the inner kernel */
    void *source;     /* of the mixture that proposes, if one does */
    uint32_t *seen;   /* the version of x that z belongs to */
    uint32_t *before; /* versions of z before a step */
    double *z;        /* dim x lanes: z of points that came from elsewhere, or of proposals */
    double *x;        /* dim */
    double *logp;     /* lanes: of proposals, in z */
    double *uniform;  /* lanes: of their test */
} block;

/* z, where another kernel has moved x. */
static ais_status enter(ais_context *context, const ais_state *state, block *b) {
    size_t dim = (size_t)state->target->dim, lanes = (size_t)state->lanes;
    ais_state *inner = &b->inner;
    if (memcmp(b->seen, state->version, (size_t)state->chains * sizeof *b->seen) == 0) return AIS_OK;
    double *log_det = b->density.many.log_det;
    ais_pullback_enter(&b->density, state->x, b->z);
    for (size_t c = 0; c < lanes; c++) {
        size_t from = c < (size_t)state->chains ? c : 0; /* lanes past the last chain are points, too */
        if (from == c && b->seen[c] == state->version[c]) continue;
        for (size_t i = 0; i < dim; i++) {
            inner->x[i * lanes + c] = b->z[i * lanes + from];
            if (!isfinite(b->z[i * lanes + from]))
                return ais_fail(context, AIS_BAD_ARGUMENT,
                                "chain %u: coordinate %zu of x, %.17g, lies where the map of the latent kernel is not "
                                "finite: start elsewhere, or use another map",
                                state->chain + (uint32_t)c + 1, i + 1, state->x[i * lanes + from]);
        }
        inner->logp[c] = state->logp[from] + log_det[from];
        inner->version[c]++;
    }
    memcpy(b->seen, state->version, (size_t)state->chains * sizeof *b->seen);
    return AIS_OK;
}

static void put(ais_state *state, block *b, size_t c, const double *x, size_t stride, double log_det) {
    for (size_t i = 0; i < (size_t)state->target->dim; i++) state->x[i * (size_t)state->lanes + c] = x[i * stride];
    state->logp[c] = b->inner.logp[c] - log_det;
    b->seen[c] = ++state->version[c];
}

/* x, where z has moved: point by point or all lanes at once, in the way in which they were evaluated. */
static void leave(ais_state *state, block *b, bool alone) {
    const ais_state *inner = &b->inner;
    size_t lanes = (size_t)state->lanes, chains = (size_t)state->chains;
    if (memcmp(b->before, inner->version, chains * sizeof *b->before) == 0) return;
    if (!alone) ais_pullback_lanes(&b->density, inner->x);
    for (size_t c = 0; c < chains; c++) {
        if (b->before[c] == inner->version[c]) continue;
        if (!alone) {
            put(state, b, c, b->density.x + c, lanes, b->density.many.log_det[c]);
            continue;
        }
        for (size_t i = 0; i < (size_t)state->target->dim; i++) b->z[i] = inner->x[i * lanes + c];
        double log_det = ais_pullback_point(&b->density, b->z, b->x);
        put(state, b, c, b->x, 1, log_det);
    }
}

static double square(const double *z, size_t dim, size_t stride) {
    double sum = 0;
    for (size_t i = 0; i < dim; i++) sum += z[i * stride] * z[i * stride];
    return sum;
}

/* One independent proposal of the map for every chain, z' ~ N(0, I): accepted by the difference of log p - log N in z,
 * whatever the inner kernel is. */
static ais_status propose(ais_context *context, ais_state *state, block *b, ais_info *info) {
    ais_state *inner = &b->inner;
    size_t dim = (size_t)state->target->dim, lanes = (size_t)state->lanes, chains = (size_t)state->chains;
    ais_stream stream = ais_state_stream(state, 0, AIS_FOR_MOMENTUM);
    ais_numbers_first(&stream, dim, lanes, chains, b->z, b->uniform);
    for (size_t c = chains; c < lanes; c++) /* points, too */
        for (size_t i = 0; i < dim; i++) b->z[i * lanes + c] = b->z[i * lanes];
    /* A chain that is alone in its block, but not in the run, has the bits of a lane: blocks depend on threads. */
    int together = state->single || chains > 1 ? state->chains : 2;
    ais_status status = ais_state_logp(context, &b->density.latent, together, state->lanes, b->z, b->x, b->logp);
    for (size_t c = 0; c < chains && status == AIS_OK; c++) {
        double ratio =
            b->logp[c] - inner->logp[c] + (square(b->z + c, dim, lanes) - square(inner->x + c, dim, lanes)) / 2;
        double chance = ratio < 0 ? exp(ratio) : 1;
        bool taken = b->uniform[c] < chance;
        for (size_t i = 0; i < dim && taken; i++) inner->x[i * lanes + c] = b->z[i * lanes + c];
        if (taken) inner->logp[c] = b->logp[c];
        if (taken) inner->version[c]++;
        /* with the mean of a momentum's energy, so that it compares with the inner kernel's */
        info[c] = (ais_info){.accept_stat = chance, .energy = (double)dim / 2 - inner->logp[c]};
        info[c].log_weight = ais_proposal_weight(b->logp[c], ais_latent_density(b->density.map, b->z + c, lanes));
    }
    return status;
}

/* A proposal of the mixture, which moves x as another kernel of a cycle would. */
static ais_status propose_from(ais_context *context, const ais_latent *latent, ais_state *state, block *b,
                               ais_info *info) {
    ais_status status = latent->source->type->step(context, latent->source, state, b->source, info);
    if (status == AIS_OK) status = enter(context, state, b);
    for (int c = 0; c < state->chains && status == AIS_OK; c++)
        info[c].energy = (double)state->target->dim / 2 - b->inner.logp[c];
    return status;
}

/* A wrong value of the target is reported with x, not with z. */
static ais_status said(ais_context *context, const block *b, ais_status status) {
    if (status != AIS_BAD_DENSITY || b->density.failure == 0) return status;
    return ais_fail_density(context, b->density.target, b->density.failure, b->density.failed_at);
}

static ais_status init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **own) {
    const ais_latent *latent = (const ais_latent *)kernel;
    const ais_target *target = state->target;
    ais_status status = ais_kernel_fits(context, kernel, target);
    if (status != AIS_OK) return status;
    size_t dim = (size_t)target->dim, lanes = (size_t)state->lanes;
    ais_arena *arena = &state->arena;
    block *b = AIS_TAKE(arena, block, 1);
    bool alone =
        state->single || latent->proposals > 0; /* trajectories are evaluated point by point; proposals share lanes */
    if (!b || !ais_pullback_take(&b->density, ais_as_learned(latent->map), target, state->chains, lanes, alone, arena))
        return ais_fail_memory(context, "a latent kernel's state", dim * lanes * sizeof(double));
    if (latent->replace) latent->replace(&b->density.latent);
    b->inner = (ais_state){.target = &b->density.latent,
                           .seed = state->seed,
                           .chain = state->chain,
                           .chains = state->chains,
                           .single = state->single,
                           .lanes = state->lanes,
                           .step = state->step,
                           .warmup = state->warmup,
                           .part = state->part,
                           .x = AIS_TAKE(arena, double, dim *lanes),
                           .logp = AIS_TAKE(arena, double, lanes),
                           .version = AIS_TAKE(arena, uint32_t, lanes)};
    b->seen = AIS_TAKE(arena, uint32_t, lanes);
    b->before = AIS_TAKE(arena, uint32_t, lanes);
    b->z = AIS_TAKE(arena, double, dim *lanes);
    b->x = AIS_TAKE(arena, double, dim);
    b->logp = AIS_TAKE(arena, double, lanes);
    b->uniform = AIS_TAKE(arena, double, lanes);
    if (!b->inner.x || !b->inner.logp || !b->inner.version || !b->seen || !b->before || !b->z || !b->x || !b->logp ||
        !b->uniform)
        return ais_fail_memory(context, "a latent kernel's state", dim * lanes * sizeof(double));
    for (int c = 0; c < state->chains; c++) b->seen[c] = state->version[c] - 1;
    *own = b;
    status = enter(context, state, b);
    if (status != AIS_OK) return status;
    b->inner.arena = *arena; /* what the inner kernel allocates is freed with the rest */
    status = latent->inner->type->init(context, latent->inner, &b->inner, &b->own);
    *arena = b->inner.arena;
    if (status == AIS_OK && latent->source)
        status = latent->source->type->init(context, latent->source, state, &b->source);
    return said(context, b, status);
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own, ais_info *info) {
    const ais_latent *latent = (const ais_latent *)kernel;
    const ais_kernel *inner = latent->inner;
    block *b = own;
    bool leads = state->step < state->warmup || (state->step - state->warmup) % ((uint64_t)latent->proposals + 1) == 0;
    b->inner.step = state->step;
    b->inner.part = state->part;
    ais_status status = enter(context, state, b);
    if (status != AIS_OK) return status;
    if (!leads && latent->source) return propose_from(context, latent, state, b, info);
    memcpy(b->before, b->inner.version, (size_t)state->chains * sizeof *b->before);
    status = leads ? inner->type->step(context, inner, &b->inner, b->own, info) : propose(context, state, b, info);
    for (int c = 0; c < state->chains && leads && latent->proposals > 0; c++) info[c].log_weight = NAN;
    bool alone = leads ? latent->proposals > 0 || state->chains == 1 : state->single;
    if (status == AIS_OK) leave(state, b, alone);
    return said(context, b, status);
}

static void persist(const ais_kernel *kernel, ais_state *state, void *own, int lane, ais_record *record) {
    const ais_kernel *inner = ((const ais_latent *)kernel)->inner;
    block *b = own;
    size_t dim = (size_t)state->target->dim, lanes = (size_t)state->lanes, c = (size_t)lane;
    ais_record_fresh(record, &b->seen[lane], state->version[lane]);
    ais_record_lane(record, b->inner.x, dim, lanes, c);
    ais_record_lane(record, b->inner.logp, 1, lanes, c);
    inner->type->persist(inner, &b->inner, b->own, lane, record);
    const ais_kernel *source = ((const ais_latent *)kernel)->source;
    if (source) source->type->persist(source, state, b->source, lane, record);
}

static void release(ais_kernel *kernel) {
    ais_latent *latent = (ais_latent *)kernel;
    ais_kernel_free(latent->source);
    ais_kernel_free(latent->map);
    ais_kernel_free(latent->inner);
    free(latent);
}

const ais_latent *ais_as_latent(const ais_kernel *kernel) {
    return kernel->type->free == release ? (const ais_latent *)kernel : NULL;
}

const ais_learned *ais_map_of(const ais_kernel *kernel) {
    const ais_latent *latent = ais_as_latent(kernel);
    return ais_as_learned(latent ? latent->map : kernel);
}

static ais_status check_parts(ais_context *context, const ais_kernel *map, const ais_kernel *inner) {
    if (!map || !inner)
        return ais_fail(context, AIS_BAD_ARGUMENT, "a latent kernel without %s (NULL)", map ? "inner kernel" : "map");
    const ais_learned *learned = ais_as_learned(map);
    if (!learned || !ais_is_independent(learned) || map->empirical)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%.100s has no latent space: only affine, realnvp and spline on x alone, with swap and for a "
                        "density, have one",
                        map->type->name);
    if (learned->angles.count)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "the map of a latent kernel has %d angles, which are for its own proposals: set none",
                        learned->angles.count);
    if (ais_classical_of(inner)) return AIS_OK;
    char known[128];
    ais_classical_list(" and ", known, sizeof known);
    return ais_fail(context, AIS_BAD_ARGUMENT, "%.100s cannot step in a latent space: %s can", inner->type->name,
                    known);
}

/* As a cycle's, where the map's own proposals are steps of it. */
static void give_name(ais_latent *latent) {
    const char *map = latent->map->type->name, *inner = latent->inner->type->name;
    const char *source = latent->source ? latent->source->type->name : map;
    bool both = latent->proposals > 0;
    snprintf(latent->name, sizeof latent->name, "%s%s%s@%s", both ? source : "", both ? "+" : "", inner, map);
}

ais_status ais_kernel_set_proposals(ais_context *context, ais_kernel *kernel, int proposals) {
    ais_latent *latent = (ais_latent *)ais_as_latent(kernel);
    if (!latent)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%.100s is not a latent kernel: only those take proposals",
                        kernel->type->name);
    if (proposals < 0 || proposals > AIS_MOST_PROPOSALS)
        return ais_fail(context, AIS_BAD_ARGUMENT, "proposals is %d, but must be 0 to %d", proposals,
                        AIS_MOST_PROPOSALS);
    latent->proposals = proposals;
    latent->type.info = latent->inner->type->info | (proposals > 0 ? 1u << AIS_INFO_LOG_WEIGHT : 0);
    give_name(latent);
    return AIS_OK;
}

ais_status ais_kernel_propose_from(ais_context *context, ais_kernel *kernel, ais_kernel *mixture) {
    ais_latent *latent = (ais_latent *)ais_as_latent(kernel);
    ais_status status = AIS_OK;
    if (!latent)
        status = ais_fail(context, AIS_BAD_ARGUMENT, "%.100s is not a latent kernel: only those take proposals",
                          kernel->type->name);
    else if (!ais_as_mixture(mixture) || mixture->dim != kernel->dim)
        status =
            ais_fail(context, AIS_BAD_ARGUMENT,
                     "%.100s of dimension %d cannot propose for a latent kernel of dimension %d: a mixture of that "
                     "dimension can",
                     mixture->type->name, mixture->dim, kernel->dim);
    if (status != AIS_OK) {
        ais_kernel_free(mixture);
        return status;
    }
    ais_kernel_free(latent->source);
    latent->source = mixture;
    give_name(latent);
    return AIS_OK;
}

ais_status ais_kernel_latent(ais_context *context, ais_kernel *map, ais_kernel *inner, ais_kernel **kernel) {
    *kernel = NULL;
    ais_status status = check_parts(context, map, inner);
    ais_latent *latent = status == AIS_OK ? calloc(1, sizeof *latent) : NULL;
    if (status == AIS_OK && !latent) status = ais_fail_memory(context, "a latent kernel", sizeof *latent);
    if (status != AIS_OK) {
        ais_kernel_free(map);
        ais_kernel_free(inner);
        return status;
    }
    *latent = (ais_latent){.map = map, .inner = inner};
    give_name(latent);
    latent->type = (ais_kernel_type){.name = latent->name,
                                     .info = inner->type->info,
                                     .needs_gradient = inner->type->needs_gradient,
                                     .trajectories = inner->type->trajectories,
                                     .init = init,
                                     .step = step,
                                     .persist = persist,
                                     .free = release};
    latent->kernel = (ais_kernel){.type = &latent->type, .dim = map->dim, .max_depth = inner->max_depth};
    *kernel = &latent->kernel;
    return AIS_OK;
}
