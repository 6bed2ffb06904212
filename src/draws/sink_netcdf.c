/* Draws are gathered into blocks that match the storage chunks of the file, so that the bytes do not
 * depend on the sizes in which the sampler hands them over, and each chunk is written once. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netcdf.h>

#include "draws/netcdf_file.h"
#include "draws/netcdf_layout.h"
#include "draws/netcdf_verdict.h"
#include "draws/sink.h"

enum { BUFFER_BYTES = 4 << 20, MOST_BLOCK = 1 << 14, FIRST_BYTES = 1 << 14 };

typedef struct netcdf_sink {
    ais_sink sink;
    char *directory, *path, *part;
    const ais_run_header *header;
    ais_columns *columns[AIS_NETCDF_SETS]; /* of x: NULL without a view */
    ais_rows rows;
    int file;    /* -1: closed */
    bool failed; /* a write to the file went wrong */
    int fields, field[AIS_INFO_COUNT];
    ais_netcdf_phase phase[2];
    int current; /* the phase of what is gathered */
    int gathered;
    int flushed[2];
    double *value[AIS_NETCDF_SETS]; /* for each variable: chains x block x count */
    double *stat;                   /* lp, then the fields: each chains x block */
    long long *index;
} netcdf_sink;

static ais_status fail(ais_context *context, netcdf_sink *sink, int code) {
    sink->failed = true;
    return ais_fail_netcdf(context, "write", sink->part, code);
}

/* ---- blocks ------------------------------------------------------------------------------------- */

/* Draws of one block: what fits the buffer. */
static int block_of(int planned, size_t row_bytes) {
    size_t most = BUFFER_BYTES / row_bytes;
    return (int)ais_netcdf_share((size_t)planned, most < 1 ? 1 : most > MOST_BLOCK ? MOST_BLOCK : most);
}

/* chains x block x count -> chains x rows x count in place, for a last block that is not full. */
static void pack(size_t chains, size_t block, size_t rows, size_t count, double *value) {
    for (size_t c = 1; rows < block && c < chains; c++)
        memmove(value + c * rows * count, value + c * block * count, rows * count * sizeof(double));
}

/* Integers: what a double cannot tell (never from our kernels) becomes the smallest one. */
static int put_integers(int group, int variable, const size_t *start, const size_t *count, const double *value) {
    size_t cells = count[0] * count[1];
    long long *integer = malloc(cells * sizeof *integer);
    if (!integer) return NC_ENOMEM;
    for (size_t i = 0; i < cells; i++) integer[i] = fabs(value[i]) < 0x1p62 ? llrint(value[i]) : (long long)INT64_MIN;
    int code = nc_put_vara_longlong(group, variable, start, count, integer);
    free(integer);
    return code;
}

static int put_bools(int group, int variable, const size_t *start, const size_t *count, const double *value) {
    size_t cells = count[0] * count[1];
    signed char *truth = malloc(cells);
    if (!truth) return NC_ENOMEM;
    for (size_t i = 0; i < cells; i++) truth[i] = value[i] != 0;
    int code = nc_put_vara_schar(group, variable, start, count, truth);
    free(truth);
    return code;
}

static int put_column(int group, int variable, ais_column_type type, const size_t *start, const size_t *count,
                      const double *value) {
    if (type == AIS_COLUMN_INTEGER) return put_integers(group, variable, start, count, value);
    if (type == AIS_COLUMN_BOOL) return put_bools(group, variable, start, count, value);
    return nc_put_vara_double(group, variable, start, count, value);
}

/* The numbers of the draws gathered, from `first` on. */
static int put_index(netcdf_sink *sink, const ais_netcdf_group *group, size_t first) {
    size_t rows = (size_t)sink->gathered;
    for (size_t t = 0; t < rows; t++) sink->index[t] = (long long)first + (long long)t;
    return nc_put_vara_longlong(group->id, group->draw, &first, &rows, sink->index);
}

static int put_block(netcdf_sink *sink) {
    const ais_netcdf_phase *phase = &sink->phase[sink->current];
    size_t chains = (size_t)sink->header->chains, block = (size_t)phase->block, rows = (size_t)sink->gathered;
    size_t start[2 + AIS_MAX_RANK] = {0, (size_t)sink->flushed[sink->current]};
    size_t count[2 + AIS_MAX_RANK] = {chains, rows};
    int code = put_index(sink, &phase->stats, start[1]);
    for (int s = 0; !code && s < AIS_NETCDF_SETS; s++) {
        if (!sink->columns[s]) continue;
        code = put_index(sink, &phase->set[s], start[1]);
        for (int i = 0; !code && i < sink->columns[s]->variables; i++) {
            const ais_variable *variable = &sink->columns[s]->variable[i];
            double *value = sink->value[s] + chains * block * (size_t)variable->first;
            for (int r = 0; r < variable->rank; r++) count[2 + r] = (size_t)variable->extent[r];
            pack(chains, block, rows, (size_t)variable->count, value);
            code = nc_put_vara_double(phase->set[s].id, phase->variable[s][i], start, count, value);
        }
    }
    for (int i = -1; !code && i < sink->fields; i++) {
        int variable = i < 0 ? phase->logp : phase->info[sink->field[i]];
        ais_column_type type = i < 0 ? AIS_COLUMN_DOUBLE : ais_info_columns[sink->field[i]].type;
        double *value = sink->stat + (size_t)(i + 1) * chains * block;
        pack(chains, block, rows, 1, value);
        code = put_column(phase->stats.id, variable, type, start, count, value);
    }
    return code;
}

static ais_status flush(ais_context *context, netcdf_sink *sink) {
    if (!sink->gathered) return AIS_OK;
    ais_netcdf_lock();
    errno = 0;
    int code = put_block(sink);
    /* What a crash leaves in NAME.part is then readable, and a full disk is noticed now. */
    if (!code) code = nc_sync(sink->file);
    ais_status status = code ? fail(context, sink, code) : AIS_OK;
    ais_netcdf_unlock();
    if (status != AIS_OK) return status;
    sink->flushed[sink->current] += sink->gathered;
    sink->gathered = 0;
    return AIS_OK;
}

/* `count` points of a chain from x on, to places `to` and on of every variable; room: chains x block. */
static void gather_set(const ais_columns *columns, const double *x, size_t count, size_t room, size_t to,
                       double *gathered) {
    size_t dim = (size_t)columns->dim;
    for (int i = 0; i < columns->variables; i++) {
        const ais_variable *variable = &columns->variable[i];
        size_t column = (size_t)variable->first, width = (size_t)variable->count;
        const int *place = columns->place + column;
        double *value = gathered + room * column + to * width;
        for (size_t t = 0; t < count; t++, value += width)
            for (size_t k = 0; k < width; k++) value[place[k]] = x[t * dim + column + k];
    }
}

/* Draws first to first + rows of the chunk, chain by chain. */
static void gather(netcdf_sink *sink, const ais_chunk *chunk, int first, int rows) {
    size_t chains = (size_t)sink->header->chains, block = (size_t)sink->phase[sink->current].block;
    size_t count = (size_t)rows;
    const double *const x[AIS_NETCDF_SETS] = {chunk->value, chunk->x};
    for (size_t c = 0; c < chains; c++) {
        size_t from = c * (size_t)chunk->count + (size_t)first, to = c * block + (size_t)sink->gathered;
        for (int s = 0; s < AIS_NETCDF_SETS; s++)
            if (sink->columns[s])
                gather_set(sink->columns[s], x[s] + from * (size_t)sink->columns[s]->dim, count, chains * block, to,
                           sink->value[s]);
        memcpy(sink->stat + to, chunk->value_logp + from, count * sizeof(double));
        for (int i = 0; i < sink->fields; i++) {
            double *stat = sink->stat + (size_t)(i + 1) * chains * block + to;
            for (size_t t = 0; t < count; t++) stat[t] = ais_info_value(&chunk->info[from + t], sink->field[i]);
        }
    }
    sink->gathered += rows;
}

/* ---- the sink ----------------------------------------------------------------------------------- */

/* Returns the system's reason when closing fails. */
static int try_closing(void *data) {
    const netcdf_sink *sink = data;
    errno = 0;
    int code = nc_close(sink->file);
    return !code ? 0 : errno > 0 && errno < 256 ? errno : EIO;
}

/* Closes a file that could not be written: what HDF5 still has for it goes nowhere. The block that failed goes first,
 * for room that was taken and never written would have to be made by a truncation, and nowhere cannot be truncated. If
 * closing fails even so, HDF5 goes on thinking that it has this file, known by its inode, open; the descriptor is then
 * kept, so that no other file gets the inode. */
static void give_up(netcdf_sink *sink) {
    ais_netcdf_detach(sink->part);
    if (sink->gathered) (void)put_block(sink);
    int keep = open(sink->part, O_RDONLY | O_CLOEXEC);
    if (nc_close(sink->file) == NC_NOERR && keep >= 0) close(keep);
}

/* Closing may write, and netCDF does not survive it when that fails. So another process closes the
 * file first, writing the same bytes to the same places. */
static ais_status close_file(ais_context *context, netcdf_sink *sink) {
    if (sink->file < 0) return AIS_OK;
    ais_status status = AIS_OK;
    ais_netcdf_lock();
    int error = sink->failed ? 0 : ais_netcdf_attempt(try_closing, sink, 600, 0), code = NC_NOERR;
    if (error > 0) status = ais_fail_file(context, "write", sink->part, error);
    if (error < 0)
        status =
            ais_fail(context, AIS_FILE_ERROR, "cannot write %s: closing it failed (is the disk full?)", sink->part);
    errno = 0;
    if (error || sink->failed)
        give_up(sink);
    else
        code = nc_close(sink->file);
    if (code) status = fail(context, sink, code);
    ais_netcdf_unlock();
    sink->file = -1;
    return status;
}

static void release(netcdf_sink *sink) {
    for (int s = 0; s < AIS_NETCDF_SETS; s++) {
        ais_columns_free(sink->columns[s]);
        sink->columns[s] = NULL;
        free(sink->value[s]);
        sink->value[s] = NULL;
        for (int p = 0; p < 2; p++) {
            free(sink->phase[p].variable[s]);
            sink->phase[p].variable[s] = NULL;
        }
    }
    free(sink->stat);
    free(sink->index);
    sink->stat = NULL;
    sink->index = NULL;
}

static void netcdf_abandon(ais_sink *base) {
    netcdf_sink *sink = (netcdf_sink *)base;
    ais_context ignored;
    (void)close_file(&ignored, sink);
    release(sink);
}

static ais_status make_columns(ais_context *context, netcdf_sink *sink) {
    const ais_run_header *header = sink->header;
    ais_status status = ais_columns_new(context, ais_header_shown(header), &sink->columns[AIS_NETCDF_SHOWN]);
    if (status != AIS_OK || !header->value.count) return status;
    return ais_columns_new(context, &header->x, &sink->columns[AIS_NETCDF_RAW]);
}

static ais_status make_buffers(ais_context *context, netcdf_sink *sink) {
    const ais_run_header *header = sink->header;
    size_t chains = (size_t)header->chains, stats = (size_t)sink->fields + 1, numbers = stats;
    for (int s = 0; s < AIS_NETCDF_SETS; s++) numbers += sink->columns[s] ? (size_t)sink->columns[s]->dim : 0;
    size_t row = chains * numbers * sizeof(double);
    sink->phase[0].block = block_of(header->draws, row);
    sink->phase[1].block = block_of(header->warmup, row);
    size_t block = (size_t)sink->phase[0].block;
    if (header->save_warmup && sink->phase[1].block > sink->phase[0].block) block = (size_t)sink->phase[1].block;
    bool made = true;
    for (int s = 0; s < AIS_NETCDF_SETS; s++) {
        if (!sink->columns[s]) continue;
        size_t dim = (size_t)sink->columns[s]->dim;
        for (int p = 0; p < 2; p++) made &= (sink->phase[p].variable[s] = calloc(dim, sizeof(int))) != NULL;
        made &= (sink->value[s] = calloc(chains * block, dim * sizeof(double))) != NULL;
    }
    made &= (sink->stat = calloc(chains * block, stats * sizeof(double))) != NULL;
    made &= (sink->index = calloc(block, sizeof *sink->index)) != NULL;
    return made ? AIS_OK : ais_fail_memory(context, "a block of draws", block * row);
}

static bool is_ours(const char *path) {
    char library[16] = "";
    size_t length = 0;
    int file;
    if (nc_open(path, NC_NOWRITE, &file) != NC_NOERR) return false;
    if (nc_inq_attlen(file, NC_GLOBAL, "inference_library", &length) == NC_NOERR && length < sizeof library)
        if (nc_get_att_text(file, NC_GLOBAL, "inference_library", library) != NC_NOERR) library[0] = 0;
    nc_close(file);
    return strcmp(library, "aisampler") == 0;
}

static int try_is_ours(void *path) { return !is_ours(path); }

/* A draws.nc of somebody else is not ours to replace. */
static ais_status check_older(ais_context *context, const netcdf_sink *sink) {
    if (access(sink->path, F_OK) != 0) return AIS_OK;
    ais_netcdf_lock();
    bool ours = ais_netcdf_attempt(try_is_ours, sink->path, 1, 0x1p30) == 0 && is_ours(sink->path);
    ais_netcdf_unlock();
    if (ours) return AIS_OK;
    return ais_fail(context, AIS_FILE_ERROR,
                    "%s is there and was not written by aisampler; move it away or choose another directory",
                    sink->path);
}

/* HDF5 keeps a file for open that it failed to create, and then refuses its successor. So the room for
 * the first bytes is tried out before, on a fresh file. */
static ais_status try_room(ais_context *context, const char *path) {
    static const char zeros[FIRST_BYTES];
    unlink(path);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) return ais_fail_file(context, "write", path, errno);
    size_t done = 0;
    int error = 0;
    while (!error && done < sizeof zeros) {
        ssize_t put = write(descriptor, zeros + done, sizeof zeros - done);
        if (put > 0) done += (size_t)put;
        if (put <= 0 && errno != EINTR) error = put < 0 ? errno : ENOSPC;
    }
    if (close(descriptor) != 0 && !error) error = errno;
    return error ? ais_fail_file(context, "write", path, error) : AIS_OK;
}

static ais_status create(ais_context *context, netcdf_sink *sink) {
    ais_status status = try_room(context, sink->part);
    if (status != AIS_OK) return status;
    ais_netcdf_lock();
    errno = 0;
    int code = nc_create(sink->part, NC_NETCDF4 | NC_CLOBBER, &sink->file);
    if (code) sink->file = -1;
    if (!code) code = ais_netcdf_define(sink->file, sink->header, sink->columns, sink->phase);
    if (code) status = fail(context, sink, code);
    ais_netcdf_unlock();
    return status;
}

static ais_status netcdf_begin(ais_context *context, ais_sink *base, const ais_run_header *header) {
    netcdf_sink *sink = (netcdf_sink *)base;
    netcdf_abandon(base);
    sink->header = header;
    sink->rows = (ais_rows){0};
    sink->fields = ais_info_fields(header->info, sink->field);
    sink->failed = false;
    sink->current = sink->gathered = sink->flushed[0] = sink->flushed[1] = 0;
    ais_status status = ais_header_check(context, header);
    if (status == AIS_OK) status = ais_directory_make(context, sink->directory);
    if (status == AIS_OK) status = check_older(context, sink);
    if (status == AIS_OK) status = make_columns(context, sink);
    if (status == AIS_OK) status = make_buffers(context, sink);
    if (status == AIS_OK) status = create(context, sink);
    if (status != AIS_OK) netcdf_abandon(base);
    return status;
}

static ais_status netcdf_write(ais_context *context, ais_sink *base, const ais_chunk *chunk) {
    netcdf_sink *sink = (netcdf_sink *)base;
    if (chunk->warmup && !sink->header->save_warmup) return AIS_OK;
    ais_status status = ais_rows_add(context, &sink->rows, sink->header, chunk);
    if (status == AIS_OK && sink->current != (int)chunk->warmup) {
        status = flush(context, sink);
        sink->current = chunk->warmup;
    }
    int block = sink->phase[sink->current].block;
    for (int t = 0, rows; status == AIS_OK && t < chunk->count; t += rows) {
        int left = chunk->count - t, room = block - sink->gathered;
        rows = left < room ? left : room;
        gather(sink, chunk, t, rows);
        if (sink->gathered == block) status = flush(context, sink);
    }
    return status;
}

static ais_status netcdf_end(ais_context *context, ais_sink *base, const ais_run_footer *footer) {
    (void)footer; /* durations would make two equal runs differ */
    netcdf_sink *sink = (netcdf_sink *)base;
    ais_status status = flush(context, sink);
    if (status == AIS_OK) status = close_file(context, sink);
    if (status == AIS_OK && rename(sink->part, sink->path) != 0)
        status = ais_fail_file(context, "rename", sink->part, errno);
    if (status == AIS_OK) release(sink);
    return status;
}

static ais_status netcdf_judged(ais_context *context, ais_sink *base, const ais_run_judgement *judgement) {
    const netcdf_sink *sink = (netcdf_sink *)base;
    return ais_netcdf_add_judgement(context, sink->path, sink->part, judgement);
}

static void netcdf_free(ais_sink *base) {
    netcdf_sink *sink = (netcdf_sink *)base;
    netcdf_abandon(base);
    free(sink->directory);
    free(sink->path);
    free(sink->part);
    free(sink);
}

ais_status ais_sink_netcdf(ais_context *context, const char *directory, ais_sink **sink_out) {
    *sink_out = NULL;
    netcdf_sink *sink = calloc(1, sizeof *sink);
    if (!sink) return ais_fail_memory(context, "a sink", sizeof *sink);
    sink->sink = (ais_sink){netcdf_begin, netcdf_write, netcdf_end, netcdf_abandon, netcdf_free, netcdf_judged};
    sink->file = -1;
    sink->directory = strdup(*directory ? directory : ".");
    if (sink->directory) sink->path = ais_path_join(sink->directory, "draws.nc");
    if (sink->directory) sink->part = ais_path_join(sink->directory, "draws.nc.part");
    if (!sink->path || !sink->part) {
        netcdf_free(&sink->sink);
        return ais_fail_memory(context, "a sink", sizeof *sink);
    }
    *sink_out = &sink->sink;
    return AIS_OK;
}
