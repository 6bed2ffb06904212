#include "draws/netcdf_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netcdf.h>

enum { STORAGE_BYTES = 1 << 20 };

size_t ais_netcdf_share(size_t length, size_t most) {
    size_t chunks = (length + most - 1) / most;
    return chunks ? (length + chunks - 1) / chunks : 1;
}

static int put_text(int group, const char *name, const char *text) {
    return nc_put_att_text(group, NC_GLOBAL, name, strlen(text), text);
}

/* No times of day and no durations: the same run gives the same bytes. */
static int put_attributes(int group, const ais_run_header *header) {
    unsigned long long seed = header->seed;
    int thin = header->thin ? header->thin : 1;
    int code = put_text(group, "inference_library", "aisampler");
    if (!code) code = put_text(group, "inference_library_version", ais_version());
    if (!code) code = put_text(group, "sampler", header->sampler);
    if (!code) code = put_text(group, "target", header->target);
    if (!code) code = nc_put_att_ulonglong(group, NC_GLOBAL, "seed", NC_UINT64, 1, &seed);
    if (!code) code = nc_put_att_int(group, NC_GLOBAL, "tuning_steps", NC_INT, 1, &header->warmup);
    if (!code) code = nc_put_att_int(group, NC_GLOBAL, "thin", NC_INT, 1, &thin);
    if (!code && header->max_depth)
        code = nc_put_att_int(group, NC_GLOBAL, "max_treedepth", NC_INT, 1, &header->max_depth);
    return code;
}

/* The configuration lines in one attribute of the root group. */
static int put_config(int file, const char *const *config) {
    size_t bytes = 1;
    for (const char *const *line = config; line && *line; line++) bytes += strlen(*line) + 1;
    char *text = calloc(1, bytes), *at = text;
    if (!text) return NC_ENOMEM;
    for (const char *const *line = config; line && *line; line++) {
        size_t length = strlen(*line);
        memcpy(at, *line, length);
        at[length] = '\n';
        at += length + 1;
    }
    int code = at > text ? nc_put_att_text(file, NC_GLOBAL, "config", (size_t)(at - text), text) : NC_NOERR;
    free(text);
    return code;
}

/* A dimension with its coordinate variable, whose values come last: a value between two definitions
 * would rewrite all of the file's metadata. */
static int define_axis(int group, const char *name, size_t length, int *dimension) {
    int variable, code = nc_def_dim(group, name, length, dimension);
    return code ? code : nc_def_var(group, name, NC_INT64, 1, dimension, &variable);
}

/* 0 .. length-1 for the coordinates of all dimensions but draw. */
static int fill_axes(int group) {
    int variables, code = nc_inq_nvars(group, &variables);
    for (int v = 0; !code && v < variables; v++) {
        char name[NC_MAX_NAME + 1];
        int rank, dimension;
        size_t length;
        if ((code = nc_inq_varndims(group, v, &rank)) || rank != 1) continue;
        if ((code = nc_inq_varname(group, v, name)) || strcmp(name, "draw") == 0) continue;
        if ((code = nc_inq_vardimid(group, v, &dimension)) || (code = nc_inq_dimlen(group, dimension, &length)))
            continue;
        long long *value = malloc(length * sizeof *value);
        if (!value) return NC_ENOMEM;
        for (size_t i = 0; i < length; i++) value[i] = (long long)i;
        code = nc_put_var_longlong(group, v, value);
        free(value);
    }
    return code;
}

/* Whole chunks are written, once each: a chunk cache would only fill memory as the file grows. One byte is less than
 * any chunk; of 0 bytes netCDF makes its default of 16 MB. Nor is a chunk filled before, which would be done in a
 * buffer that HDF5 loses when the disk is full. */
static int store_in_chunks(int group, int variable, const size_t *length) {
    int code = nc_def_var_chunking(group, variable, NC_CHUNKED, length);
    if (!code) code = nc_def_var_fill(group, variable, NC_NOFILL, NULL);
    return code ? code : nc_set_var_chunk_cache(group, variable, 1, 1, 0);
}

static int define_draw(ais_netcdf_group *group, int block, int *dimension) {
    size_t storage = (size_t)block;
    int code = nc_def_dim(group->id, "draw", NC_UNLIMITED, dimension);
    if (!code) code = nc_def_var(group->id, "draw", NC_INT64, 1, dimension, &group->draw);
    return code ? code : store_in_chunks(group->id, group->draw, &storage);
}

/* A variable (chain, draw, ...). Storage chunks hold `block` draws of as many chains as make about a
 * megabyte. */
static int define_variable(int group, const char *name, nc_type type, int rank, const int *dimension,
                           const size_t *length, int block, int *variable) {
    size_t storage[2 + AIS_MAX_RANK], bytes = 8 * (size_t)block;
    for (int r = rank - 1; r >= 0; r--) {
        size_t most = STORAGE_BYTES / bytes ? STORAGE_BYTES / bytes : 1;
        storage[r] = r == 1 ? (size_t)block : ais_netcdf_share(length[r], most);
        if (r != 1) bytes *= storage[r];
    }
    int code = nc_def_var(group, name, type, rank, dimension, variable);
    return code ? code : store_in_chunks(group, *variable, storage);
}

static int define_parameters(ais_netcdf_group *group, const ais_run_header *header, const ais_columns *columns,
                             int block, int *defined) {
    int dimension[2 + AIS_MAX_RANK];
    size_t length[2 + AIS_MAX_RANK] = {(size_t)header->chains, NC_UNLIMITED};
    int code = define_axis(group->id, "chain", (size_t)header->chains, &dimension[0]);
    if (!code) code = define_draw(group, block, &dimension[1]);
    for (int i = 0; !code && i < columns->variables; i++) {
        const ais_variable *variable = &columns->variable[i];
        for (int r = 0; !code && r < variable->rank; r++) {
            char name[NC_MAX_NAME + 1];
            snprintf(name, sizeof name, "%s_dim_%d", variable->name, r);
            length[2 + r] = (size_t)variable->extent[r];
            code = define_axis(group->id, name, length[2 + r], &dimension[2 + r]);
        }
        if (!code)
            code = define_variable(group->id, variable->name, NC_DOUBLE, 2 + variable->rank, dimension, length, block,
                                   &defined[i]);
    }
    return code;
}

static int define_stats(const ais_run_header *header, ais_netcdf_phase *phase) {
    static const nc_type type[] = {
        [AIS_COLUMN_DOUBLE] = NC_DOUBLE, [AIS_COLUMN_INTEGER] = NC_INT64, [AIS_COLUMN_BOOL] = NC_BYTE};
    int dimension[2], field[AIS_INFO_COUNT], fields = ais_info_fields(header->info, field), group = phase->stats.id;
    size_t length[2] = {(size_t)header->chains, NC_UNLIMITED};
    int code = define_axis(group, "chain", (size_t)header->chains, &dimension[0]);
    if (!code) code = define_draw(&phase->stats, phase->block, &dimension[1]);
    if (!code) code = define_variable(group, "lp", NC_DOUBLE, 2, dimension, length, phase->block, &phase->logp);
    for (int i = 0; !code && i < fields; i++) {
        const ais_info_column *column = &ais_info_columns[field[i]];
        int *variable = &phase->info[field[i]];
        code = define_variable(group, column->netcdf, type[column->type], 2, dimension, length, phase->block, variable);
        /* How xarray marks a bool, which netCDF does not have. */
        if (!code && column->type == AIS_COLUMN_BOOL) code = nc_put_att_text(group, *variable, "dtype", 4, "bool");
    }
    return code;
}

static int define_group(int file, const char *name, const ais_run_header *header, int *group) {
    int code = nc_def_grp(file, name, group);
    return code ? code : put_attributes(*group, header);
}

static int define_phase(int file, const char *const name[AIS_NETCDF_SETS + 1], const ais_run_header *header,
                        ais_columns *const columns[AIS_NETCDF_SETS], ais_netcdf_phase *phase) {
    int code = NC_NOERR;
    for (int s = 0; !code && s < AIS_NETCDF_SETS; s++) {
        if (!columns[s]) continue;
        code = define_group(file, name[s], header, &phase->set[s].id);
        if (!code) code = define_parameters(&phase->set[s], header, columns[s], phase->block, phase->variable[s]);
    }
    if (!code) code = define_group(file, name[AIS_NETCDF_SETS], header, &phase->stats.id);
    return code ? code : define_stats(header, phase);
}

static int fill_phase(ais_columns *const columns[AIS_NETCDF_SETS], const ais_netcdf_phase *phase) {
    int code = fill_axes(phase->stats.id);
    for (int s = 0; !code && s < AIS_NETCDF_SETS; s++)
        if (columns[s]) code = fill_axes(phase->set[s].id);
    return code;
}

int ais_netcdf_define(int file, const ais_run_header *header, ais_columns *const columns[AIS_NETCDF_SETS],
                      ais_netcdf_phase phase[2]) {
    static const char *const name[2][AIS_NETCDF_SETS + 1] = {
        {"posterior", "unconstrained_posterior", "sample_stats"},
        {"warmup_posterior", "warmup_unconstrained_posterior", "warmup_sample_stats"}};
    const char *about = header->about;
    int code = put_attributes(file, header), phases = header->save_warmup ? 2 : 1;
    if (!code && about) code = put_text(file, "priors", about);
    if (!code) code = put_config(file, header->config);
    for (int p = 0; !code && p < phases; p++) code = define_phase(file, name[p], header, columns, &phase[p]);
    if (!code) code = nc_enddef(file);
    for (int p = 0; !code && p < phases; p++) code = fill_phase(columns, &phase[p]);
    return code;
}
