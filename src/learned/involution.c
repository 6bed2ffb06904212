/* M = g^-1 o R o g, math.md (2) and (5), and proposals made with it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "kernel/test_lanes.h"
#include "learned/learned.h"
#include "learned/reflection_lanes.h"
#include "map/lattice_lanes.h"

static ais_henon_direction direction_of(const ais_learned *learned) {
    return learned->shape.reversal == AIS_FLIP ? AIS_HENON_FLIP : AIS_HENON_SWAP;
}

static bool take_angles(const ais_learned *learned, ais_arena *arena, ais_proposal *proposal) {
    proposal->cosine = AIS_TAKE(arena, double, proposal->lanes);
    proposal->sine = AIS_TAKE(arena, double, proposal->lanes);
    for (size_t c = 0; proposal->cosine && proposal->sine && c < proposal->lanes; c++) {
        proposal->cosine[c] = learned->angles.cosine[0];
        proposal->sine[c] = learned->angles.sine[0];
    }
    return proposal->cosine && proposal->sine;
}

bool ais_proposal_new(const ais_learned *learned, size_t lanes, ais_arena *arena, ais_proposal *proposal) {
    size_t rows = (size_t)learned->shape.dim * lanes;
    *proposal = (ais_proposal){.dim = learned->shape.dim,
                               .lanes = lanes,
                               .measure = true,
                               .chains = lanes,
                               .v = AIS_TAKE(arena, double, rows),
                               .u = AIS_TAKE(arena, double, rows),
                               .x = AIS_TAKE(arena, double, rows),
                               .kinetic = AIS_TAKE(arena, double, lanes),
                               .log_det = AIS_TAKE(arena, double, lanes),
                               .round_trip = AIS_TAKE(arena, double, lanes),
                               .z = AIS_TAKE(arena, double, 2 * rows),
                               .back = AIS_TAKE(arena, double, 2 * rows)};
    if (!proposal->v || !proposal->u || !proposal->x || !proposal->kinetic || !proposal->log_det ||
        !proposal->round_trip || !proposal->z || !proposal->back)
        return false;
    if (learned->shape.map != AIS_HENON) {
        proposal->flow_tape = ais_flow_tape_new(&learned->flow, lanes, arena);
        proposal->mapped = AIS_TAKE(arena, double, rows);
        proposal->next_mapped = AIS_TAKE(arena, double, rows);
        proposal->mapped_det = AIS_TAKE(arena, double, lanes);
        proposal->next_det = AIS_TAKE(arena, double, lanes);
        if (learned->angles.count && !take_angles(learned, arena, proposal)) return false;
        return proposal->flow_tape && proposal->mapped && proposal->next_mapped && proposal->mapped_det &&
               proposal->next_det;
    }
    if (!ais_henon_work_new(&learned->henon, learned->weights, lanes, arena, &proposal->henon_work)) return false;
    proposal->alone = (ais_alone_call){.map = proposal->henon_work.small,
                                       .direction = direction_of(learned),
                                       .lanes = lanes,
                                       .mean = learned->whitening.mean,
                                       .factor = learned->whitening.factor,
                                       .u = proposal->u,
                                       .v = proposal->v,
                                       .z = proposal->z,
                                       .x = proposal->x};
    return true;
}

/* R in place on the two halves of z, `rows` numbers each. */
static void reverse(ais_reversal reversal, size_t rows, double *z) {
    for (size_t i = 0; i < rows; i++) {
        double x = z[i], v = z[rows + i];
        z[i] = reversal == AIS_FLIP ? x : v;
        z[rows + i] = reversal == AIS_FLIP ? -v : x;
    }
}

/* M of a flow in whitened coordinates, in place: z is 2 dim x lanes; log|det| is written. */
static void flow_involution(const ais_learned *learned, ais_proposal *proposal, double *z, double *log_det) {
    size_t rows = (size_t)learned->shape.dim * proposal->lanes;
    memset(log_det, 0, proposal->lanes * sizeof *log_det);
    ais_flow_map(&learned->flow, learned->weights, proposal->flow_tape, false, z, log_det);
    reverse(learned->shape.reversal, rows, z);
    ais_flow_map(&learned->flow, learned->weights, proposal->flow_tape, true, z, log_det);
}

void ais_learned_lattice_involution(const ais_learned *learned, ais_proposal *proposal, double *z) {
    ais_henon_lattice(&learned->henon, &proposal->henon_work, direction_of(learned), z,
                      z + (size_t)proposal->dim * proposal->lanes, z);
}

/* worst[c] becomes max(worst[c], |value - wanted|) over the rows of lane c; once NaN it stays NaN. */
static void add_miss(int dim, size_t lanes, const double *value, const double *wanted, double *worst) {
    for (size_t i = 0; i < (size_t)dim; i++)
        for (size_t c = 0; c < lanes; c++) {
            double miss = fabs(value[i * lanes + c] - wanted[i * lanes + c]);
            worst[c] = miss <= worst[c] ? worst[c] : miss;
        }
}

static void propose_many(const ais_learned *learned, ais_proposal *proposal) {
    size_t lanes = proposal->lanes, rows = (size_t)proposal->dim * lanes, chains = proposal->chains;
    AIS_CHOOSE(ais_lattice_round)(rows, proposal->v, proposal->v);
    ais_henon_lattice(&learned->henon, &proposal->henon_work, direction_of(learned), proposal->u, proposal->v,
                      proposal->z);
    AIS_CHOOSE(ais_kinetic)(proposal->dim, lanes, proposal->v, proposal->z + rows, proposal->kinetic);
    ais_unwhiten_first(&learned->whitening, lanes, chains, proposal->z, proposal->x);
}

/* log_det is and stays 0; round_trip too, unless a step has a chain to keep. */
void ais_propose_henon(const ais_learned *learned, ais_proposal *proposal) {
    if (proposal->single && ais_henon_is_small(&learned->henon))
        proposal->kinetic[0] = AIS_CHOOSE(ais_henon_alone_propose)(&proposal->alone);
    else
        propose_many(learned, proposal);
}

void ais_propose_flow(const ais_learned *learned, ais_proposal *proposal) {
    int dim = proposal->dim;
    size_t lanes = proposal->lanes, rows = (size_t)dim * lanes;
    double *z = proposal->z, *back = proposal->back;
    memcpy(z, proposal->u, rows * sizeof(double));
    memcpy(z + rows, proposal->v, rows * sizeof(double));
    flow_involution(learned, proposal, z, proposal->log_det);
    AIS_CHOOSE(ais_kinetic)(dim, lanes, proposal->v, z + rows, proposal->kinetic);
    ais_unwhiten(&learned->whitening, lanes, z, proposal->x);
    /* There and back again. The whitening is left out: x is computed from u, and never the reverse. */
    memcpy(back, z, 2 * rows * sizeof(double));
    flow_involution(learned, proposal, back, proposal->round_trip);
    memset(proposal->round_trip, 0, lanes * sizeof(double));
    add_miss(dim, lanes, back, proposal->u, proposal->round_trip);
    add_miss(dim, lanes, back + rows, proposal->v, proposal->round_trip);
}

bool ais_is_independent(const ais_learned *learned) {
    const ais_shape *shape = &learned->shape;
    return shape->map != AIS_HENON && shape->reversal == AIS_SWAP && !shape->joint;
}

double ais_latent_density(const ais_learned *learned, const double *z, size_t stride) {
    double square = 0;
    int dim = learned->shape.dim;
    for (size_t i = 0; i < (size_t)dim; i++) square += z[i * stride] * z[i * stride];
    return -0.5 * square - dim * AIS_LOG_ROOT_2PI - learned->whitening.log_volume;
}

void ais_map_forward(const ais_learned *learned, ais_proposal *proposal, const double *u, double *mapped, double *det) {
    memcpy(mapped, u, (size_t)proposal->dim * proposal->lanes * sizeof(double));
    memset(det, 0, proposal->lanes * sizeof(double));
    ais_flow_map(&learned->flow, learned->weights, proposal->flow_tape, false, mapped, det);
}

/* The proposal whose latent point is next_mapped. The chain lives on z = T(x): x = S(z) with S = T^-1 as it is
 * computed, and the weight log p(S(z)) + log|det S'| - log N(z) is a function of z alone, kept with the point. So the
 * ratio of two weights is exactly antisymmetric, whatever S rounds to, and nothing has to be inverted. T(S(z)) = z
 * verifies S; it costs a second pass and is measured where `measure` is set. */
static void land(const ais_learned *learned, ais_proposal *proposal) {
    int dim = proposal->dim;
    size_t lanes = proposal->lanes, rows = (size_t)dim * lanes;
    double *z = proposal->z;
    memcpy(z, proposal->next_mapped, rows * sizeof(double));
    memset(proposal->log_det, 0, lanes * sizeof(double));
    memset(proposal->round_trip, 0, lanes * sizeof(double));
    ais_flow_map(&learned->flow, learned->weights, proposal->flow_tape, true, z, proposal->log_det);
    ais_unwhiten_first(&learned->whitening, lanes, proposal->chains > 1 ? lanes : 1, z, proposal->x);
    AIS_CHOOSE(ais_kinetic)(dim, lanes, proposal->next_mapped, proposal->mapped, proposal->kinetic);
    for (size_t c = 0; c < lanes; c++) proposal->next_det[c] = -proposal->log_det[c];
    for (size_t c = 0; c < lanes; c++) proposal->log_det[c] += proposal->mapped_det[c];
    if (!proposal->measure) return;
    ais_map_forward(learned, proposal, z, proposal->back, proposal->back + rows);
    add_miss(dim, lanes, proposal->back, proposal->next_mapped, proposal->round_trip);
}

/* math.md (9). */
void ais_propose_independent(const ais_learned *learned, ais_proposal *proposal) {
    size_t rows = (size_t)proposal->dim * proposal->lanes;
    memcpy(proposal->next_mapped, proposal->v, rows * sizeof(double));
    memcpy(proposal->z + rows, proposal->mapped, rows * sizeof(double));
    land(learned, proposal);
}

/* math.md (30) and (31). */
void ais_propose_reflected(const ais_learned *learned, ais_proposal *proposal) {
    size_t rows = (size_t)proposal->dim * proposal->lanes;
    AIS_CHOOSE(ais_reflect)
    (proposal->dim, proposal->lanes, proposal->cosine, proposal->sine, proposal->mapped, proposal->v,
     proposal->next_mapped, proposal->z + rows);
    land(learned, proposal);
}

/* All points in blocks of lanes, through one way of proposing. */
static ais_status involute(ais_context *context, const ais_learned *learned,
                           void (*propose)(const ais_learned *, ais_proposal *), size_t n, const double *z,
                           double *image, double *log_det) {
    int dim = learned->shape.dim;
    ais_arena arena = {0};
    ais_proposal proposal;
    if (!ais_proposal_new(learned, AIS_LANES, &arena, &proposal)) {
        ais_arena_free(&arena);
        return ais_fail_memory(context, "an involution", (size_t)dim * sizeof(double));
    }
    size_t half = (size_t)dim * AIS_LANES;
    for (size_t first = 0; first < n; first += AIS_LANES) {
        /* Lanes past the end repeat the last point. */
        for (size_t i = 0; i < 2 * half; i++) {
            size_t c = first + i % AIS_LANES;
            proposal.back[i] = z[i / AIS_LANES * n + (c < n ? c : n - 1)];
        }
        ais_whiten(&learned->whitening, AIS_LANES, proposal.back, proposal.u);
        memcpy(proposal.v, proposal.back + half, half * sizeof(double));
        if (learned->shape.map == AIS_HENON) AIS_CHOOSE(ais_lattice_round)(half, proposal.u, proposal.u);
        if (ais_is_independent(learned))
            ais_map_forward(learned, &proposal, proposal.u, proposal.mapped, proposal.mapped_det);
        propose(learned, &proposal);
        for (size_t i = 0; i < 2 * half; i++) {
            size_t c = first + i % AIS_LANES;
            if (c < n) image[i / AIS_LANES * n + c] = i < half ? proposal.x[i] : proposal.z[i];
        }
        for (size_t c = first; log_det && c < n && c < first + AIS_LANES; c++) log_det[c] = proposal.log_det[c - first];
    }
    ais_arena_free(&arena);
    return AIS_OK;
}

ais_status ais_kernel_involution(ais_context *context, const ais_kernel *kernel, size_t n, const double *z,
                                 double *image, double *log_det) {
    const ais_learned *learned = ais_as_learned(kernel);
    if (!learned)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s has no involution: only learned kernels have",
                        kernel->type->name);
    return involute(context, learned, learned->propose, n, z, image, log_det);
}

ais_status ais_swap_involution(ais_context *context, const ais_learned *learned, size_t n, const double *z,
                               double *image) {
    return involute(context, learned, ais_propose_independent, n, z, image, NULL);
}
