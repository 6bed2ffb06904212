/* The affine start of g: u = A^-1 (x - m), x = m + A u. Its Jacobian is constant and cancels in the
 * ratio. */
#ifndef AIS_MAP_WHITENING_H
#define AIS_MAP_WHITENING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"

/* Where a matrix may have numbers that are not zero. */
typedef enum ais_form { AIS_FORM_FULL, AIS_FORM_LOWER, AIS_FORM_DIAGONAL } ais_form;

typedef struct ais_whitening {
    int dim;
    double *mean;      /* m */
    double *factor;    /* A, dim x dim */
    double *inverse;   /* A^-1 */
    double *offset;    /* -A^-1 m */
    ais_form form;     /* of A and A^-1 */
    double log_volume; /* log|det A| */
} ais_whitening;

/* The inverse of an n x n matrix, which is used up, and log|det| of it; false where it is singular. */
bool ais_invert(size_t n, double *matrix, double *inverse, double *log_volume);

/* The identity. */
ais_status ais_whitening_new(ais_context *context, ais_whitening *whitening, int dim, ais_arena *arena);

/* Refuses a factor that is not finite or not invertible, and leaves the old one. */
ais_status ais_whitening_set(ais_context *context, ais_whitening *whitening, const double *mean, const double *factor);

/* dim x lanes each; in and out do not overlap. */
void ais_whiten(const ais_whitening *whitening, size_t lanes, const double *x, double *u);
void ais_unwhiten(const ais_whitening *whitening, size_t lanes, const double *u, double *x);
/* Of the first `count` lanes. `lanes` is a multiple of AIS_LANES: whole vectors are written. */
void ais_whiten_first(const ais_whitening *whitening, size_t lanes, size_t count, const double *x, double *u);
void ais_unwhiten_first(const ais_whitening *whitening, size_t lanes, size_t count, const double *u, double *x);

/* One point of dim numbers, with the bits that it has in a lane. */
void ais_whiten_point(const ais_whitening *whitening, const double *x, double *u);
void ais_unwhiten_point(const ais_whitening *whitening, const double *u, double *x);
/* A' times a gradient in x: the gradient in u. */
void ais_unwhiten_gradient(const ais_whitening *whitening, const double *by_x, double *by_u);

#endif
