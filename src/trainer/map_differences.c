/* A gradient of differences, where the target has none and importance sampling goes badly. */
#include <math.h>

#include "learned/learned.h"
#include "trainer/map_learning.h"

void ais_map_take_differences(ais_map_learning *this) {
    const ais_target *target = this->job->target;
    this->differences.target = target;
    this->differenced = ais_target_differences(&this->differences);
    this->evaluator.target = &this->differenced;
    this->evaluator.price = ais_differences_price(target);
}

ais_status ais_map_begin_differences(ais_context *context, ais_map_learning *this) {
    ais_kernel *affine = NULL;
    ais_status status = ais_map_affine(context, this->mean, this->factor, this->archive.dim, &affine);
    if (status == AIS_OK) ais_map_difference_steps(this, ais_as_learned(affine));
    ais_kernel_free(affine);
    if (status != AIS_OK) return status;
    ais_map_take_differences(this);
    this->economy.gradient = (double)this->evaluator.price * this->economy.density;
    return AIS_OK;
}

bool ais_map_differences_pay(const ais_map_learning *this, double gradients) {
    const ais_evaluator *evaluator = &this->evaluator;
    double cost = gradients * (double)ais_differences_price(this->job->target);
    double left = (double)(evaluator->most - evaluator->densities - evaluator->gradients);
    return this->archive.dim > AIS_FEW_DIMENSIONS && this->best && (!evaluator->most || cost < left / 2) &&
           cost < this->economy.wanted * this->waste;
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
