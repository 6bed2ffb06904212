/* A made-up run whose every number is a function of its place, to be handed to sinks. */
#ifndef TESTS_DEMO_RUN_H
#define TESTS_DEMO_RUN_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <aisampler/draws.h>
#include <aisampler/target.h>

typedef struct demo_run {
    ais_target target; /* name, dim, names */
    const char *sampler;
    int chains, warmup, draws;
    bool save_warmup;
    unsigned info;
    const char *const *config;
    int chunk;       /* draws handed over at a time */
    int warmup_stop; /* rows really made; -1: all */
    int draws_stop;  /* rows really made; -1: all */
    bool odd;        /* among the numbers are infinities, zeros of both signs, subnormals */
    uint64_t seed;   /* another seed, other numbers */
    double seconds;  /* what the footer says */
} demo_run;

static inline uint64_t demo_bits(uint64_t seed, int phase, int chain, int draw, int column) {
    uint64_t x = seed * 0x9e3779b97f4a7c15U + (uint64_t)phase;
    const int part[3] = {chain, draw, column};
    for (int i = 0; i < 3; i++) {
        x += (uint64_t)part[i] + 0x9e3779b97f4a7c15U;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
        x = (x ^ x >> 27) * 0x94d049bb133111ebU;
        x ^= x >> 31;
    }
    return x;
}

static inline double demo_unit(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

static inline double demo_value(const demo_run *run, int phase, int chain, int draw, int column) {
    static const double odd[] = {0.0, -0.0, 5e-324, -2.2250738585072014e-308, 1.7976931348623157e308,
                                 0.1, 1e22, 1.0 / 3};
    uint64_t bits = demo_bits(run->seed, phase, chain, draw, column);
    if (run->odd && bits % 5 == 0) {
        uint64_t which = bits / 5 % 11;
        return which < 8 ? odd[which] : which == 8 ? INFINITY : which == 9 ? -INFINITY : nextafter(1.0, 2.0);
    }
    /* A sum of uniforms: nearly normal, and its last bits are all in use. */
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += demo_unit(demo_bits(bits, i, 0, 0, 0));
    return sum * (abs(column) + 1) + column;
}

static inline ais_info demo_info(const demo_run *run, int phase, int chain, int draw) {
    uint64_t bits = demo_bits(run->seed, phase, chain, draw, -7);
    return (ais_info){.accept_stat = demo_unit(bits),
                      .step_size = 0.3 + 0.01 * chain,
                      .tree_depth = (double)(bits % 8 + 1),
                      .n_leapfrog = (double)(bits % 255 + 1),
                      .divergent = bits % 17 == 0,
                      .energy = demo_value(run, phase, chain, draw, -3) + 10,
                      .round_trip = demo_unit(bits * 77) * 1e-13,
                      .log_weight = bits % 5 == 0   ? NAN
                                    : bits % 7 == 0 ? -INFINITY
                                                    : demo_value(run, phase, chain, draw, -4)};
}

static inline int demo_rows(const demo_run *run, int phase) {
    int stop = phase ? run->warmup_stop : run->draws_stop, planned = phase ? run->warmup : run->draws;
    return stop < 0 ? planned : stop;
}

static inline ais_status demo_write(ais_context *context, const demo_run *run, ais_sink *sink, int phase) {
    size_t chains = (size_t)run->chains, dim = (size_t)run->target.dim, most = (size_t)run->chunk;
    double *x = malloc(chains * most * dim * sizeof *x), *logp = malloc(chains * most * sizeof *logp);
    ais_info *info = malloc(chains * most * sizeof *info);
    ais_status status = x && logp && info ? AIS_OK : AIS_NO_MEMORY;
    int rows = demo_rows(run, phase);
    for (int first = 0; status == AIS_OK && first < rows; first += run->chunk) {
        int count = rows - first < run->chunk ? rows - first : run->chunk;
        for (int c = 0; c < run->chains; c++)
            for (int t = 0; t < count; t++) {
                size_t cell = (size_t)c * (size_t)count + (size_t)t;
                for (int i = 0; i < run->target.dim; i++)
                    x[cell * dim + (size_t)i] = demo_value(run, phase, c, first + t, i);
                logp[cell] = demo_value(run, phase, c, first + t, -1);
                info[cell] = demo_info(run, phase, c, first + t);
            }
        ais_chunk chunk = {phase != 0, first, count, x, logp, info, x, logp};
        status = sink->write(context, sink, &chunk);
    }
    free(x);
    free(logp);
    free(info);
    return status;
}

/* The whole life of a sink, as the sampler leads it. */
static inline ais_status demo_feed(ais_context *context, const demo_run *run, ais_sink *sink) {
    ais_run_header header = {.target = run->target.name,
                             .about = run->target.about,
                             .x = {run->target.dim, run->target.names},
                             .sampler = run->sampler ? run->sampler : "nuts",
                             .seed = run->seed,
                             .chains = run->chains,
                             .warmup = run->warmup,
                             .draws = run->draws,
                             .save_warmup = run->save_warmup,
                             .info = run->info,
                             .config = run->config};
    ais_run_footer footer = {demo_rows(run, 0), run->seconds, 2 * run->seconds};
    ais_status status = sink->begin(context, sink, &header);
    if (status == AIS_OK && run->warmup) status = demo_write(context, run, sink, 1);
    if (status == AIS_OK) status = demo_write(context, run, sink, 0);
    if (status == AIS_OK) status = sink->end(context, sink, &footer);
    if (status != AIS_OK) sink->abandon(sink);
    return status;
}

#endif
