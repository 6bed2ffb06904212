/* Products of small matrices, row-major. */
#ifndef AIS_BASE_MATRIX_H
#define AIS_BASE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

/* out = a b, a being rows x dim and b dim x dim; with transposed b when asked. */
static inline void ais_multiply(size_t rows, size_t dim, const double *a, const double *b, bool transposed,
                                double *out) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < dim; j++) {
            double sum = 0;
            for (size_t k = 0; k < dim; k++) sum += a[i * dim + k] * (transposed ? b[j * dim + k] : b[k * dim + j]);
            out[i * dim + j] = sum;
        }
}

#endif
