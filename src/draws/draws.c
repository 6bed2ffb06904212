#include <aisampler/draws.h>

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

/* More than the machine's memory would be promised by the system and end in a killed process. */
static double machine_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (double)pages * (double)page : (double)SIZE_MAX;
}

static bool allocate(ais_draws *draws) {
    size_t dim = (size_t)draws->dim, stats = (size_t)draws->stats;
    size_t cells = (size_t)draws->chains * (size_t)draws->draws;
    draws->name = calloc(dim ? dim : 1, sizeof *draws->name);
    draws->stat_name = calloc(stats ? stats : 1, sizeof *draws->stat_name);
    draws->value = calloc(dim * cells + 1, sizeof(double)); /* one more, so that none is no NULL */
    draws->logp = calloc(cells + 1, sizeof(double));
    draws->stat = calloc(stats * cells + 1, sizeof(double));
    if (!draws->name || !draws->stat_name || !draws->value || !draws->logp || !draws->stat) return false;
    for (size_t i = 0; i < dim; i++) {
        char name[32];
        snprintf(name, sizeof name, "x.%zu", i + 1);
        if (!(draws->name[i] = strdup(name))) return false;
    }
    for (size_t i = 0; i < stats; i++)
        if (!(draws->stat_name[i] = strdup(""))) return false;
    return true;
}

ais_status ais_draws_new(ais_context *context, int dim, int chains, int draws, int stats, ais_draws **draws_out) {
    *draws_out = NULL;
    if (dim < 0 || chains < 0 || draws < 0 || stats < 0)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "draws of %d parameters, %d chains, %d draws and %d statistics: none may be negative", dim,
                        chains, draws, stats);
    double bytes = ((double)dim + (double)stats + 1) * chains * draws * sizeof(double);
    if (bytes > machine_bytes())
        return ais_fail(context, AIS_NO_MEMORY,
                        "out of memory: %d chains of %d draws of %.0f columns need %.3g GB and this machine has %.3g; "
                        "thin the draws or write them to files",
                        chains, draws, (double)dim + stats + 1, bytes * 1e-9, machine_bytes() * 1e-9);
    ais_draws *made = calloc(1, sizeof *made);
    if (made) {
        *made = (ais_draws){.dim = dim, .chains = chains, .draws = draws, .stats = stats};
        if (allocate(made)) {
            *draws_out = made;
            return AIS_OK;
        }
        ais_draws_free(made);
    }
    return ais_fail_memory(context, "draws", (size_t)bytes);
}

static void free_names(char **name, int count) {
    for (int i = 0; name && i < count; i++) free(name[i]);
    free(name);
}

void ais_draws_free(ais_draws *draws) {
    if (!draws) return;
    free_names(draws->name, draws->dim);
    free_names(draws->stat_name, draws->stats);
    free(draws->value);
    free(draws->logp);
    free(draws->stat);
    free(draws);
}

const double *ais_draws_column(const ais_draws *draws, const char *name) {
    size_t cells = (size_t)draws->chains * (size_t)draws->draws;
    for (int i = 0; i < draws->dim; i++)
        if (strcmp(draws->name[i], name) == 0) return draws->value + (size_t)i * cells;
    for (int i = 0; i < draws->stats; i++)
        if (strcmp(draws->stat_name[i], name) == 0) return draws->stat + (size_t)i * cells;
    return draws->logp && strcmp(name, "lp__") == 0 ? draws->logp : NULL;
}

const char *ais_name(const ais_names *names, int i, char buffer[32]) {
    if (names->name) return names->name[i];
    snprintf(buffer, 32, "x.%d", i + 1);
    return buffer;
}

void ais_sink_free(ais_sink *sink) {
    if (sink) sink->free(sink);
}
