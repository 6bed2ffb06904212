/* The type of network arithmetic: float. The gradient tests build the same sources with double,
 * where finite differences can be trusted to many digits. */
#ifndef AIS_NN_REAL_H
#define AIS_NN_REAL_H

#include <stdint.h>

#ifdef AIS_REAL_IS_DOUBLE
typedef double ais_real;
typedef uint64_t ais_real_bits;
#else
typedef float ais_real;
typedef uint32_t ais_real_bits;
#endif

#endif
