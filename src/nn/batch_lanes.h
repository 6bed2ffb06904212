/* The loops of ais_batch_run over the numbers of a gradient. */
#ifndef AIS_NN_BATCH_LANES_H
#define AIS_NN_BATCH_LANES_H

#include "nn/real.h"
#include "simd/isa.h"

/* Of the sizes; infinity when a number is not finite. */
AIS_DECLARE_LANES(double, ais_batch_largest, const ais_real *value, size_t count);
/* sum += each term rounded to the unit that rounder stands for, math.md (19). */
AIS_DECLARE_LANES(void, ais_batch_add, const ais_real *term, size_t count, double rounder, double *sum);
/* sum as network arithmetic wants it. */
AIS_DECLARE_LANES(void, ais_batch_narrow, const double *sum, size_t count, ais_real *value);

#endif
