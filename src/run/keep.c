#include "run/keep.h"

#include <math.h>
#include <stdlib.h>

#include <aisampler/run.h>

#include "base/status.h"

typedef struct keep {
    ais_sink sink;
    ais_sink *memory;
    ais_run_header header; /* with no more draws than are kept */
    bool elsewhere, gone;
} keep;

static void let_go(keep *this) {
    this->memory->abandon(this->memory);
    this->gone = true;
}

static ais_status keep_begin(ais_context *context, ais_sink *sink, const ais_run_header *header) {
    keep *this = (keep *)sink;
    double fit = AIS_MOST_JUDGED / header->chains / (header->target->dim + 8); /* about 8 columns of the sampler */
    this->header = *header;
    if (header->draws > fit) this->header.draws = (int)fmax(fit, 1);
    return this->memory->begin(context, this->memory, &this->header);
}

static ais_status keep_write(ais_context *context, ais_sink *sink, const ais_chunk *chunk) {
    keep *this = (keep *)sink;
    if (this->gone) return AIS_OK;
    if (!chunk->warmup && chunk->first + chunk->count > this->header.draws) {
        let_go(this);
        return AIS_OK;
    }
    ais_status status = this->memory->write(context, this->memory, chunk);
    if (status != AIS_NO_MEMORY || !this->elsewhere) return status;
    let_go(this);
    return AIS_OK;
}

static ais_status keep_end(ais_context *context, ais_sink *sink, const ais_run_footer *footer) {
    keep *this = (keep *)sink;
    return this->gone ? AIS_OK : this->memory->end(context, this->memory, footer);
}

static void keep_abandon(ais_sink *sink) { let_go((keep *)sink); }

static void keep_free(ais_sink *sink) {
    ais_sink_free(((keep *)sink)->memory);
    free(sink);
}

ais_status ais_keep_new(ais_context *context, bool elsewhere, ais_sink **sink) {
    keep *this = calloc(1, sizeof *this);
    if (!this) return ais_fail_memory(context, "a sink", sizeof *this);
    ais_status status = ais_sink_memory(context, &this->memory);
    if (status != AIS_OK) {
        free(this);
        return status;
    }
    this->sink = (ais_sink){keep_begin, keep_write, keep_end, keep_abandon, keep_free};
    this->elsewhere = elsewhere;
    *sink = &this->sink;
    return AIS_OK;
}

ais_draws *ais_keep_take(ais_sink *sink) {
    keep *this = (keep *)sink;
    return this->gone ? NULL : ais_sink_memory_take(this->memory);
}
