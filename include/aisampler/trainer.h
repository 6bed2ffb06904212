/* trainer.h: learning a kernel for a target.
 *
 *     ais_kernel *kernel;
 *     ais_training *training;
 *     ais_train(&context, target, &(ais_train_options){.seed = 1}, &kernel, &training);
 *
 * Training starts from nothing but the density: it searches for modes, explores, fits a map to all points evaluated so
 * far, and judges it by the importance weights of fresh proposals, in rounds, as long as another round is expected to
 * save evaluations (docs/training.md). The result is the cheapest exact kernel: independent proposals of a map (affine,
 * realnvp, spline) or of a mixture, NUTS in the latent space of an affine map, or a ladder if none of them will do.
 * However badly training goes, a kernel with the exact test gives the right distribution in the long run: training
 * decides how long the run must be.
 *
 * For an empirical target (ais_target.draws) map and discriminator are learned from the draws alone, and the
 * discriminator is the accept test. That is an estimate: draws are biased where it is wrong, and what the data lack is
 * never drawn. Of the options, seed, threads, shape (a map on x alone with swap), objective (likelihood; or adversarial
 * and likelihood+adversarial, which learn both together and are worse), steps, rate, progress, stop and those of the
 * checkpoint are used, and others are refused.
 *
 * With a checkpoint, a training that was killed at any moment continues where it was and gives exactly the same kernel,
 * byte for byte, on any number of threads:
 *
 *     ais_train_options options = {.seed = 1, .checkpoint = "k.ais.training", .resume = true};
 *     ais_train(&context, target, &options, &kernel, &training);      from the beginning if there is no such file
 *     ais_kernel_save(&context, kernel, target, "k.ais");
 *     remove("k.ais.training");                                       only now: up to here it was the only copy
 *
 * The kernel is a function of target, options and seed, unless `effective` or `seconds` is given: then costs are
 * measured, and another machine may learn another kernel. For henon the clock decides the comparison with rivals.
 */
#ifndef AISAMPLER_TRAINER_H
#define AISAMPLER_TRAINER_H

#include <signal.h>

#include "draws.h"
#include "kernel.h"
#include "ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ais_start_method {
    AIS_START_SEARCH, /* search for modes; annealing if its own check fails */
    AIS_START_ANNEAL, /* always annealing */
    AIS_START_NUTS,   /* NUTS chains: for targets with a gradient and one mode */
    AIS_START_DRAWS   /* options.start */
} ais_start_method;

typedef struct ais_train_progress {
    const char *stage; /* "start", "ladder", "fisher", "likelihood", "exact", "judge", "adversarial", ... */
    double share;      /* of this stage, 0 to 1 */
    double loss;       /* NAN where there is none */
    double discriminator_loss;
    double acceptance;   /* of the kernel on the population or on fresh chains */
    double worst_ess;    /* last judgement, as a share of the draws; NAN before the first */
    double best_ess;     /* of the snapshots so far */
    double seconds;      /* since the start of training */
    double seconds_left; /* of this stage; NAN when unknown */
    int rollbacks;       /* divergences noticed and undone */
    long evaluations;    /* of the density and its gradient so far; 0 where they are not counted (henon, draws) */
    double other_ess;    /* anice: of the last judgement over x alone, or with mean_only over x and x^2; 0 elsewhere */
} ais_train_progress;

typedef struct ais_train_options {
    uint64_t seed;
    int threads;            /* 0: one per core */
    const ais_shape *shape; /* NULL: chosen from the target's dimension, gradient and modes; a henon shape of 0 layers:
                               layers, reversal, activation and attempts are chosen */
    const char *objective;  /* stages joined by '+': fisher (needs a gradient), likelihood, exact, likelihood+exact
                               (maps);  likelihood, exact, adversarial (henon); NULL: chosen */
    bool rlogr;             /* adversarial: the printed discriminator loss instead of the logistic one */
    bool paper;             /* the paper's own setting: henon, flip, relu, Algorithm 1, r log r */
    bool ladder; /* always a ladder (kernel.h): the look, then rounds that set its rungs, step sizes and base. Options
                    of maps and henon kernels are refused with it */
    long steps;  /* of the kernel's weights, per stage; maps: of their single fit. 0: chosen */
    double rate; /* highest learning rate; 0: chosen */
    int population; /* henon: chains that supply the batches; 0: chosen. Refused for other maps */
    double scale;   /* s of the region N(0, s^2 I) that is searched for modes; 0: the target's start_scale */
    long screen;    /* points of that region to evaluate first; 0: chosen */
    ais_start_method method;
    const ais_draws *start; /* for AIS_START_DRAWS */
    double effective; /* effective draws (worst ESS of all chains) that the kernel will be used for: learning stops when
                         more of it would not pay. 0: 16,000, and the result does not depend on the clock */
    long evaluations; /* a hard limit, of the density and its gradient together; 0: no limit */
    double seconds;   /* a deadline, which gives the best kernel by then; time before a resumption counts; 0: none */
    const char *checkpoint;    /* file that is renewed during training and stays at its end; or NULL */
    double checkpoint_seconds; /* minimum time between two writes; 0: 1, or 50 times what a write takes */
    bool resume;               /* continues from the checkpoint if there is one; refuses that of another training */
    void (*progress)(const ais_train_progress *, void *); /* or NULL */
    void *progress_data;
    const volatile sig_atomic_t *stop; /* non-zero ends training with the best kernel so far; or NULL */
    const ais_ranks *ranks;            /* batches are divided among these; NULL: one process */
} ais_train_options;

/* The rungs of a ladder, as its last round found them. */
typedef struct ais_rungs {
    int count;                        /* 0: there is no ladder */
    double beta[AIS_MOST_RUNGS];      /* count: inverse temperatures, from 0 to 1 */
    double rejection[AIS_MOST_RUNGS]; /* count - 1: rejection rate of swaps of rungs k and k + 1; their sum is the
                                         barrier */
} ais_rungs;

/* One point of the training curve. */
typedef struct ais_train_point {
    const char *stage;
    double seconds, loss, discriminator_loss, acceptance, worst_ess; /* NAN where there is none */
    double beta; /* inverse temperature of an annealed start, 0 elsewhere */
} ais_train_point;

/* The discriminator that adversarial training learns beside a henon kernel (docs/math.md (11), (12)): an estimate of
 * the log ratio of the accept test. It is for inspection; sampling uses the exact ratio. */
typedef struct ais_learned_discriminator ais_learned_discriminator;

typedef struct ais_training {
    int dim, count;
    double *x;                 /* count x dim: starting points for chains, approximately distributed as the target */
    double log_z, log_z_error; /* by the importance weights of fresh proposals, or by bridges between a ladder's rungs;
                                  NAN when there are neither */
    int modes;                 /* parts of the density that are separated by valleys; 0 if unknown */
    bool trusted;              /* the start's own check passed */
    char sentence[512];        /* what was searched, and how large a mode may have been missed */
    char warning[512];         /* empty if there is no warning */
    long densities, gradients; /* evaluated, all together */
    long start_evaluations;    /* of them, by the start */
    double start_seconds, train_seconds;
    double acceptance, worst_ess; /* of the kernel: expected from importance weights (maps), or of fresh chains (henon);
                                     worst_ess as a share of the draws. NAN when training was stopped before the first
                                     judgement */
    ais_rungs rungs;
    int attempts, rollbacks;
    bool resumed; /* from a checkpoint; its seconds and its part of the curve are included */
    /* henon: short runs against NUTS and the random walk, made if worst_ess is below 0.7: the better of the two, and
     * worst ESS per second of one thread. If nothing was compared, rival is empty and the numbers are 0. */
    char rival[8];
    double rival_ess_per_second, ess_per_second;
    int points;
    ais_train_point *point;
    ais_learned_discriminator *discriminator; /* owned by the training; NULL if none was learned, or if training was
                                                 resumed after the adversarial stage */
} ais_training;

/* Trains a kernel for the target; the caller frees both results. AIS_STOPPED if stop was set: kernel and training then
 * exist if training had begun, and are NULL otherwise. */
ais_status ais_train(ais_context *context, const ais_target *target, const ais_train_options *options,
                     ais_kernel **kernel, ais_training **training);
void ais_training_free(ais_training *training); /* NULL is allowed */

/* value[k] = d(z_k, image_k), the discriminator as a function of two states. z and image are 2 dim x n: the coordinates
 * of x, then those of v, n numbers each, as for ais_kernel_involution. With image = M(z) it is the estimate of the log
 * ratio at z; d(image, z) = -d(z, image) to the last bit for any two states. discriminator NULL is refused. */
ais_status ais_discriminator_evaluate(ais_context *context, const ais_learned_discriminator *discriminator, size_t n,
                                      const double *z, const double *image, double *value);

#ifdef __cplusplus
}
#endif
#endif
