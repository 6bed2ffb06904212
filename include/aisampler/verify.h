/* verify.h: checks of draws that evaluate the density again, or use the kernel and the training that the draws come
 * from.
 *
 *     ais_diagnose(&context, draws, NULL, &diagnosis);
 *     ais_verify(&context, target, draws, &(ais_verify_options){.kernel = kernel, .training = training}, diagnosis,
 * &used);
 *
 * A diagnosis sees only the draws, and chains that all miss the same part look perfect to it.
 */
#ifndef AISAMPLER_VERIFY_H
#define AISAMPLER_VERIFY_H

#include "diagnostics.h"
#include "trainer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ais_verify_options {
    const ais_kernel *kernel;     /* that made the draws; or NULL */
    const ais_training *training; /* of the kernel; or NULL */
    int thin;                     /* steps to a draw that was kept; 0: 1 */
    int threads;                  /* 0: one per core */
    long evaluations;             /* densities, at most; 0: no limit, -1: none */
    double seconds;               /* 0: no limit, -1: none */
} ais_verify_options;

/* Adds to the diagnosis: what was searched (training); whether the density is unchanged at up to 64 draws, which it is
 * not if it changes over time or several threads disturb it; whether tails continue beyond the draws (the target's
 * density is evaluated 64 times per parameter and tail, and more in case of doubt; not checked if target is NULL or has
 * no density); which share of the draws the kernel's proposals do not reach, and whether the density continues there
 * (up to 10,240 evaluations, and half of `evaluations` at most); and log Z, from the proposals made while drawing and
 * from the draws, or from the training if there were no proposals. Checks that fail become warnings. The number of
 * evaluations is added to *densities. */
ais_status ais_verify(ais_context *context, const ais_target *target, const ais_draws *draws,
                      const ais_verify_options *options, ais_diagnosis *diagnosis, long *densities);

#ifdef __cplusplus
}
#endif
#endif
