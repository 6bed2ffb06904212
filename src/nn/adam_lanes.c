#include "nn/adam_lanes.h"

#include <math.h>

#ifdef AIS_REAL_IS_DOUBLE
#define ROOT sqrt
#else
#define ROOT sqrtf
#endif

static const ais_real least = (ais_real)1e-8;

void AIS_ISA(ais_adam_update)(const ais_adam_call *call, size_t count, ais_real *weights) {
    const ais_adam_call with = *call;
    const ais_real *gradient = call->gradient, *share = call->share;
    ais_real *m = call->m, *v = call->v;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        ais_real g = gradient[i] * with.scale;
        m[i] = with.keep1 * m[i] + (1 - with.keep1) * g;
        v[i] = with.keep2 * v[i] + (1 - with.keep2) * g * g;
        weights[i] -= with.rate * (share ? share[i] : 1) * m[i] / (ROOT(v[i] * with.unbias) + least);
    }
}

/* In sums side by side, so that it does not depend on how it is vectorised. */
double AIS_ISA(ais_adam_square)(const ais_real *gradient, size_t count) {
    double part[AIS_LANES] = {0}, sum = 0;
    size_t whole = count / AIS_LANES * AIS_LANES;
    for (size_t i = 0; i < whole; i += AIS_LANES)
#pragma omp simd
        for (size_t c = 0; c < AIS_LANES; c++) part[c] += (double)gradient[i + c] * (double)gradient[i + c];
    for (size_t i = whole; i < count; i++) part[i - whole] += (double)gradient[i] * (double)gradient[i];
    for (int c = 0; c < AIS_LANES; c++) sum += part[c];
    return sum;
}
