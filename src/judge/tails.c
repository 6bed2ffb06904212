#include "judge/tails.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/diagnostics.h>

#include "base/arena.h"
#include "base/matrix.h"
#include "base/sort.h"
#include "base/special.h"
#include "explore/affine.h"
#include "map/whitening.h"

enum { POINTS = 64, SHARPER = 4, MOST_ROWS = 1024, LEAST_EFFECTIVE = 8 };
static const double outer = 0.05, inner = 0.15; /* the draws of O, and of O and I together */

typedef struct tail {
    int coordinate;
    bool high;
    double ess; /* of the indicator of O */
} tail;

/* Up to MOST_ROWS draws of O or I, evenly spread over the chains. */
typedef struct window {
    size_t count; /* all draws in it */
    size_t rows;
    size_t *draw;          /* rows: their numbers */
    double *other;         /* rows x others */
    double centre;         /* mean of the coordinate, outwards negative */
    double *mean, *factor; /* of the others */
} window;

typedef struct work {
    const ais_draws *draws;
    ais_evaluator *evaluator;
    ais_context *own; /* of failures of the density */
    size_t n, others;
    bool dense;
    double edge, step;       /* where O begins, and how far f carries it */
    double *moved, *outward; /* n: the coordinate, so that the tail is the low one */
    size_t *draw;            /* n */
    window o, i;
    double *inverse, *used, *turn; /* others x others: of I's factor, room, f's matrix */
    double *x, *logp;              /* SHARPER POINTS rows */
} work;

static bool take_window(ais_arena *arena, size_t others, window *to) {
    to->draw = AIS_TAKE(arena, size_t, MOST_ROWS);
    to->other = AIS_TAKE(arena, double, MOST_ROWS *others + 1);
    to->mean = AIS_TAKE(arena, double, others + 1);
    to->factor = AIS_TAKE(arena, double, others *others + 1);
    return to->draw && to->other && to->mean && to->factor;
}

static bool take_work(ais_arena *arena, work *to) {
    size_t n = to->n, d = to->others, points = (size_t)SHARPER * POINTS;
    to->moved = AIS_TAKE(arena, double, n);
    to->outward = AIS_TAKE(arena, double, n);
    to->draw = AIS_TAKE(arena, size_t, n);
    to->inverse = AIS_TAKE(arena, double, d *d + 1);
    to->used = AIS_TAKE(arena, double, d *d + 1);
    to->turn = AIS_TAKE(arena, double, d *d + 1);
    to->x = AIS_TAKE(arena, double, points *(d + 1));
    to->logp = AIS_TAKE(arena, double, points);
    return to->moved && to->outward && to->draw && to->inverse && to->used && to->turn && to->x && to->logp &&
           take_window(arena, d, &to->o) && take_window(arena, d, &to->i);
}

/* The draws with from <= outward < to. */
static ais_status fill(ais_context *context, work *of, const tail *at, double from, double to, window *in) {
    size_t n = of->n, d = of->others;
    in->count = 0;
    in->centre = 0;
    for (size_t j = 0; j < n; j++)
        if (of->outward[j] >= from && of->outward[j] < to) of->draw[in->count++] = j;
    in->rows = in->count < MOST_ROWS ? in->count : MOST_ROWS;
    for (size_t k = 0; k < in->rows; k++) {
        size_t j = in->draw[k] = of->draw[k * in->count / in->rows];
        in->centre += of->outward[j] / (double)in->rows;
        for (size_t i = 0; i < d; i++)
            in->other[k * d + i] = of->draws->value[(i < (size_t)at->coordinate ? i : i + 1) * n + j];
    }
    if (d == 0 || in->rows < 2) return AIS_OK;
    return ais_affine_fit(context, (int)d, in->rows, in->other, NULL, in->mean, in->factor);
}

/* f's matrix, F_O F_I^-1, and the logarithm of its determinant; false where there is none. Factors of many dimensions
 * are diagonal, and so is their quotient: its diagonal is the first row then. */
static bool turn_of(work *of, double *log_det) {
    size_t d = of->others;
    double inside, outside;
    *log_det = 0;
    if (d == 0) return true;
    for (size_t r = 0; r < d && !of->dense; r++) {
        of->turn[r] = of->o.factor[r * d + r] / of->i.factor[r * d + r];
        *log_det += log(of->turn[r]);
    }
    if (!of->dense) return isfinite(*log_det);
    memcpy(of->used, of->o.factor, d * d * sizeof *of->used);
    if (!ais_invert(d, of->used, of->inverse, &outside)) return false;
    memcpy(of->used, of->i.factor, d * d * sizeof *of->used);
    if (!ais_invert(d, of->used, of->inverse, &inside)) return false;
    ais_multiply(d, d, of->o.factor, of->inverse, false, of->turn);
    *log_det = outside - inside;
    return isfinite(*log_det);
}

/* f of row k of O: the coordinate continues by as much as O lies beyond I, and so do the others' locations and widths.
 */
static void carry(const work *of, const tail *at, size_t k, double *x) {
    size_t d = of->others, c = (size_t)at->coordinate;
    const double *row = of->o.other + k * d;
    for (size_t r = 0; r < d; r++) {
        double value = 2 * of->o.mean[r] - of->i.mean[r];
        if (!of->dense) value += of->turn[r] * (row[r] - of->o.mean[r]);
        for (size_t s = 0; s < d && of->dense; s++) value += of->turn[r * d + s] * (row[s] - of->o.mean[s]);
        x[r < c ? r : r + 1] = value;
    }
    double outward = of->outward[of->o.draw[k]] - of->step;
    x[c] = at->high ? -outward : outward;
}

/* math.md (42), (43): z of one tail from `points` of its points, the rest in *found. */
static ais_status compare(work *of, const tail *at, double log_det, size_t points, ais_tails *found) {
    size_t dim = of->others + 1, m = points < of->o.rows ? points : of->o.rows;
    double mean = 0, square = 0, drawn = 0;
    for (size_t k = 0; k < m; k++) carry(of, at, k * of->o.rows / m, of->x + k * dim);
    ais_status status = ais_evaluate(of->evaluator, m, of->x, of->logp);
    if (status != AIS_OK) return status;
    for (size_t k = 0; k < m; k++) {
        double ratio = exp(of->logp[k] - of->draws->logp[of->o.draw[k * of->o.rows / m]] + log_det);
        mean += ratio / (double)m;
        square += ratio * ratio / (double)m;
    }
    double share = (double)of->o.count / (double)of->n, from = of->edge - of->step;
    for (size_t j = 0; j < of->n; j++) drawn += of->outward[j] < from ? 1 / (double)of->n : 0;
    double effective = fmin((double)m, share * at->ess);
    found->coordinate = at->coordinate;
    found->high = at->high;
    found->from = at->high ? -from : from;
    found->expected = share * mean;
    found->error = share * sqrt(fmax(square - mean * mean, 0) / effective);
    found->drawn = drawn;
    found->z = 0;
    if (mean > 0 && isfinite(square))
        found->z = 2 * sqrt(at->ess) * (sqrt(found->expected) - sqrt(drawn)) /
                   sqrt(1 + at->ess * found->error * found->error / found->expected);
    return AIS_OK;
}

/* With POINTS points, and with more where they leave a doubt. */
static ais_status try_tail(ais_context *context, work *of, const tail *at, ais_tails *found) {
    static const double doubt = 2;
    const double *x = of->draws->value + (size_t)at->coordinate * of->n;
    double log_det;
    found->z = -INFINITY;
    for (size_t j = 0; j < of->n; j++) of->outward[j] = at->high ? -x[j] : x[j];
    memcpy(of->moved, of->outward, of->n * sizeof *of->moved);
    size_t most = (size_t)(inner * (double)of->n);
    double inwards = ais_select(of->n, of->moved, most);
    of->edge = ais_select(most + 1, of->moved, (size_t)(outer * (double)of->n));
    ais_status status = fill(context, of, at, -INFINITY, of->edge, &of->o);
    if (status == AIS_OK) status = fill(context, of, at, of->edge, inwards, &of->i);
    of->step = of->i.centre - of->o.centre;
    if (status != AIS_OK || of->o.rows < LEAST_EFFECTIVE || of->i.rows < LEAST_EFFECTIVE || !turn_of(of, &log_det))
        return status;
    status = compare(of, at, log_det, POINTS, found);
    const ais_evaluator *evaluator = of->evaluator;
    bool affordable = !evaluator->most || evaluator->densities + (long)SHARPER * POINTS <= evaluator->most;
    if (status == AIS_OK && found->z > doubt && affordable)
        status = compare(of, at, log_det, (size_t)SHARPER * POINTS, found);
    return status;
}

static int by_ess(const void *a, const void *b) {
    const tail *p = a, *q = b;
    if (p->ess != q->ess) return p->ess < q->ess ? -1 : 1;
    return 2 * (p->coordinate - q->coordinate) + (int)p->high - (int)q->high;
}

/* Those with enough effective draws to compare with, the fewest first. */
static int list_tails(const ais_draws *draws, tail *list) {
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    int count = 0;
    for (int i = 0; i < draws->dim; i++)
        for (int high = 0; high < 2; high++) {
            double ess =
                ais_ess_quantile(draws->value + (size_t)i * n, draws->chains, draws->draws, high ? 1 - outer : outer);
            if (outer * ess >= LEAST_EFFECTIVE) list[count++] = (tail){i, high, fmin(ess, (double)n)};
        }
    qsort(list, (size_t)count, sizeof *list, by_ess);
    return count;
}

static ais_status try_all(ais_context *context, work *of, const tail *list, int count, ais_tails *tails) {
    static const double false_alarms = 0.01;
    const ais_evaluator *evaluator = of->evaluator;
    if (evaluator->most && evaluator->most / POINTS < count) count = (int)(evaluator->most / POINTS);
    ais_status status = AIS_OK;
    for (int k = 0; k < count && status == AIS_OK; k++) {
        ais_tails one = {0};
        if (evaluator->most && evaluator->densities + POINTS > evaluator->most) break;
        status = try_tail(context, of, &list[k], &one);
        if (status != AIS_OK || one.z == -INFINITY) continue;
        one.tried = tails->tried + 1;
        if (tails->tried && one.z <= tails->z)
            tails->tried++;
        else
            *tails = one;
    }
    tails->limit = tails->tried ? ais_normal_quantile(1 - false_alarms / tails->tried) : NAN;
    if (status == AIS_OK || !of->own->message[0]) return status;
    return AIS_OK; /* the density failed where no chain has been: what was tried so far stands */
}

ais_status ais_judge_tails(ais_context *context, ais_evaluator *evaluator, const ais_draws *draws, ais_tails *tails) {
    ais_arena arena = {0};
    ais_context own = {0};
    work of = {.draws = draws,
               .evaluator = evaluator,
               .own = &own,
               .n = (size_t)draws->chains * (size_t)draws->draws,
               .others = (size_t)draws->dim - 1,
               .dense = draws->dim - 1 <= AIS_MOST_DENSE};
    *tails = (ais_tails){.z = NAN, .limit = NAN};
    if (!draws->logp || draws->draws < 4) return AIS_OK;
    tail *list = AIS_TAKE(&arena, tail, 2 * (size_t)draws->dim);
    ais_status status = list && take_work(&arena, &of)
                            ? AIS_OK
                            : ais_fail_memory(context, "tails", of.n * sizeof(double) + of.others * of.others);
    evaluator->context = &own;
    if (status == AIS_OK) status = try_all(context, &of, list, list_tails(draws, list), tails);
    evaluator->context = context;
    ais_arena_free(&arena);
    return status;
}
