/* Annealed sequential Monte Carlo: from N(0, s^2 I) to the target along the densities between,
 * proportional to N(0, s^2 I)^(1 - beta) p^beta. */
#ifndef AIS_LOOK_ANNEAL_H
#define AIS_LOOK_ANNEAL_H

#include <stdint.h>

#include "look/evaluate.h"

typedef struct ais_anneal_options {
    uint64_t seed;
    double scale;     /* s */
    int population;   /* members */
    int moves;        /* random-walk moves of every member at every temperature */
    int temperatures; /* at most */
    void (*progress)(const char *stage, double share, void *data); /* or NULL */
    void *progress_data;
} ais_anneal_options;

typedef struct ais_annealing {
    double log_z, log_z_error; /* the error from the weights alone: correlated members make it larger */
    double reached;            /* beta: 1 unless the temperatures were used up */
    int temperatures;
    double step; /* the isotropic random walk's last scale */
} ais_annealing;

/* x: population x dim, logp: population; both are written. */
ais_status ais_anneal(ais_evaluator *evaluator, const ais_anneal_options *options, double *x, double *logp,
                      ais_annealing *result);

#endif
