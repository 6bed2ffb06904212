#include "checkpoint/checkpoint.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/csv.h"
#include "file/kernel_file.h"

static const char magic[8] = {'a', 'i', 's', 't', 'r', 'a', 'n', '\n'};
enum { VERSION = 1, MOST_SECTIONS = 8, MOST_NAME = 64, CHECKSUM = 8, SECTION = 1, FIELD = 2 };

/* Seconds between two writings, and the share of the time that writing may take, by default. */
static const double usual_interval = 1, largest_share = 0.02;

typedef struct section {
    const char *name;
    ais_exchange *exchange;
    void *data;
} section;

struct ais_checkpoint {
    const char *job; /* what messages call it */
    char *path, *identity;
    bool any;              /* of whatever identity */
    double interval, last; /* seconds; last < 0: nothing was written yet */
    bool chosen;           /* the interval: it may grow */
    section open[MOST_SECTIONS];
    int depth;
    char *file; /* what is resumed from, or NULL */
    size_t next, end;
    bool reading, out_of_memory;
    char refused[MOST_NAME + 1]; /* the field that did not fit; empty: all did */
    char *bytes;                 /* what is written */
    size_t used, room;
};

/* What stands before every section and field. */
typedef struct head {
    uint32_t kind, name;
    uint64_t bytes;
} head;

/* ---- writing ------------------------------------------------------------------------------------- */

static void append(ais_checkpoint *this, const void *data, size_t bytes) {
    if (this->out_of_memory || bytes == 0) return;
    if (this->room - this->used < bytes) {
        size_t room = 2 * this->room + bytes + 4096;
        char *larger = realloc(this->bytes, room);
        if (!larger) {
            this->out_of_memory = true;
            return;
        }
        this->bytes = larger;
        this->room = room;
    }
    memcpy(this->bytes + this->used, data, bytes);
    this->used += bytes;
}

static void append_block(ais_checkpoint *this, uint32_t kind, const char *name, const void *data, size_t bytes) {
    head block = {.kind = kind, .name = (uint32_t)strlen(name), .bytes = bytes};
    append(this, &block, sizeof block);
    append(this, name, block.name);
    append(this, data, bytes);
}

static bool write_file(const char *part, const char *path, const char *bytes, size_t count) {
    FILE *file = fopen(part, "wb");
    bool written = file && fwrite(bytes, 1, count, file) == count;
    /* A machine that goes down must not leave a name without its bytes. */
    written = written && fflush(file) == 0 && (fdatasync(fileno(file)) == 0 || errno == EINVAL || errno == EROFS);
    if (file) written = fclose(file) == 0 && written;
    return written && rename(part, path) == 0;
}

static ais_status write_all(ais_context *context, ais_checkpoint *this) {
    uint32_t numbers[2] = {VERSION, (uint32_t)strlen(this->identity)};
    this->used = 0;
    append(this, magic, sizeof magic);
    append(this, numbers, sizeof numbers);
    append(this, this->identity, numbers[1]);
    for (int i = 0; i < this->depth; i++) {
        append_block(this, SECTION, this->open[i].name, NULL, 0);
        this->open[i].exchange(this, this->open[i].data);
    }
    uint64_t sum = ais_checksum(this->bytes, this->used);
    append(this, &sum, sizeof sum);
    size_t length = strlen(this->path) + sizeof ".part";
    char *part = malloc(length);
    if (!part || this->out_of_memory) {
        free(part);
        return ais_fail_memory(context, "a checkpoint", this->used);
    }
    snprintf(part, length, "%s.part", this->path);
    ais_status status = AIS_OK;
    if (!write_file(part, this->path, this->bytes, this->used)) {
        status = ais_fail(context, AIS_FILE_ERROR, "cannot write %s: %s", this->path, strerror(errno));
        unlink(part);
    }
    free(part);
    return status;
}

/* Every section of a file that was read must have an owner. */
static ais_status end_reading(ais_context *context, ais_checkpoint *this) {
    if (this->file && this->next < this->end)
        return ais_fail(context, AIS_BAD_FORMAT, "%s does not fit this %s: a section is left over", this->path,
                        this->job);
    free(this->file);
    this->file = NULL;
    return AIS_OK;
}

bool ais_checkpoint_due(const ais_checkpoint *this) {
    if (!this || isinf(this->interval)) return false;
    return this->last < 0 || ais_now() - this->last >= this->interval;
}

ais_status ais_checkpoint_write(ais_context *context, ais_checkpoint *this, double spent) {
    if (!this) return AIS_OK;
    double began = ais_now();
    ais_status status = end_reading(context, this);
    if (status == AIS_OK) status = write_all(context, this);
    this->last = ais_now();
    if (this->chosen) this->interval = fmax(usual_interval, (this->last - began + spent) / largest_share);
    return status;
}

ais_status ais_checkpoint_offer(ais_context *context, ais_checkpoint *this) {
    if (!this) return AIS_OK;
    ais_status status = end_reading(context, this);
    return status == AIS_OK && ais_checkpoint_due(this) ? ais_checkpoint_write(context, this, 0) : status;
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* The next block when it is of this kind and name; its data, or NULL. */
static const char *peek(const ais_checkpoint *this, uint32_t kind, const char *name, size_t *bytes) {
    head block;
    size_t left = this->end - this->next, length = strlen(name);
    if (!this->file || left < sizeof block) return NULL;
    memcpy(&block, this->file + this->next, sizeof block);
    left -= sizeof block;
    if (block.kind != kind || block.name != length || length > left || block.bytes > left - length) return NULL;
    const char *at = this->file + this->next + sizeof block;
    if (memcmp(at, name, length) != 0) return NULL;
    *bytes = (size_t)block.bytes;
    return at + length;
}

static const char *take(ais_checkpoint *this, uint32_t kind, const char *name, size_t *bytes) {
    const char *data = peek(this, kind, name, bytes);
    if (data) this->next = (size_t)(data - this->file) + *bytes;
    return data;
}

void ais_checkpoint_refuse(ais_checkpoint *this, const char *field) {
    if (!this->refused[0]) snprintf(this->refused, sizeof this->refused, "%s", field);
}

void ais_checkpoint_no_memory(ais_checkpoint *this) { this->out_of_memory = true; }

bool ais_checkpoint_reads(const ais_checkpoint *this) { return this->reading; }

bool ais_checkpoint_bytes(ais_checkpoint *this, const char *field, void *data, size_t bytes) {
    if (!this->reading) {
        append_block(this, FIELD, field, data, bytes);
        return true;
    }
    size_t there = 0;
    const char *from = this->refused[0] ? NULL : take(this, FIELD, field, &there);
    if (!from || there != bytes) {
        ais_checkpoint_refuse(this, field);
        return false;
    }
    if (bytes) memcpy(data, from, bytes);
    return true;
}

bool ais_checkpoint_numbers(ais_checkpoint *this, const char *field, double *data, size_t count) {
    bool sound = ais_checkpoint_bytes(this, field, data, count * sizeof *data);
    for (size_t i = 0; i < count && sound && this->reading; i++) sound = isfinite(data[i]);
    if (!sound) ais_checkpoint_refuse(this, field);
    return sound;
}

bool ais_checkpoint_integer(ais_checkpoint *this, const char *field, int *value, int least, int most) {
    int there = *value;
    if (!ais_checkpoint_bytes(this, field, &there, sizeof there)) return false;
    if (this->reading && (there < least || there > most)) {
        ais_checkpoint_refuse(this, field);
        return false;
    }
    *value = there;
    return true;
}

bool ais_checkpoint_flag(ais_checkpoint *this, const char *field, bool *value) {
    int there = *value;
    if (!ais_checkpoint_integer(this, field, &there, 0, 1)) return false;
    *value = there;
    return true;
}

void ais_checkpoint_count(ais_checkpoint *this, const char *field, long *value, int64_t most) {
    int64_t there = *value;
    if (!ais_checkpoint_bytes(this, field, &there, sizeof there)) return;
    if (this->reading && (there < 0 || there > most))
        ais_checkpoint_refuse(this, field);
    else
        *value = there;
}

void ais_checkpoint_memory(ais_checkpoint *this, const char *field, void **data, size_t *bytes) {
    if (!this->reading) {
        append_block(this, FIELD, field, *data, *bytes);
        return;
    }
    *data = NULL;
    const char *from = this->refused[0] ? NULL : take(this, FIELD, field, bytes);
    if (from && *bytes) *data = malloc(*bytes);
    if (*data)
        memcpy(*data, from, *bytes);
    else if (from && *bytes)
        this->out_of_memory = true;
    else if (!from)
        ais_checkpoint_refuse(this, field);
    if (!*data) *bytes = 0;
}

void ais_checkpoint_kernel(ais_checkpoint *this, const char *field, ais_kernel **kernel) {
    void *bytes = NULL;
    size_t count = 0;
    if (!this->reading && *kernel && !(bytes = ais_kernel_encode(*kernel, NULL, &count))) this->out_of_memory = true;
    ais_checkpoint_memory(this, field, &bytes, &count);
    if (this->reading) {
        ais_context context = {0};
        *kernel = NULL;
        ais_status status = bytes ? ais_kernel_decode(&context, field, bytes, count, NULL, kernel) : AIS_OK;
        if (status == AIS_NO_MEMORY) this->out_of_memory = true;
        if (status != AIS_OK) ais_checkpoint_refuse(this, field);
    }
    free(bytes);
}

ais_status ais_checkpoint_enter(ais_context *context, ais_checkpoint *this, const char *name, ais_exchange *exchange,
                                void *data, bool *resumed) {
    size_t bytes;
    *resumed = false;
    if (!this) return AIS_OK;
    if (this->depth == MOST_SECTIONS)
        return ais_fail(context, AIS_BAD_ARGUMENT, "a checkpoint has room for %d sections", MOST_SECTIONS);
    this->open[this->depth++] = (section){.name = name, .exchange = exchange, .data = data};
    if (!take(this, SECTION, name, &bytes)) return AIS_OK;
    this->reading = *resumed = true;
    exchange(this, data);
    this->reading = false;
    if (this->out_of_memory) return ais_fail_memory(context, "a checkpoint", this->end);
    if (this->refused[0])
        return ais_fail(
            context, AIS_BAD_FORMAT,
            "%s does not fit this %s: field %s of section %s is missing, has another size or an impossible value",
            this->path, this->job, this->refused, name);
    return AIS_OK;
}

void ais_checkpoint_leave(ais_checkpoint *this) {
    if (this && this->depth > 0) this->depth--;
}

/* ---- opening ------------------------------------------------------------------------------------- */

static ais_status damaged(ais_context *context, const ais_checkpoint *this, const char *what) {
    return ais_fail(context, AIS_BAD_FORMAT, "%s cannot be resumed: %s", this->path, what);
}

/* The first line in which two identities differ. */
static ais_status foreign(ais_context *context, const ais_checkpoint *this, const char *theirs, const char *ours) {
    const char *end = strchr(ours, '\n'), *their_end = strchr(theirs, '\n');
    while (end && their_end && end - ours == their_end - theirs && memcmp(ours, theirs, (size_t)(end - ours)) == 0) {
        ours = end + 1;
        theirs = their_end + 1;
        end = strchr(ours, '\n');
        their_end = strchr(theirs, '\n');
    }
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "%.300s belongs to another %s: there it is '%.*s', here '%.*s'; give the same target, options and "
                    "seed as then, or do not resume",
                    this->path, this->job, their_end ? (int)(their_end - theirs) : 0, theirs,
                    end ? (int)(end - ours) : 0, ours);
}

static ais_status check_file(ais_context *context, ais_checkpoint *this, size_t count) {
    uint32_t numbers[2];
    uint64_t sum;
    size_t fixed = sizeof magic + sizeof numbers;
    if (count < sizeof magic || memcmp(this->file, magic, sizeof magic) != 0)
        return damaged(context, this, "it does not begin like a checkpoint");
    if (count < fixed + CHECKSUM) return damaged(context, this, "it is cut short");
    memcpy(numbers, this->file + sizeof magic, sizeof numbers);
    if (numbers[0] != VERSION)
        return ais_fail(context, AIS_BAD_FORMAT, "%s has version %u of the checkpoint format; this library reads %d",
                        this->path, numbers[0], VERSION);
    memcpy(&sum, this->file + count - CHECKSUM, CHECKSUM);
    if (numbers[1] > count - fixed - CHECKSUM || sum != ais_checksum(this->file, count - CHECKSUM))
        return damaged(context, this, "its checksum is wrong, so it is damaged or cut short");
    this->next = fixed + numbers[1];
    this->end = count - CHECKSUM;
    if (this->any) return AIS_OK;
    if (numbers[1] == strlen(this->identity) && memcmp(this->file + fixed, this->identity, numbers[1]) == 0)
        return AIS_OK;
    char *theirs = strndup(this->file + fixed, numbers[1]);
    if (!theirs) return ais_fail_memory(context, "a checkpoint", numbers[1]);
    ais_status status = foreign(context, this, theirs, this->identity);
    free(theirs);
    return status;
}

ais_status ais_checkpoint_open(ais_context *context, const char *job, const char *path, const char *identity,
                               bool resume, double seconds, ais_checkpoint **checkpoint) {
    *checkpoint = NULL;
    if (!path) return AIS_OK;
    ais_checkpoint *this = calloc(1, sizeof *this);
    if (!this) return ais_fail_memory(context, "a checkpoint", sizeof *this);
    this->job = job;
    this->chosen = seconds == 0;
    this->interval = this->chosen ? usual_interval : seconds;
    this->last = -1;
    this->path = strdup(path);
    this->identity = strdup(identity ? identity : "");
    this->any = !identity;
    ais_status status = AIS_OK;
    size_t count = 0;
    if (!this->path || !this->identity) status = ais_fail_memory(context, "a checkpoint", strlen(path));
    if (status == AIS_OK && resume && access(path, F_OK) == 0)
        status = ais_file_read_like(context, path, magic, sizeof magic, &this->file, &count);
    if (status == AIS_OK && this->file) status = check_file(context, this, count);
    if (this->file) this->last = ais_now(); /* what was read need not be written again at once */
    if (status == AIS_OK)
        *checkpoint = this;
    else
        ais_checkpoint_close(this);
    return status;
}

bool ais_checkpoint_found(const ais_checkpoint *this) { return this && this->file; }

void ais_checkpoint_close(ais_checkpoint *this) {
    if (!this) return;
    free(this->path);
    free(this->identity);
    free(this->file);
    free(this->bytes);
    free(this);
}
