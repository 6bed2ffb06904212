/* A target that counts its evaluations, and refuses them once a budget is spent.
 *
 * Every block of chains has one of its own: its thread alone writes the counts, so that counting needs no lock, and
 * any thread may read them. An evaluation beyond the budget, or after *halt was set, returns NaN without calling the
 * density, at which every kernel ends its step with an error. On such an error check `refused` before blaming the
 * density. */
#ifndef AIS_TARGET_COUNTED_H
#define AIS_TARGET_COUNTED_H

#include <stdatomic.h>
#include <stdbool.h>

#include <aisampler/target.h>

typedef struct ais_counted {
    ais_target target; /* to be used in place of the inner one; its data is this struct */
    const ais_target *inner;
    atomic_long densities, gradients; /* evaluated by the inner target so far */
    long left;                        /* evaluations still allowed */
    const atomic_bool *halt;          /* never NULL */
    bool refused;                     /* an evaluation beyond that was refused */
    size_t padded, chains; /* a batch of `padded` points of which the first `chains` are not padding; 0: none */
    double *packed;        /* dim x chains, where there is padding */
} ais_counted;

/* Without a limit, to begin with. A block of chains pads its batches to lanes: only
 * the chains are evaluated. 0 and 0 where nothing is padded. False
 * when memory is out. */
bool ais_counted_begin(ais_counted *counted, const ais_target *inner, size_t chains, size_t lanes);
void ais_counted_end(ais_counted *counted);

/* The target behind one that counts; any other target itself. */
const ais_target *ais_counted_inner(const ais_target *target);

/* Counts evaluations of the inner target that the caller makes directly; false, and refused, when that is more than is
 * allowed. */
bool ais_counted_add(ais_counted *counted, long densities, long gradients);

long ais_counted_densities(const ais_counted *counted);
long ais_counted_gradients(const ais_counted *counted);

#endif
