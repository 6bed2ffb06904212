/* bench.h: how fast the hot paths are on this machine, as ratios taken in one run on one thread.
 *
 * Speeds are the best of many short repetitions, because other work on the machine only ever slows them down. */
#ifndef AISAMPLER_BENCH_H
#define AISAMPLER_BENCH_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the machine can do, measured before and after the hot paths; the better one. */
typedef struct ais_bench_limits {
    const char *isa;         /* the instruction set in use: "base", "avx2", "avx512" */
    double fma_per_second;   /* float operations of nothing but multiply-adds, two for each */
    double bytes_per_second; /* of memcpy between buffers larger than the caches, read and written */
} ais_bench_limits;

typedef struct ais_bench_entry {
    const char *name;
    const char *unit;    /* what `rate` counts: "proposals", "numbers", ... */
    double rate;         /* units per second */
    const char *peak;    /* "fma" or "copy": what peak_ratio is relative to; NULL: neither applies */
    double peak_ratio;   /* share of that limit; NAN without one */
    double scalar_ratio; /* rate over that of the body for the machine's least instruction set */
} ais_bench_entry;

enum { AIS_BENCH_MOST = 32 };

/* Measures every hot path whose name contains `only` (NULL: all), each for about `seconds` (0: 0.2) per instruction
 * set. entry has room for AIS_BENCH_MOST. No other thread may use the library meanwhile, because the bodies for another
 * instruction set are selected temporarily. */
ais_status ais_bench_hot_paths(ais_context *context, const char *only, double seconds, ais_bench_limits *limits,
                               ais_bench_entry *entry, int *count);

#ifdef __cplusplus
}
#endif
#endif
