/* Files are recognised by their first bytes, read one by one and combined chain after chain. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "draws/read.h"
#include "draws/sink.h"

/* Something that cannot be rewound (a pipe) can only be CSV. */
static bool is_netcdf(FILE *file) {
    char magic[4] = "";
    if (fseek(file, 0, SEEK_SET) != 0) return false;
    size_t bytes = fread(magic, 1, 4, file);
    rewind(file);
    return bytes == 4 && (memcmp(magic, "CDF", 3) == 0 ? magic[3] == 1 || magic[3] == 2 || magic[3] == 5
                                                       : memcmp(magic, "\x89HDF", 4) == 0);
}

static ais_status read_file(ais_context *context, const char *path, ais_draws **draws) {
    *draws = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return ais_fail_file(context, "read", path, errno);
    bool netcdf = is_netcdf(file);
    ais_status status = netcdf ? AIS_OK : ais_read_stan_csv(context, path, file, draws);
    fclose(file);
    return netcdf ? ais_read_netcdf(context, path, draws) : status;
}

/* ---- putting files together ---------------------------------------------------------------------- */

static ais_status same_names(ais_context *context, const char *path, const char *first_path, const char *kind,
                             char *const *name, int count, char *const *first_name, int first_count) {
    for (int i = 0; i < count && i < first_count; i++)
        if (strcmp(name[i], first_name[i]) != 0)
            return ais_fail(context, AIS_BAD_FORMAT, "%s %d is '%s' in %s, but '%s' in %s: not the same run", kind,
                            i + 1, name[i], path, first_name[i], first_path);
    if (count != first_count)
        return ais_fail(context, AIS_BAD_FORMAT, "%s has %d %ss and %s has %d: not the same run", path, count, kind,
                        first_path, first_count);
    return AIS_OK;
}

static ais_status check_alike(ais_context *context, const char *path, const ais_draws *draws, const char *first_path,
                              const ais_draws *first) {
    ais_status status =
        same_names(context, path, first_path, "parameter", draws->name, draws->dim, first->name, first->dim);
    if (status == AIS_OK)
        status = same_names(context, path, first_path, "statistic", draws->stat_name, draws->stats, first->stat_name,
                            first->stats);
    if (status != AIS_OK) return status;
    if (!draws->logp != !first->logp)
        return ais_fail(context, AIS_BAD_FORMAT, "%s has a log density (lp__) and %s has none: not the same run",
                        draws->logp ? path : first_path, draws->logp ? first_path : path);
    if (draws->draws != first->draws)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s has %d draws and %s has %d: chains must be equally long (is the run still under way?)",
                        path, draws->draws, first_path, first->draws);
    return AIS_OK;
}

static void take_name(char **to, char **from) {
    char *name = *to;
    *to = *from;
    *from = name;
}

/* Column by column: chains of a part stand together, after those of the parts before it. */
static void copy_chains(double *to, const double *from, int columns, int chains, int first, int part_chains,
                        int draws) {
    size_t length = (size_t)draws, bytes = (size_t)part_chains * length * sizeof(double);
    for (size_t i = 0; i < (size_t)columns; i++)
        memcpy(to + (i * (size_t)chains + (size_t)first) * length, from + i * (size_t)part_chains * length, bytes);
}

static ais_status merge(ais_context *context, ais_draws **part, int count, ais_draws **draws_out) {
    long long chains = 0;
    for (int k = 0; k < count; k++) chains += part[k]->chains;
    if (chains > INT_MAX) return ais_fail(context, AIS_BAD_FORMAT, "%lld chains are too many", chains);
    ais_draws *draws;
    ais_status status = ais_draws_new(context, part[0]->dim, (int)chains, part[0]->draws, part[0]->stats, &draws);
    if (status != AIS_OK) return status;
    memcpy(draws->sampler, part[0]->sampler, sizeof draws->sampler);
    draws->max_depth = part[0]->max_depth;
    for (int k = 0, first = 0; k < count; first += part[k++]->chains) {
        const ais_draws *from = part[k];
        copy_chains(draws->value, from->value, draws->dim, draws->chains, first, from->chains, draws->draws);
        copy_chains(draws->stat, from->stat, draws->stats, draws->chains, first, from->chains, draws->draws);
        if (from->logp) copy_chains(draws->logp, from->logp, 1, draws->chains, first, from->chains, draws->draws);
    }
    if (!part[0]->logp) {
        free(draws->logp);
        draws->logp = NULL;
    }
    for (int i = 0; i < draws->dim; i++) take_name(&draws->name[i], &part[0]->name[i]);
    for (int i = 0; i < draws->stats; i++) take_name(&draws->stat_name[i], &part[0]->stat_name[i]);
    *draws_out = draws;
    return AIS_OK;
}

ais_status ais_draws_read(ais_context *context, const char *const *paths, int count, ais_draws **draws) {
    *draws = NULL;
    if (count < 1) return ais_fail(context, AIS_BAD_ARGUMENT, "no files to read draws from");
    ais_draws **part = calloc((size_t)count, sizeof(ais_draws *));
    if (!part) return ais_fail_memory(context, "a list of files", (size_t)count * sizeof(ais_draws *));
    ais_status status = AIS_OK;
    for (int k = 0; status == AIS_OK && k < count; k++) {
        status = read_file(context, paths[k], &part[k]);
        if (status == AIS_OK && k) status = check_alike(context, paths[k], part[k], paths[0], part[0]);
    }
    if (status == AIS_OK && count == 1) {
        *draws = part[0];
        part[0] = NULL;
    } else if (status == AIS_OK) {
        status = merge(context, part, count, draws);
    }
    for (int k = 0; k < count; k++) ais_draws_free(part[k]);
    free(part);
    return status;
}
