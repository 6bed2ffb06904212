/* One sampler on one target, from nothing to judged draws: what compare and reproduce share (contest.c). */
#ifndef AIS_CLI_CONTEST_H
#define AIS_CLI_CONTEST_H

#include "cli.h"

typedef struct contestant {
    const char *name, *title;
    bool gradient; /* needs one */
    bool learned;  /* is trained before it draws */
    bool at_start; /* chains start at the training's population, not at N(0, start_scale^2) */
} contestant;
void contestant_list(char *text, size_t size);       /* "a, b and c" */
const contestant *find_contestant(const char *name); /* NULL after a complaint that names the nearest */

typedef struct contest {
    const ais_target *target;
    uint64_t seed;
    int chains, draws, warmup, threads;
    int iterations;   /* of anice; 0: its authors' */
    int steps;        /* of the paper's preset; 0: chosen */
    double step_size; /* of hmc; 0: tuned */
    bool by_mean;     /* anice: kernels are chosen by the ESS of x alone, not of x and x^2 */
    bool from_noise;  /* all chains start at N(0, start_scale^2) */
    bool quiet;
} contest;

/* A kernel that is ready to draw, and what that cost. */
typedef struct entry {
    const contestant *who;
    ais_kernel *kernel;
    ais_training *training;      /* NULL where nothing was learned */
    double seconds;              /* of training */
    double densities, gradients; /* evaluated in training: counted, not estimated */
} entry;

/* Exit codes; after a complaint the entry and the outcome are empty. */
int entry_make(const contest *set, const contestant *who, entry *made);
void entry_free(entry *made);

typedef struct outcome {
    ais_sample_result result;
    ais_draws *draws;
    ais_diagnosis *diagnosis;
} outcome;
int outcome_make(const contest *set, const entry *made, outcome *out);
void outcome_free(outcome *out);

/* Worst ESS of all chains together. */
double outcome_ess(const outcome *out);

/* p at a point of the plane, for ais_grid_evaluate; data is the target. */
double plane_density(double x, double y, void *data);

/* null for what is not a finite number. */
json_t *json_number_or_null(double value);

#endif
