#include "kernel/lattice_lanes.h"

#include "base/fixed.h"
#include "kernel/lattice_vector.h"

#ifdef AIS_REAL_IS_DOUBLE
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
#else
void AIS_ISA(ais_lattice_to_real)(size_t n, const int64_t *fixed, ais_real *real) {
    for (size_t i = 0; i < n; i += AIS_WIDTH) {
        const ais_words *from = (const ais_words *)(fixed + i);
        *(ais_floats *)(real + i) = ais_lattice_seen(from[0], from[1]) * AIS_LATTICE_UNIT;
    }
}

void AIS_ISA(ais_lattice_reflect)(size_t n, const ais_real *real, int times, int64_t *fixed) {
    for (size_t i = 0; i < n; i += AIS_WIDTH) {
        ais_words *to = (ais_words *)(fixed + i), value[2];
        ais_lattice_given(*(const ais_floats *)(real + i) * (1 / AIS_LATTICE_UNIT), &value[0], &value[1]);
        for (int k = 0; k < 2; k++) to[k] = (times == 2 ? value[k] + value[k] : value[k]) - to[k];
    }
}
#endif

void AIS_ISA(ais_lattice_from_double)(size_t n, const double *value, int64_t *fixed) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) fixed[i] = ais_fixed_from(value[i]);
}

void AIS_ISA(ais_lattice_to_double)(size_t n, const int64_t *fixed, double *value) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) value[i] = ais_fixed_to(fixed[i]);
}

void AIS_ISA(ais_lattice_depart)(int dim, size_t lanes, size_t chains, const double *v, int64_t *fixed,
                                 double *kinetic) {
    for (size_t c = 0; c < chains; c += AIS_WORDS) {
        ais_doubles sum = {0};
        for (size_t i = c; i < (size_t)dim * lanes; i += lanes) {
            ais_doubles value = ais_load(v + i);
            ais_words rounded = ais_lattice_rounded(&value);
            memcpy(fixed + i, &rounded, sizeof rounded);
            sum = ais_fma_double(0.5 * value, value, sum);
        }
        ais_store(kinetic + c, sum);
    }
}

void AIS_ISA(ais_lattice_arrive)(int dim, size_t lanes, size_t chains, const int64_t *fixed, double *value,
                                 double *kinetic) {
    const size_t half = (size_t)dim * lanes;
    for (size_t c = 0; c < chains; c += AIS_WORDS) {
        ais_doubles sum = ais_load(kinetic + c);
        for (size_t i = c; i < half; i += lanes) {
            ais_words at[2];
            memcpy(&at[0], fixed + i, sizeof at[0]);
            memcpy(&at[1], fixed + half + i, sizeof at[1]);
            ais_doubles v = ais_lattice_doubles(at[1]);
            ais_store(value + i, ais_lattice_doubles(at[0]));
            ais_store(value + half + i, v);
            sum = ais_fma_double(-0.5 * v, v, sum);
        }
        ais_store(kinetic + c, sum);
    }
}
