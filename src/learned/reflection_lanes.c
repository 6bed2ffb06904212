#include "learned/reflection_lanes.h"

#include "simd/doubles.h"

void AIS_ISA(ais_reflect)(int dim, size_t lanes, const double *cosine, const double *sine, const double *z,
                          const double *v, double *next, double *other) {
    for (size_t c = 0; c < lanes; c += AIS_WORDS) {
        ais_doubles cos_a = ais_load(cosine + c), sin_a = ais_load(sine + c);
        for (size_t i = c; i < (size_t)dim * lanes; i += lanes) {
            ais_doubles here = ais_load(z + i), fresh = ais_load(v + i);
            ais_store(next + i, ais_fma_double(here, cos_a, fresh * sin_a));
            ais_store(other + i, ais_fma_double(here, sin_a, -(fresh * cos_a)));
        }
    }
}
