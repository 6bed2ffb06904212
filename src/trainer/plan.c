#include "trainer/plan.h"

#include <string.h>

static ais_flow_plan basic(long steps, double rate, int batch) {
    return (ais_flow_plan){.steps = steps,
                           .rate = rate,
                           .likelihood_share = 0.5,
                           .second = AIS_FLOW_PAIR,
                           .batch = batch,
                           .steps_per_round = 20,
                           .sweeps = 4,
                           .walks = 1,
                           .checks = 2,
                           .give_up = 0.35,
                           .check_chains = 64,
                           .check_draws = 250};
}

static ais_shape spline(int dim, int layers, int hidden, int depth, int bins, int marginal_bins) {
    return (ais_shape){.map = AIS_SPLINE,
                       .reversal = AIS_SWAP,
                       .dim = dim,
                       .layers = layers,
                       .hidden = hidden,
                       .depth = depth,
                       .bins = bins,
                       .marginal_bins = marginal_bins,
                       .activation = AIS_TANH};
}

/* One or two dimensions: few layers with many bins. */
static bool low(const ais_situation *situation, int k, ais_attempt *attempt) {
    int dim = situation->dim;
    attempt->whitening = AIS_WHITEN_SD;
    attempt->enough = 0.75;
    switch (k) {
    case 0:
        attempt->shape = spline(dim, 2, 32, 1, 24, 0);
        attempt->plan = basic(2400, 1e-2, 256);
        attempt->plan.hope = 0.58;
        attempt->w0 = 2;
        return true;
    case 1:
        attempt->shape = spline(dim, 2, 64, 2, 48, 0);
        attempt->plan = basic(2000, 4e-3, 256);
        attempt->plan.walks = 4;      /* cheap points that were not seen before */
        attempt->plan.first_rate = 4; /* the last layer is what trembles, docs/training.md */
        attempt->plan.last_rate = 0.6;
        attempt->plan.beta2 = 0.99;
        attempt->plan.likelihood_share = 0.4;
        attempt->w0 = 5;
        return true;
    case 2:
        attempt->shape = spline(dim, 4, 64, 2, 32, 0);
        attempt->plan = basic(3000, 3e-3, 512);
        attempt->w0 = 2;
        return true;
    default:
        return false;
    }
}

/* One mode with a gradient: close to normal after whitening; quadratic conditioners bend what is left. */
static bool bent(const ais_situation *situation, int k, ais_attempt *attempt) {
    attempt->whitening = AIS_WHITEN_FULL;
    attempt->enough = 0.8;
    attempt->shape = (ais_shape){
        .map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = situation->dim, .layers = 8, .depth = -1, .bound = 5};
    long steps = situation->dim <= 16 ? 2600 : 1250; /* a step's cost grows as the cube of the dimension */
    attempt->plan = basic(k == 0 ? steps : 2 * steps, 5e-3, 256);
    attempt->plan.checks = 1; /* as the rate goes to 0, the last weights are the best: a judgement would only err */
    attempt->plan.likelihood_share = 0;
    attempt->plan.second = AIS_FLOW_PATH;
    attempt->plan.skip_above = 0.93;
    return k < 2;
}

/* A bent density: places and widths are parabolas of one coordinate. A fit that grows with the population comes first,
 * since the path objective from the identity would keep to the middle. */
static bool curved(const ais_situation *situation, ais_attempt *attempt) {
    bent(situation, 0, attempt);
    attempt->whitening = AIS_WHITEN_GOVERNED;
    attempt->enough = 0.2; /* squares with heavy tails look worse than they are, and splines do worse */
    attempt->fits = 20;
    attempt->shape.pivot = true;
    attempt->shape.layers = 3; /* the pivot's, and both halves once, which move the pivot too */
    attempt->shape.marginal_bins = 0;
    attempt->plan = basic(800, 5e-3, 256);
    attempt->plan.likelihood_share = situation->gradient ? 0 : 0.3;
    attempt->plan.second = situation->gradient ? AIS_FLOW_PATH : AIS_FLOW_PAIR;
    attempt->plan.checks = 4;
    attempt->plan.give_up = 0.1;
    return true;
}

/* Several modes, or no gradient, in three dimensions or more. */
static bool wide(const ais_situation *situation, int k, ais_attempt *attempt) {
    attempt->whitening = AIS_WHITEN_FULL;
    attempt->enough = 0.65;
    attempt->shape = spline(situation->dim, k == 0 ? 3 : 5, 64, k == 0 ? 1 : 2, 12, 24);
    attempt->shape.pivot = true;
    attempt->shape.bound = 8; /* the wider of two modes reaches far in the scale of both together */
    attempt->plan = basic(k == 0 ? 900 : 2500, k == 0 ? 5e-3 : 3e-3, k == 0 ? 256 : 512);
    attempt->plan.give_up = 0;
    return k < 2;
}

bool ais_plan_flow(const ais_situation *situation, int k, ais_attempt *attempt) {
    memset(attempt, 0, sizeof *attempt);
    if (situation->annealed && k == 0) return curved(situation, attempt);
    if (situation->annealed) k--;
    if (situation->dim <= 2) return low(situation, k, attempt);
    if (!situation->gradient || situation->separate > 1) return wide(situation, k, attempt);
    return k < 2 ? bent(situation, k, attempt) : wide(situation, k - 2, attempt);
}

ais_attempt ais_plan_for_shape(const ais_situation *situation, const ais_shape *shape) {
    ais_attempt attempt = {.shape = *shape,
                           .whitening = situation->dim <= 2 ? AIS_WHITEN_SD : AIS_WHITEN_FULL,
                           .w0 = shape->depth < 0 || situation->dim > 2 ? 0 : 2,
                           .plan = basic(1600, 5e-3, 256)};
    attempt.plan.give_up = 0;
    return attempt;
}
