#include "target/ring_lanes.h"
#include "simd/math.h"

static void block(const void *data, size_t stride, const double *x, double *logp) {
    const ais_rings *rings = data;
    double r[AIS_HALF], least[AIS_HALF], rate = 1 / rings->width;
#pragma omp simd
    for (int c = 0; c < AIS_HALF; c++) {
        r[c] = sqrt(x[c] * x[c] + x[stride + (size_t)c] * x[stride + (size_t)c]);
        least[c] = (r[c] - rings->first) * (r[c] - rings->first);
    }
    for (int k = 1; k < rings->rings; k++) {
        double radius = rings->first + k;
#pragma omp simd
        for (int c = 0; c < AIS_HALF; c++) {
            double square = (r[c] - radius) * (r[c] - radius);
            least[c] = square < least[c] ? square : least[c];
        }
    }
#pragma omp simd
    for (int c = 0; c < AIS_HALF; c++) logp[c] = -least[c] * rate;
}

void AIS_ISA(ais_rings_block)(const void *data, size_t count, size_t stride, const double *x, double *logp) {
    for (size_t c = 0; c < count; c += AIS_HALF) block(data, stride, x + c, logp + c);
}
