#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draws/columns.h"
#include "draws/sink.h"

typedef struct memory_sink {
    ais_sink sink;
    const ais_run_header *header;
    ais_draws *draws;
    ais_rows rows;
    int field[AIS_INFO_COUNT];
} memory_sink;

static ais_status rename_to(ais_context *context, char **name, const char *text) {
    char *copy = strdup(text);
    if (!copy) return ais_fail_memory(context, "a name", strlen(text) + 1);
    free(*name);
    *name = copy;
    return AIS_OK;
}

static void memory_abandon(ais_sink *sink) {
    memory_sink *memory = (memory_sink *)sink;
    ais_draws_free(memory->draws);
    memory->draws = NULL;
}

/* Room for at first, per chain: what is planned may be far more than will come. */
enum { FIRST_ROOM = 4096 };

/* Columns of `length` values become columns of `room`, from the last on, for they move up. */
static bool stretch(double **value, size_t columns, size_t length, size_t room) {
    double *wider = realloc(*value, (columns * room + 1) * sizeof *wider);
    if (!wider) return false;
    *value = wider;
    for (size_t i = columns; i-- > 1;) memmove(wider + i * room, wider + i * length, length * sizeof *wider);
    return true;
}

static ais_status make_room(ais_context *context, memory_sink *memory, int need) {
    ais_draws *draws = memory->draws;
    if (need <= draws->draws) return AIS_OK;
    size_t chains = (size_t)draws->chains, length = (size_t)draws->draws, room = 2 * length;
    if (room < (size_t)need) room = (size_t)need;
    if (room > (size_t)memory->header->draws) room = (size_t)memory->header->draws;
    if (!stretch(&draws->value, (size_t)draws->dim * chains, length, room) ||
        !stretch(&draws->stat, (size_t)draws->stats * chains, length, room) ||
        !stretch(&draws->logp, chains, length, room))
        return ais_fail_memory(context, "draws", ((size_t)draws->dim + 1) * chains * room * sizeof(double));
    draws->draws = (int)room;
    return AIS_OK;
}

static ais_status memory_begin(ais_context *context, ais_sink *sink, const ais_run_header *header) {
    memory_sink *memory = (memory_sink *)sink;
    memory_abandon(sink);
    memory->header = header;
    memory->rows = (ais_rows){0};
    int stats = ais_info_fields(header->info, memory->field);
    const ais_names *shown = ais_header_shown(header);
    ais_status status = ais_header_check(context, header);
    if (status == AIS_OK)
        status = ais_draws_new(context, shown->count, header->chains,
                               header->draws < FIRST_ROOM ? header->draws : FIRST_ROOM, stats, &memory->draws);
    if (status == AIS_OK) {
        snprintf(memory->draws->sampler, sizeof memory->draws->sampler, "%s", header->sampler);
        memory->draws->max_depth = header->max_depth;
    }
    for (int i = 0; status == AIS_OK && i < memory->draws->dim; i++) {
        char buffer[32];
        status = rename_to(context, &memory->draws->name[i], ais_name(shown, i, buffer));
    }
    for (int i = 0; status == AIS_OK && i < stats; i++)
        status = rename_to(context, &memory->draws->stat_name[i], ais_info_name[memory->field[i]]);
    if (status != AIS_OK) memory_abandon(sink);
    return status;
}

static ais_status memory_write(ais_context *context, ais_sink *sink, const ais_chunk *chunk) {
    memory_sink *memory = (memory_sink *)sink;
    if (chunk->warmup) return AIS_OK;
    ais_draws *draws = memory->draws;
    ais_status status = ais_rows_add(context, &memory->rows, memory->header, chunk);
    if (status == AIS_OK) status = make_room(context, memory, memory->rows.draws);
    if (status != AIS_OK) return status;
    size_t dim = (size_t)draws->dim, chains = (size_t)draws->chains, length = (size_t)draws->draws;
    size_t count = (size_t)chunk->count, first = (size_t)chunk->first;
    for (size_t c = 0; c < chains; c++) {
        for (size_t i = 0; i < dim; i++)
            for (size_t t = 0; t < count; t++)
                draws->value[(i * chains + c) * length + first + t] = chunk->value[(c * count + t) * dim + i];
        for (size_t i = 0; i < (size_t)draws->stats; i++)
            for (size_t t = 0; t < count; t++)
                draws->stat[(i * chains + c) * length + first + t] =
                    ais_info_value(&chunk->info[c * count + t], memory->field[i]);
        if (count) memcpy(draws->logp + c * length + first, chunk->value_logp + c * count, count * sizeof(double));
    }
    return AIS_OK;
}

/* Moves columns of `length` values together so that each has `kept`. */
static void shorten(double *value, size_t columns, size_t length, size_t kept) {
    for (size_t i = 1; i < columns; i++) memmove(value + i * kept, value + i * length, kept * sizeof(double));
}

static ais_status memory_end(ais_context *context, ais_sink *sink, const ais_run_footer *footer) {
    (void)context;
    (void)footer;
    memory_sink *memory = (memory_sink *)sink;
    ais_draws *draws = memory->draws;
    size_t chains = (size_t)draws->chains, length = (size_t)draws->draws, kept = (size_t)memory->rows.draws;
    if (kept < length) {
        shorten(draws->value, (size_t)draws->dim * chains, length, kept);
        shorten(draws->stat, (size_t)draws->stats * chains, length, kept);
        shorten(draws->logp, chains, length, kept);
        draws->draws = (int)kept;
    }
    return AIS_OK;
}

static void memory_free(ais_sink *sink) {
    memory_abandon(sink);
    free(sink);
}

ais_status ais_sink_memory(ais_context *context, ais_sink **sink) {
    *sink = NULL;
    memory_sink *memory = calloc(1, sizeof *memory);
    if (!memory) return ais_fail_memory(context, "a sink", sizeof *memory);
    memory->sink = (ais_sink){memory_begin, memory_write, memory_end, memory_abandon, memory_free, NULL};
    *sink = &memory->sink;
    return AIS_OK;
}

ais_draws *ais_sink_memory_take(ais_sink *sink) {
    memory_sink *memory = (memory_sink *)sink;
    ais_draws *draws = memory->draws;
    memory->draws = NULL;
    return draws;
}
