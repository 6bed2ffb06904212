#include "run/record.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/memory_file.h"
#include "base/ranks.h"
#include "file/classical_json.h"
#include "file/json_text.h"
#include "file/kernel_file.h"
#include "learned/ladder.h"
#include "learned/latent.h"
#include "learned/mixture.h"
#include "learned/nice.h"
#include "trainer/identity.h"
#include "trainer/training.h"

/* ---- kernels of any kind -------------------------------------------------------------------------- */

enum { NO_KERNEL, FILE_KERNEL, CLASSICAL, CYCLE, MOST_DEPTH = 8 };

static bool has_file(const ais_kernel *kernel) {
    return ais_as_learned(kernel) || ais_as_latent(kernel) || ais_as_ladder(kernel) || ais_as_mixture(kernel) ||
           ais_as_nice(kernel);
}

static char *classical_text(const ais_kernel *kernel) {
    json_t *json = ais_classical_to_json(kernel);
    char *text = ais_json_text(json);
    json_decref(json);
    return text;
}

static int kind_of(const ais_kernel *kernel) {
    int parts;
    if (!kernel) return NO_KERNEL;
    if (ais_cycle_parts(kernel, &parts)) return CYCLE;
    if (has_file(kernel)) return FILE_KERNEL;
    return ais_is_classical(kernel) ? CLASSICAL : NO_KERNEL;
}

static void exchange_kernel(ais_checkpoint *checkpoint, int depth, ais_kernel **kernel);

static void exchange_classical(ais_checkpoint *checkpoint, ais_kernel **kernel) {
    bool reads = ais_checkpoint_reads(checkpoint);
    char *text = reads ? NULL : classical_text(*kernel);
    if (!reads && !text) ais_checkpoint_no_memory(checkpoint);
    size_t bytes = text ? strlen(text) : 0;
    void *data = text;
    ais_checkpoint_memory(checkpoint, "kernel.classical", &data, &bytes);
    if (reads) {
        ais_context context = {0};
        json_error_t error;
        json_t *json = data ? json_loadb(data, bytes, 0, &error) : NULL;
        ais_status status = json ? ais_classical_from_json(&context, json, kernel) : AIS_BAD_FORMAT;
        if (status == AIS_NO_MEMORY || (data && !json && json_error_code(&error) == json_error_out_of_memory))
            ais_checkpoint_no_memory(checkpoint);
        if (status != AIS_OK) ais_checkpoint_refuse(checkpoint, "kernel.classical");
        json_decref(json);
    }
    free(data);
}

static void exchange_cycle(ais_checkpoint *checkpoint, int depth, ais_kernel **kernel) {
    ais_kernel *part[AIS_MAX_PARTS] = {0};
    bool reads = ais_checkpoint_reads(checkpoint), whole = true;
    int count = 0, made = 0;
    ais_kernel *const *there = reads ? NULL : ais_cycle_parts(*kernel, &count);
    if (!ais_checkpoint_integer(checkpoint, "kernel.parts", &count, 1, AIS_MAX_PARTS)) return;
    for (; made < count && whole; made++) {
        if (there) part[made] = there[made];
        exchange_kernel(checkpoint, depth + 1, &part[made]);
        whole = part[made] != NULL;
    }
    if (!reads) return;
    ais_context context = {0};
    if (whole && ais_kernel_cycle(&context, part, count, kernel) == AIS_OK) return;
    if (context.status == AIS_NO_MEMORY) ais_checkpoint_no_memory(checkpoint);
    for (int k = 0; k < made && !whole; k++) ais_kernel_free(part[k]);
    ais_checkpoint_refuse(checkpoint, "kernel.parts");
}

static void exchange_kernel(ais_checkpoint *checkpoint, int depth, ais_kernel **kernel) {
    int kind = ais_checkpoint_reads(checkpoint) ? NO_KERNEL : kind_of(*kernel);
    if (ais_checkpoint_reads(checkpoint)) *kernel = NULL;
    if (!ais_checkpoint_integer(checkpoint, "kernel.kind", &kind, NO_KERNEL, depth < MOST_DEPTH ? CYCLE : CLASSICAL))
        return;
    if (kind == FILE_KERNEL) ais_checkpoint_kernel(checkpoint, "kernel", kernel);
    if (kind == CLASSICAL) exchange_classical(checkpoint, kernel);
    if (kind == CYCLE) exchange_cycle(checkpoint, depth, kernel);
}

/* 0 when memory is out, which is noted, or the kernel cannot be identified by bytes. */
static uint64_t sum_of_kernel(const ais_kernel *kernel, bool *failed) {
    int parts;
    size_t count = 0;
    ais_kernel *const *part = ais_cycle_parts(kernel, &parts);
    uint64_t sum = 0;
    for (int k = 0; part && k < parts; k++) {
        uint64_t of = sum_of_kernel(part[k], failed);
        sum = ais_checksum_long(sum, &of, sizeof of);
    }
    if (part) return sum;
    void *bytes = has_file(kernel) ? (void *)ais_kernel_encode(kernel, NULL, &count) : (void *)classical_text(kernel);
    if (bytes && !has_file(kernel)) count = strlen(bytes);
    if (bytes) sum = ais_checksum_long(0, bytes, count);
    if (!bytes && (has_file(kernel) || ais_is_classical(kernel))) *failed = true;
    free(bytes);
    return sum;
}

/* ---- what a job is --------------------------------------------------------------------------------- */

/* Threads, ranks and the interval between checkpoints are not part of it. */
static void write_identity(FILE *file, const ais_target *target, const ais_run_options *options, bool *failed) {
    const ais_kernel *kernel = options->before.kernel;
    ais_identity_target(file, target, options->seed);
    fprintf(file, "chains %d\nwarmup %d\ndraws %d\nthin %d\nsave warmup %d\n", options->chains, options->warmup,
            options->draws, options->thin, options->save_warmup);
    fprintf(file, "effective %.17g\nevaluations %ld\nseconds %.17g\n", options->effective, options->evaluations,
            options->seconds);
    if (kernel)
        fprintf(file, "kernel %s %016llx\nusual warmup %d\n", ais_kernel_name(kernel),
                (unsigned long long)sum_of_kernel(kernel, failed), options->before.warmup);
    else
        ais_identity_learning(file, options->learning ? options->learning : &(ais_train_options){0});
    if (options->start)
        fprintf(file, "start %016llx\n",
                (unsigned long long)ais_checksum(options->start, (size_t)options->chains * (size_t)target->dim *
                                                                     sizeof *options->start));
    if (options->identity) fprintf(file, "%s\n", options->identity);
}

static char *identity_of(const ais_target *target, const ais_run_options *options) {
    ais_memory_file text;
    if (ais_memory_open(&text)) write_identity(text.file, target, options, &text.failed);
    return ais_memory_close(&text, NULL);
}

/* ---- opening ------------------------------------------------------------------------------------- */

static ais_status remove_old(ais_context *context, const char *path) {
    if (unlink(path) == 0 || errno == ENOENT) return AIS_OK;
    return ais_fail(context, AIS_FILE_ERROR, "cannot remove %s: %s", path, strerror(errno));
}

static ais_status open_record(ais_context *context, const ais_target *target, const ais_run_options *options,
                              ais_job_record *this) {
    const char *path = options->checkpoint;
    bool on = options->resume || options->extend > 0, writes = ais_ranks_lead(options->ranks);
    size_t bytes = strlen(path) + sizeof ".journal";
    if (options->extend > 0 && access(path, F_OK) != 0)
        return ais_fail(context, AIS_BAD_ARGUMENT, "there is nothing to extend: no %s", path);
    if (!on && writes) {
        ais_status status = remove_old(context, path);
        if (status != AIS_OK) return status;
    }
    char *identity = identity_of(target, options);
    this->journal = malloc(bytes);
    ais_status status = identity && this->journal ? AIS_OK : ais_fail_memory(context, "a checkpoint", bytes);
    if (status == AIS_OK) {
        snprintf(this->journal, bytes, "%s.journal", path);
        status = ais_checkpoint_open(context, "run", path, identity, on,
                                     writes ? fmax(options->checkpoint_seconds, 0) : INFINITY, &this->checkpoint);
    }
    free(identity);
    this->found = ais_checkpoint_found(this->checkpoint);
    return status;
}

ais_status ais_job_open(ais_context *context, const ais_target *target, const ais_run_options *options,
                        ais_job_record *this) {
    *this = (ais_job_record){.dim = target->dim, .began = ais_now()};
    if (!options->checkpoint) return AIS_OK;
    return ais_ranks_agree(context, options->ranks, open_record(context, target, options, this));
}

/* ---- what was learned ------------------------------------------------------------------------------ */

static void exchange(ais_checkpoint *checkpoint, void *data) {
    ais_job_record *this = data;
    ais_began_exchange(checkpoint, &this->began);
    exchange_kernel(checkpoint, 0, &this->kernel);
    ais_training_exchange_whole(checkpoint, this->dim, &this->training);
}

static ais_status enter(ais_context *context, ais_job_record *this) {
    bool resumed;
    ais_status status = ais_checkpoint_enter(context, this->checkpoint, "job", exchange, this, &resumed);
    if (status == AIS_OK && this->found && !resumed)
        status = ais_fail(context, AIS_BAD_FORMAT, "it is not the checkpoint of a run");
    return status;
}

ais_status ais_job_recall(ais_context *context, ais_job_record *this, const ais_target *target) {
    if (!this->found) return AIS_OK;
    this->owns = true;
    ais_status status = enter(context, this);
    if (status == AIS_OK && this->kernel) status = ais_kernel_fits(context, this->kernel, target);
    return status;
}

ais_status ais_job_note(ais_context *context, ais_job_record *this, const ais_kernel *kernel,
                        const ais_training *training, double began) {
    if (!this->checkpoint || this->found) return AIS_OK;
    this->began = began;
    this->kernel = (ais_kernel *)kernel; /* which is only written */
    this->training = (ais_training *)training;
    return enter(context, this);
}

void ais_job_forget(ais_job_record *this) {
    ais_checkpoint_close(this->checkpoint);
    this->checkpoint = NULL;
}

void ais_job_close(ais_job_record *this) {
    ais_job_forget(this);
    free(this->journal);
    if (this->owns) ais_kernel_free(this->kernel);
    if (this->owns) ais_training_free(this->training);
    *this = (ais_job_record){0};
}

ais_status ais_run_recall_learned(ais_context *context, const char *checkpoint, const ais_target *target,
                                  ais_kernel **kernel, ais_training **training) {
    ais_job_record this = {.dim = target->dim, .began = ais_now()};
    *kernel = NULL;
    *training = NULL;
    ais_status status = ais_checkpoint_open(context, "run", checkpoint, NULL, true, INFINITY, &this.checkpoint);
    this.found = ais_checkpoint_found(this.checkpoint);
    if (status == AIS_OK) status = ais_job_recall(context, &this, target);
    if (status == AIS_OK) {
        *kernel = this.kernel;
        *training = this.training;
        this.owns = false;
    }
    ais_job_close(&this);
    return status;
}
