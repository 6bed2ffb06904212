#include "simd/check_lanes.h"

#include "simd/doubles.h"

bool AIS_ISA(ais_all_at_most)(size_t n, const double *value, double limit) {
    ais_longs good = {0};
    good = ~good;
    bool all = true;
    size_t k = 0;
#pragma GCC unroll 4
    for (; k + AIS_WORDS <= n; k += AIS_WORDS) good &= ais_load(value + k) <= ais_spread_double(limit);
    for (; k < n; k++) all &= value[k] <= limit;
    for (int w = 0; w < AIS_WORDS; w++) all &= good[w] != 0;
    return all;
}
