/* The measuring core: time per call, and the machine's limits. */
#ifndef AIS_BENCH_MEASURE_H
#define AIS_BENCH_MEASURE_H

#include <aisampler/bench.h>

#include "simd/isa.h"

/* The least time of a call of run(data), over repetitions of about a millisecond within `seconds`. */
double ais_best_time(void (*run)(void *data), void *data, double seconds);

/* The limits, with the instruction set in use; each for `seconds`. */
ais_status ais_bench_measure_limits(ais_context *context, double seconds, ais_bench_limits *limits);

/* `rounds` times 10 independent vector multiply-adds; returns something made of them. Float operations of a round:
 * ais_fma_burst_work. */
AIS_DECLARE_LANES(float, ais_fma_burst, long rounds);
AIS_DECLARE_LANES(double, ais_fma_burst_work, void);

#endif
