/* What test programs share. Include it first. */
#ifndef AIS_TESTS_SUPPORT_H
#define AIS_TESTS_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <aisampler/status.h>

#include "base/random.h"

/* cmocka's near-assert is single precision; this one is not, and says both values. */
#define assert_near(a, b, tolerance) assert_near_at((a), (b), (tolerance), #a, __FILE__, __LINE__)
static inline void assert_near_at(double a, double b, double tolerance, const char *what, const char *file, int line) {
    if (fabs(a - b) <= tolerance || a == b) return;
    print_error("%s is %.17g, wanted %.17g within %.3g\n", what, a, b, tolerance);
    _fail(file, line);
}

#define assert_ok(context, call)                                                                                       \
    do {                                                                                                               \
        if ((call) != AIS_OK) fail_msg("%s: %s", #call, (context).message);                                            \
    } while (0)

/* Odd-looking numbers for tests: uniform number i of a stream of its own, in (low, high). */
static inline double odd(uint64_t seed, uint64_t i, double low, double high) {
    ais_stream stream = {.seed = seed, .step = i, .purpose = AIS_FOR_USER};
    return low + (high - low) * ais_random_uniform(&stream, 0);
}

#endif
