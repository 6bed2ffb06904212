/* Modes that the look missed: points that weigh far more than what the mixture makes of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "look/laplace.h"
#include "trainer/map_learning.h"

enum { MOST = 8, ITERATIONS = 80 };
static const double heavy = 0.02; /* of all weights: more than one of a few hundred points should have */

/* Up to MOST points that are heavy and far from every component, the heaviest first; how many. weight: logarithms. */
static int pick(const ais_map_learning *this, const ais_components *mixture, double *weight, double *x, double *share) {
    static const double far = 9; /* squared, in sds of the component */
    const ais_archive *archive = &this->archive;
    size_t dim = (size_t)archive->dim;
    double top = -INFINITY, sum = 0;
    int picked = 0;
    for (size_t c = 0; c < archive->count; c++) top = fmax(top, weight[c]);
    for (size_t c = 0; c < archive->count; c++) sum += exp(weight[c] - top);
    for (int turn = 0; turn < 4 * MOST && picked < MOST && top > -INFINITY; turn++) {
        size_t best = 0;
        for (size_t c = 1; c < archive->count; c++)
            if (weight[c] > weight[best]) best = c;
        share[picked] = exp(weight[best] - top) / sum;
        if (!(share[picked] > heavy)) break;
        const double *point = archive->x + best * dim;
        bool near = false;
        for (int k = 0; k < mixture->count; k++) near |= ais_components_distance(mixture, k, point, far) < far;
        if (!near) memcpy(x + (size_t)picked++ * dim, point, dim * sizeof *x);
        weight[best] = -INFINITY;
    }
    return picked;
}

/* Optimises from x and adds the fits where it ends to the mixture. */
static ais_status add_modes(ais_context *context, ais_map_learning *this, const ais_components *mixture, int runs,
                            double *x, const double *share, ais_components **grown) {
    size_t dim = (size_t)this->archive.dim;
    ais_modes *modes = AIS_TAKE(&this->arena, ais_modes, 1);
    double logp[MOST], sum = 0;
    ais_ending ending[MOST];
    int added = 0;
    if (!modes || !ais_modes_take(modes, &this->arena, (int)dim, mixture->count + runs))
        return ais_fail_memory(context, "modes", dim * dim * sizeof(double));
    ais_components_copy(&modes->mixture, mixture);
    const ais_lbfgs_options options = {.iterations = ITERATIONS,
                                       .tolerance = 1e-4,
                                       .scale = 0.1 * this->scale, /* they are near, not anywhere in the region */
                                       .longest = this->scale,
                                       .farthest = 1e9 * this->scale};
    ais_status status = ais_maximise(&this->evaluator, &options, runs, x, logp, ending);
    if (status == AIS_OK)
        status = ais_absorb(&this->evaluator, this->scale, runs, x, logp, ending, modes->mixture.room, modes, &added);
    if (status != AIS_OK || !added) return status;
    for (int k = 0; k < runs; k++) sum += share[k];
    for (int k = 0; k < mixture->count; k++) modes->mixture.weight[k] *= 1 - sum;
    for (int k = mixture->count; k < modes->mixture.count; k++) modes->mixture.weight[k] = sum / added;
    ais_components_weigh(&modes->mixture);
    *grown = &modes->mixture;
    return AIS_OK;
}

ais_status ais_map_missed(ais_context *context, ais_map_learning *this, const ais_components *mixture,
                          ais_components **grown) {
    const ais_archive *archive = &this->archive;
    double *weight = malloc((archive->count + 1 + MOST * (size_t)archive->dim) * sizeof *weight), share[MOST + 1];
    *grown = NULL;
    if (!weight) return ais_fail_memory(context, "weights", archive->count * sizeof *weight);
    double *x = weight + archive->count + 1;
    ais_status status = ais_archive_weigh(context, archive, this->job->pool, weight);
    int picked = status == AIS_OK ? pick(this, mixture, weight, x, share) : 0;
    if (picked) status = add_modes(context, this, mixture, picked, x, share, grown);
    free(weight);
    return status;
}
