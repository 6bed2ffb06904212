#include "classical/nuts_tree.h"

#include <math.h>
#include <string.h>

static bool stretch_take(ais_nuts_stretch *stretch, ais_arena *arena, int dim) {
    double *memory = AIS_TAKE(arena, double, 7 * (size_t)dim);
    if (!memory) return false;
    double **slice[] = {
        &stretch->begin.p, &stretch->begin.velocity, &stretch->end.p, &stretch->end.velocity, &stretch->rho,
        &stretch->x,       &stretch->gradient};
    for (int k = 0; k < 7; k++) *slice[k] = memory + (size_t)k * (size_t)dim;
    return true;
}

bool ais_nuts_tree_take(ais_nuts_tree *tree, ais_arena *arena, int dim, int max_depth) {
    *tree = (ais_nuts_tree){.max_depth = max_depth};
    tree->spare = AIS_TAKE(arena, ais_nuts_stretch, max_depth);
    bool taken = tree->spare && ais_phase_take(&tree->forward, arena, dim) &&
                 ais_phase_take(&tree->backward, arena, dim) && stretch_take(&tree->whole, arena, dim) &&
                 stretch_take(&tree->fresh, arena, dim);
    for (int k = 0; taken && k < max_depth; k++) taken = stretch_take(&tree->spare[k], arena, dim);
    return taken;
}

static double log_sum_exp(double a, double b) {
    double high = fmax(a, b);
    return high == -INFINITY ? high : high + log(exp(a - high) + exp(b - high));
}

static double uniform(ais_nuts_tree *tree) { return ais_random_uniform(&tree->stream, tree->drawn++); }

static void swap_pointers(double **a, double **b) {
    double *keep = *a;
    *a = *b;
    *b = keep;
}

static void swap_edges(ais_nuts_edge *a, ais_nuts_edge *b) {
    ais_nuts_edge keep = *a;
    *a = *b;
    *b = keep;
}

/* No U-turn between two ends: both velocities point along the sum of momenta a + b. */
static bool straight(const double *first, const double *last, const double *a, const double *b, int dim) {
    double at_first = 0, at_last = 0;
    for (int i = 0; i < dim; i++) {
        at_first += first[i] * (a[i] + b[i]);
        at_last += last[i] * (a[i] + b[i]);
    }
    return at_first > 0 && at_last > 0;
}

/* A stretch of one point. */
static void single(ais_nuts_stretch *stretch, const ais_phase *point, double energy, double log_weight, int dim) {
    size_t bytes = (size_t)dim * sizeof(double);
    memcpy(stretch->begin.p, point->p, bytes);
    memcpy(stretch->end.p, point->p, bytes);
    memcpy(stretch->rho, point->p, bytes);
    memcpy(stretch->begin.velocity, point->velocity, bytes);
    memcpy(stretch->end.velocity, point->velocity, bytes);
    memcpy(stretch->x, point->x, bytes);
    memcpy(stretch->gradient, point->gradient, bytes);
    stretch->logp = point->logp;
    stretch->energy = energy;
    stretch->initial = false;
    stretch->log_weight = log_weight;
}

static void take_point(ais_nuts_stretch *to, ais_nuts_stretch *from) {
    swap_pointers(&to->x, &from->x);
    swap_pointers(&to->gradient, &from->gradient);
    to->logp = from->logp;
    to->energy = from->energy;
    to->initial = from->initial;
}

/* Appends `second`, which begins where `first` ends, and says whether the trajectory may go on. The
 * point is drawn by weight; biased: with the odds of the second half against the first alone. */
static bool merge(ais_nuts_tree *tree, ais_nuts_stretch *first, ais_nuts_stretch *second, bool biased) {
    int dim = tree->target->dim;
    double sum = log_sum_exp(first->log_weight, second->log_weight);
    double odds = exp(second->log_weight - (biased ? first->log_weight : sum));
    if (uniform(tree) < odds) take_point(first, second);
    first->log_weight = sum;
    bool go_on = straight(first->begin.velocity, second->end.velocity, first->rho, second->rho, dim) &&
                 straight(first->begin.velocity, second->begin.velocity, first->rho, second->begin.p, dim) &&
                 straight(first->end.velocity, second->end.velocity, second->rho, first->end.p, dim);
    for (int i = 0; i < dim; i++) first->rho[i] += second->rho[i];
    swap_edges(&first->end, &second->end);
    return go_on;
}

static ais_status leaf(ais_context *context, ais_nuts_tree *tree, ais_nuts_stretch *stretch, bool *valid) {
    ais_phase *point = tree->step_size > 0 ? &tree->forward : &tree->backward;
    ais_status status = ais_leapfrog(context, tree->target, tree->metric, tree->step_size, point);
    if (status != AIS_OK) return status;
    double energy = ais_phase_energy(point, tree->target->dim), growth = energy - tree->energy;
    tree->leapfrogs++;
    tree->acceptance_sum += growth < 0 ? 1 : exp(-growth);
    tree->divergent = growth > AIS_DIVERGENT_ENERGY;
    single(stretch, point, energy, -growth, tree->target->dim);
    *valid = !tree->divergent;
    return AIS_OK;
}

/* 2^depth further points. Not valid: diverged, or a U-turn inside. */
static ais_status build(ais_context *context, ais_nuts_tree *tree, int depth, ais_nuts_stretch *stretch, bool *valid) {
    if (depth == 0) return leaf(context, tree, stretch, valid);
    ais_nuts_stretch *later = &tree->spare[depth - 1];
    ais_status status = build(context, tree, depth - 1, stretch, valid);
    if (status == AIS_OK && *valid) status = build(context, tree, depth - 1, later, valid);
    if (status == AIS_OK && *valid) *valid = merge(tree, stretch, later, false);
    return status;
}

ais_status ais_nuts_tree_run(ais_context *context, ais_nuts_tree *tree, const ais_target *target,
                             const ais_metric *metric, double step_size, const ais_stream *stream) {
    tree->target = target;
    tree->metric = metric;
    tree->stream = *stream;
    tree->drawn = 0;
    tree->acceptance_sum = 0;
    tree->leapfrogs = tree->depth = 0;
    tree->divergent = false;
    tree->energy = ais_phase_energy(&tree->forward, target->dim);
    ais_phase_copy(&tree->backward, &tree->forward, target->dim);
    single(&tree->whole, &tree->forward, tree->energy, 0, target->dim);
    tree->whole.initial = true;
    for (bool go_on = true; go_on && tree->depth < tree->max_depth;) {
        bool valid = false, back = uniform(tree) < 0.5;
        tree->step_size = back ? -step_size : step_size;
        ais_status status = build(context, tree, tree->depth, &tree->fresh, &valid);
        if (status != AIS_OK) return status;
        if (!valid) break;
        tree->depth++;
        /* Backwards, the trajectory is turned round so that the fresh half begins where it ends. */
        if (back) swap_edges(&tree->whole.begin, &tree->whole.end);
        go_on = merge(tree, &tree->whole, &tree->fresh, true);
        if (back) swap_edges(&tree->whole.begin, &tree->whole.end);
    }
    return AIS_OK;
}
