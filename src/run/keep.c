#include "run/keep.h"

#include <math.h>
#include <stdlib.h>

#include <aisampler/run.h>

#include "base/status.h"

enum { SHOWN, RAW, SETS };

typedef struct keep {
    ais_sink sink;
    ais_sink *memory[SETS];
    ais_run_header header[SETS]; /* with no more draws than are kept */
    int sets;                    /* 1 without a view */
    bool elsewhere, gone;
} keep;

static void let_go(keep *this) {
    for (int s = 0; s < SETS; s++) this->memory[s]->abandon(this->memory[s]);
    this->gone = true;
}

static ais_status keep_begin(ais_context *context, ais_sink *sink, const ais_run_header *header) {
    keep *this = (keep *)sink;
    int numbers = header->x.count + header->value.count + 8; /* about 8 columns of the sampler */
    double fit = AIS_MOST_JUDGED / header->chains / numbers;
    this->sets = header->value.count ? SETS : 1;
    ais_status status = AIS_OK;
    for (int s = 0; s < this->sets && status == AIS_OK; s++) {
        this->header[s] = *header;
        if (header->draws > fit) this->header[s].draws = (int)fmax(fit, 1);
        if (s == RAW) this->header[s].value.count = 0;
        status = this->memory[s]->begin(context, this->memory[s], &this->header[s]);
    }
    return status;
}

static ais_status write_sets(ais_context *context, keep *this, const ais_chunk *chunk) {
    ais_chunk raw = *chunk;
    raw.value = chunk->x;
    raw.value_logp = chunk->logp;
    ais_status status = this->memory[SHOWN]->write(context, this->memory[SHOWN], chunk);
    if (status == AIS_OK && this->sets > RAW) status = this->memory[RAW]->write(context, this->memory[RAW], &raw);
    return status;
}

static ais_status keep_write(ais_context *context, ais_sink *sink, const ais_chunk *chunk) {
    keep *this = (keep *)sink;
    if (this->gone) return AIS_OK;
    if (!chunk->warmup && chunk->first + chunk->count > this->header[SHOWN].draws) {
        let_go(this);
        return AIS_OK;
    }
    ais_status status = write_sets(context, this, chunk);
    if (status != AIS_NO_MEMORY || !this->elsewhere) return status;
    let_go(this);
    return AIS_OK;
}

static ais_status keep_end(ais_context *context, ais_sink *sink, const ais_run_footer *footer) {
    keep *this = (keep *)sink;
    ais_status status = AIS_OK;
    for (int s = 0; s < this->sets && !this->gone && status == AIS_OK; s++)
        status = this->memory[s]->end(context, this->memory[s], footer);
    return status;
}

static void keep_abandon(ais_sink *sink) { let_go((keep *)sink); }

static void keep_free(ais_sink *sink) {
    for (int s = 0; s < SETS; s++) ais_sink_free(((keep *)sink)->memory[s]);
    free(sink);
}

ais_status ais_keep_new(ais_context *context, bool elsewhere, ais_sink **sink) {
    keep *this = calloc(1, sizeof *this);
    if (!this) return ais_fail_memory(context, "a sink", sizeof *this);
    this->sink = (ais_sink){keep_begin, keep_write, keep_end, keep_abandon, keep_free, NULL};
    this->elsewhere = elsewhere;
    ais_status status = AIS_OK;
    for (int s = 0; s < SETS && status == AIS_OK; s++) status = ais_sink_memory(context, &this->memory[s]);
    if (status != AIS_OK)
        keep_free(&this->sink);
    else
        *sink = &this->sink;
    return status;
}

void ais_keep_take(ais_sink *sink, ais_draws **draws, ais_draws **unconstrained) {
    keep *this = (keep *)sink;
    *draws = this->gone ? NULL : ais_sink_memory_take(this->memory[SHOWN]);
    *unconstrained = this->gone || this->sets <= RAW ? NULL : ais_sink_memory_take(this->memory[RAW]);
}
