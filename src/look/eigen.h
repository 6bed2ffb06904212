/* Symmetric matrices by Jacobi's rotations. */
#ifndef AIS_LOOK_EIGEN_H
#define AIS_LOOK_EIGEN_H

#include <stdbool.h>
#include <stddef.h>

/* a (dim x dim, symmetric) is destroyed; eigenvector k, of length 1, is row k of vector, and value
 * rises with k. False when a holds what is not a number. */
bool ais_eigen(size_t dim, double *a, double *value, double *vector);

#endif
