/* The kernel mixture: exact draws stay exact under it, also where its mixture is wrong and in a cycle; without log q
 * they do not, and the test sees it. Threads and the company of other chains change nothing. */
#include "support.h"

#include "invariance.h"

#include "learned/mixture.h"
#include "simd/normal.h"

/* A Student-t in the plane with 9 degrees of freedom, x = (s, 2 s + r), which has all moments that are compared. */
static double t_logp(const double *x, void *data) {
    (void)data;
    double away = x[1] - 2 * x[0];
    return -5.5 * log1p((x[0] * x[0] + away * away) / 9);
}

static void t_draw(uint64_t seed, uint64_t index, double *x, void *data) {
    (void)data;
    ais_stream stream = {.seed = seed, .step = index, .purpose = AIS_FOR_EXACT};
    double normal[11], square = 0;
    ais_normals(&stream, 11, normal);
    for (int i = 2; i < 11; i++) square += normal[i] * normal[i];
    double stretch = sqrt(9 / square);
    x[0] = stretch * normal[0];
    x[1] = 2 * x[0] + stretch * normal[1];
}

/* E s^2 = 9/7 and E s^4 = 3 * 81 / 35; x_1 is the root of 5 times such an s. */
static const double t_mean[2], t_variance[2] = {9.0 / 7, 45.0 / 7};
static const ais_reference t_reference = {
    .mean = t_mean,
    .variance = t_variance,
    .square_mean = t_variance,
    .square_variance = (const double[]){243.0 / 35 - 81.0 / 49, 25 * (243.0 / 35 - 81.0 / 49)},
    .draw = t_draw,
};
static const ais_target t_target = {.name = "t9", .dim = 2, .logp = t_logp, .reference = &t_reference};

static const char *const names[] = {"twomodes:dim=2", "mog6", "banana", NULL}; /* NULL: the t */
enum { CASES = sizeof names / sizeof *names };

static ais_target *open_case(int t) {
    ais_context context = {0};
    ais_target *target;
    if (!names[t]) return NULL;
    assert_ok(context, ais_target_open(&context, names[t], &target));
    return target;
}

/* A mixture that is not quite right: components around some exact draws, as wide as a third of the target. */
static ais_kernel *make(const ais_target *target, double freedom, ais_test test) {
    enum { COUNT = 7 };
    ais_context context = {0};
    ais_kernel *kernel;
    const ais_reference *truth = target->reference;
    double mean[2 * COUNT], factor[4 * COUNT], weight[COUNT];
    for (int k = 0; k < COUNT; k++) {
        truth->draw(77, (uint64_t)k, mean + 2 * k, target->data);
        double wide = odd(5, (uint64_t)k, 0.3, 0.6), turned = odd(6, (uint64_t)k, -0.4, 0.4);
        factor[4 * k] = wide * sqrt(truth->variance[0]);
        factor[4 * k + 1] = turned * factor[4 * k];
        factor[4 * k + 2] = 0.1;
        factor[4 * k + 3] = wide * sqrt(truth->variance[1]);
        weight[k] = odd(7, (uint64_t)k, 1, 4);
    }
    ais_mixture_options options = {
        .dim = 2, .count = COUNT, .mean = mean, .factor = factor, .weight = weight, .freedom = freedom};
    assert_ok(context, ais_kernel_mixture(&context, &options, &kernel));
    ais_kernel_set_test(kernel, test);
    return kernel;
}

static const struct {
    const char *name;
    double freedom;
    ais_test test;
    bool cycled;
} kinds[] = {
    {"t5", 0, AIS_METROPOLIS, false},
    {"t2.5 barker", 2.5, AIS_BARKER, false},
    {"cauchy, cycled", 1, AIS_METROPOLIS, true},
    {"normals", INFINITY, AIS_METROPOLIS, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static ais_kernel *make_kind(const ais_target *target, int k) {
    ais_context context = {0};
    ais_kernel *part[2] = {make(target, kinds[k].freedom, kinds[k].test)}, *kernel = part[0];
    if (!kinds[k].cycled) return kernel;
    assert_ok(context, ais_kernel_rwm(&context, &(ais_rwm_options){.scale = 0.5}, &part[1]));
    assert_ok(context, ais_kernel_cycle(&context, part, 2, &kernel));
    return kernel;
}

static void exact_draws_stay_exact(void **state) {
    (void)state;
    for (int t = 0; t < CASES; t++) {
        ais_target *opened = open_case(t);
        const ais_target *target = opened ? opened : &t_target;
        for (int k = 0; k < KINDS; k++) {
            ais_kernel *kernel = make_kind(target, k);
            double acceptance, z = worst_z(target, kernel, 0, &acceptance);
            print_message("%-16s %-16s acceptance %.3f, largest deviation %.2f standard errors\n", target->name,
                          kinds[k].name, acceptance, z);
            if (!(z < 4)) fail_msg("%s, %s: %.2f standard errors off", target->name, kinds[k].name, z);
            assert_true(acceptance > 0.05);
            ais_kernel_free(kernel);
        }
        ais_target_close(opened);
    }
}

/* ---- broken on purpose --------------------------------------------------------------------------- */

static void no_logq(const ais_components *components, size_t chains, size_t lanes, const ais_components_work *work,
                    const double *x, double *logq) {
    (void)components, (void)lanes, (void)work, (void)x;
    memset(logq, 0, chains * sizeof *logq);
}

/* Weights of the components forgotten: q is wrong by little. */
static void no_weights(const ais_components *components, size_t chains, size_t lanes, const ais_components_work *work,
                       const double *x, double *logq) {
    ais_arena arena = {0};
    ais_components equal;
    assert_true(ais_components_take(&equal, &arena, components->dim, components->count));
    ais_components_copy(&equal, components);
    for (int k = 0; k < equal.count; k++) equal.weight[k] = 1;
    ais_components_weigh(&equal);
    ais_components_logq_lanes(&equal, chains, lanes, work, x, logq);
    ais_arena_free(&arena);
}

static void broken_kernels_are_caught(void **state) {
    (void)state;
    if (draws_wanted() < 100000) skip(); /* too few to tell */
    for (int t = 0; t < CASES; t++)
        for (int b = 0; b < 2; b++) {
            ais_target *opened = open_case(t);
            const ais_target *target = opened ? opened : &t_target;
            ais_kernel *kernel = make(target, 0, AIS_METROPOLIS);
            ((ais_mixture_kernel *)kernel)->logq = b ? no_weights : no_logq;
            double acceptance, z = worst_z(target, kernel, 0, &acceptance);
            print_message("%-16s without %-9s largest deviation %.1f standard errors\n", target->name,
                          b ? "weights" : "log q", z);
            assert_false(z < 4);
            ais_kernel_free(kernel);
            ais_target_close(opened);
        }
}

/* ---- company ------------------------------------------------------------------------------------- */

/* The last points of chains first..first + chains - 1 after some steps. */
static void run(const ais_kernel *kernel, const ais_target *target, uint32_t first, int chains, double *x) {
    ais_context context = {0};
    ais_state *block;
    void *own;
    ais_info info[64];
    assert_ok(context, ais_state_new(&context, target, 5, first, chains, 0, NULL, &block));
    assert_ok(context, kernel->type->init(&context, kernel, block, &own));
    for (; block->step < 100; block->step++) assert_ok(context, kernel->type->step(&context, kernel, block, own, info));
    for (int c = 0; c < chains; c++)
        for (int i = 0; i < 2; i++) x[2 * c + i] = block->x[i * block->lanes + c];
    ais_state_free(block);
}

static void company_changes_nothing(void **state) {
    (void)state;
    enum { CHAINS = 21 };
    ais_target *target = open_case(1);
    for (int k = 0; k < KINDS; k++) {
        ais_kernel *kernel = make_kind(target, k);
        double together[2 * CHAINS], alone[2], moved = 0;
        run(kernel, target, 0, CHAINS, together);
        for (uint32_t c = 0; c < CHAINS; c++) {
            run(kernel, target, c, 1, alone);
            assert_memory_equal(alone, together + 2 * c, sizeof alone);
            moved += fabs(alone[0] - together[0]);
        }
        assert_true(moved > 1); /* the chains are not all one */
        ais_kernel_free(kernel);
    }
    ais_target_close(target);
}

static ais_draws *sample(const ais_target *target, const ais_kernel *kernel, int threads) {
    ais_context context = {0};
    ais_sink *memory;
    ais_sample_options options = {.seed = 3, .chains = 100, .draws = 40, .threads = threads};
    assert_ok(context, ais_sink_memory(&context, &memory));
    assert_ok(context, ais_sample(&context, target, kernel, &options, &memory, 1, NULL));
    ais_draws *draws = ais_sink_memory_take(memory);
    ais_sink_free(memory);
    return draws;
}

/* Nobody says where: chains start at draws of q, on one thread and on three. */
static void threads_change_nothing(void **state) {
    (void)state;
    ais_target *target = open_case(1);
    ais_kernel *kernel = make(target, 0, AIS_METROPOLIS);
    ais_draws *one = sample(target, kernel, 1), *three = sample(target, kernel, 3);
    assert_memory_equal(one->value, three->value, (size_t)(2 * 100 * 40) * sizeof(double));
    ais_draws_free(one);
    ais_draws_free(three);
    ais_kernel_free(kernel);
    ais_target_close(target);
}

/* ---- bad input ----------------------------------------------------------------------------------- */

static void impossible_mixtures(void **state) {
    (void)state;
    const double mean[2] = {0, NAN}, factor[4] = {1, 0, 0, 1}, singular[4] = {1, 2, 2, 4}, zero = 0;
    const struct {
        ais_mixture_options options;
        const char *says;
    } bad[] = {
        {{.dim = 0, .count = 1, .mean = mean, .factor = factor}, "dim is 0"},
        {{.dim = 1, .count = 0, .mean = mean, .factor = factor}, "count is 0"},
        {{.dim = 1, .count = 1, .factor = factor}, "no mean"},
        {{.dim = 1, .count = 1, .mean = mean}, "no factor"},
        {{.dim = 1, .count = 1, .mean = mean, .factor = factor, .freedom = 0.5}, "freedom is 0.5"},
        {{.dim = 1, .count = 1, .mean = mean, .factor = factor, .freedom = NAN}, "freedom is"},
        {{.dim = 1, .count = 1, .mean = mean, .factor = factor, .weight = &zero}, "weight 1 is 0"},
        {{.dim = 1, .count = 2, .mean = factor, .factor = (double[]){1, 1}, .weight = (double[]){1e-300, 1e300}},
         "weight 1 is 1e-300, too small"},
        {{.dim = 2, .count = 1, .mean = mean, .factor = factor}, "coordinate 2 of mean 1"},
        {{.dim = 1, .count = 2, .mean = factor, .factor = factor}, "factor 2 is singular"},
        {{.dim = 2, .count = 1, .mean = factor, .factor = singular}, "factor 1 is singular"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ais_context context = {0};
        ais_kernel *kernel;
        assert_int_equal(ais_kernel_mixture(&context, &bad[i].options, &kernel), AIS_BAD_ARGUMENT);
        assert_null(kernel);
        if (!strstr(context.message, bad[i].says)) fail_msg("%s: %s", bad[i].says, context.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_draws_stay_exact),  cmocka_unit_test(broken_kernels_are_caught),
        cmocka_unit_test(company_changes_nothing), cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(impossible_mixtures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
