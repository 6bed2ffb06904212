/* Training of flow kernels (spline, realnvp on x) on batches of a population that the kernel itself moves.
 *
 * One schedule, two objectives: likelihood first, which finds all of the target's mass, then one that knows
 * log p and sharpens the weights (flow_objective.h). With a path objective from the start no population is
 * needed for batches. The kernel is judged on fresh chains now and then; the snapshot with the best worst ESS
 * is kept. A loss that is not finite brings back the last good weights with half the rate. */
#ifndef AIS_TRAINER_FLOW_TRAINER_H
#define AIS_TRAINER_FLOW_TRAINER_H

#include "trainer/flow_objective.h"
#include "trainer/fresh.h"
#include "trainer/population.h"

typedef struct ais_flow_progress {
    const char *stage; /* "likelihood", "exact" or "path" */
    long step, steps;
    double loss;       /* mean since the last report */
    double acceptance; /* of the population's moves, or of fresh chains */
    double worst_ess;  /* share of the draws, of the last judgement; NAN before the first */
    double best_ess;
    int rollbacks;
} ais_flow_progress;

typedef struct ais_flow_plan {
    long steps;
    double rate;
    double first_rate, last_rate; /* of conditioners' first and last layers, as shares of rate; 0: 1 */
    double beta2;                 /* Adam's; 0: its default */
    double likelihood_share;      /* of the steps: 1 all, 0 none */
    ais_flow_objective second;    /* what the other steps are for */
    int batch;                    /* points; rounded up to whole blocks */
    long steps_per_round;         /* Adam steps between two moves of the population */
    int sweeps, walks;            /* of such a move and of each sweep; every walk's points are kept for batches */
    double average;               /* of the weights; 0: none */
    double clip;
    int checks;        /* judgements, the last one at the end */
    double skip_above; /* judged before the first step: train only if below this; 0: always */
    double give_up;    /* end at a judgement whose worst ESS is below this; 0: never */
    double hope;       /* end early unless some move of the population was accepted as often; 0: never */
    int check_chains, check_draws;
    /* May be NULL; false stops, and the best weights so far are kept. */
    bool (*progress)(void *data, const ais_flow_progress *progress);
    void *data;
    ais_checkpoint *checkpoint; /* offered before every round; or NULL */
} ais_flow_plan;

typedef struct ais_flow_result {
    double worst_ess, acceptance; /* of the kept snapshot, on fresh chains */
    long steps;
    int rollbacks;
    bool given_up; /* before the end */
} ais_flow_result;

/* Last layers small, so that T is about the identity (with quadratic conditioners: exactly). And, unless w0 is 0,
 * bumps all over the whitened space: first layers W = w0 N(0, 1) / sqrt(inputs) centred at U(-2.5, 2.5). */
void ais_flow_spread(ais_kernel *kernel, uint64_t seed, double w0);

typedef enum ais_whitening_kind { AIS_WHITEN_SD, AIS_WHITEN_FULL, AIS_WHITEN_GOVERNED } ais_whitening_kind;

/* By the population's mean and its standard deviations, or the root of its covariance (principal axes), or the
 * standard deviations with the coordinate put last (where a pivot layer keeps it) on which the places and widths of
 * the others depend most. */
ais_status ais_flow_whiten(ais_context *context, ais_kernel *kernel, const ais_population *population,
                           ais_whitening_kind kind);

/* The coordinate whose parabolas, as places and widths of the others, make the population most likely. */
size_t ais_flow_governor(const ais_population *population, const double *mean, const double *sd);

/* Affine flows with a pivot layer and quadratic conditioners: that layer as the population says, place and width of
 * every coordinate being parabolas of the kept one. Other layers stay as they are. False for other flows. */
bool ais_flow_fit_pivot(ais_kernel *kernel, const ais_population *population);

/* That fit in turn with moves of the population by the kernel fitted: a population that covers only the middle of a
 * bent density grows into its arms. The kernel is left fitted and whitened by the governing coordinate. */
ais_status ais_flow_settle(ais_context *context, ais_kernel *kernel, ais_population *population, int rounds);

/* Where splines must reach: the largest whitened coordinate of the population, with room to spare; 4 at least. */
double ais_flow_bound(const ais_population *population);

/* Trains in place. AIS_STOPPED when progress said so. Of a training that is resumed the kernel has whitening and
 * weights of then. */
ais_status ais_flow_train(ais_context *context, ais_kernel *kernel, ais_population *population, uint64_t seed,
                          const ais_flow_plan *plan, ais_flow_result *result);

#endif
