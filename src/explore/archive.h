/* The archive: every point at which learning has evaluated the density, with log p, the gradient where it was
 * computed, and what proposed it. Nothing that was paid for is thrown away: maps are fitted to it without new
 * evaluations, and draws of known sources weigh as draws of the mixture of all sources (the deterministic-mixture
 * weights of Owen and Zhou 2000, math.md (35)).
 *
 * Memory is bounded: when the room is used up, every second point of the oldest half goes. What is kept depends on
 * the order of additions alone, never on threads or ranks. */
#ifndef AIS_EXPLORE_ARCHIVE_H
#define AIS_EXPLORE_ARCHIVE_H

#include "checkpoint/checkpoint.h"
#include "explore/source.h"
#include "look/importance.h"

/* Where points came from that no source's density describes. */
enum {
    AIS_FROM_CHAIN = -1, /* a draw: the state of a chain that leaves p invariant */
    AIS_FROM_PATH = -2   /* a point of a trajectory or of an optimisation on its way */
};

enum { AIS_MOST_SOURCES = 24 };

typedef struct ais_archive {
    int dim;
    size_t count, room;
    double *x;        /* count x dim */
    double *logp;     /* count; -infinity outside the support */
    double *gradient; /* count x dim; NAN where there is none. NULL when no point has one */
    int *from;        /* count: a source's number or AIS_FROM_... */
    int sources;
    ais_source source[AIS_MOST_SOURCES];
    double drawn[AIS_MOST_SOURCES]; /* points that were drawn of each and are still here */
} ais_archive;

/* Room for `most` points, taken as they come. */
void ais_archive_begin(ais_archive *archive, int dim, bool gradients, size_t most);
void ais_archive_free(ais_archive *archive);

/* A new source; its number. The mixture or map stays the caller's and must outlive the archive. Past the most, the
 * oldest one and its points go. */
int ais_archive_source(ais_archive *archive, const ais_source *source);

/* n rows; gradient may be NULL. */
ais_status ais_archive_add(ais_context *context, ais_archive *archive, int from, size_t n, const double *x,
                           const double *logp, const double *gradient);

/* Whether point c has a positive density and a gradient, all of whose parts are finite. */
bool ais_archive_has_gradient(const ais_archive *archive, size_t c);

/* The points, as fields of the caller's section; their sources are there already. */
void ais_archive_exchange(ais_checkpoint *checkpoint, ais_archive *archive);

/* Log importance weights of all points, log p less the log density of the mixture of all sources, each with its share
 * of the points; -infinity for points of no source. weight: count. */
ais_status ais_archive_weigh(ais_context *context, const ais_archive *archive, ais_pool *pool, double *weight);

#endif
