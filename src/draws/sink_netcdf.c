/* Draws are gathered into blocks that match the storage chunks of the file, so that the bytes do not
 * depend on the sizes in which the sampler hands them over, and each chunk is written once. Another process writes them
 * (base/apart.h), from memory that both have: it receives commands, and answers with a status. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <netcdf.h>

#include "base/apart.h"
#include "draws/netcdf_file.h"
#include "draws/netcdf_layout.h"
#include "draws/netcdf_verdict.h"
#include "draws/sink.h"

enum { BUFFER_BYTES = 4 << 20, MOST_BLOCK = 1 << 14 };

typedef struct netcdf_sink {
    ais_sink sink;
    char *directory, *path, *part;
    const ais_run_header *header;
    ais_columns *columns[AIS_NETCDF_SETS]; /* of x: NULL without a view */
    ais_rows rows;
    ais_servant writer;
    int file; /* the writer's */
    int fields, field[AIS_INFO_COUNT];
    ais_netcdf_phase phase[2];
    int current; /* the phase of what is gathered */
    int gathered;
    int flushed[2]; /* the writer's */
    /* Shared with the writer. */
    size_t value_bytes[AIS_NETCDF_SETS], stat_bytes;
    double *value[AIS_NETCDF_SETS]; /* for each variable: chains x block x count */
    double *stat;                   /* lp, then the fields: each chains x block */
    long long *index;               /* the writer's */
} netcdf_sink;

static ais_status fail(ais_context *context, const netcdf_sink *sink, int code) {
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

/* ---- the writer ---------------------------------------------------------------------------------- */

typedef enum order { WRITE_BLOCK, CLOSE_FILE } order;
typedef struct instruction {
    order order;
    int current, gathered; /* as in netcdf_sink */
} instruction;

static ais_status create(ais_context *context, netcdf_sink *sink) {
    unlink(sink->part); /* a process that reads an earlier one keeps it */
    errno = 0;
    int code = nc_create(sink->part, NC_NETCDF4 | NC_CLOBBER, &sink->file);
    if (!code) code = ais_netcdf_define(sink->file, sink->header, sink->columns, sink->phase);
    return code ? fail(context, sink, code) : AIS_OK;
}

static ais_status obey(ais_context *context, netcdf_sink *sink, const instruction *next) {
    int code;
    errno = 0;
    if (next->order == CLOSE_FILE) {
        code = nc_close(sink->file);
    } else {
        sink->current = next->current;
        sink->gathered = next->gathered;
        code = put_block(sink);
        /* What a crash leaves in NAME.part is then readable, and a full disk is noticed now. */
        if (!code) code = nc_sync(sink->file);
        sink->flushed[sink->current] += sink->gathered;
    }
    return code ? fail(context, sink, code) : AIS_OK;
}

/* Until the file is closed or this process is left alone: then it ends without closing anything. */
static void serve(void *data, int descriptor) {
    netcdf_sink *sink = data;
    ais_context context = {0};
    instruction next = {.order = WRITE_BLOCK};
    context.status = create(&context, sink);
    while (ais_apart_write(descriptor, &context, sizeof context) && context.status == AIS_OK &&
           next.order != CLOSE_FILE && ais_apart_read(descriptor, &next, sizeof next))
        context.status = obey(&context, sink, &next);
}

static ais_status answer(ais_context *context, netcdf_sink *sink) {
    ais_context there;
    if (ais_apart_read(sink->writer.descriptor, &there, sizeof there)) {
        if (there.status == AIS_OK) return AIS_OK;
        *context = there;
    } else {
        ais_fail(context, AIS_FILE_ERROR,
                 "cannot write %s: the netCDF library failed (is the disk full, or memory used up?)", sink->part);
    }
    ais_apart_end(&sink->writer);
    return context->status;
}

static ais_status start_writer(ais_context *context, netcdf_sink *sink) {
    if (ais_apart_begin(&sink->writer, serve, sink)) return answer(context, sink);
    return ais_fail(context, AIS_FILE_ERROR, "cannot write %s: no process for it could be started: %s", sink->part,
                    strerror(errno));
}

static ais_status tell(ais_context *context, netcdf_sink *sink, order what) {
    const instruction next = {what, sink->current, sink->gathered};
    (void)ais_apart_write(sink->writer.descriptor, &next, sizeof next); /* a dead one does not answer */
    return answer(context, sink);
}

static ais_status flush(ais_context *context, netcdf_sink *sink) {
    if (!sink->gathered) return AIS_OK;
    ais_status status = tell(context, sink, WRITE_BLOCK);
    sink->gathered = 0;
    return status;
}

/* ---- gathering ----------------------------------------------------------------------------------- */

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

static ais_status close_file(ais_context *context, netcdf_sink *sink) {
    if (sink->writer.descriptor < 0) return AIS_OK;
    ais_status status = tell(context, sink, CLOSE_FILE);
    ais_apart_end(&sink->writer);
    return status;
}

/* Zeros, or NULL. */
static double *share(size_t cells, size_t numbers, size_t *bytes) {
    if (__builtin_mul_overflow(cells, numbers * sizeof(double), bytes)) return NULL;
    void *made = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? NULL : made;
}

static void unshare(double **numbers, size_t bytes) {
    if (*numbers) munmap(*numbers, bytes);
    *numbers = NULL;
}

static void release(netcdf_sink *sink) {
    for (int s = 0; s < AIS_NETCDF_SETS; s++) {
        ais_columns_free(sink->columns[s]);
        sink->columns[s] = NULL;
        unshare(&sink->value[s], sink->value_bytes[s]);
        for (int p = 0; p < 2; p++) {
            free(sink->phase[p].variable[s]);
            sink->phase[p].variable[s] = NULL;
        }
    }
    unshare(&sink->stat, sink->stat_bytes);
    free(sink->index);
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
        made &= (sink->value[s] = share(chains * block, dim, &sink->value_bytes[s])) != NULL;
    }
    made &= (sink->stat = share(chains * block, stats, &sink->stat_bytes)) != NULL;
    made &= (sink->index = calloc(block, sizeof *sink->index)) != NULL;
    return made ? AIS_OK : ais_fail_memory(context, "a block of draws", block * row);
}

/* In a process of its own. */
static ais_status look_whose(ais_context *context, void *path) {
    char library[16] = "";
    size_t length = 0;
    int file;
    errno = 0;
    int code = nc_open(path, NC_NOWRITE, &file);
    if (code == NC_ENOMEM || errno == ENOMEM || errno == EMFILE || errno == EIO)
        return ais_fail_netcdf(context, "read", path, code);
    if (!code && nc_inq_attlen(file, NC_GLOBAL, "inference_library", &length) == NC_NOERR && length < sizeof library)
        if (nc_get_att_text(file, NC_GLOBAL, "inference_library", library) != NC_NOERR) library[0] = 0;
    if (strcmp(library, "aisampler") == 0) return AIS_OK;
    return ais_fail(context, AIS_FILE_ERROR,
                    "%s exists and was not written by aisampler; move it away or choose another directory",
                    (const char *)path);
}

/* A draws.nc that aisampler did not write must not be replaced. */
static ais_status check_older(ais_context *context, const netcdf_sink *sink) {
    if (access(sink->path, F_OK) != 0) return AIS_OK;
    const ais_apart_job job = {
        .doing = "replace an earlier draws.nc",
        .death = "the netCDF library fails on it, so its origin is unknown; move it away or choose another "
                 "directory",
        .blame = AIS_FILE_ERROR,
        .seconds = 1,
        .bytes = 0x1p30,
        .work = look_whose,
        .data = sink->path};
    return ais_apart(context, &job);
}

static ais_status netcdf_begin(ais_context *context, ais_sink *base, const ais_run_header *header) {
    netcdf_sink *sink = (netcdf_sink *)base;
    netcdf_abandon(base);
    sink->header = header;
    sink->rows = (ais_rows){0};
    sink->fields = ais_info_fields(header->info, sink->field);
    sink->current = sink->gathered = sink->flushed[0] = sink->flushed[1] = 0;
    ais_status status = ais_header_check(context, header);
    if (status == AIS_OK) status = ais_directory_make(context, sink->directory);
    if (status == AIS_OK) status = check_older(context, sink);
    if (status == AIS_OK) status = make_columns(context, sink);
    if (status == AIS_OK) status = make_buffers(context, sink);
    if (status == AIS_OK) status = start_writer(context, sink);
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
    sink->writer = (ais_servant){-1, -1};
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
