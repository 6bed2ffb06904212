/* A kernel whose chains hardly know anything but their mean: antithetic DIM FILE. In the latent space of N(0, 4 I) it
 * turns z to -z in fifteen steps of sixteen, and is reflected by 3 degrees in the other: exact, and its means look
 * perfect long before its squares are right. */
#include <stdio.h>
#include <stdlib.h>

#include <aisampler/aisampler.h>

int main(int count, char **word) {
    if (count != 3) return fprintf(stderr, "usage: antithetic DIM FILE\n"), 2;
    ais_context context = {0};
    int dim = atoi(word[1]);
    double angles[AIS_MOST_ANGLES], *mean = calloc((size_t)dim, sizeof *mean);
    double *factor = calloc((size_t)dim * (size_t)dim, sizeof *factor);
    ais_kernel *kernel = NULL;
    for (int i = 0; i < AIS_MOST_ANGLES; i++) angles[i] = i ? 180 : 3;
    for (int i = 0; factor && i < dim; i++) factor[i * dim + i] = 2;
    const ais_shape shape = {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = dim};
    ais_status status = mean && factor ? ais_kernel_learned(&context, &shape, 1, &kernel) : AIS_NO_MEMORY;
    if (status == AIS_OK) status = ais_kernel_whiten(&context, kernel, mean, factor);
    if (status == AIS_OK) status = ais_kernel_set_angles(&context, kernel, AIS_MOST_ANGLES, angles);
    if (status == AIS_OK) status = ais_kernel_save(&context, kernel, NULL, word[2]);
    if (status != AIS_OK) fprintf(stderr, "antithetic: %s\n", context.message);
    ais_kernel_free(kernel);
    free(mean);
    free(factor);
    return status != AIS_OK;
}
