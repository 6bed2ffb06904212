/* The cold start of learning: a population approximately distributed as the target, from nothing but its density.
 *
 * Optimisations from all over the search region N(0, s^2 I) find modes, a screen of many points looks
 * for what they do not explain, and a mixture of Student-t's around them gives weighted draws. When
 * these weights are bad (bent or hollow densities), the mixture is refitted by population Monte
 * Carlo, and when that is not enough, started from annealed sequential Monte Carlo. Acceptance never shows
 * a mode that was never visited, so the start reports how large a mode it could have missed.
 *
 * Everything is a function of the seed: the number of threads changes nothing. */
#ifndef AIS_LOOK_START_H
#define AIS_LOOK_START_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <aisampler/target.h>

#include "base/pool.h"
#include "base/random.h"
#include "look/screened.h"
#include "map/components.h"

typedef struct ais_start_options {
    uint64_t seed;
    double scale;    /* s of the search region N(0, s^2 I); 0: the target's start_scale */
    int population;  /* points wanted; 0: 1024 */
    long screen;     /* points to screen at first; 0: 4000 dim, from 8 dimensions on 1000 for each more */
    long planes;     /* points to screen in planes through the modes found; 0: 4 times `screen` */
    bool anneal;     /* anneal in any case */
    long effort;     /* evaluations after which no further optimisation begins; 0: no limit */
    bool look_only;  /* modes and their fits alone: no weighted draws, no population */
    long most;       /* evaluations; 0: no limit */
    double deadline; /* by ais_now(); 0: none */
    ais_pool *pool;  /* or NULL */
    const volatile sig_atomic_t *stop;                             /* or NULL */
    void (*progress)(const char *stage, double share, void *data); /* or NULL; share of the stage, 0 to 1 */
    void *progress_data;
    void (*tick)(void *data, long evaluations); /* of ais_evaluator, data being progress_data; or NULL */
} ais_start_options;

/* Curvature by differences of differences takes 4 dim^2 densities: a million. */
enum { AIS_START_TEXT = 512, AIS_START_MOST_DIM = 4096, AIS_START_MOST_DIM_DIFFERENCES = 512 };

typedef struct ais_start {
    int dim, count;
    double *x;    /* count x dim, row-major */
    double *logp; /* count */
    double log_z, log_z_error;
    int modes;           /* components of the mixture below */
    int separate;        /* parts of the density that a valley divides: what people call modes */
    double *mode_mean;   /* modes x dim */
    double *mode_factor; /* modes x dim x dim: F with covariance F F' */
    double *mode_weight; /* modes: of the target, by the weighted draws */
    bool annealed;       /* annealing was needed */
    bool trusted;        /* the importance weights are even enough: Pareto k and ESS passed */
    double importance_ess, importance_n, pareto_k;
    bool spent;                /* the budget ran out: this is what was found until then */
    double *peak;              /* dim: the highest point that an optimisation reached */
    double scale;              /* of the region searched in the end */
    long densities, gradients; /* evaluated */
    long screened;             /* points of the region */
    long sparse;               /* points screened in planes: a mode's coordinates but for a few */
    int fewest_hits;           /* how many points of both kinds fell on the relevant mode that got fewest */
    char sentence[AIS_START_TEXT];
    char warning[AIS_START_TEXT]; /* empty when there is nothing to warn of */
    ais_components mixture;       /* the Student-t mixture itself: an independence proposal */
    int screens;                  /* of few dimensions without a gradient: what was screened, to be weighed */
    ais_screened screen[AIS_SCREENS];
    ais_arena arena;
} ais_start;

ais_status ais_cold_start(ais_context *context, const ais_target *target, const ais_start_options *options,
                          ais_start **start);
void ais_start_free(ais_start *start); /* NULL is allowed */

#endif
