#include "bench/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"

double ais_best_time(void (*run)(void *data), void *data, double seconds) {
    const double repetition = 1e-3;
    double begin = ais_now(), best = 1e300;
    run(data); /* caches, page faults */
    double once = ais_now() - begin;
    long calls = once > 0 && once < repetition ? (long)(repetition / once) + 1 : 1;
    do {
        double start = ais_now();
        for (long k = 0; k < calls; k++) run(data);
        double took = (ais_now() - start) / (double)calls;
        if (took < best) best = took;
        if (took * (double)calls < repetition / 4) calls *= 2; /* the first call was slower than the rest */
    } while (ais_now() - begin < seconds);
    return best;
}

enum { BURST = 2000, COPY_BYTES = 32 << 20 };

static void burst(void *data) { *(float *)data = AIS_CHOOSE(ais_fma_burst)(BURST); }

static void copy(void *data) {
    char **buffer = data;
    memcpy(buffer[1], buffer[0], COPY_BYTES);
}

ais_status ais_bench_measure_limits(ais_context *context, double seconds, ais_bench_limits *limits) {
    float ignored;
    char *buffer[2] = {malloc(COPY_BYTES), malloc(COPY_BYTES)};
    if (!buffer[0] || !buffer[1]) {
        free(buffer[0]);
        free(buffer[1]);
        return ais_fail_memory(context, "the copy that memory speed is measured with", COPY_BYTES);
    }
    memset(buffer[0], 1, COPY_BYTES);
    double fma = BURST * AIS_CHOOSE(ais_fma_burst_work)() / ais_best_time(burst, &ignored, seconds);
    double bytes = 2.0 * COPY_BYTES / ais_best_time(copy, buffer, seconds);
    limits->isa = ais_isa_name(ais_isa_now());
    limits->fma_per_second = fma > limits->fma_per_second ? fma : limits->fma_per_second;
    limits->bytes_per_second = bytes > limits->bytes_per_second ? bytes : limits->bytes_per_second;
    free(buffer[0]);
    free(buffer[1]);
    return AIS_OK;
}
