#include "target/builtin.h"

bool ais_moments_take(ais_home *home, int dim, ais_moments *moments) {
    double *memory = AIS_TAKE(&home->arena, double, 4 * (size_t)dim);
    if (!memory) return false;
    *moments = (ais_moments){memory, memory + dim, memory + 2 * dim, memory + 3 * dim};
    home->reference.mean = moments->mean;
    home->reference.variance = moments->variance;
    home->reference.square_mean = moments->square_mean;
    home->reference.square_variance = moments->square_variance;
    home->target.reference = &home->reference;
    return true;
}

void ais_moments_set(const ais_moments *moments, int i, double mean, double variance, double square, double fourth) {
    moments->mean[i] = mean;
    moments->variance[i] = variance;
    moments->square_mean[i] = square;
    moments->square_variance[i] = fourth - square * square;
}
