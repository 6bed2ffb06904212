/* How long, how fast and how often: the data of a training. All of them are in the table of recipes.c, each with the
 * source of its numbers. */
#ifndef AIS_FIT_RECIPES_H
#define AIS_FIT_RECIPES_H

#include <stdbool.h>

#include "nn/adam.h"

/* Rates of one network. `steps` is left to the loop. */
typedef ais_adam_options ais_pace;

typedef struct ais_recipe {
    const char *name; /* of the stage, in reports */
    long steps;
    long round;                    /* steps between checkpoints, and to fall back by; 0: 1 */
    long report_every;             /* steps between reports; 0: only judgements are reported, and the end */
    ais_pace pace;                 /* of the kernel's weights */
    ais_pace helper;               /* of a critic or discriminator */
    long helper_first;             /* its steps before the kernel's first */
    int helper_turns;              /* its steps for one of the kernel's */
    int batch;                     /* points of a gradient; 0: all there are */
    long judge_every;              /* steps between two judgements, and one at the end */
    int judgements;                /* or: how many, spread evenly, the last one at the end */
    int judge_chains, judge_draws; /* of a judgement by fresh chains */
    int patience;                  /* ends after this many judgements that were no better than the best; 0: never */
    int rollbacks;                 /* training ends when there were more; 0: 8 */
    bool judge_first;              /* one more judgement, before the first step */
} ais_recipe;

typedef enum ais_recipe_name {
    AIS_HENON_LIKELIHOOD,
    AIS_HENON_EXACT,
    AIS_HENON_ADVERSARIAL,
    AIS_HENON_PAPER_PLANE, /* the paper's own setting, in one or two dimensions */
    AIS_HENON_PAPER,       /* in more dimensions */
    AIS_HENON_PAPER_FAR,   /* steps and pace of either where the untrained map is hardly ever accepted */
    AIS_DRAWS_MAP_PLANE,   /* from draws alone: the map in one or two dimensions */
    AIS_DRAWS_MAP,         /* in more */
    AIS_DRAWS_RATIO,       /* the discriminator, the map held fixed */
    AIS_DRAWS_JOINT,       /* both together */
    AIS_ANICE_RECIPE,
    AIS_RECIPES
} ais_recipe_name;

extern const ais_recipe ais_recipe_table[AIS_RECIPES];

#endif
