#include "fit/governor.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/sort.h"

enum { TERMS = 6, OWN = 2 }; /* a constant and x come first */

/* Slopes of a neck are larger than all others by orders of magnitude: beyond the usual size they
 * count all alike. weight: n numbers. */
static void weigh(size_t n, const double *slope, double *weight) {
    for (size_t p = 0; p < n; p++) weight[p] = fabs(slope[p]);
    qsort(weight, n, sizeof *weight, ais_rising);
    double usual = weight[n / 2] > 0 ? weight[n / 2] : 1;
    for (size_t p = 0; p < n; p++) weight[p] = 1 / (1 + (slope[p] / usual) * (slope[p] / usual));
}

/* Elimination in order of the terms: the log of what all of them leave of y, as a share of what the first OWN leave. */
static double left(double a[TERMS + 1][TERMS + 1]) {
    static const double nothing = 1e-9;
    double own = 0;
    for (int i = 0; i < TERMS; i++) {
        if (i == OWN) own = a[TERMS][TERMS];
        if (!(a[i][i] > nothing)) continue; /* a combination of those before */
        for (int l = i + 1; l <= TERMS; l++) {
            double share = a[i][l] / a[i][i];
            for (int j = l; j <= TERMS; j++) a[l][j] -= share * a[i][j];
        }
    }
    return log((fmax(a[TERMS][TERMS], 0) + nothing) / (own + nothing));
}

static double explained(size_t n, const double *x, const double *y, const double *v, const double *weight) {
    double sum[TERMS + 1][TERMS + 1] = {{0}};
    for (size_t p = 0; p < n; p++) {
        const double term[TERMS + 1] = {1, x[p], v[p], v[p] * v[p], x[p] * v[p], x[p] * v[p] * v[p], y[p]};
        for (int i = 0; i <= TERMS; i++)
            for (int j = i; j <= TERMS; j++) sum[i][j] += weight[p] * term[i] * term[j];
    }
    return left(sum);
}

void ais_governor_gains(size_t dim, size_t n, size_t stride, const double *u, const double *slope, double *work,
                        double *gain) {
    for (size_t j = 0; j < dim; j++) {
        weigh(n, slope + j * stride, work);
        for (size_t i = 0; i < dim; i++)
            gain[i * dim + j] = i == j ? 0 : explained(n, u + j * stride, slope + j * stride, u + i * stride, work);
    }
}

size_t ais_governor_pairs(size_t dim, size_t n, const double *gain, size_t *governor, size_t *governed) {
    const double noise = -(TERMS - OWN) * log((double)n) / (double)n; /* Schwarz's criterion */
    size_t governing = 0, from = dim, to = dim;
    for (size_t j = 0; j < dim; j++) governor[j] = j, governed[j] = 0;
    do {
        double best = noise;
        from = dim;
        for (size_t i = 0; i < dim; i++)
            for (size_t j = 0; j < dim; j++) {
                bool allowed = governor[i] == i && governor[j] == j && !governed[j];
                if (!allowed || !(gain[i * dim + j] < best)) continue;
                best = gain[i * dim + j];
                from = i;
                to = j;
            }
        if (from == dim) continue;
        governing += governed[from]++ == 0;
        governor[to] = from;
    } while (from < dim);
    return governing;
}
