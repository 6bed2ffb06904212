/* The kernel "ladder", math.md (39) to (41). Every chain has a ladder of its own. Its replicas live in the latent space
 * of the map, rung k on N(z) exp(b_k w(z)), w = log p~ - log N: at the bottom (b = 0) they are independent draws, at
 * the top (b = 1) they follow p, and the chain's x is the one at the top. A step is a local move at every rung, then
 * swaps of the even or of the odd pairs of neighbours in turn. */
#include "learned/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "simd/normal.h"

typedef struct replica {
    double *z, *gradient; /* dim each; gradient of log p~ */
    double logp;          /* log p~(z) */
    int reached;          /* the highest rung since it was at the bottom; the top if it never was */
} replica;

/* One chain's. */
typedef struct climber {
    replica rung[AIS_MOST_RUNGS];
    ais_ladder_tally tally;
    double moved;  /* the acceptance probability of the top's last local move */
    uint32_t seen; /* the version of x that the top belongs to */
} climber;

typedef struct block {
    const ais_ladder *ladder;
    ais_pullback density;
    climber *chain;
    double *normal;                          /* rungs x dim */
    double *point, *next, *momentum, *slope; /* dim */
} block;

static double square(const double *z, size_t dim) {
    double sum = 0;
    for (size_t i = 0; i < dim; i++) sum += z[i] * z[i];
    return sum;
}

static double weight(const replica *at, size_t dim) {
    return at->logp + 0.5 * square(at->z, dim) + 0.5 * (double)dim * AIS_LOG_2PI;
}

/* ---- one replica --------------------------------------------------------------------------------- */

/* log p~ at z, with its gradient where trajectories need it. */
static ais_status evaluate(ais_context *context, block *b, const double *z, double *gradient, double *logp) {
    const ais_target *latent = &b->density.latent;
    *logp = b->ladder->leapfrogs ? latent->grad(z, gradient, latent->data) : latent->logp(z, latent->data);
    if (*logp < INFINITY) return AIS_OK;
    return ais_fail_density(context, b->density.target, b->density.failure, b->density.failed_at);
}

/* A trajectory at inverse temperature beta: its end in b->next, the gradient there in b->slope, log p~ in *end. */
static ais_status leap(ais_context *context, block *b, const replica *at, double beta, double step, double uniform,
                       const double *kick, double *end, double *chance, bool *taken) {
    size_t dim = (size_t)b->density.target->dim;
    double *z = b->next, *p = b->momentum, *g = b->slope, logp = at->logp;
    memcpy(z, at->z, dim * sizeof *z);
    memcpy(g, at->gradient, dim * sizeof *g);
    memcpy(p, kick, dim * sizeof *p);
    double before = beta * logp - 0.5 * (1 - beta) * square(z, dim) - 0.5 * square(p, dim);
    for (int l = 0; l < b->ladder->leapfrogs && logp > -INFINITY; l++) {
        for (size_t i = 0; i < dim; i++) {
            p[i] += 0.5 * step * (beta * g[i] - (1 - beta) * z[i]);
            z[i] += step * p[i];
        }
        ais_status status = evaluate(context, b, z, g, &logp);
        if (status != AIS_OK) return status;
        for (size_t i = 0; i < dim && logp > -INFINITY; i++) p[i] += 0.5 * step * (beta * g[i] - (1 - beta) * z[i]);
    }
    double after =
        logp > -INFINITY ? beta * logp - 0.5 * (1 - beta) * square(z, dim) - 0.5 * square(p, dim) : -INFINITY;
    *chance = after >= before ? 1 : exp(after - before);
    if (!(*chance >= 0)) *chance = 0; /* not a number: a trajectory that overflowed */
    *taken = uniform < *chance;
    *end = logp;
    return AIS_OK;
}

static void take(replica *at, const double *z, const double *gradient, double logp, size_t dim) {
    memcpy(at->z, z, dim * sizeof *z);
    if (gradient) memcpy(at->gradient, gradient, dim * sizeof *gradient);
    at->logp = logp;
}

/* ---- a sweep ------------------------------------------------------------------------------------- */

static ais_status trajectories(ais_context *context, block *b, climber *of, const ais_stream *test,
                               const ais_stream *jitter) {
    const ais_ladder *ladder = b->ladder;
    size_t dim = (size_t)b->density.target->dim;
    ais_status status = AIS_OK;
    for (int k = 1; k < ladder->rungs && status == AIS_OK; k++) {
        double logp, chance, step = ladder->scale[k] * (0.8 + 0.4 * ais_random_uniform(jitter, (uint32_t)k));
        bool taken;
        status = leap(context, b, &of->rung[k], ladder->beta[k], step, ais_random_uniform(test, (uint32_t)k),
                      b->normal + (size_t)k * dim, &logp, &chance, &taken);
        if (status != AIS_OK) break;
        of->tally.accepted[k] += of->moved = chance;
        if (taken) take(&of->rung[k], b->next, b->slope, logp, dim);
    }
    return status;
}

/* The bottom's angle is 90 degrees: an independent draw. */
static ais_status reflections(ais_context *context, block *b, climber *of, const ais_stream *test) {
    const ais_ladder *ladder = b->ladder;
    size_t dim = (size_t)b->density.target->dim;
    ais_status status = AIS_OK;
    for (size_t k = 0; k < (size_t)ladder->rungs && status == AIS_OK; k++) {
        replica proposed = {.z = b->next};
        double cosine = k ? cos(ladder->scale[k]) : 0, sine = k ? sin(ladder->scale[k]) : 1;
        for (size_t i = 0; i < dim; i++) b->next[i] = cosine * of->rung[k].z[i] + sine * b->normal[k * dim + i];
        status = evaluate(context, b, b->next, NULL, &proposed.logp);
        double ratio = ladder->beta[k] * (weight(&proposed, dim) - weight(&of->rung[k], dim));
        double chance = k == 0 || ratio >= 0 ? 1 : exp(ratio);
        if (!(chance >= 0)) chance = 0;
        of->tally.accepted[k] += of->moved = chance;
        if (ais_random_uniform(test, (uint32_t)k) < chance) take(&of->rung[k], b->next, NULL, proposed.logp, dim);
    }
    return status;
}

static void add_exp(double *log_sum, double term) {
    double top = fmax(*log_sum, term);
    if (top > -INFINITY) *log_sum = top + log(exp(*log_sum - top) + exp(term - top));
}

/* log f(t), f(t) = 1 / (1 + e^-t). */
static double log_logistic(double t) { return t > 0 ? -log1p(exp(-t)) : t - log1p(exp(t)); }

/* Swaps of every second pair, math.md (40); the sum of their rejection probabilities. */
static double swap(block *b, climber *of, uint64_t step, const ais_stream *test) {
    const ais_ladder *ladder = b->ladder;
    size_t dim = (size_t)b->density.target->dim;
    int odd = (int)(step % 2);
    double rejected = 0, w[AIS_MOST_RUNGS];
    for (int k = 0; k < ladder->rungs; k++) w[k] = weight(&of->rung[k], dim);
    for (int k = 0; k + 1 < ladder->rungs; k++) {
        double gap = ladder->beta[k + 1] - ladder->beta[k], ratio = gap * (w[k] - w[k + 1]);
        add_exp(&of->tally.up[k], log_logistic(gap * w[k] - of->tally.guess[k]));
        add_exp(&of->tally.down[k], log_logistic(of->tally.guess[k] - gap * w[k + 1]));
        if (k % 2 != odd) continue;
        double chance = ratio >= 0 ? 1 : ratio < 0 ? exp(ratio) : 0; /* two of density zero stay */
        rejected += 1 - chance;
        of->tally.rejected[k] += 1 - chance;
        if (!(ais_random_uniform(test, (uint32_t)(ladder->rungs + k)) < chance)) continue;
        replica kept = of->rung[k];
        of->rung[k] = of->rung[k + 1];
        of->rung[k + 1] = kept;
    }
    of->tally.swaps[odd]++;
    return rejected;
}

/* Swaps lead one rung up at a time. A replica that reaches the top and has been at the bottom since it was there last
 * has made a trip. */
static double count_arrivals(const ais_ladder *ladder, climber *of) {
    long before = of->tally.arrived[ladder->rungs - 1];
    for (int k = 1; k < ladder->rungs; k++) {
        if (of->rung[k].reached >= k) continue;
        of->rung[k].reached = k;
        of->tally.arrived[k]++;
    }
    of->rung[0].reached = 0;
    return (double)(of->tally.arrived[ladder->rungs - 1] - before);
}

/* ---- the chain ----------------------------------------------------------------------------------- */

/* The top, if another kernel has moved x. */
static ais_status enter(ais_context *context, block *b, const ais_state *state, int c) {
    climber *of = &b->chain[c];
    if (of->seen == state->version[c]) return AIS_OK;
    for (int i = 0; i < state->target->dim; i++) b->point[i] = state->x[(size_t)i * (size_t)state->lanes + (size_t)c];
    of->seen = state->version[c];
    replica *top = &of->rung[b->ladder->rungs - 1];
    ais_pullback_alone(&b->density, b->point, top->z);
    for (int i = 0; i < state->target->dim; i++)
        if (!isfinite(top->z[i]))
            return ais_fail(
                context, AIS_BAD_ARGUMENT,
                "chain %u: coordinate %d of x, %.17g, lies where the map of the ladder is not finite: start "
                "elsewhere, or use another map",
                state->chain + (uint32_t)c + 1, i + 1, b->point[i]);
    return evaluate(context, b, top->z, top->gradient, &top->logp);
}

static void leave(block *b, ais_state *state, int c) {
    climber *of = &b->chain[c];
    replica *top = &of->rung[b->ladder->rungs - 1];
    double log_det = ais_pullback_point(&b->density, top->z, b->point);
    for (int i = 0; i < state->target->dim; i++) state->x[(size_t)i * (size_t)state->lanes + (size_t)c] = b->point[i];
    state->logp[c] = top->logp - log_det;
    of->seen = ++state->version[c];
}

static ais_status climb(ais_context *context, block *b, ais_state *state, int c, ais_info *info) {
    const ais_ladder *ladder = b->ladder;
    climber *of = &b->chain[c];
    size_t dim = (size_t)state->target->dim;
    ais_stream normals = ais_state_stream(state, c, AIS_FOR_MOMENTUM), test = ais_state_stream(state, c, AIS_FOR_TEST),
               jitter = ais_state_stream(state, c, AIS_FOR_DIRECTION);
    ais_status status = enter(context, b, state, c);
    if (status != AIS_OK) return status;
    ais_normals(&normals, (size_t)ladder->rungs * dim, b->normal);
    if (ladder->leapfrogs) {
        replica *bottom = &of->rung[0];
        memcpy(bottom->z, b->normal, dim * sizeof *bottom->z);
        status = evaluate(context, b, bottom->z, bottom->gradient, &bottom->logp);
        if (status == AIS_OK) status = trajectories(context, b, of, &test, &jitter);
    } else {
        status = reflections(context, b, of, &test);
    }
    if (status != AIS_OK) return status;
    of->rung[0].reached = 0; /* a fresh draw */
    of->tally.moves++;
    info->accept_stat = of->moved;
    info->rejection = swap(b, of, state->step, &test);
    info->trip = count_arrivals(ladder, of);
    leave(b, state, c);
    return AIS_OK;
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own, ais_info *info) {
    (void)kernel;
    ais_status status = AIS_OK;
    for (int c = 0; c < state->chains && status == AIS_OK; c++) status = climb(context, own, state, c, &info[c]);
    return status;
}

/* Without the tally, which only learning reads. */
static void persist(const ais_kernel *kernel, ais_state *state, void *own, int lane, ais_record *record) {
    const ais_ladder *ladder = (const ais_ladder *)kernel;
    climber *of = &((block *)own)->chain[lane];
    size_t bytes = (size_t)state->target->dim * sizeof(double);
    ais_record_fresh(record, &of->seen, state->version[lane]);
    for (int k = 0; k < ladder->rungs; k++) {
        replica *at = &of->rung[k];
        ais_record_bytes(record, at->z, bytes);
        ais_record_bytes(record, at->gradient, bytes);
        ais_record_bytes(record, &at->logp, sizeof at->logp);
        ais_record_bytes(record, &at->reached, sizeof at->reached);
    }
}

/* ---- state --------------------------------------------------------------------------------------- */

static bool make_room(block *b, ais_state *state) {
    ais_arena *arena = &state->arena;
    const ais_ladder *ladder = b->ladder;
    size_t dim = (size_t)state->target->dim, rungs = (size_t)ladder->rungs;
    b->chain = AIS_TAKE(arena, climber, state->chains);
    b->normal = AIS_TAKE(arena, double, rungs *dim);
    double *memory = AIS_TAKE(arena, double, 4 * dim), *replicas = NULL;
    for (int c = 0; b->chain && c < state->chains; c++) {
        replicas = AIS_TAKE(arena, double, 2 * rungs * dim);
        for (size_t k = 0; replicas && k < rungs; k++)
            b->chain[c].rung[k] = (replica){.z = replicas + 2 * k * dim, .gradient = replicas + (2 * k + 1) * dim};
        if (!replicas) return false;
    }
    if (!b->chain || !b->normal || !memory) return false;
    b->point = memory;
    b->next = memory + dim;
    b->momentum = memory + 2 * dim;
    b->slope = memory + 3 * dim;
    return ais_pullback_take(&b->density, ais_as_learned(ladder->map), state->target, 1, AIS_LANES, state->single,
                             arena);
}

/* All replicas begin where the chain does. */
static ais_status init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **own) {
    const ais_ladder *ladder = (const ais_ladder *)kernel;
    ais_status status = ais_kernel_fits(context, kernel, state->target);
    if (status != AIS_OK) return status;
    size_t dim = (size_t)state->target->dim;
    block *b = AIS_TAKE(&state->arena, block, 1);
    if (b) b->ladder = ladder;
    if (!b || !make_room(b, state))
        return ais_fail_memory(context, "a ladder", (size_t)ladder->rungs * dim * sizeof(double));
    if (ladder->replace) ladder->replace(&b->density.latent);
    *own = b;
    for (int c = 0; c < state->chains && status == AIS_OK; c++) {
        climber *of = &b->chain[c];
        of->seen = state->version[c] - 1;
        status = enter(context, b, state, c);
        const replica *top = &of->rung[ladder->rungs - 1];
        for (int k = 0; k + 1 < ladder->rungs && status == AIS_OK; k++)
            take(&of->rung[k], top->z, top->gradient, top->logp, dim);
        for (int k = 0; k < ladder->rungs; k++) of->rung[k].reached = ladder->rungs - 1;
        ais_ladder_clear(&of->tally);
    }
    return status;
}

void ais_ladder_clear(ais_ladder_tally *tally) {
    ais_ladder_tally clear = {0};
    memcpy(clear.guess, tally->guess, sizeof clear.guess);
    for (int k = 0; k < AIS_MOST_RUNGS; k++) clear.up[k] = clear.down[k] = -INFINITY;
    *tally = clear;
}

void ais_ladder_add(ais_ladder_tally *sum, const ais_ladder_tally *other) {
    for (int k = 0; k < AIS_MOST_RUNGS; k++) {
        add_exp(&sum->up[k], other->up[k]);
        add_exp(&sum->down[k], other->down[k]);
    }
}

/* The means are over the same number of sweeps: their divisors cancel. */
double ais_ladder_ratio(const ais_ladder_tally *tally, int k) {
    return tally->guess[k] + tally->up[k] - tally->down[k];
}

double ais_ladder_log_z(const ais_ladder *ladder, const ais_ladder_tally *tally) {
    double sum = ais_as_learned(ladder->map)->whitening.log_volume;
    for (int k = 0; k + 1 < ladder->rungs; k++) sum += ais_ladder_ratio(tally, k);
    return sum;
}

ais_ladder_tally *ais_ladder_tally_of(void *own) { return &((block *)own)->chain[0].tally; }

ais_status ais_ladder_put(ais_context *context, void *own, int k, const double *x) {
    block *b = own;
    replica *at = &b->chain[0].rung[k];
    const replica *top = &b->chain[0].rung[b->ladder->rungs - 1];
    size_t dim = (size_t)b->density.target->dim;
    bool finite = true;
    ais_pullback_alone(&b->density, x, b->next);
    for (size_t i = 0; i < dim; i++) finite &= isfinite(b->next[i]);
    double logp = -INFINITY;
    ais_status status = finite ? evaluate(context, b, b->next, b->slope, &logp) : AIS_OK;
    if (status == AIS_OK && logp > -INFINITY)
        take(at, b->next, b->slope, logp, dim);
    else if (at != top)
        take(at, top->z, top->gradient, top->logp, dim);
    return status;
}

void ais_ladder_get(void *own, int k, double *x) {
    block *b = own;
    ais_pullback_point(&b->density, b->chain[0].rung[k].z, x);
}

/* ---- construction -------------------------------------------------------------------------------- */

static void release(ais_kernel *kernel) {
    ais_kernel_free(((ais_ladder *)kernel)->map);
    free(kernel);
}

const ais_ladder *ais_as_ladder(const ais_kernel *kernel) {
    return kernel->type->free == release ? (const ais_ladder *)kernel : NULL;
}

static ais_status check(ais_context *context, const ais_kernel *map, const ais_ladder_options *options) {
    const ais_learned *learned = map ? ais_as_learned(map) : NULL;
    if (!learned || !ais_is_independent(learned) || map->empirical || learned->angles.count)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "a ladder begins at the density of a map: affine, realnvp or spline on x alone, with swap and "
                        "without angles");
    int rungs = options->rungs;
    if (rungs < 2 || rungs > AIS_MOST_RUNGS)
        return ais_fail(context, AIS_BAD_ARGUMENT, "ladder: rungs is %d, but must be 2 to %d", rungs, AIS_MOST_RUNGS);
    if (options->leapfrogs < 0)
        return ais_fail(context, AIS_BAD_ARGUMENT, "ladder: leapfrogs is %d, but must not be negative",
                        options->leapfrogs);
    for (int k = 0; k < rungs; k++) {
        bool rises = k == 0 ? options->beta[k] == 0 : options->beta[k] > options->beta[k - 1];
        if (!rises || (k == rungs - 1 && options->beta[k] != 1))
            return ais_fail(context, AIS_BAD_ARGUMENT,
                            "ladder: beta %d is %g, but they must rise from 0 to 1, both included", k + 1,
                            options->beta[k]);
        if (k > 0 && !(options->scale[k] > 0 && options->scale[k] < INFINITY))
            return ais_fail(context, AIS_BAD_ARGUMENT, "ladder: scale %d is %g, but must be positive and finite", k + 1,
                            options->scale[k]);
    }
    return AIS_OK;
}

ais_status ais_kernel_ladder(ais_context *context, ais_kernel *map, const ais_ladder_options *options,
                             ais_kernel **kernel) {
    *kernel = NULL;
    ais_status status = check(context, map, options);
    ais_ladder *ladder = status == AIS_OK ? calloc(1, sizeof *ladder) : NULL;
    if (status == AIS_OK && !ladder) status = ais_fail_memory(context, "a ladder", sizeof *ladder);
    if (status != AIS_OK) {
        ais_kernel_free(map);
        return status;
    }
    ladder->type =
        (ais_kernel_type){.name = "ladder",
                          .info = 1u << AIS_INFO_ACCEPT_STAT | 1u << AIS_INFO_REJECTION | 1u << AIS_INFO_TRIP,
                          .needs_gradient = options->leapfrogs > 0,
                          .trajectories = true,
                          .init = init,
                          .step = step,
                          .persist = persist,
                          .free = release};
    ladder->kernel = (ais_kernel){.type = &ladder->type, .dim = map->dim};
    ladder->map = map;
    ladder->rungs = options->rungs;
    ladder->leapfrogs = options->leapfrogs;
    memcpy(ladder->beta, options->beta, (size_t)options->rungs * sizeof *options->beta);
    memcpy(ladder->scale, options->scale, (size_t)options->rungs * sizeof *options->scale);
    *kernel = &ladder->kernel;
    return AIS_OK;
}
