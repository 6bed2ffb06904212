#include "judge/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Sorted log weights with, for every k, the sum of the weights of those below. */
typedef struct table {
    size_t n;
    const double *sorted;
    const double *below; /* n + 1; in units of the largest weight */
    double top;
} table;

/* The mean of min(1, w' / w) over the table. */
static double leaving(const table *of, double log_weight) {
    size_t low = 0, high = of->n; /* the first that is not below */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (of->sorted[middle] < log_weight)
            low = middle + 1;
        else
            high = middle;
    }
    double moved = (double)(of->n - low);
    if (low > 0) moved += of->below[low] * exp(of->top - log_weight);
    return fmin(moved / (double)of->n, 1);
}

/* ---- the tail ------------------------------------------------------------------------------------ */

/* Weights in units of their mean. Above `cut` lie `count` of the table, as a generalised Pareto distribution. */
typedef struct tail {
    size_t count;
    double cut, scale, shape;
} tail;

static tail tail_above(const table *of, size_t count, double *excess) {
    tail made = {.count = count};
    double mean = of->below[of->n] / (double)of->n;
    made.cut = exp(of->sorted[of->n - count - 1] - of->top) / mean;
    for (size_t i = 0; i < count; i++) excess[i] = exp(of->sorted[of->n - count + i] - of->top) / mean - made.cut;
    double median = excess[(count - 1) / 2], k = ais_pareto_shape(count, excess);
    if (!(median > 0) || !isfinite(k)) return (tail){0}; /* all of the mass is in a few of them: nothing to continue */
    made.shape = k + (1 + k) / sqrt((double)count);
    made.scale = fabs(made.shape) > 1e-6 ? made.shape * median / (exp2(made.shape) - 1) : median / log(2);
    return made;
}

/* It may begin later than usual: where a map is perfect on a part of p and fair on the rest, weights of the first part
 * are all alike, and beside them those of the other look like a tail without an end. The least heavy one counts. */
static tail tail_of(const table *of, double *room) {
    size_t usual = ais_tail_count(of->n);
    tail best = {0};
    for (size_t count = usual; count && count >= usual / 4; count /= 2) {
        tail next = tail_above(of, count, room);
        if (next.count && (!best.count || next.shape < best.shape)) best = next;
    }
    return best;
}

/* The mean of w (2 min(w, longest) - 1) over proposals in the tail, as far out as that many draws will reach; a
 * large weight is left with probability 1 / w. */
static double tail_time(const tail *of, double share, double draws, double longest) {
    enum { POINTS = 64 };
    double last = fmin(1 / (draws * share), 1), step = log(last) / POINTS, sum = 0;
    for (int j = 0; j < POINTS; j++) { /* evenly in the logarithm of the part of the tail that lies above */
        double above = exp((j + 0.5) * step);
        double excess = fabs(of->shape) > 1e-6 ? (pow(above, -of->shape) - 1) / of->shape : -log(above);
        double w = of->cut + of->scale * excess;
        sum -= w * (2 * fmax(fmin(w, longest), 1) - 1) * above * step;
    }
    return sum < INFINITY ? share * sum : INFINITY;
}

/* ---- times --------------------------------------------------------------------------------------- */

static double time_at(const table *of, double log_weight, double longest) {
    double a = leaving(of, log_weight);
    return a > 0 ? 2 * fmin(1 / a, longest) - 1 : 0;
}

/* Of the proposals but for the largest `without`, the mean of w times the time over all of them. */
static double own_time(const table *of, size_t without, double longest) {
    double sum = 0;
    for (size_t i = 0; i + without < of->n; i++)
        sum += exp(of->sorted[i] - of->top) * time_at(of, of->sorted[i], longest);
    return sum / of->below[of->n];
}

static double given_time(const table *of, size_t many, const double *given, double longest) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < many; i++) {
        if (!(given[i] < INFINITY)) continue;
        sum += time_at(of, given[i], longest);
        count++;
    }
    return count > 0 ? sum / count : 0;
}

static double acceptance(const table *of, size_t many, const double *given) {
    double own = 0, others = 0;
    for (size_t i = 0; i < of->n; i++) own += exp(of->sorted[i] - of->top) * leaving(of, of->sorted[i]);
    own /= of->below[of->n];
    for (size_t i = 0; i < many; i++) others += leaving(of, given[i]) / (double)many;
    return many ? fmin(own, others) : own;
}

double ais_draws_per_effective(const ais_verdict *verdict, int proposals) {
    for (int k = 0; k < AIS_RELIEFS; k++)
        if (ais_relief_proposals(k) == proposals) return verdict->relieved[k];
    return verdict->seen;
}

/* Draws spent in a part of p that proposals never reach, until the other kernel has left it. */
static double longest_stay(int relief) {
    static const double steps_to_lead = 8; /* of the other kernel, back to where proposals are accepted: notebook */
    return steps_to_lead * (ais_relief_proposals(relief) + 1);
}

/* Twice the mass of p that this many effective draws may have missed. */
static double unseen(double ess) { return 2 / ess; }

ais_verdict ais_flawless(size_t n) {
    ais_verdict verdict = {.acceptance = 1, .seen = 1};
    for (int k = 0; k < AIS_RELIEFS; k++) verdict.relieved[k] = 1 + unseen((double)n) * longest_stay(k);
    return verdict;
}

ais_verdict ais_verdict_of_more(const ais_verdict *verdict, double times) {
    ais_verdict more = *verdict;
    double ess = verdict->weighing.ess, less = unseen(ess) - unseen(times * ess);
    more.weighing.ess *= times;
    for (int k = 0; k < AIS_RELIEFS; k++) more.relieved[k] -= less * longest_stay(k);
    return more;
}

ais_status ais_judge_weights(ais_context *context, size_t n, const double *log_weight, size_t many, const double *given,
                             double wanted, ais_verdict *found) {
    ais_verdict verdict = {.seen = INFINITY};
    for (int k = 0; k < AIS_RELIEFS; k++) verdict.relieved[k] = INFINITY;
    *found = verdict;
    if (n < 2) return AIS_OK;
    double *sorted = malloc((3 * n + 2) * sizeof *sorted);
    if (!sorted) return ais_fail_memory(context, "importance weights", 3 * n * sizeof *sorted);
    double *below = sorted + n;
    verdict.weighing = ais_weigh(n, log_weight, below);
    memcpy(sorted, log_weight, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ais_rising);
    table of = {n, sorted, below, sorted[n - 1]};
    *found = verdict;
    if (!(of.top > -INFINITY)) {
        free(sorted);
        return AIS_OK;
    }
    below[0] = 0;
    for (size_t i = 0; i < n; i++) below[i + 1] = below[i] + exp(sorted[i] - of.top);
    const tail heavy = tail_of(&of, below + n + 1);
    double share = (double)heavy.count / (double)n;
    double draws = wanted * fmax(own_time(&of, 0, INFINITY), given_time(&of, many, given, INFINITY));
    for (int k = -1; k < AIS_RELIEFS; k++) {
        double longest = k < 0 ? INFINITY : longest_stay(k);
        double beyond = share > 0 ? tail_time(&heavy, share, draws, longest) : 0;
        double own = fmax(own_time(&of, heavy.count, longest) + beyond, own_time(&of, 0, longest));
        double others = given_time(&of, many, given, longest), time = fmax(fmax(own, others), 1);
        *(k < 0 ? &verdict.seen : &verdict.relieved[k]) = k < 0 ? time : time + unseen(verdict.weighing.ess) * longest;
    }
    verdict.acceptance = acceptance(&of, many, given);
    free(sorted);
    *found = verdict;
    return AIS_OK;
}
