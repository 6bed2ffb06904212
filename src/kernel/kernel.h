/* The contract of a kernel, learned or classical: init -> state, step(state) -> info.
 *
 * A state is a block of chains that step together. Everything that any kernel needs of a chain is
 * its point and its log density; what one kernel keeps for itself (a gradient, a step size, a
 * lattice point) hangs on `own`, which init fills from the state's arena. A kernel that moves
 * chain c adds one to version[c]; a kernel that keeps something computed from x compares versions
 * and computes it again when another kernel of a cycle has moved the chain. */
#ifndef AIS_KERNEL_KERNEL_H
#define AIS_KERNEL_KERNEL_H

#include <math.h>

#include <aisampler/kernel.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/record.h"
#include "base/status.h"

typedef struct ais_state {
    const ais_target *target;
    uint64_t seed;
    uint32_t chain; /* the number of the first chain of the block */
    int chains;     /* of the block */
    bool single;   /* all blocks of the run have one chain, so code for a single chain, which rounds differently, may be
                      used; false when new */
    int lanes;     /* chains rounded up to a multiple of AIS_LANES */
    uint64_t step; /* the number of the step to come; warm-up steps count */
    uint64_t warmup;   /* steps below this adapt */
    uint32_t part;     /* of a cycle, the part that is at work; else 0 */
    double *x;         /* dim x lanes */
    double *logp;      /* lanes */
    uint32_t *version; /* lanes */
    ais_arena arena;
} ais_state;

typedef struct ais_kernel_type {
    const char *name;
    unsigned info; /* bits 1 << AIS_INFO_... of the fields that step fills */
    bool needs_gradient;
    bool trajectories; /* a step is a trajectory, or several: chains step alone, each as long as its own */
    /* Takes memory and computes what the first step needs; x, logp and version are set. */
    ais_status (*init)(ais_context *, const ais_kernel *, ais_state *, void **own);
    /* Moves every chain once and fills the fields of info[c], c < chains, that `info` names; the others are the
     * caller's, who keeps zeros there. Allocates nothing. */
    ais_status (*step)(ais_context *, const ais_kernel *, ais_state *, void *own, ais_info *info);
    /* What `own` keeps of one chain between two steps, besides what the state has: written, or read into a state that
     * init has made with the same kernel. A chain that is read continues with the same bits, in a block of any size. */
    void (*persist)(const ais_kernel *, ais_state *, void *own, int lane, ais_record *record);
    void (*free)(ais_kernel *);
} ais_kernel_type;

/* The first member of every kernel. */
struct ais_kernel {
    const ais_kernel_type *type;
    int dim;        /* 0: any */
    bool empirical; /* its accept test is a discriminator's, for targets without a density */
    int max_depth;  /* of trajectories that double; 0: there are none */
};

/* The random numbers of one lane at this step. Kernels take theirs only from here: the parts of a
 * cycle then never share any, because the part's number is in the upper bits of the step. */
enum { AIS_MAX_PARTS = 256 };
static inline ais_stream ais_state_stream(const ais_state *state, int lane, uint32_t purpose) {
    return (ais_stream){.seed = state->seed,
                        .step = state->step | (uint64_t)state->part << 48,
                        .chain = state->chain + (uint32_t)lane,
                        .purpose = purpose};
}

/* The parts of a cycle, which belong to it; NULL and 0 when it is none. */
ais_kernel *const *ais_cycle_parts(const ais_kernel *kernel, int *count);

/* Refuses kernels of another dimension; classical kernels, and learned ones with a density's test, for an empirical
 * target, and the reverse. */
ais_status ais_kernel_fits(ais_context *context, const ais_kernel *kernel, const ais_target *target);

/* A block of chains: memory, starting points (chains x dim, row-major) and their log densities.
 * start NULL: N(0, start_scale^2), drawn again up to 100 times until the density is positive; of an empirical
 * target one of its draws. */
ais_status ais_state_new(ais_context *context, const ais_target *target, uint64_t seed, uint32_t first_chain,
                         int chains, uint64_t warmup, const double *start, ais_state **state);

/* The same for points that are only proposed: candidates[a * stride + c * dim], a < count, are tried in turn for chain
 * c of the block; where the density is zero at all of them the chain starts as with start NULL. */
typedef struct ais_candidates {
    const double *x;
    int count;
    size_t stride;
} ais_candidates;
ais_status ais_state_try(ais_context *context, const ais_target *target, uint64_t seed, uint32_t first_chain,
                         int chains, uint64_t warmup, const ais_candidates *candidates, ais_state **state);
void ais_state_free(ais_state *state);

/* Log densities of the points x (dim x lanes), the first `chains` of which count; the rest get
 * -INFINITY or whatever the batch form says. point: room for dim doubles. A NaN or +infinity is an
 * error that prints the point. */
ais_status ais_state_logp(ais_context *context, const ais_target *target, int chains, int lanes, const double *x,
                          double *point, double *logp);

/* The log weight of an independent proposal, for ais_info: a point that overflowed, and so was not proposed at all, has
 * no weight. */
static inline double ais_proposal_weight(double logp, double logq) {
    double weight = logp - logq;
    return weight < INFINITY ? weight : -INFINITY;
}

/* The error for a density that is not a number or +infinity at x. */
ais_status ais_fail_density(ais_context *context, const ais_target *target, double value, const double *x);

#endif
