/* exp, log and tanh that vectorise: the declarations of glibc's libmvec. Only for *_lanes.c, which
 * are compiled with -fopenmp-simd -fno-math-errno. */
#ifndef AIS_SIMD_MATH_H
#define AIS_SIMD_MATH_H

#include <math.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define AIS_VECTOR_MATH __attribute__((simd("notinbranch")))
AIS_VECTOR_MATH double exp(double);
AIS_VECTOR_MATH double log(double);
AIS_VECTOR_MATH double sin(double);
AIS_VECTOR_MATH double cos(double);
AIS_VECTOR_MATH double tanh(double);
AIS_VECTOR_MATH float expf(float);
AIS_VECTOR_MATH float logf(float);
AIS_VECTOR_MATH float tanhf(float);
#endif

#endif
