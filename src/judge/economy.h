/* Whether another round of learning pays: what evaluations and steps of fitting cost, and what is left to draw.
 *
 * Costs are in seconds. Where the caller asked for effective draws or set a deadline they are measured, rounded to
 * powers of two and kept, so that a resumed training decides as before; otherwise they are nominal, the same on every
 * machine, and learning is a function of target, options and seed. */
#ifndef AIS_JUDGE_ECONOMY_H
#define AIS_JUDGE_ECONOMY_H

#include <stdbool.h>

typedef struct ais_economy {
    double wanted;     /* effective draws */
    bool measured;     /* else nominal */
    double density;    /* one evaluation of the density in a batch over all threads */
    double gradient;   /* of its gradient */
    double arithmetic; /* one multiplication and addition of a fit, over all threads */
} ais_economy;

/* Nominal costs. */
ais_economy ais_economy_begin(double wanted, bool measured);

/* A measured cost of an evaluation: rounded, and never below a minimum, since users count evaluations; the minimum is
 * larger where points are weighed, and largest without gradients, where each evaluation says less. */
void ais_economy_measure(ais_economy *economy, double seconds, bool gradients, bool weighed);

/* The nearest power of two. */
double ais_coarse(double cost);

/* Draws that one effective draw takes beyond itself, after another round: `before` and `now` are what it was before
 * the last round (or NAN) and is now. */
double ais_waste_after(double before, double now);

#endif
