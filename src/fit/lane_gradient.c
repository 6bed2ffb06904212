#include "fit/lane_gradient.h"

#include <string.h>

void ais_density_lanes(const ais_target *target, size_t lanes, const double *x, double *point, double *logp) {
    if (target->batch) {
        target->batch(lanes, x, logp, target->data);
        return;
    }
    for (size_t c = 0; c < lanes; c++) {
        for (int i = 0; i < target->dim; i++) point[i] = x[(size_t)i * lanes + c];
        logp[c] = target->logp(point, target->data);
    }
}

static void by_gradient(const ais_target *target, size_t lanes, const double *x, double *point, double *logp,
                        double *slope) {
    double *gradient = point + target->dim;
    for (size_t c = 0; c < lanes; c++) {
        for (int i = 0; i < target->dim; i++) point[i] = x[(size_t)i * lanes + c];
        logp[c] = target->grad(point, gradient, target->data);
        for (int i = 0; i < target->dim; i++) slope[(size_t)i * lanes + c] = gradient[i];
    }
}

void ais_lane_gradient(const ais_target *target, bool differences, double h, size_t lanes, const double *x,
                       double *work, double *logp, double *slope) {
    size_t rows = (size_t)target->dim * lanes;
    double *shifted = work, *up = shifted + rows, *down = up + lanes, *point = down + lanes;
    if (target->grad && !differences) {
        by_gradient(target, lanes, x, point, logp, slope);
        return;
    }
    ais_density_lanes(target, lanes, x, point, logp);
    memcpy(shifted, x, rows * sizeof *x);
    for (int i = 0; i < target->dim; i++) {
        double *row = shifted + (size_t)i * lanes;
        const double *from = x + (size_t)i * lanes;
        for (size_t c = 0; c < lanes; c++) row[c] = from[c] + h;
        ais_density_lanes(target, lanes, shifted, point, up);
        for (size_t c = 0; c < lanes; c++) row[c] = from[c] - h;
        ais_density_lanes(target, lanes, shifted, point, down);
        for (size_t c = 0; c < lanes; c++) slope[(size_t)i * lanes + c] = (up[c] - down[c]) / (2 * h);
        memcpy(row, from, lanes * sizeof *row);
    }
}
