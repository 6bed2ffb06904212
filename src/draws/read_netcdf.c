/* ArviZ's InferenceData, from any writer: group posterior with variables (chain, draw, ...), the
 * dimensions in any order, and group sample_stats if there is one. An array becomes columns
 * name.1.1, name.2.1, ..., the first index running fastest, as in Stan's files. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <netcdf.h>

#include "base/apart.h"
#include "draws/columns.h"
#include "draws/netcdf_file.h"
#include "draws/read.h"

enum { MOST_DIMENSIONS = 2 + 2 * AIS_MAX_RANK };

/* The strongest compression of HDF5 (deflate) makes 1 byte of 1032; more is a damaged size. */
static const double most_compression = 1100;

/* Processor time that reading may take, far beyond what it does: seconds, and bytes per second. HDF5 goes round in
 * circles in some damaged files (an object of size 0 in a global heap), and would for ever. */
static const double slowest_start = 1, slowest_bytes = 1e7;

/* Memory that it may take, in bytes: a start, and twice the numbers that are read, as doubles. */
static const double largest_start = 1 << 30, largest_share = 2 * sizeof(double) * 1100;

typedef struct netcdf_array {
    int group, id;
    char name[NC_MAX_NAME + 1];
    int rank;
    size_t length[MOST_DIMENSIONS], stride[MOST_DIMENSIONS];
    int chain, draw;  /* axes */
    size_t cells;     /* product of all lengths */
    size_t columns;   /* product of the lengths besides chain and draw */
    bool small_enums; /* HDF5's bool: an enumeration of bytes, which netCDF does not convert */
} netcdf_array;

typedef struct netcdf_reader {
    const char *path;
    int file;
    double bytes;
    size_t chains, draws;
    int parameters, stats;
    netcdf_array *parameter, *stat;
    netcdf_array logp;
    bool has_logp;
} netcdf_reader;

static ais_status fail(ais_context *context, const netcdf_reader *reader, int code) {
    return ais_fail_netcdf(context, "read", reader->path, code);
}

/* ---- what is there -------------------------------------------------------------------------------- */

static bool is_number(int group, nc_type type, bool *small_enums) {
    *small_enums = false;
    if (type >= NC_BYTE && type <= NC_UINT64) return type != NC_CHAR;
    char name[NC_MAX_NAME + 1];
    size_t bytes, fields;
    nc_type base;
    int class;
    if (type < NC_FIRSTUSERTYPEID || nc_inq_user_type(group, type, name, &bytes, &base, &fields, &class)) return false;
    *small_enums = class == NC_ENUM && bytes == 1;
    return *small_enums;
}

static int inquire_axes(netcdf_array *array) {
    int dimension[NC_MAX_VAR_DIMS];
    int code = nc_inq_vardimid(array->group, array->id, dimension);
    array->chain = array->draw = -1;
    for (int r = 0; !code && r < array->rank; r++) {
        char name[NC_MAX_NAME + 1];
        code = nc_inq_dim(array->group, dimension[r], name, &array->length[r]);
        if (code) break;
        if (strcmp(name, "chain") == 0) array->chain = r;
        if (strcmp(name, "draw") == 0) array->draw = r;
    }
    return code;
}

/* Fills in an array; *good tells whether it is one of numbers over chains and draws. */
static int inquire(int group, int id, netcdf_array *array, bool *good) {
    nc_type type;
    int rank;
    *good = false;
    memset(array, 0, sizeof *array);
    int code = nc_inq_var(group, id, array->name, &type, &rank, NULL, NULL);
    if (code || rank < 2 || rank > MOST_DIMENSIONS || !is_number(group, type, &array->small_enums)) return code;
    array->group = group;
    array->id = id;
    array->rank = rank;
    code = inquire_axes(array);
    if (code || array->chain < 0 || array->draw < 0) return code;
    array->cells = array->columns = 1;
    for (int r = rank - 1; r >= 0; r--) {
        array->stride[r] = array->cells;
        if (__builtin_mul_overflow(array->cells, array->length[r], &array->cells)) array->cells = (size_t)-1;
        if (r != array->chain && r != array->draw &&
            __builtin_mul_overflow(array->columns, array->length[r], &array->columns))
            array->columns = (size_t)-1;
    }
    *good = true;
    return NC_NOERR;
}

static ais_status list_arrays(ais_context *context, const netcdf_reader *reader, int group, netcdf_array **list,
                              int *count) {
    int variables, code = nc_inq_nvars(group, &variables);
    if (code) return fail(context, reader, code);
    *list = calloc((size_t)variables + 1, sizeof **list);
    if (!*list) return ais_fail_memory(context, "the variables of a file", (size_t)variables * sizeof **list);
    for (int v = 0; v < variables; v++) {
        bool good;
        if ((code = inquire(group, v, &(*list)[*count], &good))) return fail(context, reader, code);
        *count += good;
    }
    return AIS_OK;
}

static ais_status fail_no_posterior(ais_context *context, const netcdf_reader *reader) {
    char list[400] = "";
    int groups = 0, group[32];
    if (nc_inq_grps(reader->file, &groups, NULL) == NC_NOERR && groups > 0 && groups <= 32 &&
        nc_inq_grps(reader->file, &groups, group) == NC_NOERR)
        for (int i = 0; i < groups; i++) {
            char name[NC_MAX_NAME + 1];
            size_t used = strlen(list);
            if (nc_inq_grpname(group[i], name) == NC_NOERR)
                snprintf(list + used, sizeof list - used, "%s%.60s", used ? ", " : "; it has ", name);
        }
    return ais_fail(context, AIS_BAD_FORMAT, "%s has no group 'posterior': not ArviZ InferenceData with draws%s",
                    reader->path, list);
}

static ais_status find_parameters(ais_context *context, netcdf_reader *reader) {
    int group, format = 0, code = nc_inq_format(reader->file, &format);
    /* The classic formats have no groups; netCDF then hands out the root under any name. */
    if (!code) code = format == NC_FORMAT_NETCDF4 ? nc_inq_grp_ncid(reader->file, "posterior", &group) : NC_ENOGRP;
    if (code == NC_ENOGRP) return fail_no_posterior(context, reader);
    if (code) return fail(context, reader, code);
    ais_status status = list_arrays(context, reader, group, &reader->parameter, &reader->parameters);
    if (status != AIS_OK) return status;
    if (!reader->parameters)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s: group 'posterior' has no variable of numbers with dimensions chain and draw",
                        reader->path);
    reader->chains = reader->parameter->length[reader->parameter->chain];
    reader->draws = reader->parameter->length[reader->parameter->draw];
    double columns = 0;
    for (int i = 0; i < reader->parameters; i++) columns += (double)reader->parameter[i].columns;
    if (!reader->chains || !reader->draws || !(columns > 0))
        return ais_fail(context, AIS_BAD_FORMAT, "%s has no draws: %zu chains of %zu draws of %.0f parameters",
                        reader->path, reader->chains, reader->draws, columns);
    if (reader->chains > INT_MAX || reader->draws > INT_MAX || columns > INT_MAX ||
        columns * (double)reader->chains * (double)reader->draws > most_compression * reader->bytes)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s claims %zu chains of %zu draws of %.0f parameters in %.0f bytes: the file is damaged",
                        reader->path, reader->chains, reader->draws, columns, reader->bytes);
    return AIS_OK;
}

/* Statistics are one number a draw; arrays (a gradient, say) are left out. */
static ais_status find_stats(ais_context *context, netcdf_reader *reader) {
    int group, found = 0, code = nc_inq_grp_ncid(reader->file, "sample_stats", &group);
    if (code == NC_ENOGRP) return AIS_OK;
    if (code) return fail(context, reader, code);
    ais_status status = list_arrays(context, reader, group, &reader->stat, &found);
    for (int i = 0; status == AIS_OK && i < found; i++) {
        const netcdf_array *stat = &reader->stat[i];
        if (stat->rank != 2 || stat->length[stat->chain] != reader->chains || stat->length[stat->draw] != reader->draws)
            continue;
        if (!reader->has_logp && (strcmp(stat->name, "lp") == 0 || strcmp(stat->name, "logp") == 0)) {
            reader->logp = *stat;
            reader->has_logp = true;
        } else {
            reader->stat[reader->stats++] = *stat;
        }
    }
    return status;
}

/* ---- numbers --------------------------------------------------------------------------------------- */

static int get_numbers(const netcdf_array *array, double *value) {
    if (!array->small_enums) return nc_get_var_double(array->group, array->id, value);
    signed char *byte = malloc(array->cells);
    if (!byte) return NC_ENOMEM;
    int code = nc_get_var(array->group, array->id, byte);
    for (size_t i = 0; !code && i < array->cells; i++) value[i] = byte[i];
    free(byte);
    return code;
}

/* Packed numbers (the CF convention, which xarray can write). */
static void unpack(const netcdf_array *array, double *value) {
    double scale = 1, offset = 0;
    if (nc_get_att_double(array->group, array->id, "scale_factor", &scale)) scale = 1;
    if (nc_get_att_double(array->group, array->id, "add_offset", &offset)) offset = 0;
    if (scale == 1 && offset == 0) return;
    for (size_t i = 0; i < array->cells; i++) value[i] = value[i] * scale + offset;
}

/* Column k of the array, counted with the first index running fastest: where it begins, and its
 * index as text. */
static size_t locate(const netcdf_array *array, size_t k, char *index, size_t bytes) {
    size_t offset = 0, used = 0;
    index[0] = 0;
    for (int r = 0; r < array->rank; r++) {
        if (r == array->chain || r == array->draw) continue;
        size_t i = k % array->length[r];
        k /= array->length[r];
        offset += i * array->stride[r];
        used += (size_t)snprintf(index + used, bytes - used, ".%zu", i + 1);
    }
    return offset;
}

/* All columns of an array into chains x draws each, with their names if asked for. */
static ais_status read_array(ais_context *context, const netcdf_reader *reader, const netcdf_array *array, double *to,
                             char **name) {
    if (array->length[array->chain] != reader->chains || array->length[array->draw] != reader->draws)
        return ais_fail(context, AIS_BAD_FORMAT, "%s: variable '%s' has %zu chains of %zu draws, others %zu of %zu",
                        reader->path, array->name, array->length[array->chain], array->length[array->draw],
                        reader->chains, reader->draws);
    double *value = calloc(array->cells ? array->cells : 1, sizeof(double));
    if (!value) return ais_fail_memory(context, "a variable of a file", array->cells * sizeof(double));
    errno = 0;
    int code = array->cells ? get_numbers(array, value) : NC_NOERR;
    ais_status status = code ? fail(context, reader, code) : AIS_OK;
    if (status == AIS_OK) unpack(array, value);
    for (size_t k = 0; status == AIS_OK && k < array->columns; k++) {
        char index[MOST_DIMENSIONS * 12], full[NC_MAX_NAME + sizeof index];
        const double *from = value + locate(array, k, index, sizeof index);
        for (size_t c = 0; c < reader->chains; c++)
            for (size_t t = 0; t < reader->draws; t++)
                *to++ = from[c * array->stride[array->chain] + t * array->stride[array->draw]];
        if (!name) continue;
        snprintf(full, sizeof full, "%s%s", array->name, index);
        free(name[k]);
        if (!(name[k] = strdup(full))) status = ais_fail_memory(context, "a name", strlen(full));
    }
    free(value);
    return status;
}

/* Stan's name of a statistic: the one of ais_info_name, else the same with __. */
static char *stat_name(const char *netcdf) {
    for (int i = 0; i < AIS_INFO_COUNT; i++)
        if (strcmp(netcdf, ais_info_columns[i].netcdf) == 0) return strdup(ais_info_name[i]);
    char name[NC_MAX_NAME + 3];
    size_t length = strlen(netcdf);
    bool marked = length > 2 && strcmp(netcdf + length - 2, "__") == 0;
    snprintf(name, sizeof name, "%s%s", netcdf, marked ? "" : "__");
    return strdup(name);
}

/* Attributes that are absent, or of another kind, are none; one that cannot be read is an error. */
static bool is_none(int code) {
    return code == NC_ENOTATT || code == NC_ECHAR || code == NC_ERANGE || code == NC_EBADTYPE;
}

/* Who made the draws: attributes that our files have and others' may have. An error of netCDF. */
static int read_maker(const netcdf_reader *reader, ais_draws *draws) {
    size_t length = 0, depths = 0;
    int code = nc_inq_attlen(reader->file, NC_GLOBAL, "sampler", &length);
    if (!code && length < sizeof draws->sampler)
        code = nc_get_att_text(reader->file, NC_GLOBAL, "sampler", draws->sampler);
    if (code) draws->sampler[0] = 0;
    if (code && !is_none(code)) return code;
    code = nc_inq_attlen(reader->file, NC_GLOBAL, "max_treedepth", &depths);
    if (!code && depths == 1) code = nc_get_att_int(reader->file, NC_GLOBAL, "max_treedepth", &draws->max_depth);
    if (code) draws->max_depth = 0;
    return is_none(code) ? NC_NOERR : code;
}

static ais_status read_numbers(ais_context *context, const netcdf_reader *reader, ais_draws *draws) {
    size_t cells = reader->chains * reader->draws, column = 0;
    ais_status status = AIS_OK;
    for (int i = 0; status == AIS_OK && i < reader->parameters; i++) {
        const netcdf_array *parameter = &reader->parameter[i];
        status = read_array(context, reader, parameter, draws->value + column * cells, draws->name + column);
        column += parameter->columns;
    }
    for (int i = 0; status == AIS_OK && i < reader->stats; i++) {
        status = read_array(context, reader, &reader->stat[i], draws->stat + (size_t)i * cells, NULL);
        free(draws->stat_name[i]);
        draws->stat_name[i] = stat_name(reader->stat[i].name);
        if (!draws->stat_name[i]) return ais_fail_memory(context, "a name", 1);
    }
    if (status == AIS_OK && reader->has_logp) return read_array(context, reader, &reader->logp, draws->logp, NULL);
    free(draws->logp);
    draws->logp = NULL;
    return status;
}

static ais_status read_open_file(ais_context *context, netcdf_reader *reader, ais_draws **draws_out) {
    ais_status status = find_parameters(context, reader);
    if (status == AIS_OK) status = find_stats(context, reader);
    if (status != AIS_OK) return status;
    size_t dim = 0;
    for (int i = 0; i < reader->parameters; i++) dim += reader->parameter[i].columns;
    ais_draws *draws;
    status = ais_draws_new(context, (int)dim, (int)reader->chains, (int)reader->draws, reader->stats, &draws);
    if (status != AIS_OK) return status;
    int code = read_maker(reader, draws);
    status = code ? fail(context, reader, code) : read_numbers(context, reader, draws);
    if (status == AIS_OK)
        *draws_out = draws;
    else
        ais_draws_free(draws);
    return status;
}

/* ---- from one process to the other ------------------------------------------------------------------- */

/* What the other process does, and what this one gets. */
typedef struct netcdf_passage {
    netcdf_reader reader;
    ais_draws *draws;
} netcdf_passage;

/* Sizes come first. */
typedef struct netcdf_head {
    int dim, chains, draws, stats, max_depth;
    bool has_logp;
    char sampler[sizeof((ais_draws *)0)->sampler];
} netcdf_head;

static ais_status read_path(ais_context *context, void *data) {
    netcdf_passage *passage = data;
    netcdf_reader *reader = &passage->reader;
    errno = 0;
    int code = nc_open(reader->path, NC_NOWRITE, &reader->file);
    if ((code == NC_EHDFERR || code == NC_ENOTNC) && errno != ENOMEM)
        return ais_fail(context, AIS_BAD_FORMAT, "cannot read %s: %s (was the file cut short or damaged?)",
                        reader->path, nc_strerror(code));
    if (code) return fail(context, reader, code);
    return read_open_file(context, reader, &passage->draws); /* it is closed with the process */
}

static bool give_names(int descriptor, char *const *name, int count) {
    for (int i = 0; i < count; i++) {
        size_t length = strlen(name[i]);
        if (!ais_apart_write(descriptor, &length, sizeof length) || !ais_apart_write(descriptor, name[i], length))
            return false;
    }
    return true;
}

static bool give(void *data, int descriptor) {
    const ais_draws *draws = ((netcdf_passage *)data)->draws;
    size_t cells = (size_t)draws->chains * (size_t)draws->draws * sizeof(double);
    netcdf_head head = {.dim = draws->dim,
                        .chains = draws->chains,
                        .draws = draws->draws,
                        .stats = draws->stats,
                        .max_depth = draws->max_depth,
                        .has_logp = draws->logp != NULL};
    memcpy(head.sampler, draws->sampler, sizeof head.sampler);
    return ais_apart_write(descriptor, &head, sizeof head) && give_names(descriptor, draws->name, draws->dim) &&
           give_names(descriptor, draws->stat_name, draws->stats) &&
           ais_apart_write(descriptor, draws->value, (size_t)draws->dim * cells) &&
           ais_apart_write(descriptor, draws->stat, (size_t)draws->stats * cells) &&
           (!draws->logp || ais_apart_write(descriptor, draws->logp, cells));
}

static ais_status take_names(ais_context *context, int descriptor, char **name, int count) {
    for (int i = 0; i < count; i++) {
        size_t length;
        char text[2 * NC_MAX_NAME];
        if (!ais_apart_read(descriptor, &length, sizeof length) || length >= sizeof text ||
            !ais_apart_read(descriptor, text, length))
            return AIS_FILE_ERROR;
        text[length] = 0;
        free(name[i]);
        if (!(name[i] = strdup(text))) return ais_fail_memory(context, "a name", length);
    }
    return AIS_OK;
}

static bool take_numbers(int descriptor, ais_draws *draws, bool has_logp) {
    size_t cells = (size_t)draws->chains * (size_t)draws->draws * sizeof(double);
    if (!has_logp) {
        free(draws->logp);
        draws->logp = NULL;
    }
    return ais_apart_read(descriptor, draws->value, (size_t)draws->dim * cells) &&
           ais_apart_read(descriptor, draws->stat, (size_t)draws->stats * cells) &&
           (!has_logp || ais_apart_read(descriptor, draws->logp, cells));
}

static ais_status take(ais_context *context, void *data, int descriptor) {
    netcdf_passage *passage = data;
    netcdf_head head;
    ais_draws *draws = NULL;
    ais_fail(context, AIS_FILE_ERROR, "cannot read %s: the process that read it was killed", passage->reader.path);
    if (!ais_apart_read(descriptor, &head, sizeof head)) return AIS_FILE_ERROR;
    ais_status status = ais_draws_new(context, head.dim, head.chains, head.draws, head.stats, &draws);
    if (status != AIS_OK) return status;
    draws->max_depth = head.max_depth;
    memcpy(draws->sampler, head.sampler, sizeof head.sampler);
    status = take_names(context, descriptor, draws->name, draws->dim);
    if (status == AIS_OK) status = take_names(context, descriptor, draws->stat_name, draws->stats);
    if (status == AIS_OK && !take_numbers(descriptor, draws, head.has_logp)) status = AIS_FILE_ERROR;
    if (status == AIS_OK)
        passage->draws = draws;
    else
        ais_draws_free(draws);
    return status;
}

ais_status ais_read_netcdf(ais_context *context, const char *path, ais_draws **draws) {
    netcdf_passage passage = {.reader = {.path = path}};
    struct stat file;
    char doing[300];
    if (stat(path, &file) == 0) passage.reader.bytes = (double)file.st_size;
    snprintf(doing, sizeof doing, "read %.280s", path);
    const ais_apart_job job = {.doing = doing,
                               .death = "the file is damaged (the HDF5 library fails on it), or memory is used up",
                               .blame = AIS_BAD_FORMAT,
                               .seconds = slowest_start + passage.reader.bytes / slowest_bytes,
                               .bytes = largest_start + largest_share * passage.reader.bytes,
                               .work = read_path,
                               .give = give,
                               .take = take,
                               .data = &passage};
    ais_status status = ais_apart(context, &job);
    *draws = passage.draws;
    return status;
}
