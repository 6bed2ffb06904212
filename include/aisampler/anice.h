/* anice.h: A-NICE-MC (Song, Zhao and Ermon, A-NICE-MC: Adversarial Training for MCMC, 2017), the baseline that learned
 * kernels are compared with.
 *
 *     ais_kernel *kernel;
 *     ais_training *training;
 *     ais_train_anice(&context, target, &(ais_anice_options){.seed = 1}, &kernel, &training);
 *
 * With v ~ N(0, I) and a direction, each fresh at every step, the proposal is f or f^-1 at (x, v), where f consists of
 * the updates v += a(x), x += b(v), v += c(x), and is accepted with min(1, exp l), l = log p(x')N(v') - log p(x)N(v).
 * It runs on a fixed-point lattice of 2^-32, so that f^-1 undoes f bit for bit.
 *
 * Training is as in the authors' public code: f alone, without test, is a generator; a Wasserstein critic sees pairs
 * of successive states and pairs of independent draws. The draws come from HMC at first and from the kernel itself
 * later (docs/results/anice.md). There is no search for modes: what HMC misses is found by luck or not at all.
 */
#ifndef AISAMPLER_ANICE_H
#define AISAMPLER_ANICE_H

#include "trainer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ais_anice_options {
    uint64_t seed;
    int threads;                  /* for the HMC chains of the start; training itself uses one. 0: one per core */
    const ais_anice_shape *shape; /* NULL: the authors' */
    long iterations;              /* of 5 critic steps and one kernel step; 0: 5000 */
    int critic;                   /* units of each of its 3 layers, a multiple of 16; 0: 400 up to 2D, else 800 */
    int burn_in_steps;            /* chains from noise are 1 to this many steps long; 0: 8 up to 2D, else 16 */
    int pair_steps;               /* the states of a pair lie 1 to this many steps apart; 0: 2 */
    double velocity_weight;       /* of the mean of v'^2 / 2 in the kernel's loss; 0: 1 */
    double rate;                  /* of Adam; 0: 5e-4 */
    int epoch;                    /* iterations between bootstraps; 0: 500 */
    int draws;                    /* of each of 32 chains of a bootstrap, after draws / 5; 0: 5000 */
    double discard;               /* share of the old draws that a bootstrap drops; 0: 0.5 */
    bool mean_only;               /* judge kernels by the ESS of x alone, as the authors do, not of x and x^2 */
    const char *checkpoint;    /* these three as in ais_train_options; resumed, `iterations` may be more than before */
    double checkpoint_seconds; /* the file has all draws that are trained on: 5 MB in 2D, 64 MB in 25 dimensions */
    bool resume;
    void (*progress)(const ais_train_progress *, void *); /* or NULL */
    void *progress_data;
    const volatile sig_atomic_t *stop; /* non-zero ends training with the best kernel so far; or NULL */
} ais_anice_options;

/* Trains; the caller frees both results. At every bootstrap the kernel is judged by its chains' worst ESS (not
 * rank-normalised), and the best one is returned (the authors' code keeps none). A target without gradient starts from
 * random walks instead of HMC. AIS_STOPPED if stop was set: kernel and training then exist if training had begun, and
 * are NULL otherwise. */
ais_status ais_train_anice(ais_context *context, const ais_target *target, const ais_anice_options *options,
                           ais_kernel **kernel, ais_training **training);

#ifdef __cplusplus
}
#endif
#endif
