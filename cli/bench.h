/* What the parts of `aisampler bench` share (bench.c, bench_parts.c). */
#ifndef AIS_CLI_BENCH_H
#define AIS_CLI_BENCH_H

#include "cli.h"

typedef struct bench {
    const char *target, *kernel_file; /* of the parts that take one; NULL: the part's own */
    double seconds;                   /* of one measurement */
    bool quiet;                       /* no table */
} bench;

/* A part measures, prints its table unless quiet, and returns what it found; NULL after a complaint. */
typedef struct bench_part {
    const char *name, *summary;
    bool asked_for; /* takes long: only when it is named */
    json_t *(*measure)(const bench *set);
} bench_part;
extern const bench_part bench_parts[]; /* ends with a NULL name */
json_t *measure_ranks(const bench *set);

/* Chain-steps a second of a kernel: the best of several short runs, since other work on the machine only slows. 0 after
 * a complaint. */
double steps_per_second(const bench *set, const ais_target *target, const ais_kernel *kernel, int chains, int threads);

#endif
