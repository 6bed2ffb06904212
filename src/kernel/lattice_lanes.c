#include "kernel/lattice_lanes.h"

#include "base/fixed.h"

void AIS_ISA(ais_lattice_to_real)(size_t n, const int64_t *fixed, ais_real *real) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) real[i] = (ais_real)ais_fixed_to(fixed[i]);
}

void AIS_ISA(ais_lattice_reflect)(size_t n, const ais_real *real, int times, int64_t *fixed) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        int64_t value = ais_fixed_from((double)real[i]);
        fixed[i] = ais_fixed_sub(times == 2 ? ais_fixed_add(value, value) : value, fixed[i]);
    }
}

void AIS_ISA(ais_lattice_from_double)(size_t n, const double *value, int64_t *fixed) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) fixed[i] = ais_fixed_from(value[i]);
}

void AIS_ISA(ais_lattice_to_double)(size_t n, const int64_t *fixed, double *value) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) value[i] = ais_fixed_to(fixed[i]);
}
