/* Independent proposals, and NUTS between them: in the latent space of a map, or, where a mixture proposes, in one in
 * which its modes are about round. */
#include <stdlib.h>
#include <string.h>

#include "explore/affine.h"
#include "learned/learned.h"
#include "learned/mixture.h"
#include "trainer/map_learning.h"

/* An affine map by the covariance within the modes, their mean by weights, about the heaviest. */
static ais_status within_modes(ais_context *context, const ais_components *of, ais_kernel **map) {
    size_t dim = (size_t)of->dim, square = dim * dim, heaviest = 0;
    double *covariance = calloc(2 * square, sizeof *covariance), *factor = covariance ? covariance + square : NULL;
    if (!covariance) return ais_fail_memory(context, "an affine map", 2 * square * sizeof *covariance);
    for (size_t k = 0; k < (size_t)of->count; k++) {
        const double *own = of->factor + k * square;
        if (of->weight[k] > of->weight[heaviest]) heaviest = k;
        for (size_t i = 0; i < dim; i++)
            for (size_t j = 0; j < dim; j++)
                for (size_t l = 0; l < dim; l++)
                    covariance[i * dim + j] += of->weight[k] * own[i * dim + l] * own[j * dim + l];
    }
    ais_status status = ais_affine_root(context, of->dim, covariance, factor);
    if (status == AIS_OK) status = ais_map_affine(context, of->mean + heaviest * dim, factor, of->dim, map);
    free(covariance);
    return status;
}

ais_status ais_map_relieve(ais_context *context, ais_map_learning *this, ais_kernel **kernel) {
    enum { WARMUP = 25, DRAWS = 5 };
    const ais_mixture_kernel *mixture = ais_as_mixture(*kernel);
    ais_kernel *map = NULL, *nuts = NULL, *relieved = NULL;
    double step_size = 0;
    ais_status status = ais_map_place_chains(context, this);
    if (status == AIS_OK)
        status = mixture ? within_modes(context, &mixture->components, &map) : ais_learned_copy(context, *kernel, &map);
    if (status == AIS_OK) status = ais_map_tune(context, this, map, WARMUP, DRAWS, &step_size);
    if (status == AIS_SPENT) {
        context->message[0] = '\0';
        ais_kernel_free(map);
        return AIS_OK;
    }
    if (status == AIS_OK)
        status = ais_kernel_nuts(context, &(ais_nuts_options){.unit = true, .step_size = step_size}, &nuts);
    if (status == AIS_OK) {
        status = ais_kernel_latent(context, map, nuts, &relieved);
        map = NULL;
    }
    if (status == AIS_OK) status = ais_kernel_set_proposals(context, relieved, this->proposals);
    ais_kernel_free(map);
    if (status == AIS_OK && mixture) {
        status = ais_kernel_propose_from(context, relieved, *kernel);
        *kernel = NULL; /* the other kernel owns it, even if that failed */
    }
    if (status != AIS_OK) {
        ais_kernel_free(relieved);
        return status;
    }
    ais_kernel_free(*kernel);
    *kernel = relieved;
    return AIS_OK;
}
