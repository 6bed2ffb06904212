/* What HMC and NUTS keep of a chain between steps: its gradient, step size and metric, and the
 * warm-up that tunes the latter two as Stan does. */
#ifndef AIS_CLASSICAL_TUNING_H
#define AIS_CLASSICAL_TUNING_H

#include "classical/dual_averaging.h"
#include "classical/hamiltonian.h"
#include "classical/windows.h"

/* An array of these is the first member of what both keep as `own`. */
typedef struct ais_tuned_chain {
    double *gradient; /* at the chain's point */
    double logp;      /* there, as the gradient function says it */
    uint32_t version; /* of the point they belong to */
    double step_size;
    ais_metric metric;
    uint64_t left; /* steps to come that tune */
    ais_dual_averaging averaging;
    ais_windows windows;
    ais_welford welford;
} ais_tuned_chain;

typedef struct ais_tuning_options {
    double step_size; /* 0: tuned, and with it the metric */
    double target_accept;
    bool dense;
    bool unit; /* the metric stays the identity */
} ais_tuning_options;

/* Memory and a first step size for every chain of the block. start and scratch are two points of
 * the caller's. Refuses a target without gradient. */
ais_status ais_tuned_chains_new(ais_context *context, const ais_kernel *kernel, ais_state *state,
                                const ais_tuning_options *options, ais_phase *start, ais_phase *scratch,
                                ais_tuned_chain **chains);

/* The chain's point, log density and gradient into phase; evaluated again if the chain was moved by
 * another kernel. */
ais_status ais_tuned_chain_load(ais_context *context, const ais_state *state, ais_tuned_chain *chain, int lane,
                                ais_phase *phase);

/* Moves the chain to a new point. */
void ais_tuned_chain_move(ais_state *state, ais_tuned_chain *chain, int lane, const double *x, const double *gradient,
                          double logp);

/* Learns from one step with this acceptance; does nothing once warm-up is over. */
ais_status ais_tuned_chain_learn(ais_context *context, const ais_state *state, ais_tuned_chain *chain, int lane,
                                 double acceptance, ais_phase *start, ais_phase *scratch);

/* All of it but memory, for ais_kernel_type.persist. */
void ais_tuned_chain_persist(ais_tuned_chain *chain, const ais_state *state, int lane, ais_record *record);

/* Hoffman and Gelman's search (2014, algorithm 4) from *step_size on: the power of two times it at
 * which the acceptance of one leapfrog step crosses 0.8. start: where, with its gradient. */
ais_status ais_find_step_size(ais_context *context, const ais_target *target, const ais_metric *metric,
                              const ais_stream *stream, ais_phase *start, ais_phase *scratch, double *step_size);

/* Option values that HMC and NUTS share. */
ais_status ais_check_tuning_options(ais_context *context, const char *kernel, const ais_tuning_options *options);

#endif
