/* A gradient of differences, where the target has none and importance sampling goes badly. */
#include <math.h>

#include "kernel/learned.h"
#include "trainer/map_learning.h"

void ais_map_take_differences(ais_map_learning *this) {
    const ais_target *target = this->lesson->target;
    this->differences.target = target;
    this->differenced = ais_target_differences(&this->differences);
    this->evaluator.target = &this->differenced;
    this->evaluator.price = ais_differences_price(target);
}

void ais_map_difference_steps(ais_map_learning *this, const ais_learned *affine) {
    static const double part = 1e-4; /* of the width of p along a coordinate, the others fixed */
    size_t dim = (size_t)this->archive.dim;
    const double *inverse = affine->whitening.inverse;
    for (size_t i = 0; i < dim; i++) {
        double precision = 0;
        for (size_t k = 0; k < dim; k++) precision += inverse[k * dim + i] * inverse[k * dim + i];
        this->differences.step[i] = part / sqrt(precision);
    }
}
