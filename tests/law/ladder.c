/* Ladders: exact draws at the top stay exact whatever the map, the rungs and the local moves, once the other rungs have
 * settled; kernels broken on purpose are caught; blocks do not matter; log Z is right. */
#include "support.h"

#include "exact_draws.h"
#include "learned/ladder.h"
#include "random_map.h"

static const struct {
    ais_shape shape;
    double weights; /* scale of the random ones */
} maps[] = {
    {{.map = AIS_AFFINE, .reversal = AIS_SWAP}, 0},
    {{.map = AIS_SPLINE, .reversal = AIS_SWAP, .hidden = 8, .bins = 6, .marginal_bins = 5, .activation = AIS_TANH},
     0.4},
};
enum { MAPS = sizeof maps / sizeof *maps, RUNGS = 5, SETTLE = 40 };

static ais_kernel *make(int m, int dim, int leapfrogs) {
    static const double beta[RUNGS] = {0, 0.1, 0.3, 0.62, 1};
    static const double scale[RUNGS] = {0, 0.9, 0.6, 0.45, 0.35};
    ais_context context = {0};
    ais_kernel *kernel;
    const ais_ladder_options options = {.rungs = RUNGS, .beta = beta, .scale = scale, .leapfrogs = leapfrogs};
    assert_ok(context, ais_kernel_ladder(&context, random_map(maps[m].shape, maps[m].weights, dim), &options, &kernel));
    return kernel;
}

static void exact_draws_stay_exact(void **unused) {
    (void)unused;
    for (int m = 0; m < MAPS; m++)
        for (int t = 0; t < LAW_TARGETS; t++)
            for (int leapfrogs = 0; leapfrogs <= 3; leapfrogs += 3) {
                const law_target *law = &law_targets[t];
                if (m && t != 1) continue; /* once is enough of what takes long */
                ais_kernel *kernel = make(m, law->target.dim, leapfrogs);
                double z = largest_z(law, &law->target, kernel, SETTLE, 11);
                print_message("map %d, %d leapfrogs, %-10s %.1f standard errors\n", m, leapfrogs, law->target.name, z);
                if (!(z < most_z())) fail_msg("on %s: a moment is %.1f errors off", law->target.name, z);
                ais_kernel_free(kernel);
            }
}

/* ---- broken on purpose ------------------------------------------------------------------------------ */

static ais_target whole; /* the right functions */

static double grad_without_determinant(const double *z, double *gradient, void *data) {
    return whole.grad(z, gradient, data) - ((const ais_pullback *)data)->one.log_det[0];
}

static double logp_without_determinant(const double *z, void *data) {
    return whole.logp(z, data) - ((const ais_pullback *)data)->one.log_det[0];
}

static void leave_out_determinant(ais_target *latent) {
    whole = *latent;
    latent->grad = grad_without_determinant;
    latent->logp = logp_without_determinant;
}

static void broken_ladders_are_caught(void **unused) {
    (void)unused;
    if (law_chains() < CHAINS) skip(); /* too few to tell */
    const law_target *law = &law_targets[1];
    for (int leapfrogs = 0; leapfrogs <= 3; leapfrogs += 3)
        for (int how = 0; how < 2; how++) {
            ais_kernel *kernel = make(1, law->target.dim, leapfrogs);
            if (how == 0) ((ais_ladder *)kernel)->replace = leave_out_determinant;
            if (how == 1) ((ais_ladder *)kernel)->beta[RUNGS - 1] = 0.8; /* the top is not p */
            double z = largest_z(law, &law->target, kernel, SETTLE, 11);
            print_message("%s, %d leapfrogs: %.1f standard errors\n", how ? "a top at 0.8" : "without log determinant",
                          leapfrogs, z);
            if (z < 4) fail_msg("%.1f errors off only", z);
            ais_kernel_free(kernel);
        }
}

/* ---- determinism, log Z, refusals -------------------------------------------------------------------- */

static void blocks_do_not_matter(void **unused) {
    (void)unused;
    for (int m = 0; m < MAPS; m++)
        for (int leapfrogs = 0; leapfrogs <= 3; leapfrogs += 3) {
            const ais_target *target = &law_targets[1].target;
            ais_kernel *kernel = make(m, target->dim, leapfrogs);
            double block[20 * MAX_DIM], parts[20 * MAX_DIM];
            run_block(target, kernel, 3, 0, 20, block);
            run_block(target, kernel, 3, 0, 1, parts);
            run_block(target, kernel, 3, 1, 19, parts + target->dim);
            assert_memory_equal(block, parts, 20 * (size_t)target->dim * sizeof(double));
            ais_kernel_free(kernel);
        }
}

/* A normal density that is e^2 times a normalised one, from a map that is off: log Z is 2, whatever was guessed. */
static double high_logp(const double *x, void *data) {
    (void)data;
    return 2 - 0.5 * ((x[0] - 0.7) * (x[0] - 0.7) + 4 * x[1] * x[1]) - log(2 * 3.14159265358979323846) + log(2);
}

static void log_z_is_right(void **unused) {
    (void)unused;
    enum { STEPS_EACH = 8000 };
    const ais_target target = {.name = "high", .dim = 2, .logp = high_logp};
    for (int m = 0; m < MAPS; m++) {
        ais_context context = {0};
        ais_kernel *kernel = make(m, 2, 0);
        ais_state *state;
        ais_info info;
        void *own;
        const double start[2] = {0.5, 0.1};
        assert_ok(context, ais_state_new(&context, &target, 4, 0, 1, 0, start, &state));
        assert_ok(context, kernel->type->init(&context, kernel, state, &own));
        for (int guess = -1; guess < 2; guess++) {
            ais_ladder_tally *tally = ais_ladder_tally_of(own);
            for (int k = 0; k < RUNGS; k++) tally->guess[k] = guess;
            ais_ladder_clear(tally);
            for (uint64_t end = state->step + STEPS_EACH; state->step < end; state->step++)
                assert_ok(context, kernel->type->step(&context, kernel, state, own, &info));
            double log_z = ais_ladder_log_z((const ais_ladder *)kernel, tally);
            print_message("map %d, guess %d: log Z %.3f, %ld trips\n", m, guess, log_z, tally->arrived[RUNGS - 1]);
            assert_true(fabs(log_z - 2) < 0.1);
            assert_true(tally->arrived[RUNGS - 1] > 100);
        }
        ais_state_free(state);
        ais_kernel_free(kernel);
    }
}

static void impossible_ladders_are_refused(void **unused) {
    (void)unused;
    static const double good[3] = {0, 0.5, 1}, falling[3] = {0, 1, 1}, low[3] = {0, 0.5, 0.9}, none[3] = {0, 0, 1};
    const struct {
        ais_ladder_options options;
        const char *says;
    } wrong[] = {
        {{.rungs = 1, .beta = good, .scale = good}, "rungs is 1"},
        {{.rungs = AIS_MOST_RUNGS + 1, .beta = good, .scale = good}, "rungs is"},
        {{.rungs = 3, .beta = falling, .scale = good}, "beta 3"},
        {{.rungs = 3, .beta = low, .scale = good}, "beta 3"},
        {{.rungs = 3, .beta = good, .scale = none}, "scale 2"},
        {{.rungs = 3, .beta = good, .scale = good, .leapfrogs = -1}, "leapfrogs"},
    };
    ais_context context = {0};
    ais_kernel *kernel;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        ais_kernel *map = random_map(maps[0].shape, 0, 2);
        assert_int_equal(ais_kernel_ladder(&context, map, &wrong[k].options, &kernel), AIS_BAD_ARGUMENT);
        if (!strstr(context.message, wrong[k].says)) fail_msg("%s", context.message);
        assert_null(kernel);
    }
    const ais_ladder_options options = {.rungs = 3, .beta = good, .scale = good};
    ais_kernel *nuts;
    assert_ok(context, ais_kernel_nuts(&context, NULL, &nuts));
    assert_int_equal(ais_kernel_ladder(&context, nuts, &options, &kernel), AIS_BAD_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_draws_stay_exact),         cmocka_unit_test(broken_ladders_are_caught),
        cmocka_unit_test(blocks_do_not_matter),           cmocka_unit_test(log_z_is_right),
        cmocka_unit_test(impossible_ladders_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
