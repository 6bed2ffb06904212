/* Whole runs: what is judged, what is warned of; densities and distances on grids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <aisampler/diagnostics.h>

#include "chains.h"
#include "draws/names.h"

/* ---- a target with everything: two normals of sd 1/2 at x.1 = -3 and 3, weights 1/4 and 3/4 ---- */

static double pair_logp(const double *x, void *data) {
    (void)data;
    double y = -2 * x[1] * x[1];
    return y + log(0.25 * exp(-2 * (x[0] + 3) * (x[0] + 3)) + 0.75 * exp(-2 * (x[0] - 3) * (x[0] - 3)));
}
static int pair_mode(const double *x, void *data) {
    (void)data;
    return x[0] > 0;
}
static const double pair_mean[2] = {1.5, 0}, pair_variance[2] = {7, 0.25}, pair_weight[2] = {0.25, 0.75};
/* E x^2 = 9.25, E x^4 = 81 + 6 9 / 4 + 3 / 16 */
static const double pair_square[2] = {9.25, 0.25}, pair_square_variance[2] = {94.6875 - 9.25 * 9.25, 0.125};
static const ais_reference pair_reference = {.mean = pair_mean,
                                             .variance = pair_variance,
                                             .square_mean = pair_square,
                                             .square_variance = pair_square_variance,
                                             .log_z = 0.45158270528945486, /* log(2 pi / 4) */
                                             .modes = 2,
                                             .mode_weight = pair_weight,
                                             .mode = pair_mode};
static const ais_target pair = {.name = "pair", .dim = 2, .logp = pair_logp, .reference = &pair_reference};

typedef struct run {
    ais_draws draws;
    char *name[2], *stat_name[4];
} run;

/* Exact draws of the pair, and columns of a sampler in good health. */
static void exact_run(run *r, uint64_t seed, int chains, int draws) {
    size_t n = (size_t)chains * (size_t)draws;
    *r = (run){.name = {"x.1", "x.2"}, .stat_name = {"accept_stat__", "energy__", "divergent__", "treedepth__"}};
    r->draws = (ais_draws){.dim = 2, .chains = chains, .draws = draws, .name = r->name, .stats = 4};
    r->draws.stat_name = r->stat_name;
    double *value = ar1_chains(seed, 2 * chains, draws, 0), *stat = malloc(4 * n * sizeof *stat);
    double *energy = ar1_chains(seed + 1, chains, draws, 0);
    assert_non_null(stat);
    for (size_t k = 0; k < n; k++) {
        double u = ais_random_uniform(&(ais_stream){.seed = seed, .step = 1, .purpose = AIS_FOR_USER}, (uint32_t)k);
        value[k] = 0.5 * value[k] + (u < 0.25 ? -3 : 3);
        value[n + k] *= 0.5;
        stat[k] = 0.75;
        stat[n + k] = energy[k];
        stat[2 * n + k] = 0;
        stat[3 * n + k] = 3;
    }
    free(energy);
    r->draws.value = value;
    r->draws.stat = stat;
}
static void run_free(run *r) {
    free(r->draws.value);
    free(r->draws.stat);
}

static ais_diagnosis *diagnose(const run *r, const ais_target *target) {
    ais_context context = {0};
    ais_diagnosis *diagnosis = NULL;
    ais_status status = ais_diagnose(&context, &r->draws, target, &diagnosis);
    if (status != AIS_OK) print_error("%s\n", context.message);
    assert_int_equal(status, AIS_OK);
    assert_int_equal(context.message[0], 0);
    return diagnosis;
}

/* Asserts that this and only this is warned of; count -1: others may be there too. */
static void expect_warning(const run *r, const ais_target *target, const char *part, int count) {
    ais_diagnosis *d = diagnose(r, target);
    int found = 0;
    for (int i = 0; i < d->warnings; i++) found += strstr(d->warning[i], part) != NULL;
    if (found != 1 || (count >= 0 && d->warnings != count)) {
        print_error("expected \"%s\" among %d warnings, but got:\n", part, count);
        for (int i = 0; i < d->warnings; i++) print_error("  %s\n", d->warning[i]);
        fail();
    }
    ais_diagnosis_free(d);
}

/* Seven of eight steps propose, and repeat the energy where they are rejected. */
static void energies_are_of_steps_with_momenta(void **state) {
    (void)state;
    run r;
    exact_run(&r, 31, 4, 1000);
    double *energy = r.draws.stat + 4000, *leapfrogs = r.draws.stat + 3 * 4000;
    r.stat_name[2] = "log_weight__";
    r.stat_name[3] = "n_leapfrog__";
    for (int k = 0; k < 4000; k++) {
        leapfrogs[k] = k % 8 ? 0 : 7;
        energy[k] = energy[k / 8 * 8];
    }
    ais_diagnosis *mixed = diagnose(&r, &pair);
    assert_between(mixed->lowest_ebfmi, 1.4, 2.6);
    assert_int_equal(mixed->warnings, 0);
    for (int k = 0; k < 4000; k++) leapfrogs[k] = 7; /* of a cycle every step is both */
    ais_diagnosis *both = diagnose(&r, &pair);
    assert_between(both->lowest_ebfmi, 0.1, 0.3);
    ais_diagnosis_free(mixed);
    ais_diagnosis_free(both);
    run_free(&r);
}

static void exact_draws_are_trusted(void **state) {
    (void)state;
    run r;
    exact_run(&r, 31, 4, 1000);
    ais_diagnosis *d = diagnose(&r, &pair);
    for (int i = 0; i < d->warnings; i++) print_error("%s\n", d->warning[i]);
    assert_int_equal(d->warnings, 0);
    assert_int_equal(d->dim, 2);
    assert_int_equal(d->modes, 2);
    assert_int_equal(d->fewest_modes, 2);
    assert_string_equal(d->parameter[1].name, "x.2");
    assert_between(d->worst_ess, 700, 1100);
    assert_between(d->worst_ess_song, 800, 1000);
    assert_true(d->mean_ess_song >= d->worst_ess_song);
    assert_true(isnan(d->worst_ess_error)); /* 4 chains are too few */
    assert_between(d->worst_rhat, 0.999, 1.01);
    assert_between(d->mode_share[0], 0.22, 0.28);
    assert_relative(d->mode_share[0] + d->mode_share[1], 1, 1e-12);
    assert_between(d->mode_kl, 0, 0.003);
    assert_between(d->total_variation, 0.02, 0.15);
    assert_near(d->acceptance, 0.75, 1e-14);
    assert_between(d->lowest_ebfmi, 1.5, 2.5);
    assert_between(d->cross_chain_mean, 0, 0.06);
    assert_true(d->cross_chain_mean <= d->cross_chain_largest);
    const ais_parameter_summary *p = &d->parameter[0];
    const double *x = r.draws.value;
    assert_true(p->ess_bulk == ais_ess_bulk(x, 4, 1000) && p->ess_tail == ais_ess_tail(x, 4, 1000));
    assert_true(p->rhat == ais_rhat(x, 4, 1000));
    assert_relative(p->mcse, ais_mcse_mean(x, 4, 1000), 1e-14);
    assert_relative(p->z_mean, (p->mean - 1.5) / p->mcse, 1e-14);
    assert_true(p->q5 == ais_quantile(x, 4000, 0.05) && p->q50 == ais_quantile(x, 4000, 0.5));
    assert_true(fabs(p->z_square) < 4 && fabs(d->parameter[1].z_square) < 4);
    ais_diagnosis_free(d);

    d = diagnose(&r, NULL); /* nothing known: nothing claimed */
    assert_true(isnan(d->worst_ess_song) && isnan(d->mode_kl) && isnan(d->total_variation) && !d->mode_share);
    assert_true(isnan(d->parameter[0].z_mean) && isnan(d->parameter[0].ess_song));
    assert_int_equal(d->warnings, 0);
    ais_diagnosis_free(d);
    ais_diagnosis_free(NULL);
    run_free(&r);
}

static void many_chains_give_the_error_ess(void **state) {
    (void)state;
    run r;
    exact_run(&r, 32, 200, 120);
    ais_diagnosis *d = diagnose(&r, &pair);
    assert_between(d->worst_ess_error, 80, 130); /* of 120 independent draws */
    ais_diagnosis_free(d);
    run_free(&r);
}

/* Where most draws are proposals of a map the trajectories between them may diverge; where they are not, one in a
 * thousand draws is the limit. */
static void trajectories_between_proposals_may_diverge(void **state) {
    (void)state;
    enum { N = 4000 };
    run r;
    exact_run(&r, 35, 4, 1000);
    r.stat_name[3] = "n_leapfrog__";
    for (int k = 0; k < 50; k++) r.draws.stat[2 * N + 16 * k] = 1;
    expect_warning(&r, &pair, "50 of 4000 trajectories diverged", 1);
    for (int k = 0; k < N; k++) r.draws.stat[3 * N + k] = k % 16 ? 0 : 7;
    ais_diagnosis *d = diagnose(&r, &pair);
    assert_int_equal(d->trajectories, 250);
    assert_int_equal(d->divergences, 50);
    assert_int_equal(d->warnings, 0);
    ais_diagnosis_free(d);
    run_free(&r);
}

/* What the verdict rests on names its numbers, and fails with the warnings. */
static void checks_are_those_of_the_warnings(void **state) {
    (void)state;
    for (int ill = 0; ill < 2; ill++) {
        run r;
        int failed = 0;
        exact_run(&r, 36, 4, 1000);
        for (int t = 0; ill && t < 1000; t++) r.draws.value[1000 + t] = fabs(r.draws.value[1000 + t]);
        ais_diagnosis *d = diagnose(&r, &pair);
        assert_true(d->checks >= 3);
        assert_string_equal(d->check[0].name, "chains agree");
        assert_int_equal(d->check[0].passed, !ill);
        for (int i = 0; i < d->checks; i++) failed += !d->check[i].passed;
        assert_int_equal(failed > 0, ill);
        ais_diagnosis_free(d);
        run_free(&r);
    }
}

static void every_fault_is_named(void **state) {
    (void)state;
    enum { CHAINS = 4, DRAWS = 1000, N = CHAINS * DRAWS };
    run r;
    exact_run(&r, 33, CHAINS, DRAWS);
    double *x = r.draws.value, *y = x + N, *stat = r.draws.stat, keep[DRAWS];
    expect_warning(&(run){.draws = {.dim = 2, .chains = 1, .draws = DRAWS, .name = r.name, .value = x}}, NULL,
                   "one chain", 1);

    for (int t = 0; t < 5; t++) stat[2 * N + 17 * t] = 1;
    expect_warning(&r, &pair, "5 of 4000 draws diverged", 1);
    stat[2 * N] = 0;
    ais_diagnosis *few = diagnose(&r, &pair); /* one in a thousand is not more than that */
    assert_int_equal(few->divergences, 4);
    assert_int_equal(few->warnings, 0);
    ais_diagnosis_free(few);
    for (int t = 0; t < 5; t++) stat[2 * N + 17 * t] = 0;

    for (int t = 0; t < 41; t++) stat[3 * N + t] = 10;
    expect_warning(&r, &pair, "1.0% of the draws reached tree depth 10", 1);
    stat[3 * N] = 9;
    ais_diagnosis *d = diagnose(&r, &pair); /* exactly 1% is not more than 1% */
    assert_int_equal(d->warnings, 0);
    ais_diagnosis_free(d);
    for (int t = 0; t < 41; t++) stat[3 * N + t] = 10;
    r.draws.max_depth = 12; /* the run's limit, where it is known */
    d = diagnose(&r, &pair);
    assert_int_equal(d->warnings, 0);
    ais_diagnosis_free(d);
    r.draws.max_depth = 7;
    stat[3 * N] = 6;
    stat[3 * N + 1] = 7;
    for (int t = 41; t < 50; t++) stat[3 * N + t] = 7;
    expect_warning(&r, &pair, "of the draws reached tree depth 7", 1);
    r.draws.max_depth = 0;
    for (int t = 0; t < 50; t++) stat[3 * N + t] = 0;

    for (int t = 0; t < DRAWS; t++) stat[N + t] = sin(t / 300.0);
    expect_warning(&r, &pair, "E-BFMI is 0.000 in the worst chain", 1);
    for (int t = 0; t < DRAWS; t++) stat[N + t] = stat[N + DRAWS + t];

    memcpy(keep, x + DRAWS, sizeof keep); /* chain 2 stays in the right mode */
    for (int t = 0; t < DRAWS; t++) x[DRAWS + t] = fabs(x[DRAWS + t]);
    expect_warning(&r, &pair, "chain 2 missed mode 1; the fewest visited are 1 of 2", -1);
    expect_warning(&r, &pair, "R-hat of x.1 is 1.", -1);
    strcpy(r.draws.sampler, "nuts"); /* who cannot learn is not told to */
    expect_warning(&r, &pair, "the chains do not agree; draw more or warm up longer", -1);
    expect_warning(&r, &pair, "of 2): learn a kernel that jumps (aisampler run)", -1);
    strcpy(r.draws.sampler, "spline+rwm");
    expect_warning(&r, &pair, "the chains do not agree; draw more or train longer", -1);
    r.draws.sampler[0] = 0;
    memcpy(x + DRAWS, keep, sizeof keep);

    x[2 * DRAWS + 5] = INFINITY;
    y[3] = NAN;
    expect_warning(&r, &pair, "2 values are not finite, the first one x.1 in draw 6 of chain 3", 1);
    d = diagnose(&r, &pair);
    assert_true(isnan(d->parameter[0].mean) && isnan(d->parameter[1].ess_bulk));
    assert_relative(d->mode_share[0] + d->mode_share[1], 3998.0 / 4000, 1e-12);
    ais_diagnosis_free(d);
    x[2 * DRAWS + 5] = 3;
    y[3] = 0;

    for (int k = 0; k < N; k++) y[k] += 0.1;
    expect_warning(&r, &pair, "the mean of x.2 is ", 1);
    for (int k = 0; k < N; k++) y[k] = 1.4 * (y[k] - 0.1); /* right mean, wrong variance */
    expect_warning(&r, &pair, "the mean of x.2^2 is ", 1);

    for (int k = 0; k < N; k++) y[k] = 0.5;
    d = diagnose(&r, NULL);
    assert_true(isnan(d->parameter[1].ess_bulk) && d->parameter[1].sd == 0 && d->parameter[1].mean == 0.5);
    ais_diagnosis_free(d);
    for (int t = 0; t < DRAWS; t++) x[3 * DRAWS + t] = 3;
    expect_warning(&r, NULL, "1 of 4 chains never moved, the first one is chain 4", -1);
    run_free(&r);
}

static void names_tell_what_was_trained(void **state) {
    (void)state;
    static const char *const trained[] = {"henon", "nuts@realnvp", "realnvp+nuts@realnvp", "spline+rwm", "anice"},
                             *const others[] = {"", "nuts", "rwm+hmc", "mixture", "ladder", "nuts@affine", "splines"};
    for (size_t k = 0; k < sizeof trained / sizeof *trained; k++) assert_true(ais_is_trained(trained[k]));
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) assert_false(ais_is_trained(others[k]));
}

static void unvisited_modes_leave_nothing(void **state) {
    (void)state;
    run r;
    exact_run(&r, 34, 4, 500);
    for (int k = 0; k < 2000; k++) r.draws.value[k] = fabs(r.draws.value[k]);
    expect_warning(&r, &pair, "mode 1 (weight 0.25) was never visited", -1);
    ais_diagnosis *d = diagnose(&r, &pair);
    assert_true(d->worst_ess == 0 && d->mode_kl == INFINITY && d->fewest_modes == 1);
    assert_string_equal(d->worst_ess_function, "mode 1");
    assert_between(d->total_variation, 0.24, 0.4);
    ais_diagnosis_free(d);
    run_free(&r);
}

/* Both modes visited, in the wrong proportion: only the truth can tell. */
static void wrong_shares_are_seen(void **state) {
    (void)state;
    run r;
    exact_run(&r, 35, 4, 1000);
    for (int k = 0; k < 4000; k += 2) r.draws.value[k] = fabs(r.draws.value[k]);
    expect_warning(&r, &pair, "the KL divergence from their true weights is 0.0", -1);
    expect_warning(&r, &pair, "standard errors from the truth", -1);
    run_free(&r);
}

static void slow_chains_are_seen(void **state) {
    (void)state;
    run r;
    exact_run(&r, 36, 4, 1000);
    double *slow = ar1_chains(5, 4, 1000, 0.95);
    memcpy(r.draws.value, slow, 4000 * sizeof *slow);
    free(slow);
    expect_warning(&r, NULL, "the bulk ESS of x.1 is ", -1);
    expect_warning(&r, NULL, "the tail ESS of x.1 is ", -1);
    r.draws.draws = 3; /* the rest of the numbers belongs to nobody */
    r.draws.stats = 0;
    expect_warning(&r, NULL, "draws per chain: 3, too few", 1);
    run_free(&r);
}

/* The same file given twice would double the ESS. */
static void equal_chains_are_seen(void **state) {
    (void)state;
    run r;
    exact_run(&r, 38, 4, 500);
    for (int i = 0; i < 2; i++) {
        double *x = r.draws.value + i * 2000;
        memcpy(x + 3 * 500, x + 500, 499 * sizeof *x);
    }
    ais_diagnosis *d = diagnose(&r, NULL);
    for (int i = 0; i < d->warnings; i++) assert_null(strstr(d->warning[i], "the same draws"));
    ais_diagnosis_free(d);
    for (int i = 0; i < 2; i++) r.draws.value[i * 2000 + 1999] = r.draws.value[i * 2000 + 999];
    expect_warning(&r, NULL, "chains 2 and 4 are the same draws", -1);
    run_free(&r);
}

/* By hash, not by comparing all pairs. The first pair is told; 0 and -0 are the same. */
static void equal_chains_among_many_are_seen(void **state) {
    (void)state;
    enum { CHAINS = 20000, DRAWS = 4 };
    run r;
    exact_run(&r, 39, CHAINS, DRAWS);
    for (int i = 0; i < 2; i++) {
        double *x = r.draws.value + (size_t)i * CHAINS * DRAWS;
        memcpy(x + (size_t)DRAWS * 19998, x + (size_t)DRAWS * 7000, DRAWS * sizeof *x);
        x[DRAWS * 1233] = 0.0;
        memcpy(x + (size_t)DRAWS * 15678, x + (size_t)DRAWS * 1233, DRAWS * sizeof *x);
        x[DRAWS * 15678] = -0.0;
    }
    expect_warning(&r, NULL, "chains 1234 and 15679 are the same draws", -1);
    run_free(&r);
}

static void wrong_shapes_are_refused(void **state) {
    (void)state;
    run r;
    exact_run(&r, 37, 2, 10);
    ais_context context = {0};
    ais_diagnosis *d = NULL;
    ais_target other = pair;
    other.dim = 3;
    assert_int_equal(ais_diagnose(&context, &r.draws, &other, &d), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "the draws have 2 parameters, but target pair has 3"));
    r.draws.chains = 0;
    assert_int_equal(ais_diagnose(&context, &r.draws, NULL, &d), AIS_BAD_ARGUMENT);
    assert_null(d);
    run_free(&r);
}

/* ---- grids ---- */

static void kernel_density_is_its_sum(void **state) {
    (void)state;
    ais_context context = {0};
    enum { N = 300 };
    double *x = ar1_chains(41, 1, N, 0.4), *y = ar1_chains(42, 1, N, -0.4), density[12 * 7];
    ais_grid grid = {-1.5, 4.5, -3, 2, 12, 7};
    assert_int_equal(ais_kde(&context, x, y, N, &grid, 0.3, 0.7, density), AIS_OK);
    for (int k = 0; k < 12 * 7; k++) {
        double gx = -1.5 + (k % 12 + 0.5) * 0.5, gy = -3 + (k / 12 + 0.5) * 5 / 7, sum = 0;
        for (int i = 0; i < N; i++)
            sum += exp(-0.5 * pow((gx - x[i]) / 0.3, 2) - 0.5 * pow((gy - y[i]) / 0.7, 2)) /
                   (6.283185307179586 * 0.21 * N);
        assert_near(density[k], sum, 1e-12);
    }
    /* Scott's rule, and a grid that holds everything: the mass is 1. */
    ais_grid wide = {-8, 8, -8, 8, 12, 7};
    double scott = sqrt(ais_variance(x, N)) * pow(N, -1.0 / 6), again[12 * 7], mass = 0;
    assert_int_equal(ais_kde(&context, x, y, N, &wide, 0, 0.7, density), AIS_OK);
    assert_int_equal(ais_kde(&context, x, y, N, &wide, scott, 0.7, again), AIS_OK);
    for (int k = 0; k < 12 * 7; k++) {
        assert_near(density[k], again[k], 1e-15);
        mass += density[k] * 16 / 12 * 16 / 7;
    }
    assert_near(mass, 1, 0.1);
    ais_grid empty = {1, 1, 0, 1, 3, 3}, flat = {0, 1, 0, 1, 0, 3};
    assert_int_equal(ais_kde(&context, x, y, N, &empty, 0, 0, density), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_kde(&context, x, y, N, &flat, 0, 0, density), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_kde(&context, x, y, 0, &grid, 0, 0, density), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_kde(&context, x, y, N, &grid, -1, 0, density), AIS_BAD_ARGUMENT);
    x[5] = NAN;
    assert_int_equal(ais_kde(&context, x, y, N, &grid, 0, 0, density), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "draw 5"));
    free(x);
    free(y);
}

static double normal_logp(const double *x, void *data) {
    (void)data;
    return -0.5 * (x[0] * x[0] + x[1] * x[1]);
}
static double broken_logp(const double *x, void *data) { return x[0] > 1 ? NAN : normal_logp(x, data); }

/* The distance between N(0, 1) and N(s, 1) is 2 Phi(s / 2) - 1. */
static void total_variation_of_shifted_draws(void **state) {
    (void)state;
    enum { N = 200000 };
    ais_context context = {0};
    ais_reference reference = {.log_z = 1.8378770664093453}; /* log 2 pi */
    ais_target target = {.name = "normal", .dim = 2, .logp = normal_logp, .reference = &reference};
    ais_grid grid = {-6, 8, -6, 6, 56, 24};
    double *x = ar1_chains(43, 1, N, 0), *y = ar1_chains(44, 1, N, 0), distance;
    for (double shift = 0; shift <= 2; shift += 0.5) {
        assert_int_equal(ais_total_variation(&context, x, y, N, &target, &grid, &distance), AIS_OK);
        assert_between(distance, erf(shift / sqrt(8)) - 0.01, erf(shift / sqrt(8)) + 0.02);
        for (int i = 0; i < N; i++) x[i] += 0.5;
    }
    for (int i = 0; i < N; i++) x[i] += 50; /* all outside */
    assert_int_equal(ais_total_variation(&context, x, y, N, &target, &grid, &distance), AIS_OK);
    assert_near(distance, 1, 1e-6);
    /* A grid that holds the half: the outside is a cell, and the known Z says what belongs there. */
    ais_grid half = {0, 8, -8, 8, 16, 16};
    for (int i = 0; i < N; i++) x[i] -= 52.5;
    assert_int_equal(ais_total_variation(&context, x, y, N, &target, &half, &distance), AIS_OK);
    assert_between(distance, 0, 0.02);
    reference.log_z = NAN; /* not known: the grid is taken for everything */
    assert_int_equal(ais_total_variation(&context, x, y, N, &target, &half, &distance), AIS_OK);
    assert_between(distance, 0.48, 0.52);
    target.logp = broken_logp;
    assert_int_equal(ais_total_variation(&context, x, y, N, &target, &half, &distance), AIS_BAD_DENSITY);
    target.dim = 3;
    assert_int_equal(ais_total_variation(&context, x, y, N, &target, &half, &distance), AIS_BAD_ARGUMENT);
    free(x);
    free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energies_are_of_steps_with_momenta),
        cmocka_unit_test(exact_draws_are_trusted),
        cmocka_unit_test(many_chains_give_the_error_ess),
        cmocka_unit_test(trajectories_between_proposals_may_diverge),
        cmocka_unit_test(checks_are_those_of_the_warnings),
        cmocka_unit_test(every_fault_is_named),
        cmocka_unit_test(names_tell_what_was_trained),
        cmocka_unit_test(unvisited_modes_leave_nothing),
        cmocka_unit_test(wrong_shares_are_seen),
        cmocka_unit_test(slow_chains_are_seen),
        cmocka_unit_test(equal_chains_are_seen),
        cmocka_unit_test(equal_chains_among_many_are_seen),
        cmocka_unit_test(wrong_shapes_are_refused),
        cmocka_unit_test(kernel_density_is_its_sum),
        cmocka_unit_test(total_variation_of_shifted_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
