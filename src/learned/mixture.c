/* The kernel "mixture": construction, and one accept/reject step, math.md (33). */
#include "learned/mixture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/streams.h"
#include "kernel/test_lanes.h"
#include "simd/normal.h"

typedef struct own {
    ais_components_work work;
    double *x;                        /* dim x lanes: the proposals; lanes past the last chain keep a point */
    double *logp, *logq;              /* lanes: of the proposals */
    double *weight, *next_weight;     /* lanes: w = log p - log q of the present and of the proposed points */
    double *strange, *none, *uniform; /* lanes: infinite where a proposal is not finite; zeros; of the test */
    double *chance, *point;
    int64_t *taken;
    uint32_t *seen; /* the version of x that weight belongs to */
    ais_test_call test;
} own;

/* ---- state ------------------------------------------------------------------------------------- */

static bool take(const ais_mixture_kernel *this, ais_state *state, own *mine) {
    ais_arena *arena = &state->arena;
    size_t lanes = (size_t)state->lanes;
    mine->x = AIS_TAKE(arena, double, (size_t)this->kernel.dim *lanes);
    double *memory = AIS_TAKE(arena, double, 8 * lanes);
    mine->point = AIS_TAKE(arena, double, this->kernel.dim);
    mine->taken = AIS_TAKE(arena, int64_t, lanes);
    mine->seen = AIS_TAKE(arena, uint32_t, lanes);
    if (!memory) return false;
    double **slice[8] = {&mine->logp,    &mine->logq, &mine->weight,  &mine->next_weight,
                         &mine->strange, &mine->none, &mine->uniform, &mine->chance};
    for (size_t i = 0; i < 8; i++) *slice[i] = memory + i * lanes;
    return mine->x && mine->point && mine->taken && mine->seen &&
           ais_components_work_take(&mine->work, arena, this->kernel.dim, lanes);
}

static void weigh(const ais_mixture_kernel *this, const ais_state *state, const own *mine, const double *x,
                  const double *logp, double *weight) {
    size_t chains = (size_t)state->chains;
    this->logq(&this->components, chains, (size_t)state->lanes, &mine->work, x, mine->logq);
    for (size_t c = 0; c < chains; c++) weight[c] = logp[c] - mine->logq[c];
}

/* w of chains that another kernel has moved; for the others the result is the same as before. */
static void refresh(const ais_mixture_kernel *this, const ais_state *state, own *mine) {
    size_t bytes = (size_t)state->chains * sizeof *mine->seen;
    if (memcmp(mine->seen, state->version, bytes) == 0) return;
    weigh(this, state, mine, state->x, state->logp, mine->weight);
    memcpy(mine->seen, state->version, bytes);
}

static ais_status init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **out) {
    const ais_mixture_kernel *this = (const ais_mixture_kernel *)kernel;
    ais_status status = ais_kernel_fits(context, kernel, state->target);
    if (status != AIS_OK) return status;
    own *mine = AIS_TAKE(&state->arena, own, 1);
    size_t rows = (size_t)kernel->dim * (size_t)state->lanes;
    if (!mine || !take(this, state, mine)) return ais_fail_memory(context, "a kernel's state", rows * sizeof(double));
    memcpy(mine->x, state->x, rows * sizeof *mine->x);
    mine->test = (ais_test_call){.chains = (size_t)state->chains,
                                 .barker = this->test == AIS_BARKER,
                                 .tolerance = DBL_MAX,
                                 .round_trip = mine->strange,
                                 .logp = mine->weight,
                                 .next_logp = mine->next_weight,
                                 .kinetic = mine->none,
                                 .log_det = mine->none,
                                 .uniform = mine->uniform};
    for (int c = 0; c < state->chains; c++) mine->seen[c] = state->version[c] - 1;
    *out = mine;
    refresh(this, state, mine);
    return AIS_OK;
}

/* ---- step -------------------------------------------------------------------------------------- */

/* A proposal that overflowed is replaced by the present point, so that the target never sees it, and rejected. */
static void propose(const ais_mixture_kernel *this, const ais_state *state, own *mine) {
    size_t chains = (size_t)state->chains, lanes = (size_t)state->lanes;
    ais_stream stream = ais_state_stream(state, 0, AIS_FOR_MIXTURE);
    if (state->step >= AIS_MIXTURE_STEPS) stream.step += ais_stream_step(AIS_USE_MIXTURE_LONG);
    ais_stream test = ais_state_stream(state, 0, AIS_FOR_TEST);
    ais_components_draw_lanes(&this->components, &stream, chains, lanes, &mine->work, mine->x);
    ais_uniforms_lanes(&test, 0, lanes, mine->uniform);
    memset(mine->strange, 0, chains * sizeof *mine->strange);
    AIS_CHOOSE(ais_mask)(this->kernel.dim, lanes, chains, DBL_MAX, state->x, mine->x, mine->strange);
}

static void move(ais_state *state, own *mine) {
    size_t chains = (size_t)state->chains, lanes = (size_t)state->lanes;
    AIS_CHOOSE(ais_take)(state->target->dim, lanes, chains, mine->taken, mine->x, state->x);
    AIS_CHOOSE(ais_take)(1, lanes, chains, mine->taken, mine->logp, state->logp);
    AIS_CHOOSE(ais_take)(1, lanes, chains, mine->taken, mine->next_weight, mine->weight);
    for (size_t c = 0; c < chains; c++) mine->seen[c] = state->version[c] -= (uint32_t)mine->taken[c];
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own_state,
                       ais_info *info) {
    const ais_mixture_kernel *this = (const ais_mixture_kernel *)kernel;
    own *mine = own_state;
    refresh(this, state, mine);
    propose(this, state, mine);
    ais_status status =
        ais_state_logp(context, state->target, state->chains, state->lanes, mine->x, mine->point, mine->logp);
    if (status != AIS_OK) return status;
    weigh(this, state, mine, mine->x, mine->logp, mine->next_weight);
    AIS_CHOOSE(ais_test_lanes)(&mine->test, mine->chance, mine->taken);
    for (int c = 0; c < state->chains; c++) {
        info[c] = (ais_info){.accept_stat = mine->chance[c]};
        info[c].log_weight = mine->strange[c] > 0 ? -INFINITY : ais_proposal_weight(mine->logp[c], mine->logq[c]);
    }
    move(state, mine);
    return AIS_OK;
}

static void persist(const ais_kernel *kernel, ais_state *state, void *own_state, int lane, ais_record *record) {
    (void)kernel;
    own *mine = own_state;
    ais_record_fresh(record, &mine->seen[lane], state->version[lane]);
    ais_record_lane(record, mine->weight, 1, (size_t)state->lanes, (size_t)lane);
}

/* ---- construction ------------------------------------------------------------------------------ */

static void release(ais_kernel *kernel) {
    ais_mixture_kernel *this = (ais_mixture_kernel *)kernel;
    ais_arena_free(&this->arena);
    free(this);
}

static const ais_kernel_type type = {.name = "mixture",
                                     .info = 1U << AIS_INFO_ACCEPT_STAT | 1U << AIS_INFO_LOG_WEIGHT,
                                     .init = init,
                                     .step = step,
                                     .persist = persist,
                                     .free = release};

const ais_mixture_kernel *ais_as_mixture(const ais_kernel *kernel) {
    return kernel->type == &type ? (const ais_mixture_kernel *)kernel : NULL;
}

static ais_status check(ais_context *context, const ais_mixture_options *options) {
    if (options->dim < 1 || options->dim > AIS_COMPONENTS_MOST_DIM)
        return ais_fail(context, AIS_BAD_ARGUMENT, "mixture: dim is %d, but must be 1 to %d", options->dim,
                        AIS_COMPONENTS_MOST_DIM);
    if (options->count < 1 || options->count > AIS_MIXTURE_MOST_COMPONENTS)
        return ais_fail(context, AIS_BAD_ARGUMENT, "mixture: count is %d, but must be 1 to %d", options->count,
                        AIS_MIXTURE_MOST_COMPONENTS);
    if (!options->mean || !options->factor)
        return ais_fail(context, AIS_BAD_ARGUMENT, "mixture: no %s (NULL): every component needs one",
                        options->mean ? "factor" : "mean");
    double freedom = options->freedom;
    if (freedom != 0 && !(freedom >= 1 && freedom <= 1e6) && freedom != INFINITY)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "mixture: freedom is %g, but must be 1 to 1e6, infinite for normals, or 0 for the default",
                        freedom);
    return AIS_OK;
}

static ais_status add(ais_context *context, const ais_mixture_options *options, int k, ais_components *components) {
    size_t dim = (size_t)options->dim, place = (size_t)k;
    double weight = options->weight ? options->weight[k] : 1;
    if (!(weight >= DBL_MIN && weight <= 1e300))
        return ais_fail(context, AIS_BAD_ARGUMENT, "mixture: weight %d is %g, but must be positive and finite", k + 1,
                        weight);
    components->weight[k] = weight;
    return ais_components_set_factor(context, components, k, options->mean + place * dim,
                                     options->factor + place * dim * dim);
}

ais_status ais_kernel_mixture(ais_context *context, const ais_mixture_options *options, ais_kernel **kernel) {
    *kernel = NULL;
    ais_status status = check(context, options);
    if (status != AIS_OK) return status;
    ais_mixture_kernel *this = calloc(1, sizeof *this);
    if (!this) return ais_fail_memory(context, "mixture", sizeof *this);
    this->kernel = (ais_kernel){.type = &type, .dim = options->dim};
    this->logq = ais_components_logq_lanes;
    ais_components *components = &this->components;
    if (!ais_components_take(components, &this->arena, options->dim, options->count))
        status =
            ais_fail_memory(context, "mixture",
                            2 * (size_t)options->count * (size_t)options->dim * (size_t)options->dim * sizeof(double));
    if (options->freedom != 0) components->freedom = options->freedom;
    for (int k = 0; k < options->count && status == AIS_OK; k++) status = add(context, options, k, components);
    if (status == AIS_OK) ais_components_weigh(components);
    for (int k = 0; k < options->count && status == AIS_OK; k++)
        if (!(components->weight[k] >= DBL_MIN)) /* as a share of all, which is what a file has */
            status = ais_fail(context, AIS_BAD_ARGUMENT, "mixture: weight %d is %g, too small beside the others", k + 1,
                              options->weight[k]);
    if (status != AIS_OK) {
        release(&this->kernel);
        return status;
    }
    *kernel = &this->kernel;
    return AIS_OK;
}
