#include "nn/batch_lanes.h"

#include <math.h>
#include <string.h>

/* Without its sign a number's bits are ordered as it is, which the compiler can turn into vectors where a comparison of
 * floats, with its NaNs, it cannot. */
double AIS_ISA(ais_batch_largest)(const ais_real *value, size_t count) {
    ais_real_bits top = 0;
#pragma omp simd reduction(max : top)
    for (size_t i = 0; i < count; i++) {
        ais_real_bits bits;
        memcpy(&bits, &value[i], sizeof bits);
        bits = bits << 1 >> 1;
        top = bits > top ? bits : top;
    }
    ais_real largest;
    memcpy(&largest, &top, sizeof largest);
    return isfinite(largest) ? (double)largest : INFINITY;
}

void AIS_ISA(ais_batch_add)(const ais_real *term, size_t count, double rounder, double *sum) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) sum[i] += ((double)term[i] + rounder) - rounder;
}

void AIS_ISA(ais_batch_narrow)(const double *sum, size_t count, ais_real *value) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) value[i] = (ais_real)sum[i];
}
