#include "judge/again.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

enum { SPREAD = 48, HIGHEST = AIS_AGAIN - SPREAD, SHARE = 8 };

/* Smaller changes do not harm draws: batches of another size round differently, and so does single precision. */
static double harmless(double logp) { return 0.02 + 1e-6 * fabs(logp); }

static bool is_there(const size_t *list, size_t count, size_t draw) {
    for (size_t k = 0; k < count; k++)
        if (list[k] == draw) return true;
    return false;
}

/* The draw of the highest log density below `below`; n: there is none. */
static size_t next_highest(const double *logp, size_t n, double below) {
    size_t best = n;
    for (size_t j = 0; j < n; j++)
        if (logp[j] < below && (best == n || logp[j] > logp[best])) best = j;
    return best;
}

/* The numbers of up to `most` draws. */
static size_t choose(const double *logp, size_t n, size_t most, size_t *list) {
    size_t spread = most * SPREAD / AIS_AGAIN, count = 0;
    if (spread > n) spread = n;
    for (; count < spread; count++) list[count] = count * n / spread;
    double below = INFINITY;
    for (size_t k = spread; k < most; k++) {
        size_t draw = next_highest(logp, n, below);
        if (draw == n) break;
        below = logp[draw];
        if (!is_there(list, count, draw)) list[count++] = draw;
    }
    return count;
}

/* A sampler may have got its log density together with the gradient, which can take another path through a solver. */
static double by_gradient(ais_evaluator *evaluator, const double *x, double *gradient) {
    const ais_target *target = evaluator->target;
    if (!target->grad) return NAN;
    ais_count_gradients(evaluator, 1);
    return target->grad(x, gradient, target->data);
}

static void compare(ais_evaluator *evaluator, const ais_draws *draws, const size_t *list, const double *x,
                    const double *logp, double *room, ais_again *again) {
    double worst = 0;
    again->draw = list[0];
    for (int k = 0; k < again->asked; k++) {
        double before = draws->logp[list[k]], now = logp[k], limit = harmless(before);
        if (fabs(now - before) <= limit) continue;
        if (fabs(by_gradient(evaluator, x + (size_t)k * (size_t)draws->dim, room) - before) <= limit) continue;
        double miss = fabs(now - before);
        if (again->changed++ > 0 && !(miss > worst)) continue;
        worst = miss;
        again->draw = list[k];
        again->before = before;
        again->now = now;
    }
}

ais_status ais_judge_again(ais_context *context, ais_evaluator *evaluator, const ais_draws *draws, ais_again *again) {
    size_t dim = (size_t)draws->dim, n = (size_t)draws->chains * (size_t)draws->draws, list[AIS_AGAIN];
    long most = evaluator->most ? evaluator->most / SHARE : AIS_AGAIN;
    *again = (ais_again){0};
    if (!draws->logp || n == 0 || most < 1) return AIS_OK;
    size_t count = choose(draws->logp, n, most < AIS_AGAIN ? (size_t)most : AIS_AGAIN, list);
    double *x = malloc((count * (dim + 1) + dim) * sizeof *x);
    if (!x) return ais_fail_memory(context, "draws to be evaluated again", count * dim * sizeof *x);
    double *logp = x + count * dim;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < dim; i++) x[k * dim + i] = draws->value[i * n + list[k]];
    ais_context own = {0};
    evaluator->context = &own;
    ais_status status = count > 0 ? ais_evaluate(evaluator, count, x, logp) : AIS_STOPPED;
    if (status == AIS_OK || status == AIS_BAD_DENSITY) { /* no number, where it was one */
        again->asked = (int)count;
        compare(evaluator, draws, list, x, logp, logp + count, again);
    }
    evaluator->context = context;
    free(x);
    return AIS_OK;
}
