#include "classical/welford.h"

#include <string.h>

static size_t size(const ais_welford *welford) {
    size_t dim = (size_t)welford->dim;
    return welford->dense ? dim * dim : dim;
}

bool ais_welford_take(ais_welford *welford, ais_arena *arena, int dim, bool dense) {
    *welford = (ais_welford){.dim = dim, .dense = dense};
    welford->mean = AIS_TAKE(arena, double, dim);
    welford->before = AIS_TAKE(arena, double, dim);
    welford->moment = AIS_TAKE(arena, double, size(welford));
    return welford->mean && welford->before && welford->moment;
}

void ais_welford_restart(ais_welford *welford) {
    welford->count = 0;
    memset(welford->mean, 0, (size_t)welford->dim * sizeof(double));
    memset(welford->moment, 0, size(welford) * sizeof(double));
}

void ais_welford_add(ais_welford *welford, const double *x) {
    int dim = welford->dim;
    double weight = 1 / (double)++welford->count;
    for (int i = 0; i < dim; i++) {
        welford->before[i] = x[i] - welford->mean[i];
        welford->mean[i] += weight * welford->before[i];
    }
    for (int i = 0; i < dim; i++) {
        double after = x[i] - welford->mean[i];
        if (!welford->dense) {
            welford->moment[i] += after * welford->before[i];
            continue;
        }
        double *row = welford->moment + (size_t)i * (size_t)dim;
        for (int j = 0; j <= i; j++) row[j] += after * welford->before[j];
    }
}

void ais_welford_regularised(const ais_welford *welford, double *variance) {
    size_t dim = (size_t)welford->dim;
    double count = (double)welford->count, scale = count / (count + 5) / (count - 1), ridge = 1e-3 * 5 / (count + 5);
    if (!welford->dense) {
        for (size_t i = 0; i < dim; i++) variance[i] = scale * welford->moment[i] + ridge;
        return;
    }
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j <= i; j++)
            variance[i * dim + j] = variance[j * dim + i] = scale * welford->moment[i * dim + j] + (i == j ? ridge : 0);
}

void ais_welford_persist(ais_welford *welford, ais_record *record) {
    ais_record_bytes(record, &welford->count, sizeof welford->count);
    ais_record_bytes(record, welford->mean, (size_t)welford->dim * sizeof(double));
    ais_record_bytes(record, welford->moment, size(welford) * sizeof(double));
}
