/* Random numbers as a pure function of (seed; chain, step, purpose, index): Philox4x32-10 with
 * key = seed and counter = (index, purpose and step, step, chain). No state, so any thread can
 * compute any number, in any order, and get the same one. */
#ifndef AIS_BASE_RANDOM_H
#define AIS_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Two different uses must never share a purpose at the same (chain, step). */
typedef enum ais_purpose {
    AIS_FOR_START,     /* where a chain starts */
    AIS_FOR_MOMENTUM,  /* v, and a learned kernel's accept test */
    AIS_FOR_TEST,      /* the accept test of others */
    AIS_FOR_DIRECTION, /* NUTS: direction, tree sampling; HMC: jitter; reflections: which angle */
    AIS_FOR_WALK,      /* random-walk proposals */
    AIS_FOR_WEIGHTS,   /* initial weights, permutations */
    AIS_FOR_EXACT,     /* exact draws of a reference */
    AIS_FOR_CHECK,     /* points at which a target is checked */
    AIS_FOR_BATCH,     /* which members of a population make a batch */
    AIS_FOR_STEP_SIZE, /* the search for a first step size */
    AIS_FOR_SEARCH,    /* cold start: where optimisations begin, points screened */
    AIS_FOR_MIXTURE,   /* draws of a mixture: cold start, the kernel */
    AIS_FOR_RESAMPLE,  /* cold start: resampling, choice of points */
    AIS_FOR_ANNEAL,    /* cold start: moves of a tempered population */
    AIS_FOR_LOCAL,     /* cold start: local chains, moves of the last population */
    AIS_FOR_RADIUS,    /* how far out a Student-t's draw lies */
    AIS_FOR_USER = 128 /* tests and callers: this and above, below 256 */
} ais_purpose;

typedef struct ais_stream {
    uint64_t seed;
    uint64_t step; /* below 2^56 */
    uint32_t chain;
    uint32_t purpose; /* below 256 */
} ais_stream;

/* Not for a purpose that also takes uniforms: those are made of the same bits. */
void ais_random_bits(const ais_stream *stream, uint32_t index, uint32_t bits[4]);

/* Two chains whose numbers differ in this bit alone have the two halves of the same 128 bits for uniforms: half the
 * work where many chains step together. */
enum { AIS_SHARED_CHAIN = 8 };

/* In (0, 1): never 0, never 1, 52 bits. */
double ais_random_uniform(const ais_stream *stream, uint32_t index);

/* Below bound, without bias that could be noticed (64 bits). */
uint64_t ais_random_below(const ais_stream *stream, uint32_t index, uint64_t bound);

#endif
