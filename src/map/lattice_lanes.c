#include "map/lattice_lanes.h"

#include "map/lattice_vector.h"

void AIS_ISA(ais_lattice_round)(size_t n, const double *from, double *to) {
    for (size_t i = 0; i < n; i += AIS_WORDS) ais_store(to + i, ais_lattice_rounded(ais_load(from + i)));
}

void AIS_ISA(ais_ticks_of)(size_t n, const double *number, int32_t *ticks) {
    for (size_t i = 0; i < n; i += AIS_WIDTH) *(ais_uints *)(ticks + i) = ais_ticks(number + i);
}

void AIS_ISA(ais_ticks_put)(size_t n, const double *from, const int32_t *ticks, double *to) {
    for (size_t i = 0; i < n; i += AIS_WIDTH) ais_ticks_replace(from + i, *(const ais_uints *)(ticks + i), to + i);
}

#ifdef AIS_REAL_IS_DOUBLE
void AIS_ISA(ais_ticks_to_real)(size_t n, const int32_t *ticks, ais_real *real) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) real[i] = (ais_real)ticks[i] * (ais_real)AIS_TICK;
}

void AIS_ISA(ais_ticks_reflect)(size_t n, const ais_real *real, int times, int32_t *ticks) {
    for (size_t i = 0; i < n; i++) {
        double value = (double)real[i] / AIS_TICK;
        int32_t whole = value > -0x1p31 && value < 0x1p31 ? (int32_t)value : INT32_MIN;
        ticks[i] = (int32_t)((uint32_t)whole * (uint32_t)times - (uint32_t)ticks[i]);
    }
}
#else
void AIS_ISA(ais_ticks_to_real)(size_t n, const int32_t *ticks, ais_real *real) {
    for (size_t i = 0; i < n; i += AIS_WIDTH)
        *(ais_floats *)(real + i) =
            __builtin_convertvector(*(const ais_ints *)(ticks + i), ais_floats) * (float)AIS_TICK;
}

void AIS_ISA(ais_ticks_reflect)(size_t n, const ais_real *real, int times, int32_t *ticks) {
    for (size_t i = 0; i < n; i += AIS_WIDTH) {
        ais_ints whole = ais_whole(*(const ais_floats *)(real + i) * (float)(1 / AIS_TICK));
        ais_uints *at = (ais_uints *)(ticks + i), value = (ais_uints)whole;
        *at = (times == 2 ? value + value : value) - *at;
    }
}
#endif
