#include "look/lbfgs.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

enum { MEMORY = 6, BACKTRACKS = 14 };

/* One run. It ascends f = log p; step and change are the last moves of x and of -gradient. */
typedef struct run {
    double *x, *gradient, *fresh_x, *fresh_gradient, *direction;
    double *step, *change;  /* MEMORY x dim, ring buffers */
    double product[MEMORY]; /* step . change */
    int kept, next;         /* of the ring */
    double f, fresh_f, slope, t, longest;
    double reach; /* of a step along the gradient, while no curvature is known */
    bool active, waiting, cut;
    ais_ending ending;
} run;

typedef struct lockstep {
    ais_evaluator *evaluator;
    const ais_lbfgs_options *options;
    size_t dim;
    int runs;
    run *run;
    double *point, *value, *gradient; /* gathered for evaluation */
    int *who;
} lockstep;

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* In units of what is known of the coordinates' scales. */
static void rescale(const lockstep *all, double *v) {
    const double *variance = all->options->variance;
    for (size_t i = 0; variance && i < all->dim; i++) v[i] *= variance[i];
}

static void add(double *a, double factor, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] += factor * b[i];
}

/* y' V y: how far a change of the gradient reaches, V being the known variances. */
static double weighted_square(const lockstep *all, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < all->dim; i++) sum += y[i] * y[i] * (all->options->variance ? all->options->variance[i] : 1);
    return sum;
}

/* The two-loop recursion on the gradient. */
static void two_loops(const lockstep *all, run *r) {
    size_t dim = all->dim;
    double *q = r->direction, alpha[MEMORY] = {0};
    memcpy(q, r->gradient, dim * sizeof *q);
    for (int k = 1; k <= r->kept; k++) {
        int j = (r->next - k + MEMORY) % MEMORY;
        alpha[j] = dot(r->step + (size_t)j * dim, q, dim) / r->product[j];
        add(q, -alpha[j], r->change + (size_t)j * dim, dim);
    }
    int last = (r->next - 1 + MEMORY) % MEMORY;
    const double *y = r->change + (size_t)last * dim;
    double scale = r->product[last] / weighted_square(all, y);
    for (size_t i = 0; i < dim; i++) q[i] *= scale;
    rescale(all, q);
    for (int k = r->kept; k >= 1; k--) {
        int j = (r->next - k + MEMORY) % MEMORY;
        double beta = dot(r->change + (size_t)j * dim, q, dim) / r->product[j];
        add(q, alpha[j] - beta, r->step + (size_t)j * dim, dim);
    }
}

static void steepest(const lockstep *all, run *r, double length) {
    size_t dim = all->dim;
    memcpy(r->direction, r->gradient, dim * sizeof *r->direction);
    rescale(all, r->direction);
    double norm = sqrt(dot(r->direction, r->direction, dim));
    for (size_t i = 0; i < dim; i++) r->direction[i] = norm > 0 ? r->direction[i] * (length / norm) : 0;
}

static void aim(const lockstep *all, run *r) {
    if (r->kept) two_loops(all, r);
    r->slope = r->kept ? dot(r->direction, r->gradient, all->dim) : 0;
    if (!(r->slope > 0 && r->slope < INFINITY)) {
        r->kept = 0;
        steepest(all, r, r->reach);
        r->slope = dot(r->direction, r->gradient, all->dim);
    }
    double length = sqrt(dot(r->direction, r->direction, all->dim));
    r->cut = length > r->longest;
    if (r->cut) {
        for (size_t i = 0; i < all->dim; i++) r->direction[i] *= r->longest / length;
        r->slope *= r->longest / length;
    }
    r->t = 1;
    r->waiting = true;
}

/* One trial step of every run that waits for a good one. Returns how many still wait. */
static ais_status try_steps(lockstep *all, int *waiting) {
    size_t count = 0, dim = all->dim;
    for (int k = 0; k < all->runs; k++) {
        run *r = &all->run[k];
        if (!r->active || !r->waiting) continue;
        double *y = all->point + count * dim;
        for (size_t i = 0; i < dim; i++) y[i] = r->x[i] + r->t * r->direction[i];
        all->who[count++] = k;
    }
    /* Most first trials are accepted, so the gradient is evaluated at once, together with the density. */
    bool slopes = all->evaluator->target->grad != NULL;
    ais_status status = slopes ? ais_evaluate_gradient(all->evaluator, count, all->point, all->value, all->gradient)
                               : ais_evaluate(all->evaluator, count, all->point, all->value);
    if (status != AIS_OK) return status;
    *waiting = 0;
    for (size_t c = 0; c < count; c++) {
        run *r = &all->run[all->who[c]];
        if (all->value[c] >= r->f + 1e-4 * r->t * r->slope) {
            memcpy(r->fresh_x, all->point + c * dim, dim * sizeof *r->fresh_x);
            if (slopes) memcpy(r->fresh_gradient, all->gradient + c * dim, dim * sizeof *r->fresh_gradient);
            r->fresh_f = all->value[c];
            r->waiting = false;
        } else {
            r->t *= 0.3;
            ++*waiting;
        }
    }
    return AIS_OK;
}

/* Gradients where a step was taken, by differences; others are known by now. */
static ais_status look_around(lockstep *all) {
    size_t count = 0, dim = all->dim;
    if (all->evaluator->target->grad) return AIS_OK;
    for (int k = 0; k < all->runs; k++) {
        run *r = &all->run[k];
        if (!r->active || r->waiting) continue;
        memcpy(all->point + count * dim, r->fresh_x, dim * sizeof(double));
        all->who[count++] = k;
    }
    if (!count) return AIS_OK;
    ais_status status = ais_evaluate_gradient(all->evaluator, count, all->point, all->value, all->gradient);
    for (size_t c = 0; c < count && status == AIS_OK; c++)
        memcpy(all->run[all->who[c]].fresh_gradient, all->gradient + c * dim, dim * sizeof(double));
    return status;
}

static void remember(run *r, size_t dim) {
    double *step = r->step + (size_t)r->next * dim, *change = r->change + (size_t)r->next * dim;
    for (size_t i = 0; i < dim; i++) {
        step[i] = r->fresh_x[i] - r->x[i];
        change[i] = r->gradient[i] - r->fresh_gradient[i];
    }
    double product = dot(step, change, dim);
    if (product > 1e-12 && product < INFINITY) {
        r->product[r->next] = product;
        r->next = (r->next + 1) % MEMORY;
        r->kept += r->kept < MEMORY;
    }
    memcpy(r->x, r->fresh_x, dim * sizeof *r->x);
    memcpy(r->gradient, r->fresh_gradient, dim * sizeof *r->gradient);
    r->f = r->fresh_f;
}

static void conclude(const lockstep *all, run *r) {
    if (r->waiting) { /* no step rose enough: a kink, rounding, or bad curvature */
        if (r->slope < 0.1)
            r->ending = AIS_CONVERGED;
        else if (r->kept) {
            r->kept = 0; /* once more, along the gradient */
            return;
        }
        r->active = false;
        return;
    }
    remember(r, all->dim);
    if (r->cut && r->t == 1) r->longest *= 2;
    if (!r->kept && r->t == 1) r->reach *= 2;
    for (size_t i = 0; i < all->dim; i++)
        if (!(fabs(r->x[i]) <= all->options->farthest)) r->ending = AIS_FLED;
    if (r->ending != AIS_FLED && r->slope < all->options->tolerance) r->ending = AIS_CONVERGED;
    r->active = r->ending == AIS_STUCK;
}

static ais_status begin(lockstep *all, double *x, double *logp) {
    ais_status status = ais_evaluate_gradient(all->evaluator, (size_t)all->runs, x, logp, all->gradient);
    for (int k = 0; k < all->runs && status == AIS_OK; k++) {
        run *r = &all->run[k];
        memcpy(r->x, x + (size_t)k * all->dim, all->dim * sizeof(double));
        memcpy(r->gradient, all->gradient + (size_t)k * all->dim, all->dim * sizeof(double));
        r->f = logp[k];
        r->longest = all->options->longest;
        r->reach = 0.1 * all->options->scale;
        r->active = r->f > -INFINITY;
        r->ending = r->active ? AIS_STUCK : AIS_OUTSIDE;
    }
    return status;
}

static ais_status iterate(lockstep *all) {
    for (int iteration = 0; iteration < all->options->iterations; iteration++) {
        int active = 0;
        for (int k = 0; k < all->runs; k++)
            if (all->run[k].active) {
                aim(all, &all->run[k]);
                active++;
            }
        if (!active) break;
        ais_status status = AIS_OK;
        for (int b = 0, waiting = active; b < BACKTRACKS && waiting; b++)
            if ((status = try_steps(all, &waiting)) != AIS_OK) return status;
        if ((status = look_around(all)) != AIS_OK) return status;
        for (int k = 0; k < all->runs; k++)
            if (all->run[k].active) conclude(all, &all->run[k]);
    }
    return AIS_OK;
}

static bool take(lockstep *all, ais_arena *arena) {
    size_t runs = (size_t)all->runs, dim = all->dim;
    all->run = AIS_TAKE(arena, run, runs);
    all->point = AIS_TAKE(arena, double, runs *dim);
    all->value = AIS_TAKE(arena, double, runs);
    all->gradient = AIS_TAKE(arena, double, runs *dim);
    all->who = AIS_TAKE(arena, int, runs);
    if (!all->run || !all->point || !all->value || !all->gradient || !all->who) return false;
    for (size_t k = 0; k < runs; k++) {
        double *room = AIS_TAKE(arena, double, (5 + 2 * MEMORY) * dim);
        if (!room) return false;
        all->run[k] = (run){.x = room,
                            .gradient = room + dim,
                            .fresh_x = room + 2 * dim,
                            .fresh_gradient = room + 3 * dim,
                            .direction = room + 4 * dim,
                            .step = room + 5 * dim,
                            .change = room + (5 + MEMORY) * dim};
    }
    return true;
}

ais_status ais_maximise(ais_evaluator *evaluator, const ais_lbfgs_options *options, int runs, double *x, double *logp,
                        ais_ending *ending) {
    if (runs < 1) return AIS_OK;
    ais_arena arena = {0};
    lockstep all = {.evaluator = evaluator, .options = options, .dim = (size_t)evaluator->target->dim, .runs = runs};
    ais_status status = AIS_OK;
    if (!take(&all, &arena))
        status = ais_fail_memory(evaluator->context, "optimisations", (size_t)runs * all.dim * sizeof(double));
    if (status == AIS_OK) status = begin(&all, x, logp);
    if (status == AIS_OK) status = iterate(&all);
    for (int k = 0; k < runs && status == AIS_OK; k++) {
        memcpy(x + (size_t)k * all.dim, all.run[k].x, all.dim * sizeof(double));
        logp[k] = all.run[k].f;
        ending[k] = all.run[k].ending;
    }
    ais_arena_free(&arena);
    return status;
}
