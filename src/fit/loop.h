/* The training loop: every map, every objective and every network that is learned beside a map goes through it.
 *
 * A *method* says what one step computes and how the result is judged; it knows nothing of rates, snapshots,
 * checkpoints or who receives reports. A *recipe* (fit/recipes.h) says how long, how fast and how often, and is data.
 * The loop does the rest:
 *
 *     begin                                 the method takes memory and lists its networks
 *     judge, if the recipe wants it first
 *     for every step:
 *         at the beginning of a round       stop? too late? checkpoint; the weights are remembered as sound
 *         prepare                           the method moves its points, if it has any
 *         network by network, as often as it wants a turn: step (loss and gradient), Adam
 *         judge, if it is time              the snapshot with the best score is kept
 *         report, if it is time
 *     end                                   the method takes what it wants of the result
 *
 * A loss or gradient that is not finite brings back the weights of the beginning of the round at half the rate; a
 * judgement that calls the weights lost brings back the best ones, at half the rate too. When that has happened too
 * often, training ends with what is best so far.
 *
 * One run of the loop is one stage with one schedule of rates. A training of several stages is several runs: the
 * method's own struct holds what they share. Within a stage a method may change its objective with loop->step, and name
 * the new one in loop->stage.
 *
 * Checkpoints: the loop's section has the name of the method and holds step, weights, snapshots, Adam's state and what
 * the method's `exchange` adds. It is offered at the beginnings of rounds only, before `prepare`: what a method draws
 * in a round need not be kept. Results depend on neither threads, ranks nor the clock, but for a deadline. */
#ifndef AIS_FIT_LOOP_H
#define AIS_FIT_LOOP_H

#include <signal.h>

#include <aisampler/ranks.h>

#include "checkpoint/checkpoint.h"
#include "fit/recipes.h"

typedef struct ais_loop ais_loop;

/* What a judge says of the present weights. */
typedef struct ais_judgement {
    double score;      /* to be maximised: worst ESS as a share of the draws, minus a held-out loss; NAN: none */
    double acceptance; /* for reports; NAN where there is none */
    bool keep;         /* these weights are the best in any case */
    bool lost;         /* they are lost: go back to the best */
    bool end;          /* no further step is worth its time */
} ais_judgement;

/* All functions get the loop, in which `self` is the method's own struct: its inputs, filled in by the caller, and its
 * memory. */
typedef struct ais_method {
    const char *name;

    /* Takes memory from loop->arena and lists networks by ais_loop_learn. Nothing may depend on what a checkpoint will
     * restore. */
    ais_status (*begin)(ais_context *context, ais_loop *loop);

    /* Before the turns of a step: new points, moves of a population. loop->round tells that a round begins. When a
     * resumed training continues, this is called first. May set loop->over. NULL: nothing to do. */
    ais_status (*prepare)(ais_context *context, ais_loop *loop);

    /* Loss of one network, whose gradient is left where ais_network.gradient says. */
    ais_status (*step)(ais_context *context, ais_loop *loop, int network, double *loss);

    /* Of the weights as they are now: the loop has put running averages in their place, where there are such. NULL:
     * there is no judgement, and the last weights are kept. */
    ais_status (*judge)(ais_context *context, ais_loop *loop, ais_judgement *judgement);

    /* The method's fields of the checkpoint, beside those of the loop. NULL: none. */
    void (*exchange)(ais_checkpoint *checkpoint, ais_loop *loop);

    /* Called at the end in any case, even after a failed `begin`. Weights are those of the last step (running averages
     * where there are such); ais_loop_take_best restores the best. NULL: nothing to do. */
    void (*end)(ais_loop *loop);
} ais_method;

/* One set of weights with its own Adam. */
typedef struct ais_network {
    const char *name; /* of its fields in the checkpoint, NAME.weights and so on */
    size_t count;
    ais_real *weights;
    const ais_real *gradient;
    const ais_pace *pace; /* rates; those of the recipe */
    int turns;            /* steps of it in a step of the loop; 0: 1 */
    long first;      /* steps of the loop, before the first one, in which only networks that want such steps learn */
    bool helper;     /* a critic or discriminator: no snapshots are kept of it */
    ais_real *best;  /* of the best judgement; NULL: the loop's. A method's own outlives the loop */
    ais_real *share; /* of the rate, per weight; or NULL */
    /* the loop's */
    ais_adam adam;
    ais_real *sound; /* weights at the beginning of the round */
    double loss;     /* sum since the last report */
    long losses;
} ais_network;

typedef struct ais_loop_progress {
    const char *stage;
    long step, steps;
    double loss;       /* mean since the last report, of the network listed last; NAN where there is none */
    double other_loss; /* of the one listed first, where there are two */
    double acceptance; /* of the judgement, or what the method knows between two */
    bool judged;       /* just now: */
    double score;      /* of the last judgement, NAN before the first */
    double best_score;
    double rate; /* of the network listed last */
    int rollbacks;
} ais_loop_progress;

/* Callbacks, flags and files of a training, the same for all its stages; all may be 0. */
typedef struct ais_watch {
    void (*progress)(void *data, const ais_loop_progress *progress);
    void *data;
    const volatile sig_atomic_t *stop; /* not 0: end. Checked at the beginning of every round, like the deadline */
    double deadline;                   /* by ais_now() */
    const ais_ranks *ranks;            /* which stop together */
    ais_checkpoint *checkpoint;
} ais_watch;

typedef enum ais_loop_end {
    AIS_LOOP_DONE,     /* all steps */
    AIS_LOOP_STOPPED,  /* the stop flag was set; the status is AIS_STOPPED */
    AIS_LOOP_LATE,     /* the deadline */
    AIS_LOOP_ENOUGH,   /* the method or the recipe's patience */
    AIS_LOOP_DIVERGED, /* more rollbacks than the recipe allows */
    AIS_LOOP_FAILED    /* the status says why */
} ais_loop_end;

enum { AIS_MOST_NETWORKS = 4 };

struct ais_loop {
    /* filled in by the caller */
    const ais_method *method;
    void *self;
    const ais_recipe *recipe;
    ais_watch watch;
    /* where it is; the first four may be set by the method */
    ais_judgement best; /* begin: of an earlier stage, whose snapshot is in ais_network.best. No score: NAN */
    double acceptance;  /* between judgements; NAN at first */
    const char *stage;  /* as reports name it: recipe->name at first */
    bool over;          /* no further step */
    ais_judgement last; /* the present or last judgement */
    long first;         /* the most that a network wants of its own before the first step */
    long step, steps;   /* done, from -first on; of the recipe */
    bool round;         /* this step begins a round */
    long since;         /* judgements since the best */
    int rollbacks, networks;
    ais_network network[AIS_MOST_NETWORKS];
    ais_loop_end ended;
    ais_arena arena; /* until the end of the run */
};

/* Runs a stage. AIS_STOPPED when it was stopped; a training that diverged or was late is no failure (loop->ended). What
 * lies in loop->arena is gone afterwards. */
ais_status ais_loop_run(ais_context *context, ais_loop *loop);

/* ---- for methods ------------------------------------------------------------------------------------ */

/* In begin: adds a network; turns are taken in the order of the calls. false when memory is out. */
bool ais_loop_learn(ais_loop *loop, const ais_network *network);

/* Weights that are judged and kept: the running average, where there is one. */
const ais_real *ais_network_kept(const ais_network *network);

/* In end: the best weights become the weights, except those of helpers. Without a judgement nothing changes. */
void ais_loop_take_best(ais_loop *loop);

#endif
