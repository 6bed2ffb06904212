#include "judge/frontier.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/sort.h"
#include "base/streams.h"
#include "judge/reach.h"
#include "learned/learned.h"
#include "learned/mixture.h"
#include "simd/normal.h"

enum { WALKERS = 64, FEW_WALKERS = 32, MOST_STEPS = 160, LEAST_STEPS = 16 };

typedef struct walk {
    const ais_kernel *kernel;
    const ais_learned *map;           /* steps are in its latent space, */
    const ais_components *components; /* or as wide as a component of the mixture, drawn for every step */
    ais_evaluator *evaluator;
    size_t dim, draws, walkers;
    double edge, top;                /* log weights: where the edge begins, and the largest */
    double *x, *z, *weight;          /* of the walkers: rows, latent rows, log weights */
    double *to_x, *to_z, *to_weight; /* the same of proposals */
    double *back;                    /* latent rows of proposals again, from their rows */
    double *pair, *image;            /* 2 dim x walkers */
    double *logp, *to_logp, *sorted;
    size_t visits[WALKERS]; /* the number of the visit of a chain that a walker began in */
    double at_edge;         /* effective number of visits to the edge */
} walk;

static bool take_walk(ais_arena *arena, size_t n, walk *of) {
    size_t d = of->dim;
    of->x = AIS_TAKE(arena, double, WALKERS *d);
    of->z = AIS_TAKE(arena, double, WALKERS *d);
    of->to_x = AIS_TAKE(arena, double, WALKERS *d);
    of->to_z = AIS_TAKE(arena, double, WALKERS *d);
    of->back = AIS_TAKE(arena, double, WALKERS *d);
    of->pair = AIS_TAKE(arena, double, 2 * WALKERS * d);
    of->image = AIS_TAKE(arena, double, 2 * WALKERS * d);
    of->weight = AIS_TAKE(arena, double, WALKERS);
    of->to_weight = AIS_TAKE(arena, double, WALKERS);
    of->logp = AIS_TAKE(arena, double, WALKERS);
    of->to_logp = AIS_TAKE(arena, double, WALKERS);
    of->sorted = AIS_TAKE(arena, double, n);
    return of->x && of->z && of->to_x && of->to_z && of->back && of->pair && of->image && of->weight && of->to_weight &&
           of->logp && of->to_logp && of->sorted;
}

/* ---- where walkers begin ----------------------------------------------------------------------------- */

/* Draws of a chain one after the other that are one point. */
static bool goes_on(const walk *of, const double *weight, size_t j) {
    return j % of->draws && weight[j - 1] == weight[j];
}

/* Draws of the edge, evenly spaced, so that they follow p there. */
static void place(walk *of, const ais_draws *draws, const double *weight, size_t n, size_t count) {
    size_t seen = 0, placed = 0, visit = 0, stay = 0;
    double squares = 0;
    for (size_t j = 0; j < n; j++) {
        if (!isfinite(weight[j]) || weight[j] < of->edge) continue;
        if (!goes_on(of, weight, j)) {
            visit++;
            squares += (double)(stay * stay);
            stay = 0;
        }
        stay++;
        for (; placed < of->walkers && placed * count / of->walkers == seen; placed++) {
            for (size_t i = 0; i < of->dim; i++) of->x[placed * of->dim + i] = draws->value[i * n + j];
            of->weight[placed] = weight[j];
            of->logp[placed] = draws->logp[j];
            of->visits[placed] = visit;
        }
        seen++;
    }
    squares += (double)(stay * stay);
    of->at_edge = (double)count * (double)count / squares;
}

/* ---- steps ------------------------------------------------------------------------------------------- */

/* A swap's involution of (x, z) has both S(z) and T(x), as rows; either may be NULL. */
static ais_status map_rows(ais_context *context, const walk *of, const double *x, const double *z, double *s,
                           double *t) {
    size_t d = of->dim;
    for (size_t c = 0; c < of->walkers; c++)
        for (size_t i = 0; i < d; i++) {
            of->pair[i * of->walkers + c] = x[c * d + i];
            of->pair[(d + i) * of->walkers + c] = z[c * d + i];
        }
    ais_status status = ais_swap_involution(context, of->map, of->walkers, of->pair, of->image);
    for (size_t c = 0; c < of->walkers && status == AIS_OK; c++)
        for (size_t i = 0; i < d; i++) {
            if (s) s[c * d + i] = of->image[i * of->walkers + c];
            if (t) t[c * d + i] = of->image[(d + i) * of->walkers + c];
        }
    return status;
}

/* A component by its weight. */
static const double *draw_factor(const ais_components *components, double uniform) {
    size_t k = 0, d = (size_t)components->dim;
    double sum = components->weight[0];
    while (sum < uniform && k + 1 < (size_t)components->count) sum += components->weight[++k];
    return components->factor + k * d * d;
}

/* Of a random length: the edge may be narrow. */
static void propose(const walk *of, uint64_t step, size_t c, double *uniform) {
    size_t d = of->dim;
    ais_stream stream = ais_stream_for(AIS_USE_FRONTIER, 0, step, c), normals = stream;
    normals.purpose = AIS_FOR_LOCAL;
    double length = 2.38 / sqrt((double)d) * exp2(-3 * ais_random_uniform(&stream, 0)), *to = of->to_z + c * d;
    *uniform = ais_random_uniform(&stream, 1);
    ais_normals(&normals, d, to);
    if (of->map) {
        for (size_t i = 0; i < d; i++) to[i] = of->z[c * d + i] + length * to[i];
        return;
    }
    const double *factor = draw_factor(of->components, ais_random_uniform(&stream, 2));
    for (size_t i = 0; i < d; i++) {
        double step_along = 0;
        for (size_t k = 0; k < d; k++) step_along += factor[i * d + k] * to[k];
        of->to_x[c * d + i] = of->x[c * d + i] + length * step_along;
    }
}

static double square(size_t n, const double *z) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += z[i] * z[i];
    return sum;
}

/* Far out a map may not be taken back: what it says of its density there is anything. */
static bool is_lost(const walk *of, size_t c) {
    static const double far = 0.01;
    double most = 0;
    for (size_t i = c * of->dim; i < (c + 1) * of->dim && of->map; i++)
        most = fmax(most, fabs(of->back[i] - of->to_z[i])); /* NAN is passed over: its weight is none, either */
    return most > far || !isfinite(of->to_weight[c]);
}

/* Metropolis's test for p, in the latent space for p(S(z)) |S'(z)| = w N(z), within the edge and beyond. */
static bool accepted(const walk *of, size_t c, double uniform) {
    size_t d = of->dim;
    double change =
        of->map ? of->to_weight[c] - of->weight[c] + 0.5 * (square(d, of->z + c * d) - square(d, of->to_z + c * d))
                : of->to_logp[c] - of->logp[c];
    return !is_lost(of, c) && of->to_weight[c] >= of->edge && log(uniform) < change;
}

/* A density that is no number where no chain has been says nothing of the draws, and does not end the walk. */
static ais_status evaluate(const walk *of) {
    ais_status status = ais_evaluate(of->evaluator, of->walkers, of->to_x, of->to_logp);
    bool odd = false;
    for (size_t c = 0; c < of->walkers && status == AIS_BAD_DENSITY; c++) {
        if (of->to_logp[c] < INFINITY) continue;
        of->to_logp[c] = -INFINITY;
        odd = true;
    }
    return odd ? AIS_OK : status;
}

static ais_status step_all(ais_context *context, walk *of, uint64_t step) {
    size_t d = of->dim;
    double uniform[WALKERS] = {0};
    for (size_t c = 0; c < of->walkers; c++) propose(of, step, c, &uniform[c]);
    ais_status status = of->map ? map_rows(context, of, of->x, of->to_z, of->to_x, NULL) : AIS_OK;
    if (status == AIS_OK && of->map) status = map_rows(context, of, of->to_x, of->to_z, NULL, of->back);
    if (status == AIS_OK) status = evaluate(of);
    if (status == AIS_OK)
        status = ais_weigh_points(context, of->evaluator->pool, of->kernel, of->walkers, (int)d, of->to_x, of->to_logp,
                                  of->to_weight);
    for (size_t c = 0; c < of->walkers && status == AIS_OK; c++) {
        if (!accepted(of, c, uniform[c])) continue;
        memcpy(of->x + c * d, of->to_x + c * d, d * sizeof *of->x);
        memcpy(of->z + c * d, of->to_z + c * d, d * sizeof *of->z);
        of->weight[c] = of->to_weight[c];
        of->logp[c] = of->to_logp[c];
    }
    return status;
}

static ais_status walk_on(ais_context *context, walk *of, int steps) {
    ais_status status = of->map ? map_rows(context, of, of->x, of->x, NULL, of->z) : AIS_OK;
    for (int t = 0; t < steps && status == AIS_OK; t++) {
        status = step_all(context, of, (uint64_t)t);
        if (status == AIS_SPENT && t >= LEAST_STEPS) return AIS_OK; /* a shorter walk is one, too */
    }
    return status;
}

/* ---- what they found --------------------------------------------------------------------------------- */

/* math.md (48): V visits to the edge have met the largest weight; of G others, as good as independent, K exceed it. */
static void compare(const walk *of, ais_frontier *frontier) {
    static const double unlikely = 0.02;
    double squares = 0, beyond = 0;
    size_t alike = 0;
    for (size_t c = 0; c < of->walkers; c++) {
        beyond += of->weight[c] > of->top;
        alike++;
        if (c + 1 < of->walkers && of->visits[c + 1] == of->visits[c]) continue;
        squares += (double)(alike * alike);
        alike = 0;
    }
    double walkers = (double)of->walkers, groups = walkers * walkers / squares;
    frontier->walkers = (int)of->walkers;
    frontier->beyond = beyond / walkers;
    frontier->chance = pow(groups / (of->at_edge + groups), frontier->beyond * groups);
    double found = frontier->edge * frontier->beyond;
    frontier->missing = found / (found + 1 - frontier->beyond);
    frontier->passed = !(frontier->missing > AIS_REACH_ERROR && frontier->chance < unlikely);
}

/* How many steps of how many walkers half of the budget is enough for; the other half is for other checks. */
static int affordable_steps(const ais_evaluator *evaluator, size_t *walkers) {
    long most = evaluator->most ? (evaluator->most - evaluator->densities) / 2 : WALKERS * MOST_STEPS;
    *walkers = most < WALKERS * LEAST_STEPS ? FEW_WALKERS : WALKERS;
    long steps = most / (long)*walkers;
    return steps > MOST_STEPS ? MOST_STEPS : (int)steps;
}

/* Draws that a map cannot take back have the weight of nothing known, and are left out. */
static bool find_edge(walk *of, const double *weight, size_t n, size_t *count) {
    size_t known = 0;
    for (size_t k = 0; k < n; k++)
        if (isfinite(weight[k])) of->sorted[known++] = weight[k];
    qsort(of->sorted, known, sizeof *of->sorted, ais_falling);
    if (known < of->walkers) return false;
    of->edge = of->sorted[(size_t)(AIS_EDGE * (double)known)];
    of->top = of->sorted[0];
    for (*count = 0; *count < known && of->sorted[*count] >= of->edge;) ++*count;
    return of->top > of->edge;
}

ais_status ais_judge_frontier(ais_context *context, ais_evaluator *evaluator, const ais_kernel *kernel,
                              const ais_draws *draws, const double *weight, ais_frontier *frontier) {
    size_t n = (size_t)draws->chains * (size_t)draws->draws, count;
    const ais_mixture_kernel *mixture = ais_as_mixture(kernel);
    walk of = {.kernel = kernel,
               .map = ais_as_learned(kernel),
               .components = mixture ? &mixture->components : NULL,
               .evaluator = evaluator,
               .dim = (size_t)draws->dim,
               .draws = (size_t)draws->draws};
    int steps = affordable_steps(evaluator, &of.walkers);
    *frontier = (ais_frontier){.edge = AIS_EDGE, .passed = true};
    if (!ais_proposes_from(kernel) || (!of.map && !mixture) || steps < LEAST_STEPS || n < of.walkers) return AIS_OK;
    ais_arena arena = {0};
    ais_context own = {0};
    ais_status status = take_walk(&arena, n, &of) ? AIS_OK : ais_fail_memory(context, "walkers", n * sizeof(double));
    if (status == AIS_OK && find_edge(&of, weight, n, &count)) {
        frontier->edge = (double)count / (double)n;
        place(&of, draws, weight, n, count);
        evaluator->context = &own;
        status = walk_on(&own, &of, steps);
        evaluator->context = context;
        if (status == AIS_OK) compare(&of, frontier);
        /* A density that fails where no chain has been, or has no time left, says nothing of the draws. */
        if (status != AIS_NO_MEMORY)
            status = AIS_OK;
        else
            *context = own;
    }
    ais_arena_free(&arena);
    return status;
}
