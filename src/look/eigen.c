#include "look/eigen.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 40 };

static void rotate(double *a, double *b, size_t n, double c, double s) {
    for (size_t k = 0; k < n; k++) {
        double x = a[k], y = b[k];
        a[k] = c * x - s * y;
        b[k] = s * x + c * y;
    }
}

/* Rotates coordinates p and q so that a[p][q] becomes 0 (Golub and Van Loan, 8.5). */
static void annihilate(size_t dim, double *a, double *vector, size_t p, size_t q) {
    double app = a[p * dim + p], aqq = a[q * dim + q], apq = a[p * dim + q];
    double tau = (aqq - app) / (2 * apq);
    double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau));
    double c = 1 / sqrt(1 + t * t), s = t * c;
    rotate(a + p * dim, a + q * dim, dim, c, s);
    for (size_t k = 0; k < dim; k++) { /* columns from rows: a stays symmetric to the bit */
        if (k == p || k == q) continue;
        a[k * dim + p] = a[p * dim + k];
        a[k * dim + q] = a[q * dim + k];
    }
    a[p * dim + p] = app - t * apq;
    a[q * dim + q] = aqq + t * apq;
    a[p * dim + q] = a[q * dim + p] = 0;
    rotate(vector + p * dim, vector + q * dim, dim, c, s);
}

static void sort(size_t dim, double *value, double *vector) {
    for (size_t i = 0; i + 1 < dim; i++) {
        size_t least = i;
        for (size_t j = i + 1; j < dim; j++)
            if (value[j] < value[least]) least = j;
        if (least == i) continue;
        double held = value[i];
        value[i] = value[least];
        value[least] = held;
        for (size_t k = 0; k < dim; k++) {
            held = vector[i * dim + k];
            vector[i * dim + k] = vector[least * dim + k];
            vector[least * dim + k] = held;
        }
    }
}

bool ais_eigen(size_t dim, double *a, double *value, double *vector) {
    memset(vector, 0, dim * dim * sizeof *vector);
    for (size_t i = 0; i < dim; i++) vector[i * dim + i] = 1;
    for (size_t i = 0; i < dim * dim; i++)
        if (!isfinite(a[i])) return false;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool changed = false;
        for (size_t p = 0; p + 1 < dim; p++)
            for (size_t q = p + 1; q < dim; q++) {
                /* Negligible against both diagonals: keeps small eigenvalues accurate. */
                double small = 1e-15 * sqrt(fabs(a[p * dim + p] * a[q * dim + q]));
                if (fabs(a[p * dim + q]) <= small || fabs(a[p * dim + q]) < 1e-300) continue;
                annihilate(dim, a, vector, p, q);
                changed = true;
            }
        if (!changed) break;
    }
    for (size_t i = 0; i < dim; i++) value[i] = a[i * dim + i];
    sort(dim, value, vector);
    return true;
}
