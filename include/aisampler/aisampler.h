/* aisampler: draws from densities known up to a constant.
 *
 * The headers in the order in which data flows:
 *     status.h       how functions fail
 *     density.h      a density of your own, in one C file
 *     parameters.h   priors, bounds and constraints
 *     target.h       what to draw from
 *     kernel.h       how to move: learned involutions, random walk, HMC, NUTS
 *     draws.h        draws in memory and in files
 *     ranks.h        several processes that do one job
 *     trainer.h      learning a kernel
 *     anice.h        A-NICE-MC, a baseline
 *     sampler.h      many chains of one kernel on one target
 *     diagnostics.h  how good draws are
 *     verify.h       whether they cover the whole density, as far as it, the kernel and its training show
 *     figure.h       panels, lines, histograms, heat maps, as SVG, PNG or PDF
 *     report.h       a diagnosis as text, JSON, figures and a page
 *     run.h          the whole job in one call: start here
 *     bench.h        how fast this machine does it
 *
 * All of it in twenty lines: examples/01_run.c; step by step: examples/02_kernel.c.
 */
#ifndef AISAMPLER_H
#define AISAMPLER_H

#include "anice.h"
#include "bench.h"
#include "density.h"
#include "diagnostics.h"
#include "draws.h"
#include "figure.h"
#include "kernel.h"
#include "parameters.h"
#include "ranks.h"
#include "report.h"
#include "run.h"
#include "sampler.h"
#include "status.h"
#include "target.h"
#include "trainer.h"
#include "verify.h"

#endif
