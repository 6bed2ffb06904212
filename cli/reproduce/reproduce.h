/* The experiments of the paper (docs/paper.md). reproduce.c runs the list; each group has a file of its own. */
#ifndef AIS_CLI_REPRODUCE_REPRODUCE_H
#define AIS_CLI_REPRODUCE_REPRODUCE_H

#include "contest.h"
#include "table.h"

typedef struct baselines baselines;

typedef struct reproduction {
    bool quick, quiet;
    uint64_t seed;
    int threads;
    int trials;           /* single chains whose numbers are averaged */
    int anice_iterations; /* in 2D; the regressions take a part of it */
    int paper_steps;      /* 0: the preset's own */
    FILE *page, *tables;
    json_t *json;
    int figures;
    baselines *anice;  /* its kernels, not yet taken */
    char seconds[400]; /* of the parts that are done */
} reproduction;

typedef struct experiment {
    const char *name, *title;
    int (*run)(reproduction *set); /* an exit code */
} experiment;
extern const experiment experiments[]; /* ends with a NULL name */

int reproduce_plane(reproduction *set);
int reproduce_regressions(reproduction *set);
int reproduce_triangle(reproduction *set);
int reproduce_training(reproduction *set);
int reproduce_speed(reproduction *set);

/* Into the page, tables.md and reproduce.json (under key), and onto stdout. */
void show_table(reproduction *set, const char *key, const table *numbers);
/* Into the page, under a heading where title is not NULL; frees the figure. */
int show_figure(reproduction *set, const char *title, ais_figure *figure);

/* What the paper prints, NAN where it prints nothing (printed.c). quantity: ess, ess/s, predictive, distance;
 * sampler: hmc, anice, ai. */
double printed_number(const char *quantity, const char *target, const char *sampler);

/* ---- single chains (trials.c) ------------------------------------------------------------------- */

/* The samplers of the paper's tables, in their order, and our default. */
enum { RIVALS = 4, PLANE_DRAWS = 1000, REGRESSION_DRAWS = 5000 };
extern const char *const rivals[RIVALS];

/* One sampler as the paper runs it: a chain of `draws` after 1000, `trials` times. The paper does not say where chains
 * start: at N(0, 1) in the plane; on the regressions, where that is far outside, learned involutions start at the
 * population of their training. */
typedef struct trials {
    entry entry;
    outcome outcome;
    double seconds;   /* of one chain's draws on one core */
    double step_size; /* hmc: the best one of the grid; 0 elsewhere */
    double noise_ess; /* mean-ESS of chains that all start at N(0, 1) */
} trials;
int trials_make(reproduction *set, const ais_target *target, const char *sampler, int draws, trials *made);
void trials_free(trials *made);

/* What trials_make needs from a sampler. */
int anice_iterations(const reproduction *set, int draws);
contest trial_contest(const reproduction *set, const ais_target *target, int draws);

/* Trains A-NICE-MC for all targets of the experiment `only`, or of all (NULL), before anything else
 * (anice.c). Taking an entry makes it the caller's. */
int baselines_make(reproduction *set, const char *only);
entry baselines_take(reproduction *set, const char *target);
void baselines_free(reproduction *set);

/* The columns that every table of ESS has, and a row of it. */
extern const char *const trial_headings[];
void trial_row(table *to, const char *target, const char *sampler, const trials *made);
extern const char trial_columns[]; /* what they mean */

/* How the chains were made, and what the columns beside ESS mean. */
void trial_note(const reproduction *set, int draws, const char *what, table *to);

/* Figure 4, of a training on mog6 by the paper's preset (discriminator.c). */
int show_discriminator(reproduction *set, const ais_target *target, const ais_training *training);

/* ---- pictures (plane.c) ------------------------------------------------------------------------- */

enum { ESTIMATE_CELLS = 80 };

/* A kernel density estimate of draws in the plane, on a grid of ESTIMATE_CELLS^2. An exit code. */
int estimate_panel(ais_figure *figure, const ais_grid *grid, const char *title, const ais_draws *draws);

#endif
