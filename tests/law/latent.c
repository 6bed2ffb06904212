/* Classical kernels in the latent space of a map: exact draws stay exact whatever the map, one evaluation of the target
 * is made for each of theirs, blocks do not matter, and a density without its log determinant is caught. */
#include "support.h"

#include "exact_draws.h"
#include "learned/latent.h"
#include "learned/mixture.h"
#include "random_map.h"

/* ---- kernels --------------------------------------------------------------------------------------- */

static const struct {
    ais_shape shape;
    double scale; /* of the random weights */
} maps[] = {
    {{.map = AIS_AFFINE, .reversal = AIS_SWAP}, 0},
    {{.map = AIS_REALNVP, .reversal = AIS_SWAP, .hidden = 8, .activation = AIS_TANH}, 0.8},
    {{.map = AIS_SPLINE, .reversal = AIS_SWAP, .hidden = 8, .bins = 6, .marginal_bins = 5, .activation = AIS_TANH},
     0.4},
};
enum { MAPS = sizeof maps / sizeof *maps };

static ais_kernel *make_map(int m, int dim) { return random_map(maps[m].shape, maps[m].scale, dim); }

static ais_kernel *make_latent(int m, int dim, ais_kernel *inner) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_latent(&context, make_map(m, dim), inner, &kernel));
    return kernel;
}

/* With independent proposals of the map between its steps. */
static ais_kernel *make_relieved(int m, int dim, ais_kernel *inner, int proposals) {
    ais_context context = {0};
    ais_kernel *kernel = make_latent(m, dim, inner);
    assert_ok(context, ais_kernel_set_proposals(&context, kernel, proposals));
    return kernel;
}

/* Two odd components, which propose in place of the map. */
static ais_kernel *make_mixture(int dim) {
    ais_context context = {0};
    ais_kernel *mixture;
    double mean[2 * MAX_DIM], factor[2 * MAX_DIM * MAX_DIM] = {0};
    size_t n = (size_t)dim;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < n; i++) {
            mean[k * n + i] = odd(k, i, -1.5, 1.5);
            for (size_t j = 0; j <= i; j++)
                factor[(k * n + i) * n + j] = i == j ? 1.3 : odd(k + 2, i * n + j, -0.4, 0.4);
        }
    const ais_mixture_options options = {
        .dim = dim, .count = 2, .weight = (double[]){1, 2.385}, .mean = mean, .factor = factor};
    assert_ok(context, ais_kernel_mixture(&context, &options, &mixture));
    return mixture;
}

static ais_kernel *make_mixed(int m, int dim, ais_kernel *inner, int proposals) {
    ais_context context = {0};
    ais_kernel *kernel = make_relieved(m, dim, inner, proposals);
    assert_ok(context, ais_kernel_propose_from(&context, kernel, make_mixture(dim)));
    return kernel;
}

static const law_kernel inners[] = {
    {"rwm", fixed_rwm, 0},          {"hmc", fixed_hmc, 0},        {"nuts", fixed_nuts, 0},
    {"nuts tuned", tuned_nuts, 24}, {"rwm tuned", tuned_rwm, 24},
};
enum { INNERS = sizeof inners / sizeof *inners };

/* ---- invariance ------------------------------------------------------------------------------------ */

static void exact_draws_stay_exact(void **unused) {
    (void)unused;
    for (int m = 0; m < MAPS; m++)
        for (int t = 0; t < LAW_TARGETS; t++)
            for (int k = 0; k <= INNERS; k++) {
                const law_target *law = &law_targets[t];
                int dim = law->target.dim;
                if (k < INNERS && inners[k].warmup && t != 1) continue; /* once is enough of what takes long */
                ais_kernel *kernel = k < INNERS ? make_latent(m, dim, inners[k].make())
                                                : make_cycle(make_latent(m, dim, fixed_nuts()), make_map(m, dim), NULL);
                double z = largest_z(law, &law->target, kernel, k < INNERS ? inners[k].warmup : 0, 11);
                print_message("%-12s %-10s %.1f standard errors\n", ais_kernel_name(kernel), law->target.name, z);
                if (!(z < most_z()))
                    fail_msg("%s on %s: a moment is %.1f errors off", ais_kernel_name(kernel), law->target.name, z);
                ais_kernel_free(kernel);
            }
}

/* Proposals alone would do where the map is good; these maps are random, and both kinds of steps are needed. */
static void proposals_stay_exact(void **unused) {
    (void)unused;
    for (int m = 0; m < MAPS; m++)
        for (int t = 0; t < LAW_TARGETS; t++)
            for (int k = 0; k < 6; k++) {
                const law_target *law = &law_targets[t];
                ais_kernel *kernel =
                    (k < 3 ? make_relieved : make_mixed)(m, law->target.dim, inners[k % 3].make(), 2 * (k % 3) + 1);
                double z = largest_z(law, &law->target, kernel, 0, 12);
                print_message("%-22s %-10s %.1f standard errors\n", ais_kernel_name(kernel), law->target.name, z);
                if (!(z < most_z()))
                    fail_msg("%s on %s: a moment is %.1f errors off", ais_kernel_name(kernel), law->target.name, z);
                ais_kernel_free(kernel);
            }
}

/* ---- broken on purpose ------------------------------------------------------------------------------ */

static ais_target whole; /* the right functions */

static double grad_without_determinant(const double *z, double *gradient, void *data) {
    return whole.grad(z, gradient, data) - ((const ais_pullback *)data)->one.log_det[0];
}

static void batch_without_determinant(size_t n, const double *z, double *logp, void *data) {
    whole.batch(n, z, logp, data);
    for (size_t c = 0; c < n; c++) logp[c] -= ((const ais_pullback *)data)->many.log_det[c];
}

static void leave_out_determinant(ais_target *latent) {
    whole = *latent;
    latent->grad = grad_without_determinant;
    latent->batch = batch_without_determinant;
}

/* The proposals' test sees the density without its determinant, NUTS the right one. */
static void leave_out_for_proposals(ais_target *latent) {
    whole = *latent;
    latent->batch = batch_without_determinant;
}

static void broken_proposals_are_caught(void **unused) {
    (void)unused;
    if (law_chains() < CHAINS) skip(); /* too few to tell */
    const law_target *law = &law_targets[1];
    for (int m = 1; m < MAPS; m++) {
        ais_kernel *kernel = make_relieved(m, law->target.dim, fixed_nuts(), 11);
        ((ais_latent *)kernel)->replace = leave_out_for_proposals;
        double z = largest_z(law, &law->target, kernel, 0, 11);
        print_message("%-22s without log determinant: %.1f standard errors\n", ais_kernel_name(kernel), z);
        if (z < 4) fail_msg("%s without log determinant: %.1f errors off only", ais_kernel_name(kernel), z);
        ais_kernel_free(kernel);
    }
}

/* The mixture's test without the density that it proposes from. */
static void no_logq(const ais_components *components, size_t chains, size_t lanes, const ais_components_work *work,
                    const double *x, double *logq) {
    (void)components, (void)lanes, (void)work, (void)x;
    for (size_t c = 0; c < chains; c++) logq[c] = 0;
}

static void a_broken_mixture_is_caught(void **unused) {
    (void)unused;
    if (law_chains() < CHAINS) skip(); /* too few to tell */
    const law_target *law = &law_targets[1];
    for (int m = 0; m < MAPS; m++) {
        ais_kernel *kernel = make_mixed(m, law->target.dim, fixed_nuts(), 11);
        ((ais_mixture_kernel *)ais_as_mixture(((ais_latent *)kernel)->source))->logq = no_logq;
        double z = largest_z(law, &law->target, kernel, 0, 11);
        print_message("%-22s without log q: %.1f standard errors\n", ais_kernel_name(kernel), z);
        if (z < 4) fail_msg("%s without log q: %.1f errors off only", ais_kernel_name(kernel), z);
        ais_kernel_free(kernel);
    }
}

static void broken_kernels_are_caught(void **unused) {
    (void)unused;
    if (law_chains() < CHAINS) skip(); /* too few to tell */
    const law_target *law = &law_targets[1];
    for (int m = 1; m < MAPS; m++) /* of affine it is constant */
        for (int k = 0; k < 3; k++) {
            ais_kernel *kernel = make_latent(m, law->target.dim, inners[k].make());
            ((ais_latent *)kernel)->replace = leave_out_determinant;
            double z = largest_z(law, &law->target, kernel, 0, 11);
            print_message("%-12s without log determinant: %.1f standard errors\n", ais_kernel_name(kernel), z);
            if (z < 4) fail_msg("%s without log determinant: %.1f errors off only", ais_kernel_name(kernel), z);
            ais_kernel_free(kernel);
        }
}

/* ---- determinism, counts, points ---------------------------------------------------------------------- */

static void blocks_do_not_matter(void **unused) {
    (void)unused;
    for (int m = 0; m < MAPS; m++)
        for (int t = 0; t < LAW_TARGETS; t++)
            for (int k = 0; k <= INNERS; k++) {
                const ais_target *target = &law_targets[t].target;
                bool mixed = k == INNERS;
                if (!mixed && inners[k].warmup && t != 1 && law_chains() < CHAINS) continue; /* takes long, as above */
                ais_kernel *kernel = mixed ? make_mixed(m, target->dim, fixed_nuts(), 2)
                                           : make_relieved(m, target->dim, inners[k].make(), (m + t) % 3);
                double whole_block[20 * MAX_DIM], parts[20 * MAX_DIM];
                run_block(target, kernel, 3, 0, 20, whole_block);
                run_block(target, kernel, 3, 0, 1, parts);
                run_block(target, kernel, 3, 1, 19, parts + target->dim);
                if (memcmp(whole_block, parts, 20 * (size_t)target->dim * sizeof(double)) != 0)
                    fail_msg("%s depends on its block", ais_kernel_name(kernel));
                ais_kernel_free(kernel);
            }
}

static long gradients, densities;
static double counted_grad(const double *x, double *gradient, void *data) {
    gradients++;
    return banana_grad(x, gradient, data);
}
static double counted_logp(const double *x, void *data) {
    densities++;
    return banana_logp(x, data);
}

/* One gradient for every leapfrog and one at the start; x and log p belong together, as do x and z. */
static void one_evaluation_each(void **unused) {
    (void)unused;
    ais_target target = law_targets[1].target;
    target.batch = NULL;
    target.grad = counted_grad;
    target.logp = counted_logp;
    for (int m = 0; m < MAPS; m++)
        for (int k = 0; k < 3; k++) {
            enum { SOME = 5, LAST = 40 };
            ais_context context = {0};
            ais_kernel *kernel = make_latent(m, target.dim, inners[k].make());
            ais_state *state;
            ais_info info[SOME];
            void *own;
            double leapfrogs = 0, moved = 0;
            assert_ok(context, ais_state_new(&context, &target, 5, 0, SOME, 0, NULL, &state));
            gradients = densities = 0;
            assert_ok(context, kernel->type->init(&context, kernel, state, &own));
            for (; state->step < LAST; state->step++) {
                assert_ok(context, kernel->type->step(&context, kernel, state, own, info));
                for (int c = 0; c < SOME; c++) leapfrogs += k ? info[c].n_leapfrog : 0;
            }
            /* where a trajectory leaves what doubles can hold, the target is not asked */
            assert_true(k ? gradients <= (long)leapfrogs + SOME && (double)gradients > 0.98 * leapfrogs : !gradients);
            assert_int_equal(densities, k ? 0 : SOME * LAST);
            for (int c = 0; c < SOME; c++) {
                const double x[2] = {state->x[c], state->x[state->lanes + c]};
                assert_near(state->logp[c], banana_logp(x, NULL), 1e-9);
                moved += state->version[c];
            }
            assert_true(moved > SOME);
            ais_state_free(state);
            ais_kernel_free(kernel);
        }
}

/* The body for a point alone says what lanes say, to the rounding of networks in float. */
static void alone_as_in_lanes(void **unused) {
    (void)unused;
    const ais_shape shapes[] = {
        {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = 3, .layers = 5, .depth = -1, .pivot = 1},
        {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = 3, .hidden = 48, .depth = 2, .activation = AIS_TANH},
        {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = 3, .hidden = 16}};
    for (int s = 0; s < 3; s++) {
        ais_context context = {0};
        ais_kernel *kernel;
        ais_arena arena = {0};
        ais_pullback density[2];
        assert_ok(context, ais_kernel_learned(&context, &shapes[s], 1, &kernel));
        size_t count;
        float *weights = ais_kernel_weights(kernel, &count);
        for (size_t i = 0; i < count; i++) weights[i] = (float)odd(7, i, -0.2, 0.2);
        for (int k = 0; k < 2; k++)
            assert_true(ais_pullback_take(&density[k], ais_as_learned(kernel), &law_targets[0].target, 1, AIS_LANES, k,
                                          &arena));
        assert_int_equal(density[1].one.lanes, 1);
        for (uint64_t p = 0; p < 100; p++) {
            double z[3], gradient[2][3], value[2];
            for (int i = 0; i < 3; i++) z[i] = odd(p, (uint64_t)i, -2, 2);
            for (int k = 0; k < 2; k++) value[k] = density[k].latent.grad(z, gradient[k], &density[k]);
            assert_near(value[1], value[0], 1e-4 * (1 + fabs(value[0])));
            for (int i = 0; i < 3; i++) assert_near(gradient[1][i], gradient[0][i], 1e-3 * (1 + fabs(gradient[0][i])));
        }
        ais_arena_free(&arena);
        ais_kernel_free(kernel);
    }
}

/* ---- what is refused ------------------------------------------------------------------------------------ */

static double strange_logp(const double *x, void *data) { return x[0] > 1 ? NAN : banana_logp(x, data); }
static double strange_grad(const double *x, double *gradient, void *data) {
    return x[0] > 1 ? NAN : banana_grad(x, gradient, data);
}

/* The message has the point of the target's own space, at which it can be called again. */
static void errors_name_x(void **unused) {
    (void)unused;
    const ais_target target = {.name = "strange", .dim = 2, .logp = strange_logp, .grad = strange_grad};
    for (int k = 0; k < 3; k++) {
        ais_context context = {0};
        ais_kernel *kernel = make_latent(1, 2, inners[k].make());
        ais_state *state;
        ais_info info[1];
        void *own;
        const double start[2] = {0.3, 0.1};
        assert_ok(context, ais_state_new(&context, &target, 5, 0, 1, 0, start, &state));
        assert_ok(context, kernel->type->init(&context, kernel, state, &own));
        ais_status status = AIS_OK;
        for (; status == AIS_OK && state->step < 1000; state->step++)
            status = kernel->type->step(&context, kernel, state, own, info);
        assert_int_equal(status, AIS_BAD_DENSITY);
        const char *point = strstr(context.message, "x = (");
        assert_non_null(point);
        assert_true(atof(point + strlen("x = (")) > 1);
        ais_state_free(state);
        ais_kernel_free(kernel);
    }
}

static void wrong_parts_are_refused(void **unused) {
    (void)unused;
    ais_context context = {0};
    ais_kernel *kernel, *map;
    const struct {
        ais_shape shape;
        const char *says;
    } bad[] = {{{.map = AIS_HENON, .dim = 2}, "henon has no latent space"},
               {{.map = AIS_REALNVP, .dim = 2, .joint = true, .reversal = AIS_SWAP}, "realnvp has no latent space"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_ok(context, ais_kernel_learned(&context, &bad[i].shape, 1, &map));
        assert_int_equal(ais_kernel_latent(&context, map, fixed_nuts(), &kernel), AIS_BAD_ARGUMENT);
        assert_non_null(strstr(context.message, bad[i].says));
    }
    assert_int_equal(ais_kernel_latent(&context, make_map(0, 2), make_map(1, 2), &kernel), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "realnvp cannot step in a latent space"));
    assert_int_equal(ais_kernel_latent(&context, make_map(0, 2), fixed_cycle(), &kernel), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_kernel_latent(&context, fixed_rwm(), fixed_rwm(), &kernel), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_kernel_latent(&context, NULL, fixed_rwm(), &kernel), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_kernel_latent(&context, make_map(0, 2), NULL, &kernel), AIS_BAD_ARGUMENT);
    assert_null(kernel);
    ais_kernel *latent = make_latent(2, 2, fixed_nuts());
    assert_int_equal(ais_kernel_propose_from(&context, latent, make_mixture(3)), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "mixture of dimension 3 cannot propose"));
    assert_int_equal(ais_kernel_propose_from(&context, latent, make_map(0, 2)), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "affine of dimension 2 cannot propose"));
    map = make_map(0, 2);
    assert_int_equal(ais_kernel_propose_from(&context, map, make_mixture(2)), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "not a latent kernel"));
    ais_kernel_free(map);
    assert_string_equal(ais_kernel_name(latent), "nuts@spline");
    assert_int_equal(ais_kernel_dim(latent), 2);
    assert_null(ais_kernel_shape(latent));
    /* without a gradient, and of another dimension */
    ais_target target = {.name = "flat", .dim = 2, .logp = banana_logp};
    ais_state *state;
    void *own;
    assert_ok(context, ais_state_new(&context, &target, 5, 0, 1, 0, NULL, &state));
    assert_int_equal(latent->type->init(&context, latent, state, &own), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "nuts needs the gradient"));
    ais_state_free(state);
    assert_ok(context, ais_state_new(&context, &law_targets[0].target, 5, 0, 1, 0, NULL, &state));
    assert_int_equal(latent->type->init(&context, latent, state, &own), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "made for dimension 2"));
    ais_state_free(state);
    ais_kernel_free(latent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_draws_stay_exact),  cmocka_unit_test(broken_kernels_are_caught),
        cmocka_unit_test(proposals_stay_exact),    cmocka_unit_test(broken_proposals_are_caught),
        cmocka_unit_test(blocks_do_not_matter),    cmocka_unit_test(one_evaluation_each),
        cmocka_unit_test(alone_as_in_lanes),       cmocka_unit_test(errors_name_x),
        cmocka_unit_test(wrong_parts_are_refused), cmocka_unit_test(a_broken_mixture_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
