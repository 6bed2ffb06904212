/* Mass around the modes that their fits know nothing of. A Laplace fit says how wide the top of a mode is; a spike that
 * stands on a slab has the slab's mass around it, ten or a thousand times as wide, and proposals that follow the spike
 * agree with each other that there is none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learned/mixture.h"
#include "trainer/map_learning.h"

enum { POINTS = 256 };

/* What holds the modes and all that the look has searched. */
static ais_status box_around(ais_context *context, ais_map_learning *this, ais_box *box) {
    static const double reach = 3; /* in scales of the region that was searched */
    const ais_components *mixture = &this->mixture;
    size_t dim = (size_t)mixture->dim;
    *box = (ais_box){AIS_TAKE(&this->arena, double, dim), AIS_TAKE(&this->arena, double, dim)};
    if (!box->low || !box->high) return ais_fail_memory(context, "a box", dim * sizeof(double));
    for (size_t i = 0; i < dim; i++) {
        box->low[i] = -reach * this->scale;
        box->high[i] = reach * this->scale;
        for (size_t k = 0; k < (size_t)mixture->count; k++) {
            double square = 0, mean = mixture->mean[k * dim + i];
            const double *row = mixture->factor + (k * dim + i) * dim;
            for (size_t j = 0; j < dim; j++) square += row[j] * row[j];
            box->low[i] = fmin(box->low[i], mean - reach * sqrt(square));
            box->high[i] = fmax(box->high[i], mean + reach * sqrt(square));
        }
    }
    return AIS_OK;
}

ais_status ais_map_surround(ais_context *context, ais_map_learning *this) {
    static const double freedom = 0.4; /* half of the draws are more than five times as far out as a normal's, a tenth
                                          more than three hundred times */
    size_t dim = (size_t)this->archive.dim, n = POINTS;
    ais_source source = {0};
    for (int s = 0; s < this->archive.sources; s++)
        if (this->archive.source[s].mixture && this->archive.source[s].box.low) return AIS_OK; /* it was done before */
    if (!this->mixture.count || this->archive.dim <= AIS_FEW_DIMENSIONS) return AIS_OK; /* there the screen tells */
    ais_components *wide = AIS_TAKE(&this->arena, ais_components, 1);
    double *room = malloc(n * (dim + 1) * sizeof *room);
    ais_status status = AIS_OK;
    if (!room || !wide || !ais_components_take(wide, &this->arena, (int)dim, this->mixture.count))
        status = ais_fail_memory(context, "points around the modes", n * dim * sizeof *room);
    if (status == AIS_OK) {
        ais_components_copy(wide, &this->mixture);
        wide->freedom = freedom;
        for (int k = 0; k < wide->count; k++) wide->weight[k] = 1;
        ais_components_weigh(wide);
        source.mixture = wide;
        status = box_around(context, this, &source.box);
    }
    int from;
    if (status == AIS_OK) status = ais_map_source(context, this, &source, &from);
    if (status == AIS_OK) status = ais_map_draw(context, this, from, n, room);
    this->round++;
    free(room);
    return status;
}

/* ---- a component for it ---------------------------------------------------------------------------- */

typedef struct beside {
    int component; /* that most of them are nearest to */
    double share;  /* of all weights */
    double ess;
} beside;

/* Leaves of the log weights those of points that the mixture, whose log density is logq, makes so little of that too
 * many of its proposals would be needed for one there, and that are too far out to be a matter of shape; of them, those
 * that are nearest to one component. */
static beside leave_unexplained(const ais_archive *archive, const ais_components *mixture, const double *logq,
                                double *weight, double *share, double *room) {
    static const double much = 5, far = 2; /* proposals per effective draw; sds, root mean square over coordinates */
    size_t dim = (size_t)archive->dim, many = 0;
    beside found = {0};
    for (size_t c = 0; c < archive->count; c++)
        if (archive->from[c] >= 0) room[many++] = weight[c];
    if (!many) return found;
    double log_z = ais_weigh(many, room, room + many).log_mean;
    memset(share, 0, (size_t)mixture->count * sizeof *share);
    int nearest_of_all = 0;
    for (size_t c = 0; c < archive->count; c++) {
        int nearest = 0;
        double least = INFINITY;
        if (!(archive->logp[c] - log_z - logq[c] > log(much))) weight[c] = -INFINITY;
        if (!(weight[c] > -INFINITY)) continue;
        for (int k = 0; k < mixture->count; k++) {
            double distance = ais_components_distance(mixture, k, archive->x + c * dim, least);
            if (distance < least) nearest = k;
            least = fmin(least, distance);
        }
        if (!(least > far * far * (double)dim)) weight[c] = -INFINITY;
        if (!(weight[c] > -INFINITY)) continue;
        room[c] = nearest;
        share[nearest] += exp(weight[c] - log_z) / (double)many;
        if (share[nearest] > share[nearest_of_all]) nearest_of_all = nearest;
    }
    found.component = nearest_of_all;
    found.share = fmin(share[nearest_of_all], 1);
    for (size_t c = 0; c < archive->count; c++)
        if (weight[c] > -INFINITY && (int)room[c] != nearest_of_all) weight[c] = -INFINITY;
    if (found.share > 0) found.ess = ais_weigh(archive->count, weight, room).ess;
    return found;
}

/* The component again, as wide as the weighted points ask for. Their mean is that of a few points: it is taken back
 * towards the component by as much as it would be off by chance (James and Stein). */
static ais_status widen(ais_context *context, const ais_archive *archive, const beside *found, const double *weight,
                        double *centre, ais_components *grown) {
    int k = found->component, last = grown->count;
    size_t dim = (size_t)archive->dim;
    double top = -INFINITY, sum = 0, square = 0, *factor = centre + dim;
    const double *mean = grown->mean + (size_t)k * dim;
    for (size_t c = 0; c < archive->count; c++) top = fmax(top, weight[c]);
    for (size_t c = 0; c < archive->count; c++) sum += exp(weight[c] - top);
    for (size_t j = 0; j < dim; j++) {
        double shift = 0;
        for (size_t c = 0; c < archive->count; c++)
            if (weight[c] > -INFINITY) shift += exp(weight[c] - top) / sum * (archive->x[c * dim + j] - mean[j]);
        centre[j] = mean[j] + shift;
    }
    for (size_t c = 0; c < archive->count; c++)
        if (weight[c] > -INFINITY)
            square += exp(weight[c] - top) / sum * ais_components_distance(grown, k, archive->x + c * dim, INFINITY);
    double moved = ais_components_distance(grown, k, centre, INFINITY), spread = (square - moved) / (double)dim;
    double by_chance = fmax((double)dim - 2, 0) * spread / found->ess, kept = fmax(1 - by_chance / (moved + 1e-9), 0);
    for (size_t j = 0; j < dim; j++) centre[j] = mean[j] + kept * (centre[j] - mean[j]);
    double width = sqrt((square - (1 - (1 - kept) * (1 - kept)) * moved) / (double)dim);
    for (size_t j = 0; j < dim * dim; j++) factor[j] = width * grown->factor[(size_t)k * dim * dim + j];
    ais_status status = ais_components_set_factor(context, grown, last, centre, factor);
    for (int other = 0; other < last; other++) grown->weight[other] *= 1 - found->share;
    grown->weight[last] = found->share;
    ais_components_weigh(grown);
    return status;
}

ais_status ais_map_widen(ais_context *context, ais_map_learning *this, const ais_components *mixture,
                         ais_components **grown) {
    static const double heavy = 0.02, few = 3; /* of all weights; effective points */
    const ais_archive *archive = &this->archive;
    size_t n = archive->count, dim = (size_t)archive->dim;
    *grown = NULL;
    if (archive->dim <= AIS_FEW_DIMENSIONS || mixture->count >= AIS_MIXTURE_MOST_COMPONENTS) return AIS_OK;
    double *weight = malloc((4 * n + (size_t)mixture->count + dim + dim * dim) * sizeof *weight);
    if (!weight) return ais_fail_memory(context, "weights", n * sizeof *weight);
    double *logq = weight + n, *room = logq + n, *share = room + 2 * n, *centre = share + mixture->count;
    beside found = {0};
    ais_status status = ais_archive_weigh(context, archive, this->job->pool, weight);
    if (status == AIS_OK) {
        ais_components_logq(mixture, n, archive->x, logq, NULL, this->job->pool);
        found = leave_unexplained(archive, mixture, logq, weight, share, room);
    }
    if (status == AIS_OK && found.share > heavy && found.ess > few) {
        ais_components *with = AIS_TAKE(&this->arena, ais_components, 1);
        if (!with || !ais_components_take(with, &this->arena, (int)dim, mixture->count + 1)) {
            status = ais_fail_memory(context, "a mixture", dim * dim * sizeof(double));
        } else {
            ais_components_copy(with, mixture);
            status = widen(context, archive, &found, weight, centre, with);
            *grown = with;
        }
    }
    free(weight);
    return status;
}
