/* bench ranks: what an exchange between ranks costs, under mpirun. The terms of docs/scale.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "ranks.h"

enum { LARGEST = 1 << 18 }; /* doubles */

typedef struct exchange {
    const char *name;
    size_t doubles;
    void (*run)(const ais_ranks *ranks, double *value, size_t doubles);
} exchange;

static void agree(const ais_ranks *ranks, double *value, size_t doubles) {
    ranks->largest(ranks->data, value, doubles);
}

static void add(const ais_ranks *ranks, double *value, size_t doubles) { ranks->sum(ranks->data, value, doubles); }

static size_t *parts_of(const ais_ranks *ranks, size_t doubles) {
    size_t *part = malloc((size_t)ranks->size * sizeof *part);
    for (int r = 0; part && r < ranks->size; r++) part[r] = doubles / (size_t)ranks->size * sizeof(double);
    return part;
}

static void share(const ais_ranks *ranks, double *value, size_t doubles) {
    size_t *part = parts_of(ranks, doubles);
    if (part) ranks->share(ranks->data, value, part);
    free(part);
}

static void collect(const ais_ranks *ranks, double *value, size_t doubles) {
    size_t *part = parts_of(ranks, doubles);
    if (part) ranks->collect(ranks->data, value, part);
    free(part);
}

static const exchange exchanges[] = {{"largest of 2 numbers", 2, agree},
                                     {"sum of 4,096 (a small map's gradient)", 4096, add},
                                     {"sum of 65,536 (a large one's)", 65536, add},
                                     {"share 2,048 (512 chains in 2D, each its part)", 2048, share},
                                     {"collect 262,144 (draws, to rank 0)", LARGEST, collect}};

json_t *measure_ranks(const bench *set) {
    const ais_ranks *ranks = ranks_all();
    if (!ranks) {
        complain(EXIT_USAGE, "there is only one rank: start this part with mpirun -n 2 aisampler bench ranks");
        return NULL;
    }
    double *value = calloc(LARGEST, sizeof *value);
    json_t *rows = value ? json_array() : NULL;
    for (size_t k = 0; rows && k < sizeof exchanges / sizeof *exchanges; k++) {
        enum { BATCH = 16, REPETITIONS = 40 };
        double best = INFINITY;
        for (int i = 0; i < REPETITIONS; i++) { /* a fixed number: every rank must make the same calls */
            double began = wall_seconds();
            for (int j = 0; j < BATCH; j++) exchanges[k].run(ranks, value, exchanges[k].doubles);
            best = fmin(best, (wall_seconds() - began) / BATCH);
        }
        if (!set->quiet) printf("  %d ranks, %-46s %9.2f us\n", ranks->size, exchanges[k].name, 1e6 * best);
        json_array_append_new(rows, json_pack("{sisssIsf}", "ranks", ranks->size, "exchange", exchanges[k].name,
                                              "doubles", (json_int_t)exchanges[k].doubles, "seconds", best));
    }
    free(value);
    return rows;
}
