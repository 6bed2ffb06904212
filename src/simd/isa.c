#include "simd/isa.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[AIS_ISA_COUNT] = {"base", "avx2", "avx512"};

const char *ais_isa_name(ais_isa isa) { return names[isa]; }

static ais_isa widest(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return AIS_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return AIS_AVX2;
#endif
    return AIS_BASE;
}

atomic_int ais_isa_known;

bool ais_isa_take(ais_isa isa) {
    if (isa > widest()) return false;
    atomic_store_explicit(&ais_isa_known, (int)isa + 1, memory_order_relaxed);
    return true;
}

ais_isa ais_isa_ask(void) {
    int isa = widest();
    const char *wish = getenv("AISAMPLER_ISA");
    for (int i = 0; wish && i < isa; i++)
        if (strcmp(wish, names[i]) == 0) isa = i;
    atomic_store_explicit(&ais_isa_known, isa + 1, memory_order_relaxed);
    return (ais_isa)isa;
}
