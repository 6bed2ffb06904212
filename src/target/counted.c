#include "target/counted.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* One thread writes: no need for an addition that others cannot interrupt. */
static inline void add(atomic_long *count, long n) {
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n, memory_order_relaxed);
}

/* Whether n more are allowed; counts them if so. */
static inline bool allow(ais_counted *counted, atomic_long *count, long n) {
    bool halted = atomic_load_explicit(counted->halt, memory_order_relaxed);
    if (halted || n > counted->left) return false;
    counted->left -= n;
    add(count, n);
    return true;
}

static double logp(const double *x, void *data) {
    ais_counted *counted = data;
    if (allow(counted, &counted->densities, 1)) return counted->inner->logp(x, counted->inner->data);
    counted->refused = true;
    return NAN;
}

static double grad(const double *x, double *gradient, void *data) {
    ais_counted *counted = data;
    if (allow(counted, &counted->gradients, 1)) return counted->inner->grad(x, gradient, counted->inner->data);
    counted->refused = true;
    return NAN;
}

/* Lanes past the last chain are padding and not worth an evaluation. */
static void packed_batch(const ais_counted *counted, const double *x, double *result) {
    size_t dim = (size_t)counted->inner->dim, chains = counted->chains, lanes = counted->padded;
    for (size_t i = 0; i < dim; i++)
        for (size_t c = 0; c < chains; c++) counted->packed[i * chains + c] = x[i * lanes + c];
    counted->inner->batch(chains, counted->packed, result, counted->inner->data);
    for (size_t c = chains; c < lanes; c++) result[c] = -INFINITY;
}

static void padded_or_refused(size_t n, const double *x, double *result, ais_counted *counted) {
    if (n == counted->padded && allow(counted, &counted->densities, (long)counted->chains)) {
        packed_batch(counted, x, result);
        return;
    }
    counted->refused = true;
    for (size_t c = 0; c < n; c++) result[c] = NAN;
}

/* A single chain comes here every hundred nanoseconds, so rare cases are kept out of the way. */
static void batch(size_t n, const double *x, double *result, void *data) {
    ais_counted *counted = data;
    if (n != counted->padded && allow(counted, &counted->densities, (long)n))
        counted->inner->batch(n, x, result, counted->inner->data);
    else
        padded_or_refused(n, x, result, counted);
}

static const atomic_bool never = false;

bool ais_counted_begin(ais_counted *counted, const ais_target *inner, size_t chains, size_t lanes) {
    *counted = (ais_counted){.target = *inner, .inner = inner, .left = LONG_MAX, .halt = &never};
    counted->target.logp = inner->logp ? logp : NULL;
    counted->target.batch = inner->batch ? batch : NULL;
    counted->target.grad = inner->grad ? grad : NULL;
    counted->target.reference = NULL; /* its functions want the inner target's data */
    counted->target.close = NULL;
    counted->target.data = counted;
    if (!inner->batch || chains >= lanes) return true;
    counted->padded = lanes;
    counted->chains = chains;
    counted->packed = malloc((size_t)inner->dim * chains * sizeof *counted->packed);
    return counted->packed != NULL;
}

void ais_counted_end(ais_counted *counted) {
    free(counted->packed);
    counted->packed = NULL;
}

const ais_target *ais_counted_inner(const ais_target *target) {
    while (target->logp == logp) target = ((const ais_counted *)target->data)->inner;
    return target;
}

bool ais_counted_add(ais_counted *counted, long densities, long gradients) {
    if (densities + gradients > counted->left) {
        counted->refused = true;
        return false;
    }
    return allow(counted, &counted->densities, densities) && allow(counted, &counted->gradients, gradients);
}

long ais_counted_densities(const ais_counted *counted) {
    return atomic_load_explicit(&counted->densities, memory_order_relaxed);
}

long ais_counted_gradients(const ais_counted *counted) {
    return atomic_load_explicit(&counted->gradients, memory_order_relaxed);
}
