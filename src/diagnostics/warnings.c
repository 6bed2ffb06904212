/* The sentences: each says what is wrong, with its number, and what to do about it. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "diagnostics/judge.h"
#include "draws/names.h"

#define KL_LIMIT      0.05
#define DEEP_SHARE    0.01
#define DEEPEST       10 /* Stan's default limit of the tree depth, where a file does not tell */
#define SURELY_VISITS 10 /* expected visits from which on a chain that has none is remarkable */

static ais_status warn(ais_judge *judge, const char *format, ...) __attribute__((format(printf, 2, 3)));

ais_status ais_diagnosis_warn(ais_context *context, ais_diagnosis *diagnosis, const char *sentence) {
    size_t count = (size_t)diagnosis->warnings + 1;
    char(*grown)[256] = realloc(diagnosis->warning, count * sizeof *grown);
    if (!grown) return ais_fail_memory(context, "warnings", count * sizeof *grown);
    diagnosis->warning = grown;
    snprintf(grown[diagnosis->warnings++], sizeof *grown, "%s", sentence);
    return AIS_OK;
}

static ais_status warn(ais_judge *judge, const char *format, ...) {
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return ais_diagnosis_warn(judge->context, judge->diagnosis, sentence);
}

static const char *name_of(const ais_judge *judge, int i) { return judge->draws->name[i]; }

static bool is_learned(const ais_judge *judge) { return ais_is_trained(judge->draws->sampler); }

/* What helps besides more draws: a kernel that was learned can be learned better, others adapt. */
static const char *advice(const ais_judge *judge) {
    if (is_learned(judge)) return "draw more or train longer";
    return judge->draws->sampler[0] ? "draw more or warm up longer" : "draw more";
}

/* How many times as many draws it takes to have 100 per chain, rounded up. */
static double times_more(double ess_per_chain) { return ceil(AIS_LEAST_ESS / fmax(ess_per_chain, 1e-6)); }

static ais_status warn_not_finite(ais_judge *judge) {
    if (judge->not_finite == 0) return AIS_OK;
    return warn(judge,
                "%ld values are not finite, the first one %.60s in draw %d of chain %d: the density, or what is "
                "computed from a draw, is wrong there",
                judge->not_finite, name_of(judge, judge->bad_parameter), judge->bad_draw + 1, judge->bad_chain + 1);
}

static ais_status warn_shape(ais_judge *judge) {
    const ais_diagnosis *d = judge->diagnosis;
    ais_status status = AIS_OK;
    if (d->draws < 4) status = warn(judge, "draws per chain: %d, too few to judge; draw 1000 or more", d->draws);
    if (status == AIS_OK && d->chains == 1)
        status = warn(judge, "there is one chain, so R-hat compares only its two halves and cannot see what the chain "
                             "missed: run 4 chains or more");
    return status;
}

static bool is_stuck(const ais_judge *judge, int chain) {
    int draws = judge->draws->draws;
    for (int i = 0; i < judge->draws->dim; i++) {
        const double *x = judge->draws->value + (size_t)i * judge->column.n + (size_t)chain * (size_t)draws;
        for (int t = 1; t < draws; t++)
            if (x[t] != x[0]) return false;
    }
    return draws > 1;
}

static ais_status warn_stuck(ais_judge *judge) {
    int stuck = 0, first = 0;
    for (int c = judge->draws->chains - 1; c >= 0; c--) {
        if (!is_stuck(judge, c)) continue;
        stuck++;
        first = c + 1;
    }
    if (stuck == 0) return AIS_OK;
    return warn(judge,
                "%d of %d chains never moved, the first one is chain %d: start them elsewhere, take smaller steps%s",
                stuck, judge->draws->chains, first, is_learned(judge) ? " or train longer" : "");
}

static bool same_draws(const ais_judge *judge, int a, int b) {
    size_t draws = (size_t)judge->draws->draws;
    for (int i = 0; i < judge->draws->dim; i++) {
        const double *x = judge->draws->value + (size_t)i * judge->column.n;
        for (size_t t = 0; t < draws; t++)
            if (x[(size_t)a * draws + t] != x[(size_t)b * draws + t]) return false;
    }
    return true;
}

/* A chain's draws as one number: equal draws have equal ones, 0 and -0 included. */
static uint64_t hash_of(const ais_judge *judge, int chain) {
    size_t draws = (size_t)judge->draws->draws;
    uint64_t hash = 0x9e3779b97f4a7c15;
    for (int i = 0; i < judge->draws->dim; i++) {
        const double *x = judge->draws->value + (size_t)i * judge->column.n + (size_t)chain * draws;
        for (size_t t = 0; t < draws; t++) {
            double value = x[t] + 0.0;
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            hash = (hash ^ bits) * 0xff51afd7ed558ccd;
            hash ^= hash >> 32;
        }
    }
    return hash;
}

typedef struct hashed {
    uint64_t hash;
    int chain;
} hashed;

static int by_hash(const void *left, const void *right) {
    const hashed *a = left, *b = right;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return (a->chain > b->chain) - (a->chain < b->chain);
}

/* Two equal chains that move: the same file twice, or the same random numbers. They would count as two. The pair with
 * the pair with the smallest first number is reported. Chains next to each other by hash are compared: of equal chains
 * with a stranger of the same hash between them, which has not been seen to happen, the pair would be missed. */
static ais_status warn_same_chains(ais_judge *judge) {
    int chains = judge->draws->chains, first = chains, second = 0;
    if (judge->draws->draws < 2) return AIS_OK;
    hashed *all = ais_allocate((size_t)chains * sizeof *all);
    if (!all) return ais_fail_memory(judge->context, "a comparison of chains", (size_t)chains * sizeof *all);
    for (int c = 0; c < chains; c++) all[c] = (hashed){hash_of(judge, c), c};
    qsort(all, (size_t)chains, sizeof *all, by_hash);
    for (int k = 1; k < chains; k++) {
        int a = all[k - 1].chain, b = all[k].chain;
        if (all[k - 1].hash != all[k].hash || a >= first || !same_draws(judge, a, b) || is_stuck(judge, a)) continue;
        first = a;
        second = b;
    }
    free(all);
    if (first == chains) return AIS_OK;
    return warn(judge,
                "chains %d and %d are the same draws: give every file once, and every chain its own random numbers",
                first + 1, second + 1);
}

static ais_status warn_rhat(ais_judge *judge) {
    if (judge->rhat.parameter < 0 || !(judge->rhat.value > AIS_MOST_RHAT)) return AIS_OK;
    return warn(judge, "R-hat of %.60s is %.3f, above %g: the chains do not agree; %s",
                name_of(judge, judge->rhat.parameter), judge->rhat.value, AIS_MOST_RHAT, advice(judge));
}

static ais_status warn_ess(ais_judge *judge) {
    const ais_diagnosis *d = judge->diagnosis;
    double tail = judge->tail.value / d->chains;
    ais_status status = AIS_OK;
    if (d->worst_ess > 0 && d->worst_ess < AIS_LEAST_ESS)
        status = warn(judge, "the bulk ESS of %s is %.3g per chain, below %d: draw %.0f times as many%s",
                      d->worst_ess_function, d->worst_ess, AIS_LEAST_ESS, times_more(d->worst_ess),
                      is_learned(judge) ? " or train longer" : "");
    if (status == AIS_OK && judge->tail.parameter >= 0 && tail < AIS_LEAST_ESS)
        status =
            warn(judge,
                 "the tail ESS of %.60s is %.3g per chain, below %d: its 5%% and 95%% quantiles are uncertain; draw "
                 "%.0f times as many",
                 name_of(judge, judge->tail.parameter), tail, AIS_LEAST_ESS, times_more(tail));
    return status;
}

static ais_status warn_sampler(ais_judge *judge) {
    const ais_diagnosis *d = judge->diagnosis;
    const double *depth = ais_judge_stat(judge->draws, "treedepth__", "tree_depth");
    ais_status status = AIS_OK;
    if ((double)d->divergences > ais_most_divergences(judge))
        status = warn(judge,
                      "%ld of %ld %s diverged: a part of the target may be left out; take smaller steps or "
                      "reparametrise the target",
                      d->divergences, d->trajectories ? d->trajectories : (long)judge->column.n,
                      d->trajectories ? "trajectories" : "draws");
    if (status == AIS_OK && d->lowest_ebfmi < AIS_LEAST_EBFMI)
        status = warn(judge,
                      "E-BFMI is %.3f in the worst chain, below %g: energies are explored slowly, so tails may be "
                      "missing; reparametrise the target",
                      d->lowest_ebfmi, AIS_LEAST_EBFMI);
    if (status == AIS_OK && d->round_trips < AIS_LEAST_TRIPS)
        status = warn(judge,
                      "replicas of the ladder made %.0f round trips, fewer than %d: modes that are hard to reach may "
                      "be missing or have wrong shares; draw more",
                      d->round_trips, AIS_LEAST_TRIPS);
    size_t deep = 0;
    int limit = judge->draws->max_depth > 0 ? judge->draws->max_depth : DEEPEST;
    for (size_t k = 0; depth && !judge->draws->max_depth && k < judge->column.n; k++)
        if (depth[k] > limit) limit = (int)depth[k]; /* then the limit was no less */
    for (size_t k = 0; depth && k < judge->column.n; k++) deep += depth[k] >= limit;
    double share = (double)deep / (double)judge->column.n;
    if (status == AIS_OK && share > DEEP_SHARE)
        status =
            warn(judge,
                 "%.1f%% of the draws reached tree depth %d: trajectories are cut short; raise the depth or rescale "
                 "the target",
                 100 * share, limit);
    return status;
}

static ais_status warn_never_visited(ais_judge *judge) {
    const ais_diagnosis *d = judge->diagnosis;
    char list[96] = "";
    int missed = 0;
    double weight = 0;
    for (int k = 0; k < d->modes; k++) {
        if (d->mode_share[k] > 0 || !(judge->reference->mode_weight[k] > 0)) continue;
        size_t used = strlen(list);
        if (used + 16 < sizeof list)
            snprintf(list + used, sizeof list - used, "%s%d", missed ? ", " : "", k + 1);
        else if (list[used - 1] != '.')
            snprintf(list + used, sizeof list - used, ", ...");
        missed++;
        weight += judge->reference->mode_weight[k];
    }
    if (missed == 0) return AIS_OK;
    return warn(judge, "mode%s %s (weight %.3g) %s never visited: start chains there%s", missed > 1 ? "s" : "", list,
                weight, missed > 1 ? "were" : "was",
                is_learned(judge) ? " or train longer" : ", or learn a kernel that jumps (aisampler run)");
}

/* Chains that miss a mode which others visit, and which they should have visited often. */
static ais_status warn_fewer_modes(ais_judge *judge) {
    const ais_diagnosis *d = judge->diagnosis;
    int poor = 0, first = 0, first_mode = 0;
    for (int c = d->chains - 1; c >= 0 && d->modes > 0; c--) {
        int missing = -1;
        for (int k = d->modes - 1; k >= 0; k--) {
            bool expected = judge->reference->mode_weight[k] * d->draws >= SURELY_VISITS;
            if (expected && d->mode_share[k] > 0 && judge->visits[(size_t)c * (size_t)d->modes + (size_t)k] == 0)
                missing = k;
        }
        if (missing < 0) continue;
        poor++;
        first = c;
        first_mode = missing;
    }
    if (poor == 0) return AIS_OK;
    return warn(
        judge,
        "%d of %d chains missed a mode that others visited (chain %d missed mode %d; the fewest visited are %d of %d): "
        "%s",
        poor, d->chains, first + 1, first_mode + 1, d->fewest_modes, d->modes,
        is_learned(judge) ? "draw more or train longer" : "learn a kernel that jumps (aisampler run)");
}

static ais_status warn_truth(ais_judge *judge) {
    const ais_diagnosis *d = judge->diagnosis;
    ais_status status = AIS_OK;
    if (isfinite(d->mode_kl) && d->mode_kl > KL_LIMIT)
        status =
            warn(judge, "the modes' shares are off: the KL divergence from their true weights is %.3g, above %g; %s",
                 d->mode_kl, KL_LIMIT,
                 is_learned(judge) ? "draw more or train longer" : "learn a kernel that jumps (aisampler run)");
    bool square = judge->z_mean.parameter < 0 || judge->z_square.value > judge->z_mean.value;
    const ais_worst *worst = square ? &judge->z_square : &judge->z_mean;
    if (status == AIS_OK && worst->parameter >= 0 && worst->value > AIS_Z_LIMIT)
        status = warn(judge,
                      "the mean of %.60s%s is %.3g standard errors from %s, more than %g: the draws are biased; do "
                      "not use them",
                      name_of(judge, worst->parameter), square ? "^2" : "", worst->value,
                      judge->target->draws ? "that of the data" : "the truth", AIS_Z_LIMIT);
    return status;
}

ais_status ais_judge_warnings(ais_judge *judge) {
    static ais_status (*const check[])(ais_judge *) = {
        warn_not_finite,  warn_shape, warn_stuck, warn_same_chains, warn_never_visited,
        warn_fewer_modes, warn_rhat,  warn_ess,   warn_sampler,     warn_truth,
    };
    for (size_t i = 0; i < sizeof check / sizeof *check; i++) {
        ais_status status = check[i](judge);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}
