#include "draws/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/checksum.h"
#include "draws/columns.h"
#include "draws/sink.h"

static const char magic[8] = {'a', 'i', 's', 'd', 'r', 'a', 'w', '\n'};
enum { VERSION = 1 };

/* How the file begins. */
typedef struct head {
    char magic[8];
    uint32_t version, info, dim, chains;
    uint64_t token, sum; /* of all before */
} head;

/* Before every chunk. After it x (chains x count x dim), logp (chains x count), the fields of info (each chains x
 * count), and a checksum of all that. */
typedef struct entry {
    uint32_t warmup, count;
    uint64_t first, bytes; /* of what follows, the checksum included */
} entry;

struct ais_journal {
    char *path;
    int descriptor;
    ais_journal_shape shape;
    uint64_t token, bytes;
    int fields, field[AIS_INFO_COUNT];
    unsigned char *buffer;
    size_t room;
};

void ais_journal_close(ais_journal *this) {
    if (!this) return;
    if (this->descriptor >= 0) close(this->descriptor); /* and with it the lock */
    free(this->path);
    free(this->buffer);
    free(this);
}

uint64_t ais_journal_bytes(const ais_journal *this) { return this->bytes; }
uint64_t ais_journal_token(const ais_journal *this) { return this->token; }

/* ---- bytes --------------------------------------------------------------------------------------- */

static ais_status fail(ais_context *context, const ais_journal *this, const char *doing) {
    return ais_fail_file(context, doing, this->path, errno);
}

static ais_status damaged(ais_context *context, const ais_journal *this, const char *what) {
    return ais_fail(context, AIS_BAD_FORMAT, "%s cannot be continued: %s", this->path, what);
}

static ais_status put(ais_context *context, ais_journal *this, const void *data, size_t bytes) {
    const unsigned char *from = data;
    for (size_t done = 0; done < bytes;) {
        ssize_t now = pwrite(this->descriptor, from + done, bytes - done, (off_t)(this->bytes + done));
        if (now < 0 && errno == EINTR) continue;
        if (now == 0) errno = ENOSPC;
        if (now <= 0) return fail(context, this, "write");
        done += (size_t)now;
    }
    this->bytes += bytes;
    return AIS_OK;
}

/* False when the file ends before, or cannot be read. */
static bool get(const ais_journal *this, void *data, size_t bytes, uint64_t at) {
    unsigned char *to = data;
    for (size_t done = 0; done < bytes;) {
        ssize_t now = pread(this->descriptor, to + done, bytes - done, (off_t)(at + done));
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) return false;
        done += (size_t)now;
    }
    return true;
}

static ais_status make_room(ais_context *context, ais_journal *this, size_t bytes) {
    if (bytes <= this->room) return AIS_OK;
    free(this->buffer);
    this->buffer = malloc(bytes);
    this->room = this->buffer ? bytes : 0;
    return this->buffer ? AIS_OK : ais_fail_memory(context, "the journal of draws", bytes);
}

/* ---- chunks -------------------------------------------------------------------------------------- */

static size_t cells(const ais_journal *this, size_t count) { return (size_t)this->shape.chains * count; }

/* Of a chunk, without entry and checksum. */
static size_t payload(const ais_journal *this, size_t count) {
    return cells(this, count) * ((size_t)this->shape.dim + 1 + (size_t)this->fields) * sizeof(double);
}

ais_status ais_journal_add(ais_context *context, ais_journal *this, const ais_chunk *chunk) {
    size_t count = (size_t)chunk->count, n = cells(this, count), bytes = payload(this, count);
    entry begins = {.warmup = chunk->warmup,
                    .count = (uint32_t)count,
                    .first = (uint64_t)chunk->first,
                    .bytes = bytes + sizeof(uint64_t)};
    ais_status status = make_room(context, this, sizeof begins + bytes + sizeof(uint64_t));
    if (status != AIS_OK) return status;
    memcpy(this->buffer, &begins, sizeof begins);
    unsigned char *at = this->buffer + sizeof begins;
    memcpy(at, chunk->x, n * (size_t)this->shape.dim * sizeof(double));
    at += n * (size_t)this->shape.dim * sizeof(double);
    memcpy(at, chunk->logp, n * sizeof(double));
    at += n * sizeof(double);
    for (int f = 0; f < this->fields; f++)
        for (size_t k = 0; k < n; k++, at += sizeof(double)) {
            double value = ais_info_value(&chunk->info[k], this->field[f]);
            memcpy(at, &value, sizeof value);
        }
    uint64_t sum = ais_checksum_long(this->token, this->buffer, sizeof begins + bytes);
    memcpy(at, &sum, sizeof sum);
    return put(context, this, this->buffer, sizeof begins + bytes + sizeof sum);
}

ais_status ais_journal_sync(ais_context *context, ais_journal *this) {
    if (fdatasync(this->descriptor) == 0 || errno == EINVAL || errno == EROFS) return AIS_OK;
    return fail(context, this, "write");
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* The chunk at this->bytes, which must end at `end` or before; what it takes is added to this->bytes. info: room that
 * is made for it. */
static ais_status next(ais_context *context, ais_journal *this, uint64_t end, ais_info **info, ais_chunk *chunk) {
    entry begins;
    uint64_t left = end - this->bytes, sum;
    if (left < sizeof begins || !get(this, &begins, sizeof begins, this->bytes))
        return damaged(context, this, "it is cut short");
    left -= sizeof begins;
    /* The number of draws is trusted no further than the file reaches. */
    if (begins.count == 0 || begins.count > left / ((uint64_t)this->shape.chains * sizeof(double)) ||
        begins.first > INT32_MAX || begins.bytes != payload(this, begins.count) + sizeof sum || begins.bytes > left)
        return damaged(context, this, "it is damaged or cut short");
    size_t count = begins.count, n = cells(this, count), bytes = payload(this, count);
    ais_status status = make_room(context, this, sizeof begins + bytes + sizeof sum);
    if (status != AIS_OK) return status;
    if (!get(this, this->buffer, sizeof begins + bytes + sizeof sum, this->bytes))
        return damaged(context, this, "it is cut short");
    memcpy(&sum, this->buffer + sizeof begins + bytes, sizeof sum);
    if (sum != ais_checksum_long(this->token, this->buffer, sizeof begins + bytes))
        return damaged(context, this, "a checksum is wrong, so it is damaged");
    free(*info);
    *info = calloc(n, sizeof **info);
    if (!*info) return ais_fail_memory(context, "the journal of draws", n * sizeof **info);
    const double *x = (const double *)(const void *)(this->buffer + sizeof begins);
    const double *logp = x + n * (size_t)this->shape.dim, *column = logp + n;
    for (int f = 0; f < this->fields; f++, column += n)
        for (size_t k = 0; k < n; k++) ais_info_set(&(*info)[k], this->field[f], column[k]);
    *chunk = (ais_chunk){.warmup = begins.warmup != 0,
                         .first = (int)begins.first,
                         .count = (int)count,
                         .x = x,
                         .logp = logp,
                         .info = *info};
    this->bytes += sizeof begins + bytes + sizeof sum;
    return AIS_OK;
}

static ais_status replay(ais_context *context, ais_journal *this, uint64_t end, ais_journal_visit *visit, void *data) {
    ais_info *info = NULL;
    ais_status status = AIS_OK;
    while (this->bytes < end && status == AIS_OK) {
        ais_chunk chunk;
        status = next(context, this, end, &info, &chunk);
        if (status == AIS_OK) status = visit(context, data, &chunk);
    }
    free(info);
    return status;
}

/* ---- opening ------------------------------------------------------------------------------------- */

static ais_status open_file(ais_context *context, const char *path, const ais_journal_shape *shape, int flags,
                            ais_journal **out) {
    ais_journal *this = calloc(1, sizeof *this);
    *out = this;
    if (!this) return ais_fail_memory(context, "the journal of draws", sizeof *this);
    this->descriptor = -1;
    this->shape = *shape;
    this->fields = ais_info_fields(shape->info, this->field);
    this->path = strdup(path);
    if (!this->path) return ais_fail_memory(context, "the journal of draws", strlen(path));
    this->descriptor = open(path, O_RDWR | O_CLOEXEC | flags, 0666);
    if (this->descriptor < 0) return fail(context, this, "open");
    if (flock(this->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return ais_fail(context, AIS_FILE_ERROR,
                        "%s is being written by another run: wait until it ends, or choose another checkpoint", path);
    return AIS_OK;
}

static uint64_t new_token(const void *somewhere) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    const uint64_t parts[] = {(uint64_t)time.tv_sec, (uint64_t)time.tv_nsec, (uint64_t)getpid(),
                              (uint64_t)(uintptr_t)somewhere};
    return ais_checksum(parts, sizeof parts);
}

static head head_of(const ais_journal *this) {
    head begins = {.version = VERSION,
                   .info = this->shape.info,
                   .dim = (uint32_t)this->shape.dim,
                   .chains = (uint32_t)this->shape.chains,
                   .token = this->token};
    memcpy(begins.magic, magic, sizeof magic);
    begins.sum = ais_checksum(&begins, offsetof(head, sum));
    return begins;
}

ais_status ais_journal_begin(ais_context *context, const char *path, const ais_journal_shape *shape,
                             ais_journal **journal) {
    ais_journal *this;
    ais_status status = open_file(context, path, shape, O_CREAT, &this);
    if (status == AIS_OK && ftruncate(this->descriptor, 0) != 0) status = fail(context, this, "empty");
    if (status == AIS_OK) {
        this->token = new_token(this);
        const head begins = head_of(this);
        status = put(context, this, &begins, sizeof begins);
    }
    if (status != AIS_OK) {
        ais_journal_close(this);
        this = NULL;
    }
    *journal = this;
    return status;
}

ais_status ais_journal_resume(ais_context *context, const char *path, const ais_journal_shape *shape, uint64_t token,
                              uint64_t bytes, ais_journal_visit *visit, void *data, ais_journal **journal) {
    ais_journal *this;
    head there;
    ais_status status = open_file(context, path, shape, 0, &this);
    struct stat about;
    /* What the checkpoint says is trusted no further than the file reaches. */
    if (status == AIS_OK && (fstat(this->descriptor, &about) != 0 || (uint64_t)about.st_size < bytes))
        status = damaged(context, this, "it is cut short");
    if (status == AIS_OK) {
        this->token = token;
        this->bytes = sizeof there;
        const head wanted = head_of(this);
        if (bytes < sizeof there || !get(this, &there, sizeof there, 0) || memcmp(&there, &wanted, sizeof there) != 0)
            status = damaged(context, this, "it does not belong to its checkpoint");
    }
    if (status == AIS_OK) status = replay(context, this, bytes, visit, data);
    if (status == AIS_OK && ftruncate(this->descriptor, (off_t)bytes) != 0) status = fail(context, this, "shorten");
    if (status != AIS_OK) {
        ais_journal_close(this);
        this = NULL;
    }
    *journal = this;
    return status;
}
