/* One accept/reject step of a learned kernel. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/test_lanes.h"
#include "learned/learned.h"
#include "map/element.h"
#include "map/lattice_lanes.h"
#include "simd/normal.h"

/* How often the round trip of independent proposals is measured, in steps: it costs a second pass through the flow. */
enum { STEPS_BETWEEN_ROUND_TRIPS = 16 };

typedef struct own {
    ais_proposal proposal;
    uint32_t edition; /* of the weights that the proposal's work has */
    uint32_t *seen;   /* the version of x that u belongs to */
    double *x;        /* dim x lanes: where a point was put on the lattice */
    double *beyond;   /* henon: infinity where a chain is beyond the lattice's ends, else 0 */
    double *logp, *uniform, *chance, *point;
    double *turn;        /* uniforms that choose angles */
    int64_t *taken;      /* -1 in lanes that accepted, else 0 */
    double *ahead;       /* of a chain alone: (dim + 1) x AIS_HALF numbers of the steps from ahead_from on */
    uint64_t ahead_from; /* the part of a cycle included */
    bool has_ahead;
    ais_test_call test;
    bool independent;
    bool weighs;          /* proposals, for ais_info */
    bool bounded;         /* henon: proposals are finite */
    bool exact;           /* and come back bit for bit */
    ais_ratio_tape ratio; /* of an empirical kernel */
} own;

/* What stands for log p in an empirical kernel: log q + D, up to a constant. mapped and det belong to u. */
static void estimate_logp(const ais_learned *learned, const own *mine, const double *u, const double *mapped,
                          const double *det, double *logp) {
    const ais_proposal *proposal = &mine->proposal;
    ais_ratio_forward(&learned->ratio, &mine->ratio, u, logp);
    for (size_t c = 0; c < proposal->lanes; c++) {
        double half_square = 0;
        for (int i = 0; i < proposal->dim; i++) {
            double value = mapped[(size_t)i * proposal->lanes + c];
            half_square += 0.5 * value * value;
        }
        logp[c] += det[c] - half_square;
    }
}

/* If another kernel has moved x, u becomes the nearest lattice number, at most 2^-33 of the whitened scale away, and x
 * is computed from it. A chain beyond the lattice's ends keeps its x, and M leaves it there. On entry proposal->z has
 * u. */
static void put_on_lattice(const ais_learned *learned, ais_state *state, own *mine) {
    const ais_proposal *proposal = &mine->proposal;
    size_t lanes = proposal->lanes, rows = (size_t)proposal->dim * lanes;
    AIS_CHOOSE(ais_lattice_round)(rows, proposal->z, proposal->back);
    ais_unwhiten(&learned->whitening, lanes, proposal->back, mine->x);
    mine->exact = mine->bounded;
    for (size_t c = 0; c < lanes; c++) {
        if (mine->seen[c] != state->version[c]) {
            mine->beyond[c] = 0;
            for (size_t i = c; i < rows; i += lanes)
                if (!(proposal->z[i] >= -AIS_LATTICE_END && proposal->back[i] < AIS_LATTICE_END))
                    mine->beyond[c] = INFINITY;
            for (size_t i = c; i < rows; i += lanes) {
                proposal->u[i] = proposal->back[i];
                if (mine->beyond[c] == 0) state->x[i] = mine->x[i];
            }
        }
        mine->exact &= c >= (size_t)state->chains || mine->beyond[c] == 0;
        proposal->round_trip[c] = mine->beyond[c];
    }
}

/* Brings u up to date where another kernel has moved x. */
static ais_status refresh(ais_context *context, const ais_learned *learned, ais_state *state, own *mine) {
    ais_proposal *proposal = &mine->proposal;
    size_t lanes = proposal->lanes, rows = (size_t)proposal->dim * lanes;
    if (memcmp(mine->seen, state->version, (size_t)state->chains * sizeof *mine->seen) == 0) return AIS_OK;
    ais_whiten(&learned->whitening, lanes, state->x, proposal->z);
    if (learned->shape.map == AIS_HENON)
        put_on_lattice(learned, state, mine);
    else
        for (size_t i = 0; i < rows; i++)
            if (mine->seen[i % lanes] != state->version[i % lanes]) proposal->u[i] = proposal->z[i];
    if (ais_is_independent(learned)) {
        /* Chains that stayed keep the v that x was made from, which equals T(x) only up to rounding. */
        double *mapped = proposal->back, *det = proposal->back + rows;
        ais_map_forward(learned, proposal, proposal->u, mapped, det);
        for (size_t i = 0; i < rows + lanes; i++)
            if (mine->seen[i % lanes] != state->version[i % lanes])
                *(i < rows ? &proposal->mapped[i] : &proposal->mapped_det[i - rows]) = mapped[i];
    }
    if (learned->ratio.weights)
        estimate_logp(learned, mine, proposal->u, proposal->mapped, proposal->mapped_det, state->logp);
    memcpy(mine->seen, state->version, (size_t)state->lanes * sizeof *mine->seen);
    if (learned->shape.map != AIS_HENON) return AIS_OK;
    return ais_state_logp(context, state->target, state->chains, state->lanes, state->x, mine->point, state->logp);
}

/* Whether x = m + A u is finite for all u of the lattice. */
static bool is_bounded(const ais_whitening *whitening) {
    for (int i = 0; i < whitening->dim; i++) {
        double most = fabs(whitening->mean[i]);
        for (int j = 0; j < whitening->dim; j++)
            most += fabs(whitening->factor[(size_t)i * (size_t)whitening->dim + (size_t)j]) * 2 * AIS_LATTICE_END;
        if (!(most <= DBL_MAX / 2)) return false;
    }
    return true;
}

static ais_status init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **out) {
    const ais_learned *learned = (const ais_learned *)kernel;
    ais_status status = ais_kernel_fits(context, kernel, state->target);
    if (status != AIS_OK) return status;
    size_t lanes = (size_t)state->lanes, rows = (size_t)learned->shape.dim * lanes;
    own *mine = AIS_TAKE(&state->arena, own, 1);
    if (!mine || !ais_proposal_new(learned, lanes, &state->arena, &mine->proposal))
        return ais_fail_memory(context, "a kernel's state", rows * sizeof(double));
    mine->seen = AIS_TAKE(&state->arena, uint32_t, lanes);
    mine->x = AIS_TAKE(&state->arena, double, rows);
    mine->beyond = AIS_TAKE(&state->arena, double, lanes);
    mine->logp = AIS_TAKE(&state->arena, double, lanes);
    mine->uniform = AIS_TAKE(&state->arena, double, lanes);
    mine->turn = AIS_TAKE(&state->arena, double, lanes);
    mine->ahead = AIS_TAKE(&state->arena, double, (size_t)(learned->shape.dim + 1) * AIS_HALF);
    mine->chance = AIS_TAKE(&state->arena, double, lanes);
    mine->taken = AIS_TAKE(&state->arena, int64_t, lanes);
    mine->point = AIS_TAKE(&state->arena, double, learned->shape.dim);
    bool taped = !learned->ratio.weights || ais_ratio_tape_new(&learned->ratio, lanes, &state->arena, &mine->ratio);
    if (!taped || !mine->seen || !mine->x || !mine->beyond || !mine->logp || !mine->uniform || !mine->turn ||
        !mine->chance || !mine->taken || !mine->ahead || !mine->point)
        return ais_fail_memory(context, "a kernel's state", rows * sizeof(double));
    mine->proposal.chains = (size_t)state->chains;
    mine->proposal.single = state->single;
    mine->edition = learned->edition;
    mine->independent = ais_is_independent(learned);
    mine->weighs = kernel->type == &ais_weighing_type[learned->shape.map];
    mine->bounded = learned->propose == ais_propose_henon && is_bounded(&learned->whitening);
    /* An independent proposal has its own density q from the pass that made it, so that its round trip need not be
     * exact, and is only reported. */
    mine->test = (ais_test_call){.chains = (size_t)state->chains,
                                 .barker = learned->test == AIS_BARKER,
                                 .tolerance = mine->independent ? DBL_MAX : fmin(learned->tolerance, DBL_MAX),
                                 .round_trip = mine->proposal.round_trip,
                                 .logp = state->logp,
                                 .next_logp = mine->logp,
                                 .kinetic = mine->proposal.kinetic,
                                 .log_det = mine->proposal.log_det,
                                 .uniform = mine->uniform};
    for (size_t c = 0; c < lanes; c++) mine->seen[c] = state->version[c] - 1;
    *out = mine;
    return refresh(context, learned, state, mine);
}

static void take(const own *mine, int rows, const void *from, void *to) {
    AIS_CHOOSE(ais_take)(rows, mine->proposal.lanes, mine->proposal.chains, mine->taken, from, to);
}

/* For one chain a branch is faster than selects: the processor predicts whether the proposal is accepted, and begins
 * the next one before the density is known. */
static void move_alone(ais_state *state, own *mine) {
    const ais_proposal *proposal = &mine->proposal;
    if (!mine->taken[0]) return;
    for (size_t i = 0; i < (size_t)proposal->dim * proposal->lanes; i += proposal->lanes) {
        state->x[i] = proposal->x[i];
        proposal->u[i] = proposal->z[i];
    }
    state->logp[0] = mine->logp[0];
    mine->seen[0] = ++state->version[0];
}

/* Lanes that accepted take over the proposal: the point and everything computed from it. */
static void move(ais_state *state, own *mine) {
    const ais_proposal *proposal = &mine->proposal;
    int dim = proposal->dim;
    take(mine, dim, proposal->x, state->x);
    take(mine, 1, mine->logp, state->logp);
    take(mine, dim, proposal->z, proposal->u);
    if (mine->independent) {
        take(mine, dim, proposal->next_mapped, proposal->mapped);
        take(mine, 1, proposal->next_det, proposal->mapped_det);
    }
    uint32_t *restrict version = state->version;
    for (size_t c = 0; c < proposal->chains; c++) version[c] -= (uint32_t)mine->taken[c];
    memcpy(mine->seen, version, proposal->chains * sizeof *version);
}

/* v and the uniforms of the test. A chain alone has those of AIS_HALF steps drawn at once: lanes are steps then. */
static void draw_numbers(const ais_state *state, own *mine) {
    ais_proposal *proposal = &mine->proposal;
    size_t dim = (size_t)proposal->dim, chains = (size_t)state->chains;
    ais_stream stream = ais_state_stream(state, 0, AIS_FOR_MOMENTUM);
    if (chains > 1) {
        ais_numbers_first(&stream, dim, proposal->lanes, chains, proposal->v, mine->uniform);
        return;
    }
    uint64_t at = stream.step % AIS_HALF;
    stream.step -= at;
    if (mine->ahead_from != stream.step || !mine->has_ahead) {
        mine->ahead_from = stream.step;
        mine->has_ahead = true;
        ais_numbers_steps(&stream, dim, mine->ahead, mine->ahead + dim * AIS_HALF);
    }
    for (size_t i = 0; i < dim; i++) proposal->v[i * proposal->lanes] = mine->ahead[i * AIS_HALF + at];
    mine->uniform[0] = mine->ahead[dim * AIS_HALF + at];
}

/* One of the kernel's angles for every chain, whatever its state. */
static void draw_angles(const ais_learned *learned, const ais_state *state, own *mine) {
    const ais_proposal *proposal = &mine->proposal;
    ais_stream stream = ais_state_stream(state, 0, AIS_FOR_DIRECTION);
    if (state->chains == 1)
        mine->turn[0] = ais_random_uniform(&stream, 0);
    else
        ais_uniforms_lanes(&stream, 0, proposal->lanes, mine->turn);
    for (size_t c = 0; c < proposal->chains; c++) {
        int k = (int)(mine->turn[c] * learned->angles.count);
        proposal->cosine[c] = learned->angles.cosine[k];
        proposal->sine[c] = learned->angles.sine[k];
    }
}

/* A proposal that is not finite, or whose round trip misses, is rejected without evaluating the target: the present
 * point takes its place. So does it in lanes past the last chain, because the batch form sees them. */
static void reject_strange(const ais_learned *learned, const ais_state *state, own *mine) {
    ais_proposal *proposal = &mine->proposal;
    if (learned->shape.map == AIS_HENON) memcpy(proposal->round_trip, mine->beyond, proposal->lanes * sizeof(double));
    size_t count = proposal->chains > 1 ? proposal->lanes : 1;
    AIS_CHOOSE(ais_mask)
    (proposal->dim, proposal->lanes, count, mine->test.tolerance, state->x, proposal->x, proposal->round_trip);
}

/* Independent proposals, before the chain moves: those that were not finite are marked by their round trip. */
static void weigh(const ais_learned *learned, const own *mine, ais_info *info) {
    const ais_proposal *proposal = &mine->proposal;
    for (size_t c = 0; c < proposal->chains; c++) {
        double logq = ais_latent_density(learned, proposal->v + c, proposal->lanes) + proposal->next_det[c];
        bool finite = proposal->round_trip[c] < INFINITY;
        info[c].log_weight = finite ? ais_proposal_weight(mine->logp[c], logq) : -INFINITY;
    }
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own_state,
                       ais_info *info) {
    const ais_learned *learned = (const ais_learned *)kernel;
    own *mine = own_state;
    ais_proposal *proposal = &mine->proposal;
    size_t chains = (size_t)state->chains;
    if (mine->edition != learned->edition) {
        ais_henon_work_set(&learned->henon, &proposal->henon_work);
        mine->edition = learned->edition;
    }
    ais_status status = refresh(context, learned, state, mine);
    if (status != AIS_OK) return status;
    draw_numbers(state, mine);
    if (learned->angles.count > 1) draw_angles(learned, state, mine);
    proposal->measure = state->step % STEPS_BETWEEN_ROUND_TRIPS == 0;
    learned->propose(learned, proposal);
    if (!mine->exact) reject_strange(learned, state, mine);
    if (learned->ratio.weights)
        estimate_logp(learned, mine, proposal->z, proposal->next_mapped, proposal->next_det, mine->logp);
    else
        status =
            ais_state_logp(context, state->target, state->chains, state->lanes, proposal->x, mine->point, mine->logp);
    if (status != AIS_OK) return status;
    AIS_CHOOSE(ais_test_lanes)(&mine->test, mine->chance, mine->taken);
#pragma GCC unroll 4
    for (size_t c = 0; c < chains; c++) info[c].accept_stat = mine->chance[c];
    if (mine->weighs) weigh(learned, mine, info);
    for (size_t c = 0; c < chains && !mine->exact; c++)
        info[c].round_trip = mine->beyond[c] > 0 ? 0 : proposal->round_trip[c];
    if (chains == 1 && learned->shape.map == AIS_HENON)
        move_alone(state, mine);
    else
        move(state, mine);
    return AIS_OK;
}

/* Numbers that were drawn ahead are drawn again; `exact` follows from `beyond` of all lanes. */
static void persist(const ais_kernel *kernel, ais_state *state, void *own_state, int lane, ais_record *record) {
    const ais_learned *learned = (const ais_learned *)kernel;
    own *mine = own_state;
    ais_proposal *proposal = &mine->proposal;
    size_t dim = (size_t)proposal->dim, lanes = proposal->lanes, c = (size_t)lane;
    ais_record_fresh(record, &mine->seen[lane], state->version[lane]);
    ais_record_lane(record, proposal->u, dim, lanes, c);
    if (mine->independent) {
        ais_record_lane(record, proposal->mapped, dim, lanes, c);
        ais_record_lane(record, proposal->mapped_det, 1, lanes, c);
    }
    if (learned->shape.map != AIS_HENON) return;
    ais_record_lane(record, mine->beyond, 1, lanes, c);
    if (!ais_record_reads(record)) return;
    proposal->round_trip[c] = mine->beyond[c];
    mine->exact = mine->bounded;
    for (int k = 0; k < state->chains; k++) mine->exact &= mine->beyond[k] == 0;
}

/* Independent proposals report their weights, too. */
#define LEARNED(its_name, weights)                                                                                     \
    {.name = its_name,                                                                                                 \
     .info = 1 << AIS_INFO_ACCEPT_STAT | 1 << AIS_INFO_ROUND_TRIP | (weights) << AIS_INFO_LOG_WEIGHT,                  \
     .init = init,                                                                                                     \
     .step = step,                                                                                                     \
     .persist = persist,                                                                                               \
     .free = ais_learned_free},
#define PLAIN(its_name, layers, element)   LEARNED(its_name, 0)
#define WEIGHED(its_name, layers, element) LEARNED(its_name, 1)
const ais_kernel_type ais_learned_type[AIS_AFFINE + 1] = {AIS_FAMILIES(PLAIN)};
const ais_kernel_type ais_weighing_type[AIS_AFFINE + 1] = {AIS_FAMILIES(WEIGHED)};
