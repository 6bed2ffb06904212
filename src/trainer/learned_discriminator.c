#include "trainer/learned_discriminator.h"

#include <stdlib.h>
#include <string.h>

#include "base/block.h"

struct ais_learned_discriminator {
    ais_discriminator shape;
    ais_real *weights;
    ais_whitening whitening;
    ais_arena arena;
};

ais_status ais_learned_discriminator_new(ais_context *context, const ais_discriminator *shape, const ais_real *weights,
                                         const ais_whitening *whitening, ais_learned_discriminator **discriminator) {
    *discriminator = NULL;
    ais_learned_discriminator *this = ais_allocate(sizeof *this);
    if (!this) return ais_fail_memory(context, "a discriminator", sizeof *this);
    this->shape = *shape;
    this->weights = AIS_TAKE(&this->arena, ais_real, shape->weights);
    ais_status status = this->weights
                            ? ais_whitening_new(context, &this->whitening, whitening->dim, &this->arena)
                            : ais_fail_memory(context, "a discriminator", shape->weights * sizeof *this->weights);
    if (status == AIS_OK) {
        memcpy(this->weights, weights, shape->weights * sizeof *weights);
        status = ais_whitening_set(context, &this->whitening, whitening->mean, whitening->factor);
    }
    if (status == AIS_OK)
        *discriminator = this;
    else
        ais_learned_discriminator_free(this);
    return status;
}

void ais_learned_discriminator_free(ais_learned_discriminator *discriminator) {
    if (!discriminator) return;
    ais_arena_free(&discriminator->arena);
    free(discriminator);
}

/* Lanes first to first + AIS_BLOCK of n points (x, v), whitened: x in u's place. Past the end the last point is
 * repeated. `x` is dim x AIS_BLOCK of memory. */
static void load(const ais_whitening *whitening, size_t n, size_t first, const double *z, double *x, double *to) {
    size_t half = (size_t)whitening->dim * AIS_BLOCK;
    for (size_t i = 0; i < 2 * half; i++) {
        size_t c = first + i % AIS_BLOCK;
        *(i < half ? &x[i] : &to[i]) = z[i / AIS_BLOCK * n + (c < n ? c : n - 1)];
    }
    ais_whiten(whitening, AIS_BLOCK, x, to);
}

ais_status ais_discriminator_evaluate(ais_context *context, const ais_learned_discriminator *discriminator, size_t n,
                                      const double *z, const double *image, double *value) {
    if (!discriminator)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "there is no discriminator: only adversarial training of a henon kernel leaves one");
    const ais_whitening *whitening = &discriminator->whitening;
    size_t half = (size_t)whitening->dim * AIS_BLOCK;
    ais_arena arena = {0};
    double *x = AIS_TAKE(&arena, double, half), *from = AIS_TAKE(&arena, double, 2 * half);
    double *to = AIS_TAKE(&arena, double, 2 * half), d[AIS_BLOCK];
    ais_discriminator_tape *tape = ais_discriminator_tape_new(&discriminator->shape, AIS_BLOCK, &arena);
    ais_status status =
        x && from && to && tape ? AIS_OK : ais_fail_memory(context, "a discriminator", 5 * half * sizeof(double));
    for (size_t first = 0; status == AIS_OK && first < n; first += AIS_BLOCK) {
        load(whitening, n, first, z, x, from);
        load(whitening, n, first, image, x, to);
        ais_discriminator_forward(&discriminator->shape, discriminator->weights, tape, from, to, d);
        memcpy(value + first, d, (n - first < AIS_BLOCK ? n - first : AIS_BLOCK) * sizeof *d);
    }
    ais_arena_free(&arena);
    return status;
}
