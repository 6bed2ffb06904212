#include "bench/measure.h"
#include "simd/vector.h"

enum { CHAINS = 10 }; /* more than latency times units, and few enough for 16 registers */

float AIS_ISA(ais_fma_burst)(long rounds) {
    ais_floats sum[CHAINS], factor = ais_spread(0.999F), offset = ais_spread(1e-3F), total = {0};
    for (int k = 0; k < CHAINS; k++) sum[k] = ais_spread((float)k);
    for (long r = 0; r < rounds; r++)
#pragma GCC unroll 10
        for (int k = 0; k < CHAINS; k++) sum[k] = ais_fma(sum[k], factor, offset);
    for (int k = 0; k < CHAINS; k++) total += sum[k];
    float result = 0;
    for (int k = 0; k < AIS_WIDTH; k++) result += total[k];
    return result;
}

double AIS_ISA(ais_fma_burst_work)(void) { return 2.0 * CHAINS * AIS_WIDTH; }
