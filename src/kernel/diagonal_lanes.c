#include "kernel/diagonal_lanes.h"

#include "simd/doubles.h"

void AIS_ISA(ais_diagonal_apply)(int n, size_t lanes, size_t count, const double *matrix, const double *offset,
                                 const double *in, double *out) {
    for (size_t i = 0; i < (size_t)n; i++, in += lanes, out += lanes) {
        ais_doubles factor = ais_spread_double(matrix[i * (size_t)n + i]), shift = ais_spread_double(offset[i]);
        for (size_t c = 0; c < count; c += AIS_WORDS)
            ais_store(out + c, ais_fma_double(factor, ais_load(in + c), shift));
    }
}
