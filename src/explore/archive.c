#include "explore/archive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ais_archive_begin(ais_archive *archive, int dim, bool gradients, size_t most) {
    *archive = (ais_archive){.dim = dim, .room = most};
    size_t rows = most * (size_t)dim; /* untouched pages cost nothing */
    archive->x = malloc(rows * sizeof(double));
    archive->logp = malloc(most * sizeof(double));
    archive->from = malloc(most * sizeof(int));
    archive->gradient = gradients ? malloc(rows * sizeof(double)) : NULL;
    if (!archive->x || !archive->logp || !archive->from || (gradients && !archive->gradient)) ais_archive_free(archive);
}

void ais_archive_free(ais_archive *archive) {
    free(archive->x);
    free(archive->logp);
    free(archive->from);
    free(archive->gradient);
    *archive = (ais_archive){.dim = archive->dim};
}

static void move(ais_archive *archive, size_t from, size_t to) {
    size_t dim = (size_t)archive->dim;
    if (from == to) return;
    memcpy(archive->x + to * dim, archive->x + from * dim, dim * sizeof(double));
    if (archive->gradient) memcpy(archive->gradient + to * dim, archive->gradient + from * dim, dim * sizeof(double));
    archive->logp[to] = archive->logp[from];
    archive->from[to] = archive->from[from];
}

static void forget(ais_archive *archive, size_t c) {
    if (archive->from[c] >= 0) archive->drawn[archive->from[c]] -= 1;
}

/* Every second point of the oldest half goes. */
static void thin_out(ais_archive *archive) {
    size_t half = archive->count / 2, kept = 0;
    for (size_t c = 0; c < archive->count; c++) {
        if (c < half && c % 2)
            forget(archive, c);
        else
            move(archive, c, kept++);
    }
    archive->count = kept;
}

int ais_archive_source(ais_archive *archive, const ais_source *source) {
    if (archive->sources == AIS_MOST_SOURCES) {
        size_t kept = 0;
        for (size_t c = 0; c < archive->count; c++) {
            if (archive->from[c] == 0) continue;
            archive->from[c] -= archive->from[c] > 0;
            move(archive, c, kept++);
        }
        archive->count = kept;
        archive->sources--;
        memmove(archive->source, archive->source + 1, (AIS_MOST_SOURCES - 1) * sizeof *archive->source);
        memmove(archive->drawn, archive->drawn + 1, (AIS_MOST_SOURCES - 1) * sizeof *archive->drawn);
    }
    archive->source[archive->sources] = *source;
    archive->drawn[archive->sources] = 0;
    return archive->sources++;
}

ais_status ais_archive_add(ais_context *context, ais_archive *archive, int from, size_t n, const double *x,
                           const double *logp, const double *gradient) {
    size_t dim = (size_t)archive->dim;
    if (!archive->room) return ais_fail_memory(context, "the archive of evaluated points", n * dim * sizeof(double));
    for (size_t c = 0; c < n; c++) {
        if (archive->count == archive->room) thin_out(archive);
        size_t at = archive->count++;
        memcpy(archive->x + at * dim, x + c * dim, dim * sizeof *x);
        archive->logp[at] = logp[c];
        archive->from[at] = from;
        if (archive->gradient && gradient)
            memcpy(archive->gradient + at * dim, gradient + c * dim, dim * sizeof *gradient);
        for (size_t i = 0; i < dim && archive->gradient && !gradient; i++) archive->gradient[at * dim + i] = NAN;
        if (from >= 0) archive->drawn[from] += 1;
    }
    return AIS_OK;
}

bool ais_archive_has_gradient(const ais_archive *archive, size_t c) {
    const double *gradient = archive->gradient + c * (size_t)archive->dim;
    bool whole = archive->logp[c] > -INFINITY;
    for (int i = 0; i < archive->dim && whole; i++) whole = isfinite(gradient[i]);
    return whole;
}

/* Where the points that were read came from; false when there is no such source. */
static bool count_drawn(ais_archive *archive) {
    for (int s = 0; s < AIS_MOST_SOURCES; s++) archive->drawn[s] = 0;
    for (size_t c = 0; c < archive->count; c++) {
        int from = archive->from[c];
        if (from < AIS_FROM_PATH || from >= archive->sources) return false;
        if (from >= 0) archive->drawn[from] += 1;
    }
    return true;
}

void ais_archive_exchange(ais_checkpoint *checkpoint, ais_archive *archive) {
    size_t count = archive->count, dim = (size_t)archive->dim;
    ais_checkpoint_bytes(checkpoint, "archive.count", &count, sizeof count);
    if (count > archive->room) {
        ais_checkpoint_refuse(checkpoint, "archive.count");
        return;
    }
    bool whole = ais_checkpoint_numbers(checkpoint, "archive.x", archive->x, count * dim) &&
                 ais_checkpoint_bytes(checkpoint, "archive.logp", archive->logp, count * sizeof(double)) &&
                 ais_checkpoint_bytes(checkpoint, "archive.from", archive->from, count * sizeof(int));
    if (whole && archive->gradient)
        whole = ais_checkpoint_bytes(checkpoint, "archive.gradient", archive->gradient, count * dim * sizeof(double));
    if (!whole || !ais_checkpoint_reads(checkpoint)) return;
    archive->count = count;
    for (size_t c = 0; c < count; c++)
        if (!(archive->logp[c] < INFINITY)) ais_checkpoint_refuse(checkpoint, "archive.logp");
    if (!count_drawn(archive)) ais_checkpoint_refuse(checkpoint, "archive.from");
}

ais_status ais_archive_weigh(ais_context *context, const ais_archive *archive, ais_pool *pool, double *weight) {
    size_t n = archive->count;
    double total = 0, *logq = malloc((n ? n : 1) * sizeof *logq);
    if (!logq) return ais_fail_memory(context, "importance weights", n * sizeof *logq);
    for (int s = 0; s < archive->sources; s++) total += archive->drawn[s];
    for (size_t c = 0; c < n; c++) weight[c] = -INFINITY; /* the log density of the mixture, for now */
    ais_status status = AIS_OK;
    for (int s = 0; s < archive->sources && status == AIS_OK; s++) {
        if (!(archive->drawn[s] > 0)) continue;
        double share = log(archive->drawn[s] / total);
        status = ais_source_logq(context, &archive->source[s], archive->dim, pool, n, archive->x, logq);
        for (size_t c = 0; c < n && status == AIS_OK; c++) {
            double a = weight[c], b = share + logq[c], top = fmax(a, b);
            weight[c] = top == -INFINITY ? top : top + log(exp(a - top) + exp(b - top));
        }
    }
    for (size_t c = 0; c < n; c++)
        weight[c] = archive->from[c] >= 0 && weight[c] > -INFINITY ? archive->logp[c] - weight[c] : -INFINITY;
    free(logq);
    return status;
}
