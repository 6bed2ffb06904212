/* Philox4x32-10 (Salmon et al. 2011) by the Random123 library, with our counter layout. Inline, so
 * that loops over chains vectorise. */
#ifndef AIS_BASE_PHILOX_H
#define AIS_BASE_PHILOX_H

#include <stdint.h>

#include <Random123/philox.h>

static inline void ais_philox(uint64_t seed, uint64_t step, uint32_t purpose, uint32_t chain, uint32_t index,
                              uint32_t bits[4]) {
    philox4x32_ctr_t counter = {{index, purpose << 24 | (uint32_t)(step >> 32), (uint32_t)step, chain}};
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t result = philox4x32(counter, key);
    for (int i = 0; i < 4; i++) bits[i] = result.v[i];
}

/* The middle of one of 2^52 equal cells of (0, 1). */
static inline double ais_unit(uint64_t word) { return ((double)(int64_t)(word >> 12) + 0.5) * 0x1p-52; }

#endif
