/* Whether two threads may call a density at once: one that keeps its intermediate results in a static variable is not
 * safe, and its draws would sometimes be wrong without a sign. */
#ifndef AIS_TARGET_TOGETHER_H
#define AIS_TARGET_TOGETHER_H

#include <aisampler/target.h>

enum { AIS_TOGETHER_POINTS = 8 };

/* The number of evaluations for `count` points. */
void ais_together_cost(const ais_target *target, int count, long *densities, long *gradients);

/* Evaluates points (count x dim, up to AIS_TOGETHER_POINTS) at which logp is `value` twice, in opposite order: by two
 * threads at once, or one after the other where `how` has one thread or there is no second one. A point where an answer
 * differs is in *found then, from 0, with the answer; -1: there is none. False when memory is out. */
bool ais_ask_together(const ais_target *target, int count, const double *point, const double *value,
                      const ais_check *how, int *found, double *answer);

#endif
