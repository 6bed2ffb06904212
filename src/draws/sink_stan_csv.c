/* Rows are gathered as text, a buffer a chain, and written where the chain's file ends. Up to
 * OPEN_FILES chains keep their file open; with more, each write opens and closes it, so that
 * thousands of chains need no more descriptors than a few. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "draws/sink.h"
#include "draws/stan_csv.h"

enum {
    OPEN_FILES = 256,
    NUMBER_BYTES = 26,    /* -1.2345678901234567e-308 and a comma */
    TEXT_BYTES = 4 << 20, /* of all chains; with many of them more, rather than many small writes */
    MOST_TEXT_BYTES = 64 << 20,
    LEAST_CHAIN_BYTES = 1 << 12,
    MOST_CHAIN_BYTES = 1 << 18
};

typedef struct chain_file {
    int descriptor; /* -1: closed */
    char *text;
    size_t used;
    off_t written;
} chain_file;

typedef struct csv_sink {
    ais_sink sink;
    char *directory;
    locale_t locale; /* a decimal point, whatever the program's locale says */
    const ais_run_header *header;
    ais_columns *columns;
    ais_csv_counts counts;
    ais_rows rows;
    int fields, field[AIS_INFO_COUNT];
    int chains;
    size_t room; /* bytes of a chain's text */
    chain_file *chain;
    char *text;
    bool adapted; /* the line between warm-up and sampling is there */
} csv_sink;

/* DIR/draws-N.csv with a suffix, or NULL. */
static char *chain_path(const csv_sink *csv, int number, const char *suffix) {
    char name[48];
    snprintf(name, sizeof name, "draws-%d.csv%s", number, suffix);
    return ais_path_join(csv->directory, name);
}

static ais_status fail_chain(ais_context *context, const csv_sink *csv, const char *doing, int number,
                             const char *suffix, int error) {
    char *path = chain_path(csv, number, suffix);
    ais_status status = ais_fail_file(context, doing, path ? path : csv->directory, error);
    free(path);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------- */

static ais_status open_chain(ais_context *context, csv_sink *csv, int c, int flags) {
    chain_file *chain = &csv->chain[c];
    if (chain->descriptor >= 0) return AIS_OK;
    char *path = chain_path(csv, c + 1, ".part");
    if (!path) return ais_fail_memory(context, "a path", strlen(csv->directory) + 48);
    chain->descriptor = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
    int error = errno;
    free(path);
    return chain->descriptor < 0 ? fail_chain(context, csv, "open", c + 1, ".part", error) : AIS_OK;
}

static ais_status close_chain(ais_context *context, csv_sink *csv, int c) {
    int descriptor = csv->chain[c].descriptor;
    csv->chain[c].descriptor = -1;
    if (descriptor >= 0 && close(descriptor) != 0) return fail_chain(context, csv, "write", c + 1, ".part", errno);
    return AIS_OK;
}

static ais_status put_at(ais_context *context, csv_sink *csv, int c, const char *text, size_t bytes, off_t at) {
    while (bytes) {
        ssize_t put = pwrite(csv->chain[c].descriptor, text, bytes, at);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return fail_chain(context, csv, "write", c + 1, ".part", put < 0 ? errno : ENOSPC);
        text += put;
        at += put;
        bytes -= (size_t)put;
    }
    return AIS_OK;
}

static ais_status flush_chain(ais_context *context, csv_sink *csv, int c) {
    chain_file *chain = &csv->chain[c];
    if (!chain->used) return AIS_OK;
    ais_status status = open_chain(context, csv, c, 0);
    if (status == AIS_OK) status = put_at(context, csv, c, chain->text, chain->used, chain->written);
    if (status != AIS_OK) return status;
    chain->written += (off_t)chain->used;
    chain->used = 0;
    return csv->chains > OPEN_FILES ? close_chain(context, csv, c) : AIS_OK;
}

static ais_status add_text(ais_context *context, csv_sink *csv, int c, const char *text) {
    size_t bytes = strlen(text);
    if (csv->chain[c].used + bytes > csv->room) {
        ais_status status = flush_chain(context, csv, c);
        if (status != AIS_OK) return status;
    }
    memcpy(csv->chain[c].text + csv->chain[c].used, text, bytes);
    csv->chain[c].used += bytes;
    return AIS_OK;
}

/* ---- older files ------------------------------------------------------------------------------- */

static bool is_ours(const char *path) {
    char head[256] = "";
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t bytes = fread(head, 1, sizeof head - 1, file);
    head[bytes] = 0;
    fclose(file);
    return strstr(head, AIS_CSV_MARK "\n") != NULL;
}

static ais_status check_older(ais_context *context, void *data, int number) {
    csv_sink *csv = data;
    char *path = chain_path(csv, number, "");
    if (!path) return ais_fail_memory(context, "a path", strlen(csv->directory) + 48);
    ais_status status = AIS_OK;
    if (!is_ours(path))
        status = ais_fail(context, AIS_FILE_ERROR,
                          "%s exists and was not written by aisampler; move it away or choose another directory", path);
    free(path);
    return status;
}

static ais_status remove_older(ais_context *context, void *data, int number) {
    csv_sink *csv = data;
    ais_status status = check_older(context, csv, number);
    if (status != AIS_OK) return status;
    char *path = chain_path(csv, number, "");
    if (!path) return ais_fail_memory(context, "a path", strlen(csv->directory) + 48);
    if (unlink(path) != 0 && errno != ENOENT) status = ais_fail_file(context, "remove", path, errno);
    free(path);
    return status;
}

/* Parts of an earlier run with more chains would outlive this one. */
static void remove_stale_parts(const csv_sink *csv, int first) {
    for (int number = first;; number++) {
        char *path = chain_path(csv, number, ".part");
        int gone = path ? unlink(path) : -1;
        free(path);
        if (gone != 0) return;
    }
}

/* ---- the sink ----------------------------------------------------------------------------------- */

static void release(csv_sink *csv) {
    for (int c = 0; csv->chain && c < csv->chains; c++)
        if (csv->chain[c].descriptor >= 0) close(csv->chain[c].descriptor);
    ais_columns_free(csv->columns);
    free(csv->chain);
    free(csv->text);
    csv->columns = NULL;
    csv->chain = NULL;
    csv->text = NULL;
}

/* What was gathered is worth looking at, so it is written if it can be. */
static void csv_abandon(ais_sink *sink) {
    csv_sink *csv = (csv_sink *)sink;
    ais_context ignored;
    for (int c = 0; csv->chain && c < csv->chains; c++) (void)flush_chain(&ignored, csv, c);
    release(csv);
}

static ais_status write_head(ais_context *context, csv_sink *csv, int c) {
    size_t bytes;
    ais_memory_file memory;
    if (ais_memory_open(&memory)) ais_csv_write_head(memory.file, csv->header, csv->columns, c + 1, &csv->counts);
    char *text = ais_memory_close(&memory, &bytes);
    if (!text) return ais_fail_memory(context, "the head of a file", bytes);
    ais_status status = open_chain(context, csv, c, O_CREAT | O_TRUNC);
    if (status == AIS_OK) status = put_at(context, csv, c, text, bytes, 0);
    csv->chain[c].written = (off_t)bytes;
    free(text);
    if (status == AIS_OK && csv->chains > OPEN_FILES) status = close_chain(context, csv, c);
    return status;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t largest(size_t a, size_t b) { return a < b ? b : a; }

static size_t chain_room(size_t chains, size_t row) {
    size_t room = least(TEXT_BYTES / chains, MOST_CHAIN_BYTES);
    room = largest(room, least(MOST_TEXT_BYTES / chains, LEAST_CHAIN_BYTES));
    return largest(room, row);
}

static ais_status make_buffers(ais_context *context, csv_sink *csv) {
    size_t chains = (size_t)csv->chains, columns = (size_t)csv->fields + (size_t)csv->columns->dim + 1;
    size_t row = columns * NUMBER_BYTES + 256;
    csv->room = chain_room(chains, row);
    csv->chain = calloc(chains, sizeof *csv->chain);
    if (csv->chain)
        for (size_t c = 0; c < chains; c++) csv->chain[c].descriptor = -1;
    csv->text = csv->room <= (size_t)-1 / chains ? malloc(chains * csv->room) : NULL;
    if (!csv->chain || !csv->text) return ais_fail_memory(context, "the text of the rows", chains * csv->room);
    for (size_t c = 0; c < chains; c++) csv->chain[c].text = csv->text + c * csv->room;
    return AIS_OK;
}

static ais_status csv_begin(ais_context *context, ais_sink *sink, const ais_run_header *header) {
    csv_sink *csv = (csv_sink *)sink;
    release(csv);
    csv->header = header;
    csv->chains = header->chains;
    csv->rows = (ais_rows){0};
    csv->adapted = false;
    csv->fields = ais_info_fields(header->info, csv->field);
    ais_status status = ais_header_check(context, header);
    if (status == AIS_OK) status = ais_directory_make(context, csv->directory);
    if (status == AIS_OK) status = ais_directory_each(context, csv->directory, check_older, csv);
    if (status == AIS_OK) status = ais_columns_new(context, ais_header_shown(header), &csv->columns);
    if (status == AIS_OK) status = make_buffers(context, csv);
    locale_t before = uselocale(csv->locale);
    for (int c = 0; status == AIS_OK && c < csv->chains; c++) status = write_head(context, csv, c);
    uselocale(before);
    if (status != AIS_OK) release(csv);
    return status;
}

static char *put_number(char *at, double value, char after) {
    if (value != value) /* never -nan, which some readers do not know */
        memcpy(at, "nan", 4), at += 3;
    else
        at += snprintf(at, NUMBER_BYTES, "%.17g", value);
    *at++ = after;
    return at;
}

static void put_row(csv_sink *csv, int c, const double *x, double logp, const ais_info *info) {
    chain_file *chain = &csv->chain[c];
    char *at = chain->text + chain->used;
    at = put_number(at, logp, ',');
    for (int i = 0; i < csv->fields; i++) at = put_number(at, ais_info_value(info, csv->field[i]), ',');
    for (int i = 0; i < csv->columns->dim; i++) at = put_number(at, x[i], ',');
    at[-1] = '\n';
    chain->used = (size_t)(at - chain->text);
}

static ais_status put_chunk(ais_context *context, csv_sink *csv, const ais_chunk *chunk) {
    size_t dim = (size_t)csv->columns->dim, count = (size_t)chunk->count;
    size_t row = ((size_t)csv->fields + dim + 1) * NUMBER_BYTES;
    for (int c = 0; c < csv->chains; c++) {
        ais_status status = AIS_OK;
        if (!chunk->warmup && !csv->adapted) status = add_text(context, csv, c, "# Adaptation terminated\n");
        for (size_t t = 0; status == AIS_OK && t < count; t++) {
            size_t cell = (size_t)c * count + t;
            if (csv->chain[c].used + row > csv->room) status = flush_chain(context, csv, c);
            if (status == AIS_OK)
                put_row(csv, c, chunk->value + cell * dim, chunk->value_logp[cell], &chunk->info[cell]);
        }
        if (status != AIS_OK) return status;
    }
    if (!chunk->warmup) csv->adapted = true;
    return AIS_OK;
}

static ais_status csv_write(ais_context *context, ais_sink *sink, const ais_chunk *chunk) {
    csv_sink *csv = (csv_sink *)sink;
    if (chunk->warmup && !csv->header->save_warmup) return AIS_OK;
    ais_status status = ais_rows_add(context, &csv->rows, csv->header, chunk);
    if (status != AIS_OK) return status;
    locale_t before = uselocale(csv->locale);
    status = put_chunk(context, csv, chunk);
    uselocale(before);
    return status;
}

/* A smaller number in the place of the planned one, filled up with spaces. */
static ais_status correct_count(ais_context *context, csv_sink *csv, int c, long at, int planned, int real) {
    if (planned == real) return AIS_OK;
    char old[16], now[16];
    int width = snprintf(old, sizeof old, "%d", planned);
    snprintf(now, sizeof now, "%-*d", width, real);
    ais_status status = open_chain(context, csv, c, 0);
    return status == AIS_OK ? put_at(context, csv, c, now, (size_t)width, at) : status;
}

/* Without CmdStan's lines of elapsed time: equal runs give equal files, and run.json has the seconds. */
static ais_status finish_chain(ais_context *context, csv_sink *csv, int c) {
    const ais_run_header *header = csv->header;
    ais_status status = flush_chain(context, csv, c);
    if (status == AIS_OK)
        status = correct_count(context, csv, c, csv->counts.num_samples, header->draws, csv->rows.draws);
    if (status == AIS_OK && header->save_warmup)
        status = correct_count(context, csv, c, csv->counts.num_warmup, header->warmup, csv->rows.warmup);
    if (status == AIS_OK) status = close_chain(context, csv, c);
    return status;
}

static ais_status name_chain(ais_context *context, csv_sink *csv, int c) {
    char *part = chain_path(csv, c + 1, ".part"), *path = chain_path(csv, c + 1, "");
    ais_status status = AIS_OK;
    if (!part || !path)
        status = ais_fail_memory(context, "a path", strlen(csv->directory) + 48);
    else if (rename(part, path) != 0)
        status = ais_fail_file(context, "rename", part, errno);
    free(part);
    free(path);
    return status;
}

/* All chains are complete before an older file goes, and all older files are gone before the first
 * new name appears: at no time do two runs stand side by side. */
static ais_status csv_end(ais_context *context, ais_sink *sink, const ais_run_footer *footer) {
    (void)footer;
    csv_sink *csv = (csv_sink *)sink;
    ais_status status = AIS_OK;
    locale_t before = uselocale(csv->locale);
    for (int c = 0; status == AIS_OK && c < csv->chains; c++) status = finish_chain(context, csv, c);
    uselocale(before);
    if (status == AIS_OK) status = ais_directory_each(context, csv->directory, remove_older, csv);
    for (int c = 0; status == AIS_OK && c < csv->chains; c++) status = name_chain(context, csv, c);
    if (status != AIS_OK) return status;
    remove_stale_parts(csv, csv->chains + 1);
    release(csv);
    return AIS_OK;
}

static void csv_free(ais_sink *sink) {
    csv_sink *csv = (csv_sink *)sink;
    csv_abandon(sink);
    if (csv->locale) freelocale(csv->locale);
    free(csv->directory);
    free(csv);
}

ais_status ais_sink_stan_csv(ais_context *context, const char *directory, ais_sink **sink) {
    *sink = NULL;
    csv_sink *csv = calloc(1, sizeof *csv);
    if (!csv) return ais_fail_memory(context, "a sink", sizeof *csv);
    csv->sink = (ais_sink){csv_begin, csv_write, csv_end, csv_abandon, csv_free, NULL};
    csv->directory = strdup(*directory ? directory : ".");
    csv->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!csv->directory || !csv->locale) {
        csv_free(&csv->sink);
        return ais_fail_memory(context, "a sink", sizeof *csv);
    }
    *sink = &csv->sink;
    return AIS_OK;
}
