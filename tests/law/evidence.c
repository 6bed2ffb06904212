/* log Z from the proposals of a run: right, with the error that is told, for every kernel whose proposals are
 * independent, whatever its map; not told by kernels that have none; and off, seen to be so, where only proposals that
 * were accepted are weighed. */
#include "support.h"

#include <aisampler/aisampler.h>

#include "brief.h"
#include "diagnostics/judge.h"
#include "judge/evidence.h"
#include "judge/reach.h"
#include "random_map.h"

enum { DIM = 2, CHAINS = 8, DRAWS = 1000, N = CHAINS * DRAWS };

/* A normal density, correlated, of which only x_1 > 0 is left: proposals meet places without density. */
static double half(const double *x, void *data) {
    (void)data;
    double y = x[1] - 0.5 * x[0];
    return x[0] > 0 ? -0.5 * (x[0] * x[0] + y * y) : -INFINITY;
}
static double half_slope(const double *x, double *gradient, void *data) {
    double y = x[1] - 0.5 * x[0];
    gradient[0] = -x[0] + 0.5 * y;
    gradient[1] = -y;
    return half(x, data);
}
static const ais_target target = {.name = "half", .dim = DIM, .logp = half, .grad = half_slope};
static const double truth = 1.1447298858494002; /* log pi */

/* ---- kernels ------------------------------------------------------------------------------------- */

static ais_kernel *spline(void) { return random_map((ais_shape){.map = AIS_SPLINE, .reversal = AIS_SWAP}, 0.3, DIM); }
static ais_kernel *realnvp(void) { return random_map((ais_shape){.map = AIS_REALNVP, .reversal = AIS_SWAP}, 0.3, DIM); }
static ais_kernel *affine(void) { return random_map((ais_shape){.map = AIS_AFFINE, .reversal = AIS_SWAP}, 0.3, DIM); }
static ais_kernel *joint(void) {
    return random_map((ais_shape){.map = AIS_REALNVP, .reversal = AIS_SWAP, .joint = true}, 0.3, DIM);
}
static ais_kernel *henon(void) { return random_map((ais_shape){.map = AIS_HENON}, 0.3, DIM); }
static ais_kernel *reflected(void) {
    ais_context context = {0};
    ais_kernel *kernel = spline();
    assert_ok(context, ais_kernel_set_angles(&context, kernel, 2, (double[]){20, 90}));
    return kernel;
}

static ais_kernel *mixture(void) {
    ais_context context = {0};
    ais_kernel *kernel;
    const double mean[2 * DIM] = {1, 0.5, 0.3, -1}, factor[2 * DIM * DIM] = {1, 0.2, 0, 1, 0.8, 0, 0.4, 1.2};
    assert_ok(context,
              ais_kernel_mixture(
                  &context, &(ais_mixture_options){.dim = DIM, .count = 2, .mean = mean, .factor = factor}, &kernel));
    return kernel;
}

static ais_kernel *rwm(void) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_rwm(&context, &(ais_rwm_options){.scale = 1}, &kernel));
    return kernel;
}

static ais_kernel *latent(int proposals) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_latent(&context, spline(), rwm(), &kernel));
    assert_ok(context, ais_kernel_set_proposals(&context, kernel, proposals));
    return kernel;
}
static ais_kernel *relieved(void) { return latent(3); }
static ais_kernel *unrelieved(void) { return latent(0); }

static ais_kernel *cycle(void) {
    ais_context context = {0};
    ais_kernel *kernel, *part[] = {affine(), rwm(), mixture()};
    assert_ok(context, ais_kernel_cycle(&context, part, 3, &kernel));
    return kernel;
}

static const struct {
    const char *name;
    ais_kernel *(*make)(void);
    bool weighs;
    int thin, proposals;
} kinds[] = {
    {"spline", spline, true, 1, N},
    {"realnvp", realnvp, true, 1, N},
    {"affine", affine, true, 1, N},
    {"mixture", mixture, true, 1, N},
    {"relieved", relieved, true, 1, N / 4 * 3},  /* one step in four is the random walk's */
    {"relieved, thinned", relieved, true, 4, N}, /* and every fourth draw; that before it counts */
    {"cycle", cycle, true, 1, N},
    {"joint", joint, false, 1, 0},
    {"henon", henon, false, 1, 0},
    {"reflected", reflected, false, 1, 0},
    {"latent", unrelieved, false, 1, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static ais_draws *run_on(const ais_target *density, const ais_kernel *kernel, uint64_t seed, int thin) {
    ais_context context = {0};
    ais_sink *sink;
    double start[CHAINS * DIM];
    for (size_t i = 0; i < CHAINS * DIM; i++) start[i] = odd(seed, i, 0.2, 1);
    const ais_sample_options options = {
        .seed = seed, .chains = CHAINS, .warmup = 20, .draws = DRAWS, .thin = thin, .threads = 1, .start = start};
    assert_ok(context, ais_sink_memory(&context, &sink));
    assert_ok(context, ais_sample(&context, density, kernel, &options, &sink, 1, NULL));
    ais_draws *draws = ais_sink_memory_take(sink);
    ais_sink_free(sink);
    return draws;
}

static ais_draws *run(const ais_kernel *kernel, uint64_t seed, int thin) { return run_on(&target, kernel, seed, thin); }

static ais_evidence weigh(const ais_kernel *kernel, const ais_draws *draws) {
    ais_context context = {0};
    ais_evidence evidence;
    double *weight;
    ais_pool *pool;
    assert_ok(context, ais_pool_new(&context, 1, &pool));
    assert_ok(context, ais_weigh_draws(&context, pool, kernel, draws, &weight));
    assert_ok(context, ais_weigh_evidence(&context, draws, weight, &evidence));
    ais_pool_free(pool);
    free(weight);
    return evidence;
}

static double *weights_of(const ais_draws *draws) {
    const double *column = ais_draws_column(draws, "log_weight__");
    return column ? draws->stat + (column - draws->stat) : NULL;
}

/* Standardised errors of independent runs: their mean and their standard deviation. */
typedef struct scatter {
    double mean, sd;
} scatter;

static scatter scatter_of(int kind, int runs, void (*spoil)(ais_draws *)) {
    double sum = 0, square = 0;
    ais_kernel *kernel = kinds[kind].make();
    for (int r = 0; r < runs; r++) {
        ais_draws *draws = run(kernel, 100 + (uint64_t)r, kinds[kind].thin);
        if (spoil) spoil(draws);
        ais_evidence evidence = weigh(kernel, draws);
        if (!spoil) assert_int_equal(evidence.proposals, kinds[kind].proposals);
        assert_true(evidence.log_error > 0 && evidence.log_error < 0.1);
        double z = (evidence.log_z - truth) / evidence.log_error;
        sum += z / runs;
        square += z * z / runs;
        ais_draws_free(draws);
    }
    ais_kernel_free(kernel);
    return (scatter){sum, sqrt(square - sum * sum)};
}

static int runs(void) { return brief() ? 4 : 40; }

static void log_z_and_its_error_are_right(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        if (!kinds[k].weighs) continue;
        scatter found = scatter_of(k, runs(), NULL);
        print_message("%s: mean %.2f, sd %.2f\n", kinds[k].name, found.mean, found.sd);
        assert_true(fabs(found.mean) < 4 / sqrt(runs()));
        assert_true(fabs(found.sd - 1) < 4 / sqrt(2.0 * runs()));
    }
}

/* A t of 5 degrees of freedom, normalised, under normal proposals: few of the runs meet the weights that matter. */
static double heavy(const double *x, void *data) {
    (void)data;
    return -3.5 * log1p((x[0] * x[0] + x[1] * x[1]) / 5) - log(2 * 3.14159265358979);
}
static void errors_know_of_heavy_tails(void **state) {
    (void)state;
    const ais_target density = {.name = "t", .dim = DIM, .logp = heavy};
    double square = 0, largest = 0;
    ais_kernel *kernel = affine();
    for (int r = 0; r < runs(); r++) {
        ais_draws *draws = run_on(&density, kernel, 200 + (uint64_t)r, 1);
        ais_evidence evidence = weigh(kernel, draws);
        double z = evidence.log_z / evidence.log_error;
        square += z * z / runs();
        if (fabs(z) > fabs(largest)) largest = z;
        ais_draws_free(draws);
    }
    print_message("heavy tails: root mean square %.2f, largest %.1f\n", sqrt(square), largest);
    assert_true(square < 1.5 * 1.5 && fabs(largest) < 5);
    ais_kernel_free(kernel);
}

static void nobody_else_tells_weights(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        ais_kernel *kernel = kinds[k].make();
        assert_int_equal(ais_kernel_info(kernel) >> AIS_INFO_LOG_WEIGHT & 1, kinds[k].weighs);
        if (!kinds[k].weighs) {
            ais_draws *draws = run(kernel, 1, 1);
            assert_null(weights_of(draws));
            ais_evidence evidence = weigh(kernel, draws);
            assert_true(isnan(evidence.log_z) && evidence.proposals == 0);
            ais_draws_free(draws);
        }
        ais_kernel_free(kernel);
    }
}

/* Where a proposal has no density its weight is 0, not missing. */
static void places_without_density_count(void **state) {
    (void)state;
    ais_kernel *kernel = affine();
    ais_draws *draws = run(kernel, 3, 1);
    const double *weight = weights_of(draws);
    int none = 0;
    for (int k = 0; k < N; k++) {
        assert_true(!isnan(weight[k]) && weight[k] < INFINITY);
        none += weight[k] == -INFINITY;
    }
    assert_in_range(none, N / 10, N);
    ais_draws_free(draws);
    ais_kernel_free(kernel);
}

/* What is wrong on purpose: proposals that the chain did not take are forgotten. */
static void forget_rejected(ais_draws *draws) {
    double *weight = weights_of(draws);
    for (size_t k = N; k-- > 0;)
        if (k % DRAWS == 0 || draws->value[k] == draws->value[k - 1]) weight[k] = NAN;
}
/* Those without density. */
static void forget_empty(ais_draws *draws) {
    double *weight = weights_of(draws);
    for (size_t k = 0; k < N; k++)
        if (weight[k] == -INFINITY) weight[k] = NAN;
}

static void what_is_forgotten_is_seen(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        scatter rejected = scatter_of(k, 4, forget_rejected), empty = scatter_of(k, 4, forget_empty);
        print_message("%s: without rejected proposals %.1f errors off, without empty ones %.1f\n", kinds[k].name,
                      rejected.mean, empty.mean);
        assert_true(rejected.mean > 5 && empty.mean > 5);
    }
}

static void few_proposals_tell_nothing(void **state) {
    (void)state;
    ais_kernel *kernel = affine();
    ais_draws *draws = run(kernel, 4, 1);
    double *weight = weights_of(draws);
    for (int k = 99; k < N; k++) weight[k] = NAN;
    assert_true(isnan(weigh(kernel, draws).log_z));
    weight[99] = 0;
    assert_false(isnan(weigh(kernel, draws).log_z));
    for (int k = 0; k < N; k++) weight[k] = -INFINITY; /* nobody met the density */
    assert_true(isnan(weigh(kernel, draws).log_z));
    ais_draws_free(draws);
    ais_kernel_free(kernel);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_z_and_its_error_are_right), cmocka_unit_test(errors_know_of_heavy_tails),
        cmocka_unit_test(nobody_else_tells_weights),     cmocka_unit_test(places_without_density_count),
        cmocka_unit_test(what_is_forgotten_is_seen),     cmocka_unit_test(few_proposals_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
