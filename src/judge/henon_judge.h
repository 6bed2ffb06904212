/* How well a henon kernel mixes, judged on fresh chains by how far their means lie apart. */
#ifndef AIS_JUDGE_HENON_JUDGE_H
#define AIS_JUDGE_HENON_JUDGE_H

#include "judge/fresh.h"

/* The smallest Var f / (draws Var of a chain's mean of f), over x_i, x_i^2 and indicators of parts of the space: the
 * error ESS with the chains' common mean for the truth. Autocorrelations (judge/fresh.h) do not see a part that is
 * left too seldom, such as the innermost of five rings; means of chains that begin all over the population do. The
 * parts are not known modes: shells about the population's mean, each with as many of its points, and the cells of
 * points of the population that lie far from one another. Arguments as of ais_fresh_chains. */
ais_status ais_henon_judge(ais_context *context, const ais_population *population, const ais_kernel *kernel,
                           uint64_t seed, int chains, int draws, ais_fresh_result *result);

#endif
