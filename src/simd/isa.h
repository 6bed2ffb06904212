/* Instruction sets. A file called *_lanes.c is compiled once per set; inside it every exported
 * function is named AIS_ISA(name), which gives name_base, name_avx2 or name_avx512. A header
 * declares all of them with AIS_DECLARE_LANES, and callers take the one for this machine with
 * AIS_CHOOSE(name). Tables hold AIS_EVERY(name), an array,
 * of which AIS_OF(array) is the one for this machine.
 *
 * Lanes are chains (or members of a batch). Lane counts are multiples of AIS_LANES, the last block
 * being padded, so that a lane's arithmetic never depends on its place or on how many there are:
 * that is what makes results equal to the bit for any blocking within one instruction set. */
#ifndef AIS_SIMD_ISA_H
#define AIS_SIMD_ISA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { AIS_LANES = 16, AIS_HALF = 8 }; /* half: a whole vector of doubles in every set */

static inline size_t ais_padded(size_t n) { return (n + AIS_LANES - 1) / AIS_LANES * AIS_LANES; }

static inline size_t ais_halves(size_t n) { return (n + AIS_HALF - 1) / AIS_HALF * AIS_HALF; }

typedef enum ais_isa { AIS_BASE, AIS_AVX2, AIS_AVX512, AIS_ISA_COUNT } ais_isa;

/* The widest set that this build and this machine have, or the one that the environment variable
 * AISAMPLER_ISA names (base, avx2, avx512) if the machine has it. */
extern atomic_int ais_isa_known; /* 0: not detected yet, else isa + 1; every thread finds the same */
ais_isa ais_isa_ask(void);
static inline ais_isa ais_isa_now(void) {
    int known = atomic_load_explicit(&ais_isa_known, memory_order_relaxed);
    return known ? (ais_isa)(known - 1) : ais_isa_ask();
}

/* Takes another set from now on, for tests and benchmarks that compare them, while nothing else runs. False, and no
 * change, if this build or this machine does not have it. */
bool ais_isa_take(ais_isa isa);
const char *ais_isa_name(ais_isa isa);

#define AIS_JOIN_(a, b) a##_##b
#define AIS_JOIN(a, b)  AIS_JOIN_(a, b)
#define AIS_ISA(name)   AIS_JOIN(name, AIS_ISA_SUFFIX)

#if defined(__x86_64__) && !defined(AIS_ONE_ISA)
#define AIS_DECLARE_LANES(result, name, ...)                                                                           \
    result name##_base(__VA_ARGS__);                                                                                   \
    result name##_avx2(__VA_ARGS__);                                                                                   \
    result name##_avx512(__VA_ARGS__)
#define AIS_CHOOSE(name)                                                                                               \
    (ais_isa_now() == AIS_AVX512 ? name##_avx512 : ais_isa_now() == AIS_AVX2 ? name##_avx2 : name##_base)
#define AIS_EVERY(name)                                                                                                \
    { name##_base, name##_avx2, name##_avx512 }
#define AIS_OF(array) ((array)[ais_isa_now()])
#else
#define AIS_DECLARE_LANES(result, name, ...) result name##_base(__VA_ARGS__)
#define AIS_CHOOSE(name)                     (name##_base)
#define AIS_EVERY(name)                                                                                                \
    { name##_base }
#define AIS_OF(array) ((array)[0])
#endif

#endif
