/* verify.h: checks of draws that ask the density again, or the kernel and the training that the draws come from.
 *
 *     ais_diagnose(&context, draws, NULL, &diagnosis);
 *     ais_verify(&context, target, draws, &(ais_verify_options){.kernel = kernel, .training = training}, diagnosis,
 * &used);
 *
 * A diagnosis sees the draws alone, and chains that all miss the same part look perfect to it.
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

/* Adds to the diagnosis: what was searched (training); whether the density is still what it was at up to 64 draws,
 * which it is not when it changes over time or is disturbed by several threads; whether tails go on beyond the draws
 * (target, whose density is evaluated at most 64 times per parameter and tail, more where there is a doubt; NULL, or
 * one without a density: not checked); which share of the draws the kernel's proposals do not reach; log Z by the
 * proposals of the drawing and the draws, or, where there were none, as the training has it. Checks that fail become
 * warnings. What was evaluated is added to *densities. */
ais_status ais_verify(ais_context *context, const ais_target *target, const ais_draws *draws,
                      const ais_verify_options *options, ais_diagnosis *diagnosis, long *densities);

#ifdef __cplusplus
}
#endif
#endif
