/* What chains tell of their sampler and of each other. */
#include <aisampler/diagnostics.h>

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

double ais_ebfmi(const double *energy, int draws) {
    if (draws < 2) return NAN;
    double steps = 0, variance = ais_variance(energy, (size_t)draws);
    for (int t = 1; t < draws; t++) steps += (energy[t] - energy[t - 1]) * (energy[t] - energy[t - 1]);
    return variance > 0 ? steps / (draws - 1) / variance : NAN;
}

/* Centred and divided by its norm; false for a constant or non-finite chain. */
static bool standardise(const double *x, int draws, double *unit) {
    double mean = ais_mean(x, (size_t)draws), squares = 0;
    for (int t = 0; t < draws; t++) {
        unit[t] = x[t] - mean;
        squares += unit[t] * unit[t];
    }
    if (!(squares > 0) || !isfinite(squares)) return false;
    for (int t = 0; t < draws; t++) unit[t] /= sqrt(squares);
    return true;
}

static double dot(const double *a, const double *b, int n) {
    double part[4] = {0}; /* four sums, so that additions overlap */
    int t = 0;
    for (; t + 4 <= n; t += 4)
        for (int k = 0; k < 4; k++) part[k] += a[t + k] * b[t + k];
    for (; t < n; t++) part[0] += a[t] * b[t];
    return (part[0] + part[1]) + (part[2] + part[3]);
}

void ais_cross_chain_correlation(const double *x, int chains, int draws, double *mean, double *largest) {
    *mean = *largest = NAN;
    if (chains < 2 || draws < 2) return;
    size_t row = (size_t)draws, taken = chains < AIS_MOST_COMPARED ? (size_t)chains : AIS_MOST_COMPARED;
    double *unit = ais_allocate(taken * row * sizeof(double));
    if (!unit) return;
    int count = 0;
    for (size_t k = 0; k < taken; k++)
        count += standardise(x + k * (size_t)chains / taken * row, draws, unit + (size_t)count * row);
    double sum = 0, most = 0;
    for (int a = 0; a < count; a++) {
        for (int b = a + 1; b < count; b++) {
            double size = fabs(dot(unit + (size_t)a * row, unit + (size_t)b * row, draws));
            sum += size;
            most = fmax(most, size);
        }
    }
    free(unit);
    if (count < 2) return;
    *mean = sum / (0.5 * count * (count - 1.0));
    *largest = most;
}
