/* Chains that start from exact draws of a law's target, and what a kernel makes of them. Include cmocka.h first. */
#ifndef TESTS_EXACT_DRAWS_H
#define TESTS_EXACT_DRAWS_H

#include <stdlib.h>

#include "classical.h"

enum { CHAINS = 2048, STEPS = 25 };

/* AIS_LAW_CHAINS chains for each kernel and target; CHAINS without it. Sanitizers, under which a step takes 20 times as
 * long, want every path once: a few chains do, in more lanes than one vector and with lanes to spare. */
static inline int law_chains(void) {
    const char *text = getenv("AIS_LAW_CHAINS");
    return text ? atoi(text) : CHAINS;
}

/* What no |z| of a right kernel reaches. Fewer chains are too few to tell: of them it need only be finite. */
static inline double most_z(void) { return law_chains() < CHAINS ? INFINITY : 4; }

static inline void check(const ais_context *context, ais_status status) {
    if (status != AIS_OK) fail_msg("%s", context->message);
}

/* Replaces every point by an exact draw, as another kernel of a cycle would. */
static inline void restart_exactly(const law_target *law, ais_state *state, uint64_t seed) {
    ais_context context = {0};
    double point[MAX_DIM];
    for (int c = 0; c < state->chains; c++) {
        law_exact(law, seed, (uint32_t)c, point);
        for (int i = 0; i < law->target.dim; i++) state->x[i * state->lanes + c] = point[i];
        state->version[c]++;
    }
    check(&context, ais_state_logp(&context, state->target, state->chains, state->lanes, state->x, point, state->logp));
}

/* The largest |z| over the law's functions: their means over STEPS steps of law_chains() chains that start
 * from exact draws, against the truth, in standard errors between chains. */
static inline double largest_z(const law_target *law, const ais_target *target, const ais_kernel *kernel,
                               uint64_t warmup, uint64_t seed) {
    ais_context context = {0};
    ais_state *state;
    void *own;
    const int chains = law_chains();
    ais_info *info = calloc((size_t)chains, sizeof *info);
    double(*mean)[MAX_FUNCTIONS] = calloc((size_t)chains, sizeof *mean);
    double *start = calloc((size_t)chains * MAX_DIM, sizeof *start);
    for (uint32_t c = 0; c < (uint32_t)chains; c++) law_exact(law, seed, c, start + c * (size_t)target->dim);
    check(&context, ais_state_new(&context, target, seed, 0, chains, warmup, start, &state));
    check(&context, kernel->type->init(&context, kernel, state, &own));
    for (uint64_t t = 0; t < warmup + STEPS; t++, state->step++) {
        if (t == warmup) restart_exactly(law, state, seed + 1);
        check(&context, kernel->type->step(&context, kernel, state, own, info));
        for (int c = 0; t >= warmup && c < chains; c++) {
            double point[MAX_DIM], value[MAX_FUNCTIONS];
            for (int i = 0; i < target->dim; i++) point[i] = state->x[i * state->lanes + c];
            law->function(point, value);
            for (int k = 0; k < law->functions; k++) mean[c][k] += value[k] / STEPS;
            assert_true(info[c].accept_stat >= 0 && info[c].accept_stat <= 1);
        }
    }
    double largest = 0;
    for (int k = 0; k < law->functions; k++) {
        double sum = 0, square = 0;
        for (int c = 0; c < chains; c++) sum += mean[c][k] / chains;
        for (int c = 0; c < chains; c++) square += (mean[c][k] - sum) * (mean[c][k] - sum) / (chains - 1);
        double z = fabs(sum - law->truth[k]) / sqrt(square / chains);
        largest = isnan(z) ? INFINITY : fmax(largest, z); /* fmax would forget what is not a number */
    }
    ais_state_free(state);
    free(start);
    free(mean);
    free(info);
    return largest;
}

/* Chains first .. first + chains - 1, stepped as one block; x is chains x dim. */
static inline void run_block(const ais_target *target, const ais_kernel *kernel, uint64_t seed, uint32_t first,
                             int chains, double *x) {
    ais_context context = {0};
    ais_state *state;
    ais_info info[AIS_MAX_PARTS];
    void *own;
    check(&context, ais_state_new(&context, target, seed, first, chains, 30, NULL, &state));
    check(&context, kernel->type->init(&context, kernel, state, &own));
    for (; state->step < 45; state->step++) check(&context, kernel->type->step(&context, kernel, state, own, info));
    for (int c = 0; c < chains; c++)
        for (int i = 0; i < target->dim; i++) x[c * target->dim + i] = state->x[i * state->lanes + c];
    ais_state_free(state);
}

#endif
