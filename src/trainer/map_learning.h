/* Learning a map on x alone: look, explore, fit, judge, as long as it pays (docs/training.md).
 *
 *     look      optimisations and a screen find modes (look/start.h)
 *     explore   points that follow p, every one kept with all that was computed there (explore/archive.h): proposals
 *               of the map as it grows, or, where they are of no use, NUTS
 *     fit       the map, to the archive, without new evaluations (fit/flow_method.h)
 *     judge     fresh proposals, archived too, say what a chain would be worth (judge/weights.h), and the economy
 *               whether another round pays (judge/economy.h)
 *
 * What is returned is whichever exact kernel takes least to the draws that are wanted. */
#ifndef AIS_TRAINER_MAP_LEARNING_H
#define AIS_TRAINER_MAP_LEARNING_H

#include "explore/archive.h"
#include "explore/climb.h"
#include "fit/flow_method.h"
#include "judge/economy.h"
#include "judge/weights.h"
#include "look/differences.h"
#include "look/evaluate.h"
#include "look/start.h"
#include "trainer/map_plans.h"
#include "trainer/training_run.h"

/* NUTS as it was after the last stretch of exploring. */
typedef struct ais_explored {
    bool any;
    int stretches;
    double step_size;
    double per_effective;  /* gradients that an effective draw takes */
    double *mean, *factor; /* of the affine map in whose latent space it stepped */
} ais_explored;

/* The ladder as it was after its last round. */
typedef struct ais_climbed {
    ais_kernel *kernel;           /* or NULL */
    double per_effective;         /* evaluations that an effective draw takes */
    double acceptance, worst_ess; /* of local moves at the top; of draws, as a share of them */
    double log_z, log_z_error, barrier;
    long trips;
    int lost; /* modes that the look had found, and that its draws have never been near */
    ais_rungs rungs;
    const char *base; /* the map's name */
    size_t count;     /* draws at the top */
    double *x;        /* count x dim */
} ais_climbed;

/* The fit to come, or under way. */
typedef struct ais_fit_plan {
    int number;
    bool new_map; /* the next fit begins a new map, whitened by the present points */
    long steps;
    double likelihood_share;
    size_t draws; /* of the judgement after it */
} ais_fit_plan;

typedef struct ais_map_learning {
    ais_training_run *job;
    ais_evaluator evaluator;
    ais_economy economy;
    ais_archive archive;
    ais_kernel *snapshot[AIS_MOST_SOURCES]; /* of the archive's sources, where they are maps */
    ais_components mixture;                 /* Student-t's at the modes */
    ais_arena arena;                        /* of the mixture */
    ais_differences differences;            /* which stand in for a gradient, where the evaluator has a price */
    ais_target differenced;                 /* the target with them */
    ais_map_plan own_plan;                  /* where the caller chose the shape or the rate */
    double given_share;                     /* of likelihood in a fit, where the caller chose the objective; else NAN */
    const ais_map_plan *plan;
    int plan_number;
    int round;    /* judgements so far */
    int judged;   /* the source of the last one, until points beside it are drawn; -1 then */
    bool slopes;  /* the objective is fisher; else points weigh */
    bool bent;    /* a bend was undone: the present map begins with its pivot layer */
    bool fitting; /* right now */
    bool fine;    /* no longer rough: the weights of the map's draws are about as even as they will be */
    ais_fit_plan fit;
    double fit_began;           /* by ais_processor_now() */
    double share, share_before; /* importance ESS per draw of the last map judged, and of the one before */
    uint64_t batches;           /* of all fits so far */
    ais_kernel *present, *best;
    ais_weighing evidence; /* log Z so far: log_mean and log_error; ess: draws */
    double most_accepted;  /* acceptance of the maps that it rests on */
    ais_verdict verdict;   /* of the best */
    int proposals;         /* of the best between two steps of NUTS in its latent space; 0: it proposes alone */
    int vain;              /* judgements since the best */
    double waste;          /* proposals that an effective draw of the best costs beyond one, */
    double open;           /* the part of them that stands for what its judgement may not have seen, */
    double flaw_before;    /* and what was left without that before its last round, or NAN */
    size_t judged_by;      /* draws */
    double scale;          /* of the region that was searched */
    double *mean, *factor; /* of the affine map behind present maps */
    ais_explored explored;
    ais_climbed climbed;
    double *chain; /* where NUTS is: AIS_EXPLORING x dim */
} ais_map_learning;

enum { AIS_EXPLORING = 4 };      /* chains */
enum { AIS_FEW_DIMENSIONS = 3 }; /* maps follow any shape in them, from weights alone */

ais_status ais_learn_map(ais_context *context, ais_training_run *job);

/* ---- map_rounds.c ---------------------------------------------------------------------------------- */

/* Draws n proposals of a map or a mixture, archives and weighs them; less where the budget is less. The best so far is
 * kept as a kernel, with its verdict. */
ais_status ais_map_judge(ais_context *context, ais_map_learning *learning, const ais_source *source, size_t n);

/* Discards the best so far, because something was found that its verdict did not account for. */
void ais_map_forget(ais_map_learning *learning);

/* An affine kernel. */
ais_status ais_map_affine(ais_context *context, const double *mean, const double *factor, int dim, ais_kernel **kernel);

/* Rounds of fit and judge from the present archive on, while they pay. */
ais_status ais_map_rounds(ais_context *context, ais_map_learning *learning);

/* A new source of the archive, its number in *from. Points are weighed by sources as they were: maps go on changing,
 * and are copied. */
ais_status ais_map_source(ais_context *context, ais_map_learning *learning, const ais_source *source, int *from);

/* Draws n points of source number `from`, without gradient, into the archive. room: n (dim + 1) doubles. */
ais_status ais_map_draw(ais_context *context, ais_map_learning *learning, int from, size_t n, double *room);

/* What an effective draw costs with the best map, and with NUTS; infinity where there is none. */
double ais_map_cost(const ais_map_learning *learning);
double ais_nuts_cost(const ais_map_learning *learning);
/* All that is left to spend if NUTS explores after all, by differences where there is no gradient, and its map is as
 * good as usual; INFINITY where it may not. */
double ais_map_explored_cost(const ais_map_learning *learning);

/* ---- map_chains.c ---------------------------------------------------------------------------------- */

/* Explores with NUTS and refits the affine map to what it saw. */
ais_status ais_map_explore(ais_context *context, ais_map_learning *learning);

/* The step size that NUTS takes in the latent space of a map, found by a few steps of the chains from where they are.
 */
ais_status ais_map_tune(ais_context *context, ais_map_learning *learning, const ais_kernel *map, int warmup, int draws,
                        double *step_size);

/* Puts the chains to proposals so far, by their weights. */
ais_status ais_map_place_chains(ais_context *context, ais_map_learning *learning);

/* ---- map_relief.c ----------------------------------------------------------------------------------- */

/* The best kernel's proposals with steps of NUTS between them. A stretch of them finds their step size; where the
 * budget ends it the kernel proposes alone. */
ais_status ais_map_relieve(ais_context *context, ais_map_learning *learning, ais_kernel **kernel);

/* ---- map_differences.c ----------------------------------------------------------------------------- */

/* Whether this many gradients of differences would pay: what the best wastes is more. */
bool ais_map_differences_pay(const ais_map_learning *learning, double gradients);

/* From now on the evaluator's target has a gradient, made of differences, whose steps go by the present affine map. */
ais_status ais_map_begin_differences(ais_context *context, ais_map_learning *learning);

/* The same for a training that is resumed, whose steps are known. */
void ais_map_take_differences(ais_map_learning *learning);

/* Their steps, by the affine map that p is about normal under. */
void ais_map_difference_steps(ais_map_learning *learning, const ais_learned *affine);

/* ---- map_bends.c ----------------------------------------------------------------------------------- */

/* Fits a bend (fit/bend.h) to the points with gradients from number `first` on and, where it fits them, judges it.
 * If it will do to go on from, it is the present map then, and `bent` says so. */
ais_status ais_map_bend(ais_context *context, ais_map_learning *learning, size_t first);

/* Modes that importance sampling found may be places along one bend. Where it goes badly, gradients at points that
 * follow p tell. */
ais_status ais_map_unbend(ais_context *context, ais_map_learning *learning);

/* ---- map_missed.c ---------------------------------------------------------------------------------- */

/* A larger mixture, where points of the archive weigh so much that it must have missed modes, or NULL. */
ais_status ais_map_missed(ais_context *context, ais_map_learning *learning, const ais_components *mixture,
                          ais_components **grown);

/* ---- map_surround.c -------------------------------------------------------------------------------- */

/* Archives points from all distances around the modes, up to the region that was searched, once. */
ais_status ais_map_surround(ais_context *context, ais_map_learning *learning);

/* A larger mixture, where points of the archive around a component weigh much more than what the mixture makes of
 * them, or NULL. */
ais_status ais_map_widen(ais_context *context, ais_map_learning *learning, const ais_components *mixture,
                         ais_components **grown);

/* ---- map_ladder.c ---------------------------------------------------------------------------------- */

/* Climbs a ladder from all that was found to p; the result is in `climbed`. */
ais_status ais_map_climb(ais_context *context, ais_map_learning *learning);

/* ---- map_state.c ----------------------------------------------------------------------------------- */

/* Section "map" of the checkpoint: the whole state while a fit is under way, except the fit itself. */
void ais_map_exchange(ais_checkpoint *checkpoint, void *learning);

#endif
