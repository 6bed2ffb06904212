/* The kernel "anice": construction, and one accept/reject step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fixed.h"
#include "draws/names.h"
#include "learned/nice.h"
#include "simd/normal.h"

typedef struct own {
    ais_nice_work work;
    uint32_t *seen;             /* the version of x that the lattice point belongs to */
    int64_t *lattice;           /* dim x lanes: where the chains are */
    int64_t *x, *v;             /* the proposal on the lattice */
    double *image, *velocities; /* and as numbers */
    double *kinetic, *logp, *uniform, *point;
    bool *forward;
} own;

/* ---- state ------------------------------------------------------------------------------------- */

static bool take(const ais_nice *nice, ais_state *state, own *mine) {
    ais_arena *arena = &state->arena;
    size_t lanes = (size_t)state->lanes, rows = (size_t)nice->dim * lanes, others = (size_t)nice->velocities * lanes;
    mine->seen = AIS_TAKE(arena, uint32_t, lanes);
    mine->lattice = AIS_TAKE(arena, int64_t, rows);
    mine->x = AIS_TAKE(arena, int64_t, rows);
    mine->v = AIS_TAKE(arena, int64_t, others);
    mine->image = AIS_TAKE(arena, double, rows);
    mine->velocities = AIS_TAKE(arena, double, others);
    mine->kinetic = AIS_TAKE(arena, double, lanes);
    mine->logp = AIS_TAKE(arena, double, lanes);
    mine->uniform = AIS_TAKE(arena, double, lanes);
    mine->point = AIS_TAKE(arena, double, nice->dim);
    mine->forward = AIS_TAKE(arena, bool, lanes);
    return mine->seen && mine->lattice && mine->x && mine->v && mine->image && mine->velocities && mine->kinetic &&
           mine->logp && mine->uniform && mine->point && mine->forward &&
           ais_nice_work_new(nice, lanes, arena, &mine->work);
}

/* Puts chains that another kernel has moved on the nearest lattice point, at most 2^-33 away. */
static ais_status refresh(ais_context *context, ais_state *state, own *mine) {
    size_t lanes = (size_t)state->lanes, rows = (size_t)state->target->dim * lanes;
    bool stale = false;
    for (size_t i = 0; i < rows; i++) {
        if (mine->seen[i % lanes] == state->version[i % lanes]) continue;
        stale = true;
        if (!(fabs(state->x[i]) <= 0x1p30))
            return ais_fail(context, AIS_BAD_ARGUMENT,
                            "anice: coordinate %zu of chain %zu is %g, beyond its lattice of +-2^30: scale the target",
                            i / lanes + 1, (size_t)state->chain + i % lanes + 1, state->x[i]);
        mine->lattice[i] = ais_fixed_from(state->x[i]);
        state->x[i] = ais_fixed_to(mine->lattice[i]);
    }
    if (!stale) return AIS_OK;
    memcpy(mine->seen, state->version, lanes * sizeof *mine->seen);
    return ais_state_logp(context, state->target, state->chains, state->lanes, state->x, mine->point, state->logp);
}

static ais_status init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **out) {
    const ais_nice_kernel *this = (const ais_nice_kernel *)kernel;
    ais_status status = ais_kernel_fits(context, kernel, state->target);
    if (status != AIS_OK) return status;
    own *mine = AIS_TAKE(&state->arena, own, 1);
    if (!mine || !take(&this->nice, state, mine))
        return ais_fail_memory(context, "a kernel's state", (size_t)kernel->dim * sizeof(double));
    for (int c = 0; c < state->lanes; c++) mine->seen[c] = state->version[c] - 1;
    *out = mine;
    return refresh(context, state, mine);
}

/* ---- step -------------------------------------------------------------------------------------- */

static void to_doubles(size_t n, const int64_t *fixed, double *value) {
    for (size_t i = 0; i < n; i++) value[i] = ais_fixed_to(fixed[i]);
}

/* Adds sign * |v|^2 / 2, v being the lattice points', so that there and back the same numbers are added. */
static void add_kinetic(const ais_nice *nice, size_t lanes, double sign, own *mine) {
    size_t count = (size_t)nice->velocities * lanes;
    to_doubles(count, mine->v, mine->velocities);
    for (size_t i = 0; i < count; i++)
        mine->kinetic[i % lanes] += sign * 0.5 * mine->velocities[i] * mine->velocities[i];
}

static void propose(const ais_nice_kernel *this, const ais_state *state, own *mine) {
    const ais_nice *nice = &this->nice;
    size_t lanes = (size_t)state->lanes;
    ais_stream stream = ais_state_stream(state, 0, AIS_FOR_MOMENTUM);
    ais_normals_lanes(&stream, (size_t)nice->velocities, lanes, mine->velocities);
    for (size_t i = 0; i < (size_t)nice->velocities * lanes; i++) mine->v[i] = ais_fixed_from(mine->velocities[i]);
    stream.purpose = AIS_FOR_DIRECTION;
    ais_uniforms_lanes(&stream, 0, lanes, mine->uniform);
    for (size_t c = 0; c < lanes; c++) mine->forward[c] = mine->uniform[c] < 0.5;
    stream.purpose = AIS_FOR_TEST;
    ais_uniforms_lanes(&stream, 0, lanes, mine->uniform);
    memset(mine->kinetic, 0, lanes * sizeof *mine->kinetic);
    memcpy(mine->x, mine->lattice, (size_t)nice->dim * lanes * sizeof *mine->x);
    add_kinetic(nice, lanes, 1, mine);
    this->map(nice, this->weights, &mine->work, mine->forward, mine->x, mine->v);
    add_kinetic(nice, lanes, -1, mine);
    to_doubles((size_t)nice->dim * lanes, mine->x, mine->image);
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own_state,
                       ais_info *info) {
    const ais_nice_kernel *this = (const ais_nice_kernel *)kernel;
    own *mine = own_state;
    ais_status status = refresh(context, state, mine);
    if (status != AIS_OK) return status;
    propose(this, state, mine);
    status = ais_state_logp(context, state->target, state->chains, state->lanes, mine->image, mine->point, mine->logp);
    if (status != AIS_OK) return status;
    size_t lanes = (size_t)state->lanes, rows = (size_t)kernel->dim * lanes;
    for (size_t c = 0; c < (size_t)state->chains; c++) {
        double ratio = mine->logp[c] - state->logp[c] + mine->kinetic[c], chance = ratio < 0 ? exp(ratio) : 1;
        info[c] = (ais_info){.accept_stat = isnan(ratio) ? 0 : chance};
        if (!(mine->uniform[c] < info[c].accept_stat)) continue;
        for (size_t i = c; i < rows; i += lanes) {
            state->x[i] = mine->image[i];
            mine->lattice[i] = mine->x[i];
        }
        state->logp[c] = mine->logp[c];
        mine->seen[c] = ++state->version[c];
    }
    return AIS_OK;
}

static void persist(const ais_kernel *kernel, ais_state *state, void *own_state, int lane, ais_record *record) {
    own *mine = own_state;
    size_t lanes = (size_t)state->lanes;
    ais_record_fresh(record, &mine->seen[lane], state->version[lane]);
    for (size_t i = 0; i < (size_t)kernel->dim; i++)
        ais_record_bytes(record, mine->lattice + i * lanes + (size_t)lane, sizeof *mine->lattice);
}

/* ---- construction ------------------------------------------------------------------------------ */

static void release(ais_kernel *kernel) {
    ais_nice_kernel *this = (ais_nice_kernel *)kernel;
    ais_arena_free(&this->arena);
    free(this);
}

static const ais_kernel_type type = {.name = AIS_ANICE_NAME,
                                     .info = 1U << AIS_INFO_ACCEPT_STAT | 1U << AIS_INFO_ROUND_TRIP,
                                     .init = init,
                                     .step = step,
                                     .persist = persist,
                                     .free = release};

const ais_nice_kernel *ais_as_nice(const ais_kernel *kernel) {
    return kernel->type == &type ? (const ais_nice_kernel *)kernel : NULL;
}

static ais_status check_shape(ais_context *context, const ais_anice_shape *shape) {
    const struct {
        const char *what;
        int value, high;
    } range[] = {{"dim", shape->dim, 4096},
                 {"velocities", shape->velocities, 8192},
                 {"hidden", shape->hidden, 65536},
                 {"depth", shape->depth, 16}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (range[i].value < 1 || range[i].value > range[i].high)
            return ais_fail(context, AIS_BAD_ARGUMENT, "anice: %s is %d, but must be 1 to %d", range[i].what,
                            range[i].value, range[i].high);
    return AIS_OK;
}

ais_status ais_nice_new(ais_context *context, const ais_anice_shape *shape, size_t weights, ais_kernel **kernel) {
    ais_anice_shape full = *shape;
    bool plane = full.dim <= 2;
    *kernel = NULL;
    if (full.velocities == 0) full.velocities = plane ? full.dim : 2 * full.dim;
    if (full.hidden == 0) full.hidden = 400;
    if (full.depth == 0) full.depth = plane ? 1 : 2;
    ais_status status = check_shape(context, &full);
    if (status != AIS_OK) return status;
    ais_nice nice = ais_nice_build(&full);
    if (weights && weights != nice.weights)
        return ais_fail(context, AIS_BAD_ARGUMENT, "anice: the shape has %zu weights, not %zu", nice.weights, weights);
    ais_nice_kernel *this = ais_allocate(sizeof *this);
    if (!this) return ais_fail_memory(context, "anice", sizeof *this);
    *this = (ais_nice_kernel){
        .kernel = {.type = &type, .dim = full.dim}, .shape = full, .nice = nice, .map = ais_nice_lattice};
    this->weights = AIS_TAKE(&this->arena, ais_real, nice.weights);
    if (!this->weights) {
        release(&this->kernel);
        return ais_fail_memory(context, "anice", nice.weights * sizeof(ais_real));
    }
    *kernel = &this->kernel;
    return AIS_OK;
}

ais_status ais_kernel_anice(ais_context *context, const ais_anice_shape *shape, uint64_t seed, ais_kernel **kernel) {
    ais_status status = ais_nice_new(context, shape, 0, kernel);
    if (status != AIS_OK) return status;
    const ais_nice_kernel *this = (const ais_nice_kernel *)*kernel;
    for (int k = 0; k < 3; k++)
        ais_perceptron_draw(&this->nice.net[k], seed, (uint32_t)k, this->weights + this->nice.offset[k]);
    return AIS_OK;
}
