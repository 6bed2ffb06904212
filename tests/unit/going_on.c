/* Drawing that was interrupted and goes on ends with the draws, counts and statistics of a run that was not, whatever
 * the kernel and the number of threads; a run that is extended with those of a run that had asked for more; and what is
 * not to be gone on from is refused. */
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include <aisampler/aisampler.h>

#include "support.h"

enum { DIM = 3, CHAINS = 7, WARMUP = 60, DRAWS = 100 };

/* In memory, where there is such a folder: checkpoints are made after every round here, and each waits for the disk. */
static int setup(void **state) {
    char *directory = strdup("/dev/shm/aisampler-test-XXXXXX");
    *state = directory;
    if (directory && mkdtemp(directory)) return 0;
    free(directory);
    return scratch_setup(state);
}

/* ---- a density that asks the run to stop ------------------------------------------------------------- */

typedef struct density {
    atomic_long asked;
    long last; /* evaluation, at which it asks; 0: never */
    volatile sig_atomic_t stop;
    double shift; /* another density */
} density;

static void count(density *of) {
    if (atomic_fetch_add(&of->asked, 1) + 1 == of->last)
        __atomic_store_n(&of->stop, 1, __ATOMIC_RELAXED); /* from any thread */
}

/* Two modes, one of them curved. */
static double value(const double *x, double *gradient, const density *of) {
    double a = x[0] - 1.5, b = x[1] + 0.5 * x[0] * x[0] - 1, c = x[2] - of->shift, d = x[0] + 2, e = x[1] - 0.3;
    double one = -0.5 * (a * a + b * b + c * c), two = -0.5 * (d * d + e * e + 2 * c * c);
    double top = fmax(one, two), sum = exp(one - top) + exp(two - top), p = exp(one - top) / sum;
    if (gradient) {
        gradient[0] = -p * (a + b * x[0]) - (1 - p) * d;
        gradient[1] = -p * b - (1 - p) * e;
        gradient[2] = -p * c - (1 - p) * 2 * c;
    }
    return top + log(sum);
}

static double logp(const double *x, void *data) {
    count(data);
    return value(x, NULL, data);
}

static double grad(const double *x, double *gradient, void *data) {
    count(data);
    return value(x, gradient, data);
}

static ais_target target_of(density *of) {
    return (ais_target){.name = "two", .dim = DIM, .logp = logp, .grad = grad, .start_scale = 1, .data = of};
}

/* ---- kernels ------------------------------------------------------------------------------------- */

static ais_kernel *learned(ais_shape shape, double angle) {
    ais_context context = {0};
    ais_kernel *kernel;
    shape.dim = DIM;
    if (shape.map != AIS_AFFINE) shape.hidden = 8;
    assert_ok(context, ais_kernel_learned(&context, &shape, 5, &kernel));
    const double mean[DIM] = {0.3, -0.2, 0.1}, factor[DIM * DIM] = {1.3, 0, 0, 0.2, 0.7, 0, -0.1, 0.3, 1.1};
    assert_ok(context, ais_kernel_whiten(&context, kernel, mean, factor));
    if (angle > 0) assert_ok(context, ais_kernel_set_angles(&context, kernel, 2, (double[]){angle, 90}));
    return kernel;
}

static ais_kernel *spline(void) { return learned((ais_shape){.map = AIS_SPLINE, .reversal = AIS_SWAP}, 0); }
static ais_kernel *reflected(void) { return learned((ais_shape){.map = AIS_SPLINE, .reversal = AIS_SWAP}, 20); }
static ais_kernel *affine(void) { return learned((ais_shape){.map = AIS_AFFINE, .reversal = AIS_SWAP}, 0); }
static ais_kernel *henon(void) { return learned((ais_shape){.map = AIS_HENON, .reversal = AIS_FLIP}, 0); }
static ais_kernel *joint(void) { return learned((ais_shape){.map = AIS_REALNVP, .joint = true}, 0); }

static ais_kernel *nuts_of(bool dense) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_nuts(&context, &(ais_nuts_options){.dense = dense, .max_depth = 5}, &kernel));
    return kernel;
}

static ais_kernel *nuts(void) { return nuts_of(false); }
static ais_kernel *dense(void) { return nuts_of(true); }

static ais_kernel *hmc(void) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_hmc(&context, &(ais_hmc_options){.leapfrogs = 5, .jitter = 0.2}, &kernel));
    return kernel;
}

static ais_kernel *rwm(void) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_rwm(&context, NULL, &kernel));
    return kernel;
}

static ais_kernel *latent_of(int proposals) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_latent(&context, spline(), nuts(), &kernel));
    assert_ok(context, ais_kernel_set_proposals(&context, kernel, proposals));
    return kernel;
}

static ais_kernel *latent(void) { return latent_of(0); }
static ais_kernel *relieved(void) { return latent_of(2); }

/* Proposals come to the middle only: what lies beyond is known by the steps between them. */
static ais_kernel *narrow(void) {
    ais_context context = {0};
    ais_kernel *map = learned((ais_shape){.map = AIS_AFFINE, .reversal = AIS_SWAP}, 0), *kernel;
    const double mean[DIM] = {-0.3, 0.1, 0}, factor[DIM * DIM] = {1.5, 0, 0, 0, 0.9, 0, 0, 0, 0.9};
    assert_ok(context, ais_kernel_whiten(&context, map, mean, factor));
    assert_ok(context, ais_kernel_latent(&context, map, nuts(), &kernel));
    assert_ok(context, ais_kernel_set_proposals(&context, kernel, 2));
    return kernel;
}

static ais_kernel *mixture(void) {
    ais_context context = {0};
    ais_kernel *kernel;
    const double mean[2 * DIM] = {1.5, 0, 0, -2, 0.3, 0},
                          unit[2 * DIM * DIM] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_ok(context,
              ais_kernel_mixture(&context, &(ais_mixture_options){.dim = DIM, .count = 2, .mean = mean, .factor = unit},
                                 &kernel));
    return kernel;
}

static ais_kernel *mixed(void) {
    ais_context context = {0};
    ais_kernel *kernel = narrow();
    assert_ok(context, ais_kernel_propose_from(&context, kernel, mixture()));
    return kernel;
}

static ais_kernel *anice(void) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_anice(&context, &(ais_anice_shape){.dim = DIM, .hidden = 8}, 3, &kernel));
    return kernel;
}

static ais_kernel *ladder_of(int leapfrogs) {
    ais_context context = {0};
    ais_kernel *kernel;
    const ais_ladder_options options = {
        .rungs = 4, .beta = (double[]){0, 0.2, 0.5, 1}, .scale = (double[]){0, 0.6, 0.5, 0.4}, .leapfrogs = leapfrogs};
    assert_ok(context, ais_kernel_ladder(&context, affine(), &options, &kernel));
    return kernel;
}

static ais_kernel *ladder(void) { return ladder_of(3); }
static ais_kernel *plain_ladder(void) { return ladder_of(0); }

static ais_kernel *cycle_of(ais_kernel *first, ais_kernel *second, ais_kernel *third) {
    ais_context context = {0};
    ais_kernel *kernel, *part[] = {first, second, third};
    assert_ok(context, ais_kernel_cycle(&context, part, 3, &kernel));
    return kernel;
}

/* What one part keeps another makes stale. */
static ais_kernel *cycle(void) { return cycle_of(henon(), nuts(), spline()); }
static ais_kernel *other_cycle(void) { return cycle_of(mixture(), rwm(), cycle_of(latent(), anice(), ladder())); }

/* ---- runs ---------------------------------------------------------------------------------------- */

typedef struct plan {
    ais_kernel *(*kernel)(void);
    int draws, threads, extend;
    long stop, evaluations;
    double effective, shift;
    const char *checkpoint, *identity;
    bool resume;
    uint64_t seed;
} plan;

static ais_status run(ais_context *context, const plan *how, ais_run_result **result) {
    density of = {.last = how->stop, .shift = how->shift};
    const ais_target target = target_of(&of);
    ais_kernel *kernel = how->kernel();
    const ais_run_options options = {AIS_RUN_HEAD,
                                     .seed = how->seed,
                                     .chains = CHAINS,
                                     .draws = how->effective > 0 ? 0
                                              : how->draws       ? how->draws
                                                                 : DRAWS,
                                     .warmup = WARMUP,
                                     .thin = 3,
                                     .threads = how->threads,
                                     .effective = how->effective,
                                     .evaluations = how->evaluations,
                                     .before = {.kernel = kernel},
                                     .stop = &of.stop,
                                     .checkpoint = how->checkpoint,
                                     .checkpoint_seconds = 1e-9,
                                     .identity = how->identity,
                                     .resume = how->resume,
                                     .extend = how->extend};
    ais_status status = ais_run(context, &target, &options, result);
    ais_kernel_free(kernel);
    return status;
}

static ais_run_result *whole_run(const plan *how) {
    ais_context context = {0};
    ais_run_result *result;
    assert_ok(context, run(&context, how, &result));
    return result;
}

static void same_draws(const ais_draws *a, const ais_draws *b) {
    size_t cells = (size_t)a->chains * (size_t)a->draws;
    assert_int_equal(a->draws, b->draws);
    assert_int_equal(a->stats, b->stats);
    assert_memory_equal(a->value, b->value, (size_t)a->dim * cells * sizeof(double));
    assert_memory_equal(a->logp, b->logp, cells * sizeof(double));
    assert_memory_equal(a->stat, b->stat, (size_t)a->stats * cells * sizeof(double));
}

static void same(const ais_run_result *a, const ais_run_result *b) {
    same_draws(a->draws, b->draws);
    assert_int_equal(a->sample.densities, b->sample.densities);
    assert_int_equal(a->sample.gradients, b->sample.gradients);
    assert_int_equal(a->sample.start_evaluations, b->sample.start_evaluations);
    assert_int_equal(a->sample.warmup_evaluations, b->sample.warmup_evaluations);
    assert_int_equal(a->sample.divergences, b->sample.divergences);
    assert_int_equal(a->sample.ended, b->sample.ended);
    assert_memory_equal(&a->sample.acceptance, &b->sample.acceptance, sizeof(double));
    assert_memory_equal(&a->sample.involution_error, &b->sample.involution_error, sizeof(double));
    assert_int_equal(a->evaluations.judging, b->evaluations.judging);
    assert_memory_equal(&a->log_z, &b->log_z, sizeof(double));
    assert_memory_equal(&a->log_z_error, &b->log_z_error, sizeof(double));
    assert_string_equal(a->verdict, b->verdict);
}

static long spent(const ais_run_result *result) { return result->sample.densities + result->sample.gradients; }

/* Stopped at several moments, of warm-up and of sampling, then gone on with on another number of threads. */
static void interrupt(const char *folder, plan how, const char *name) {
    static const double moment[] = {0.06, 0.27, 0.45, 0.62, 0.97};
    ais_context context = {0};
    ais_run_result *whole = whole_run(&how), *result;
    long all = spent(whole);
    how.checkpoint = scratch_path(folder, name);
    for (int k = 0; k < 5; k++) {
        plan stopped = how;
        stopped.stop = (long)(moment[k] * (double)all);
        stopped.threads = k % 2 + 1;
        stopped.resume = k > 2; /* the last ones in one run, one after the other */
        ais_status status = run(&context, &stopped, &result);
        ais_run_free(result);
        if (status != AIS_STOPPED && status != AIS_OK) fail_msg("%s: %s", name, context.message);
        if (k == 2 || k == 3) continue;
        plan goes = how;
        goes.resume = true;
        goes.threads = 3 - k % 2;
        if (run(&context, &goes, &result) != AIS_OK) fail_msg("%s: %s", name, context.message);
        same(whole, result);
        ais_run_free(result);
    }
    ais_run_free(whole);
}

static void every_kernel_goes_on(void **state) {
    const struct {
        const char *name;
        ais_kernel *(*make)(void);
    } kernel[] = {{"nuts", nuts},         {"dense", dense},
                  {"hmc", hmc},           {"rwm", rwm},
                  {"spline", spline},     {"reflected", reflected},
                  {"affine", affine},     {"henon", henon},
                  {"joint", joint},       {"latent", latent},
                  {"relieved", relieved}, {"mixture", mixture},
                  {"mixed", mixed},       {"anice", anice},
                  {"ladder", ladder},     {"plain ladder", plain_ladder},
                  {"cycle", cycle},       {"other cycle", other_cycle}};
    for (size_t k = 0; k < sizeof kernel / sizeof *kernel; k++)
        interrupt(*state, (plan){.kernel = kernel[k].make, .seed = k + 1}, kernel[k].name);
}

static const char *sampler; /* that `named` makes */
static ais_kernel *named(void) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_classical(&context, sampler, NULL, &kernel));
    return kernel;
}

static void every_classical_kernel_goes_on(void **state) {
    for (int i = 0; ais_classical_builtin(i); i++) {
        sampler = ais_classical_builtin(i)->name;
        char name[40];
        snprintf(name, sizeof name, "named %s", sampler);
        interrupt(*state, (plan){.kernel = named, .seed = 30 + (uint64_t)i}, name);
    }
}

static void budgets_go_on(void **state) {
    interrupt(*state, (plan){.kernel = nuts, .evaluations = 20000, .seed = 4}, "evaluations");
    interrupt(*state, (plan){.kernel = spline, .evaluations = 4000, .seed = 4}, "few");
    interrupt(*state, (plan){.kernel = nuts, .effective = 700, .seed = 4}, "effective");
    interrupt(*state, (plan){.kernel = narrow, .effective = 700, .seed = 4}, "reach");
}

/* ---- extending ------------------------------------------------------------------------------------- */

static void a_run_is_extended(void **state) {
    ais_kernel *(*const kernel[])(void) = {nuts, spline, ladder, cycle, relieved};
    for (size_t k = 0; k < sizeof kernel / sizeof *kernel; k++) {
        plan longer = {.kernel = kernel[k], .seed = 3, .draws = 170}, first = longer, more;
        first.draws = 60;
        first.checkpoint = scratch_path(*state, "extended");
        more = first;
        ais_run_result *whole = whole_run(&longer), *short_one = whole_run(&first);
        more.extend = 10;
        more.threads = 1;
        ais_run_free(whole_run(&more));
        more.extend = 100;
        more.threads = 2;
        ais_run_result *extended = whole_run(&more);
        same(whole, extended);
        ais_run_free(extended);
        more.extend = 0;
        more.resume = true; /* there is nothing to draw: the same again */
        extended = whole_run(&more);
        same(whole, extended);
        ais_run_free(extended);
        ais_run_free(short_one);
        ais_run_free(whole);
    }
}

static void an_extension_goes_on(void **state) {
    ais_context context = {0};
    plan longer = {.kernel = nuts, .seed = 3, .draws = 400}, first = longer;
    first.draws = 60;
    first.checkpoint = scratch_path(*state, "extended");
    ais_run_result *whole = whole_run(&longer), *result;
    ais_run_free(whole_run(&first));
    plan more = first;
    more.extend = 340;
    more.stop = spent(whole) / 2;
    assert_int_equal(run(&context, &more, &result), AIS_STOPPED);
    assert_true(result->draws->draws < 400);
    ais_run_free(result);
    more.stop = 0;
    assert_int_equal(run(&context, &more, &result), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "resume it before it is extended"));
    more.extend = 0;
    more.resume = true;
    result = whole_run(&more);
    same(whole, result);
    ais_run_free(result);
    ais_run_free(whole);
}

/* What a budget ended is extended without it: the same chains, on. */
static void a_budget_is_extended(void **state) {
    plan first = {.kernel = nuts, .seed = 3, .evaluations = 9000, .draws = 100000};
    first.checkpoint = scratch_path(*state, "extended");
    ais_run_result *ended = whole_run(&first);
    assert_int_equal(ended->sample.ended, AIS_ENDED_EVALUATIONS);
    plan more = first;
    more.extend = 50;
    ais_run_result *longer = whole_run(&more);
    assert_int_equal(longer->draws->draws, ended->draws->draws + 50);
    for (int c = 0; c < CHAINS; c++)
        assert_memory_equal(ended->draws->value + c * ended->draws->draws,
                            longer->draws->value + c * longer->draws->draws,
                            (size_t)ended->draws->draws * sizeof(double));
    ais_run_free(ended);
    ais_run_free(longer);
}

/* ---- what is refused ------------------------------------------------------------------------------- */

static void refused(const plan *how, ais_status status, const char *why) {
    ais_context context = {0};
    ais_run_result *result;
    assert_int_equal(run(&context, how, &result), status);
    assert_null(result);
    if (!strstr(context.message, why)) fail_msg("'%s' is not in: %s", why, context.message);
}

static void interrupted_run(const plan *how) {
    ais_context context = {0};
    ais_run_result *result;
    plan stopped = *how;
    stopped.stop = 6000;
    stopped.resume = false;
    assert_int_equal(run(&context, &stopped, &result), AIS_STOPPED);
    ais_run_free(result);
}

static void another_run_is_refused(void **state) {
    plan how = {
        .kernel = nuts, .seed = 1, .checkpoint = scratch_path(*state, "c"), .resume = true, .identity = "mine 1"};
    plan other = how;
    interrupted_run(&how);
    other.seed = 2;
    refused(&other, AIS_BAD_ARGUMENT, "belongs to another run: there it is 'seed 1', here 'seed 2'");
    other = how;
    other.draws = 101;
    refused(&other, AIS_BAD_ARGUMENT, "there it is 'draws 100', here 'draws 101'");
    other = how;
    other.kernel = dense;
    refused(&other, AIS_BAD_ARGUMENT, "there it is 'kernel nuts ");
    other = how;
    other.evaluations = 30000;
    refused(&other, AIS_BAD_ARGUMENT, "there it is 'evaluations 0'");
    other = how;
    other.identity = "mine 2";
    refused(&other, AIS_BAD_ARGUMENT, "there it is 'mine 1', here 'mine 2'");
    other = how;
    other.shift = 0.5;
    refused(&other, AIS_BAD_ARGUMENT, "the density has changed");
    other = how;
    other.extend = 5;
    refused(&other, AIS_BAD_ARGUMENT, "resume it before it is extended");
    other.checkpoint = scratch_path(*state, "none");
    refused(&other, AIS_BAD_ARGUMENT, "there is nothing to extend");
    ais_run_result *whole = whole_run(&(plan){.kernel = nuts, .seed = 1}), *result = whole_run(&how);
    same(whole, result); /* nothing of all that has touched it */
    ais_run_free(whole);
    ais_run_free(result);
}

/* Of a run that is over, all of the journal is read. */
static void damage_is_noticed(void **state) {
    plan how = {.kernel = nuts, .seed = 1, .checkpoint = scratch_path(*state, "c")};
    char path[2][1024];
    snprintf(path[0], sizeof path[0], "%s", how.checkpoint);
    snprintf(path[1], sizeof path[1], "%s.journal", how.checkpoint);
    ais_run_free(whole_run(&how));
    how.resume = true;
    for (int f = 0; f < 2; f++) {
        size_t bytes = 0;
        char *good = scratch_read(path[f], &bytes);
        for (size_t k = 0; k < 40; k++) {
            size_t at = k * bytes / 40;
            scratch_write(path[f], good, at);
            refused(&how, AIS_BAD_FORMAT, path[0]);
            good[at] ^= 1;
            scratch_write(path[f], good, bytes);
            refused(&how, AIS_BAD_FORMAT, path[0]);
            good[at] ^= 1;
        }
        scratch_write(path[f], good, bytes);
        free(good);
    }
    remove(path[1]);
    refused(&how, AIS_FILE_ERROR, "cannot open");
}

/* A journal of another run beside the checkpoint, of the same options even. */
static void a_foreign_journal_is_refused(void **state) {
    plan how = {.kernel = nuts, .seed = 1, .checkpoint = scratch_path(*state, "c"), .resume = true};
    char path[1024];
    size_t bytes = 0;
    snprintf(path, sizeof path, "%s.journal", how.checkpoint);
    interrupted_run(&how);
    char *other = scratch_read(path, &bytes);
    interrupted_run(&how);
    scratch_write(path, other, bytes);
    free(other);
    refused(&how, AIS_BAD_FORMAT, "does not belong to its checkpoint");
}

static void a_directory_is_locked(void **state) {
    ais_context context = {0};
    ais_lock *lock, *second;
    assert_ok(context, ais_directory_lock(&context, *state, &lock));
    assert_int_equal(ais_directory_lock(&context, *state, &second), AIS_FILE_ERROR);
    assert_null(second);
    char holder[64];
    snprintf(holder, sizeof holder, "another run (process %ld on ", (long)getpid());
    assert_non_null(strstr(context.message, holder));
    ais_directory_unlock(lock);
    assert_ok(context, ais_directory_lock(&context, *state, &lock));
    ais_directory_unlock(lock);
    assert_int_equal(ais_directory_lock(&context, scratch_path(*state, "none"), &lock), AIS_FILE_ERROR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kernel_goes_on, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(every_classical_kernel_goes_on, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(budgets_go_on, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_run_is_extended, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(an_extension_goes_on, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_budget_is_extended, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(another_run_is_refused, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(damage_is_noticed, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_foreign_journal_is_refused, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_directory_is_locked, setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
