/* The whole job in one call: the same as its parts, in threads, stopped, refused. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include <aisampler/aisampler.h>

#include "base/special.h" /* lgamma writes to a global, which is a race */
#include "brief.h"
#include "support.h"

/* ---- a density that counts ----------------------------------------------------------------------- */

typedef struct asked {
    double mean;
    atomic_long densities, gradients;
    long limit; /* densities and gradients after which stop is set; 0: never */
    volatile sig_atomic_t stop;
    bool fails; /* from then on every answer is NaN */
} asked;

static double value(const double *x, asked *of) {
    long so_far = of->densities + of->gradients;
    if (of->limit && so_far >= of->limit) __atomic_store_n(&of->stop, 1, __ATOMIC_RELAXED); /* from any thread */
    if (of->fails && __atomic_load_n(&of->stop, __ATOMIC_RELAXED)) return NAN;
    double a = x[0] - of->mean, b = x[1] - 0.5 * a;
    return -0.5 * a * a - 2 * b * b;
}
static double logp(const double *x, void *data) {
    asked *of = data;
    of->densities++;
    return value(x, of);
}
static double grad(const double *x, double *gradient, void *data) {
    asked *of = data;
    of->gradients++;
    double a = x[0] - of->mean, b = x[1] - 0.5 * a;
    gradient[0] = -a + 2 * b;
    gradient[1] = -4 * b;
    return value(x, of);
}
static ais_target target_of(asked *of) {
    return (ais_target){.name = "slope", .dim = 2, .logp = logp, .grad = grad, .start_scale = 3, .data = of};
}

static void assert_counted(const ais_run_result *result, const asked *of) {
    const ais_evaluations *count = &result->evaluations;
    assert_int_equal(count->densities, of->densities);
    assert_int_equal(count->gradients, of->gradients);
    assert_int_equal(count->start + count->learning + count->drawing + count->judging,
                     count->densities + count->gradients);
}

/* ---- what comes back ----------------------------------------------------------------------------- */

static void defaults_learn_draw_and_judge(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {.mean = 1.375};
    const ais_target target = target_of(&of);
    ais_run_result *result;
    assert_ok(context, ais_run(&context, &target, NULL, &result));
    assert_int_equal(result->draws->chains, 16);
    assert_int_equal(result->draws->draws, 1000);
    assert_int_equal(result->draws->dim, 2);
    assert_true(result->trust);
    assert_non_null(strstr(result->verdict, "trust these draws"));
    assert_non_null(result->kernel);
    assert_near(result->diagnosis->parameter[0].mean, 1.375, 6 * result->diagnosis->parameter[0].mcse);
    assert_near(result->log_z, log(2 * M_PI * 0.5), 6 * result->log_z_error);
    assert_true(result->log_z_error < 0.1);
    assert_counted(result, &of);
    ais_run_free(result);
}

/* Two modes of equal mass, each bent twice, so that no mixture fits them: normalised. */
enum { BENT = 4 };
static double bent_grad(const double *x, double *gradient, void *data) {
    (void)data;
    static const double bend = 0.4, width = 1, log_pi = 1.8378770664093453; /* of 2 pi */
    double logp[2], part[2][BENT];
    for (int k = 0; k < 2; k++) {
        double place = k ? 4 : -4, a = x[0] - place, c = x[2];
        double b = (x[1] - bend * a * a) / (width * width), e = (x[3] - bend * c * c) / (width * width);
        logp[k] = -0.5 * (a * a + c * c + (b * b + e * e) * width * width) - 2 * log_pi - 2 * log(width) - log(2);
        part[k][0] = -a + 2 * bend * a * b;
        part[k][1] = -b;
        part[k][2] = -c + 2 * bend * c * e;
        part[k][3] = -e;
    }
    double top = fmax(logp[0], logp[1]);
    if (!(top > -INFINITY)) return -INFINITY; /* a trajectory that went where squares overflow */
    double sum = exp(logp[0] - top) + exp(logp[1] - top), first = exp(logp[0] - top) / sum;
    for (int i = 0; i < BENT; i++) gradient[i] = first * part[0][i] + (1 - first) * part[1][i];
    return top + log(sum);
}
static double bent_logp(const double *x, void *data) {
    double gradient[BENT];
    return bent_grad(x, gradient, data);
}

static void modes_that_no_mixture_fits_are_led_through(void **state) {
    (void)state;
    if (brief()) skip();
    ais_context context = {0};
    const ais_target target = {.name = "bent", .dim = BENT, .logp = bent_logp, .grad = bent_grad, .start_scale = 4};
    const ais_run_options options = {AIS_RUN_HEAD, .seed = 5, .effective = 2000};
    ais_run_result *result;
    assert_ok(context, ais_run(&context, &target, &options, &result));
    const ais_draws *draws = result->draws;
    size_t n = (size_t)draws->chains * (size_t)draws->draws, right = 0;
    for (size_t k = 0; k < n; k++) right += draws->value[k] > 0;
    print_message("%s, log Z %.3f +- %.3f, %ld evaluations, %s\n", ais_kernel_name(result->kernel), result->log_z,
                  result->log_z_error, result->evaluations.densities + result->evaluations.gradients, result->verdict);
    assert_true(result->trust);
    assert_near((double)right / (double)n, 0.5, 0.05);
    assert_near(result->log_z, 0, fmax(0.02, 5 * result->log_z_error));
    assert_true(result->evaluations.densities + result->evaluations.gradients < 300000);
    ais_run_free(result);
}

/* c N(0, b^2 I) + (1 - c) N(0, I), normalised: an optimisation ends on the spike, and says nothing of the slab. */
typedef struct spike {
    double width, share;
} spike;

enum { SLAB = 10 };
static double spike_logp(const double *x, void *data) {
    static const double log_2pi = 1.8378770664093453;
    const spike *of = data;
    double square = 0;
    for (int i = 0; i < SLAB; i++) square += x[i] * x[i];
    double high = log(of->share) - 0.5 * square / (of->width * of->width) - SLAB * log(of->width);
    double low = log(1 - of->share) - 0.5 * square, top = fmax(high, low);
    return top + log(exp(high - top) + exp(low - top)) - 0.5 * SLAB * log_2pi;
}

static double spike_grad(const double *x, double *gradient, void *data) {
    const spike *of = data;
    double square = 0;
    for (int i = 0; i < SLAB; i++) square += x[i] * x[i];
    double odds = (1 - of->share) / of->share * exp(SLAB * log(of->width) + 0.5 * square * (pow(of->width, -2) - 1));
    for (int i = 0; i < SLAB; i++) gradient[i] = -x[i] * (pow(of->width, -2) / (1 + odds) + 1 / (1 + 1 / odds));
    return spike_logp(x, data);
}

static void a_slab_around_a_spike_is_found(void **state) {
    (void)state;
    static spike known[] = {{0.1, 0.5}, {0.02, 0.8}, {0.03, 0.1}};
    for (int k = 0; k < 6; k++) {
        ais_context context = {0};
        const ais_target target = {.name = "spike",
                                   .dim = SLAB,
                                   .logp = spike_logp,
                                   .grad = k % 2 ? spike_grad : NULL,
                                   .data = &known[k / 2],
                                   .start_scale = 2};
        const ais_run_options options = {AIS_RUN_HEAD, .seed = 3, .effective = 2000};
        ais_run_result *result;
        assert_ok(context, ais_run(&context, &target, &options, &result));
        print_message("%s, log Z %.3f +- %.3f, %ld evaluations, %s\n", ais_kernel_name(result->kernel), result->log_z,
                      result->log_z_error, result->evaluations.densities + result->evaluations.gradients,
                      result->verdict);
        assert_true(result->trust);
        assert_near(result->log_z, 0, fmax(0.02, 5 * result->log_z_error));
        ais_run_free(result);
    }
}

/* A multivariate Student-t, normalised: no map that ends in a normal follows its tails. */
typedef struct heavy {
    int dim;
    double freedom;
} heavy;

static double heavy_grad(const double *x, double *gradient, void *data) {
    const heavy *of = data;
    static const double pi = 3.14159265358979323846;
    double n = of->freedom, d = of->dim, square = 0;
    for (int i = 0; i < of->dim; i++) square += x[i] * x[i];
    for (int i = 0; i < of->dim; i++) gradient[i] = -(n + d) * x[i] / (n + square);
    return -0.5 * (n + d) * log1p(square / n) + ais_log_gamma(0.5 * (n + d)) - ais_log_gamma(0.5 * n) -
           0.5 * d * log(n * pi);
}
static double heavy_logp(const double *x, void *data) {
    double gradient[10];
    return heavy_grad(x, gradient, data);
}

static void heavy_tails_are_followed(void **state) {
    (void)state;
    heavy some[] = {{4, 1}, {10, 3}};
    for (int k = 0; k < 2; k++) {
        ais_context context = {0};
        const ais_target target = {
            .name = "heavy", .dim = some[k].dim, .logp = heavy_logp, .grad = heavy_grad, .data = &some[k]};
        ais_run_result *result;
        assert_ok(context, ais_run(&context, &target, &(ais_run_options){AIS_RUN_HEAD, .seed = 5}, &result));
        if (!result->trust) fail_msg("%s", result->verdict);
        assert_near(result->log_z, 0, 5 * result->log_z_error);
        assert_true(result->log_z_error < 0.01);
        assert_true(result->evaluations.densities + result->evaluations.gradients < 60000);
        ais_run_free(result);
    }
}

static void a_kernel_that_is_given_is_drawn_with(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {.mean = -0.625};
    const ais_target target = target_of(&of);
    ais_kernel *kernel;
    ais_run_result *result;
    assert_ok(context, ais_kernel_nuts(&context, NULL, &kernel));
    const ais_run_options options = {AIS_RUN_HEAD, .chains = 3, .draws = 70,
                                     .before = {.kernel = kernel, .warmup = 150}};
    assert_ok(context, ais_run(&context, &target, &options, &result));
    assert_int_equal(result->draws->chains, 3);
    assert_int_equal(result->warmup, 150);
    assert_string_equal(result->draws->sampler, "nuts");
    assert_null(result->kernel);
    assert_null(result->training);
    assert_true(isnan(result->log_z));
    assert_int_equal(result->evaluations.learning, 0);
    assert_counted(result, &of);
    ais_run_free(result);
    ais_kernel_free(kernel);
}

static void budgets_hold(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {.mean = 0.25};
    const ais_target target = target_of(&of);
    const ais_run_options options = {AIS_RUN_HEAD, .draws = 100000, .evaluations = 6001};
    ais_run_result *result;
    assert_ok(context, ais_run(&context, &target, &options, &result));
    assert_true(of.densities + of.gradients <= 6001);
    assert_int_equal(result->sample.ended, AIS_ENDED_EVALUATIONS);
    assert_counted(result, &of);
    ais_run_free(result);
    assert_int_equal(ais_run(&context, &target, &(ais_run_options){AIS_RUN_HEAD, .seconds = 1e-9}, &result), AIS_SPENT);
    assert_null(result);
}

/* ---- stopped ------------------------------------------------------------------------------------- */

/* Evaluations after which there are some draws. */
static long enough(void) { return brief() ? 60000 : 200000; }

static void stopped_among_the_draws_there_are_draws(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {.limit = enough()};
    const ais_target target = target_of(&of);
    const ais_run_options options = {AIS_RUN_HEAD, .draws = 10000000, .stop = &of.stop};
    ais_run_result *result;
    assert_int_equal(ais_run(&context, &target, &options, &result), AIS_STOPPED);
    assert_true(result->draws->draws > 100);
    assert_true(result->draws->draws < 10000000);
    assert_int_equal(result->diagnosis->draws, result->draws->draws);
    assert_int_equal(result->sample.ended, AIS_ENDED_STOPPED);
    assert_counted(result, &of);
    ais_run_free(result);
}

/* A density that sets `stop` itself and answers NaN leaves the draws so far, and is not asked to judge them. */
static void a_density_that_gives_up_leaves_the_draws(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {.limit = enough(), .fails = true};
    const ais_target target = target_of(&of);
    const ais_run_options options = {AIS_RUN_HEAD, .draws = 10000000, .threads = 2, .stop = &of.stop};
    ais_run_result *result;
    assert_int_equal(ais_run(&context, &target, &options, &result), AIS_STOPPED);
    assert_true(result->sample.gave_up);
    assert_true(result->draws->draws > 100);
    assert_int_equal(result->diagnosis->draws, result->draws->draws);
    assert_int_equal(result->evaluations.judging, 0);
    for (int i = 0; i < 2 * 16 * result->draws->draws; i++) assert_true(isfinite(result->draws->value[i]));
    for (int i = 0; i < 16 * result->draws->draws; i++) assert_true(isfinite(result->draws->logp[i]));
    ais_run_free(result);
}

static void a_page_of_a_run(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {0};
    const ais_target target = target_of(&of);
    ais_run_result *result;
    assert_ok(context, ais_run(&context, &target, &(ais_run_options){AIS_RUN_HEAD, .draws = 100}, &result));
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    const char *const lines[] = {"draws = 100", NULL};
    const ais_run_page page = {.title = "two of a kind", .seed = 1, .target = &target, .configuration = lines};
    long before = of.densities + of.gradients;
    assert_ok(context, ais_run_html(&context, result, &page, file));
    assert_int_equal(of.densities + of.gradients, before);
    fclose(file);
    assert_non_null(strstr(text, "two of a kind by "));
    assert_non_null(strstr(text, "</html>"));
    free(text);
    ais_diagnosis_free(result->diagnosis);
    result->diagnosis = NULL;
    assert_int_equal(ais_run_html(&context, result, &page, stderr), AIS_BAD_ARGUMENT);
    ais_run_free(result);
}

static void stopped_in_the_check_there_are_none(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {.limit = 1};
    const ais_target target = target_of(&of);
    const ais_run_options options = {AIS_RUN_HEAD, .stop = &of.stop};
    ais_run_result *result;
    assert_int_equal(ais_run(&context, &target, &options, &result), AIS_STOPPED);
    assert_null(result->draws);
    assert_null(result->diagnosis);
    assert_false(result->trust);
    assert_string_equal(result->verdict, "there are no draws");
    ais_run_free(result);
}

static ais_status go_on(ais_context *context, const ais_run_learned *learned, void *data) {
    (void)context;
    asked *of = data;
    assert_true(learned->stopped);
    assert_non_null(learned->kernel);
    of->limit = 0;
    of->stop = 0;
    return AIS_OK;
}

static void draws_of_what_was_learned_until_a_stop(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {.limit = 20000};
    const ais_target target = target_of(&of);
    const ais_train_options henon = {.shape = &(ais_shape){.map = AIS_HENON, .dim = 2}};
    const ais_run_options options = {AIS_RUN_HEAD,     .draws = 50,      .learning = &henon,
                                     .stop = &of.stop, .learned = go_on, .learned_data = &of};
    ais_run_result *result;
    assert_ok(context, ais_run(&context, &target, &options, &result));
    assert_int_equal(result->draws->draws, 50);
    ais_run_free(result);
}

static ais_status refuse(ais_context *context, const ais_run_learned *learned, void *data) {
    (void)learned;
    (void)data;
    snprintf(context->message, sizeof context->message, "no room for the kernel");
    return AIS_FILE_ERROR;
}

static void the_caller_may_end_it_after_learning(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {0};
    const ais_target target = target_of(&of);
    ais_run_result *result;
    const ais_run_options options = {AIS_RUN_HEAD, .learned = refuse};
    assert_int_equal(ais_run(&context, &target, &options, &result), AIS_FILE_ERROR);
    assert_string_equal(context.message, "no room for the kernel");
    assert_null(result);
}

/* ---- refused ------------------------------------------------------------------------------------- */

static void assert_refused(const ais_run_options *options, const char *words) {
    ais_context context = {0};
    asked of = {0};
    const ais_target target = target_of(&of);
    ais_run_result *result;
    assert_int_equal(ais_run(&context, &target, options, &result), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, words));
    assert_null(result);
    assert_int_equal(of.densities + of.gradients, 0);
}

static void options_that_make_no_sense_are_refused(void **state) {
    (void)state;
    const ais_train_options seeded = {.seed = 3};
    assert_refused(&(ais_run_options){.seed = 1}, "AIS_RUN_HEAD");
    assert_refused(&(ais_run_options){.size = sizeof(ais_run_options) + 8}, "newer header");
    assert_refused(&(ais_run_options){AIS_RUN_HEAD, .chains = -1}, "negative");
    assert_refused(&(ais_run_options){AIS_RUN_HEAD, .effective = NAN}, "numbers");
    assert_refused(&(ais_run_options){AIS_RUN_HEAD, .chains = 2, .draws = 10, .effective = 21},
                   "2 chains of at most 10");
    assert_refused(&(ais_run_options){AIS_RUN_HEAD, .learning = &seeded}, "leave them zero");
    assert_refused(&(ais_run_options){AIS_RUN_HEAD, .chains = 2000000000}, "GB");
}

/* Fields that its header did not have yet have their defaults. */
static void a_program_of_an_older_header_is_served(void **state) {
    (void)state;
    ais_context context = {0};
    asked of = {0};
    const ais_target target = target_of(&of);
    ais_run_options options = {.size = offsetof(ais_run_options, warmup), .seed = 5, .chains = 2, .draws = 40};
    memset((char *)&options + options.size, 0x5a, sizeof options - options.size);
    ais_run_result *result;
    assert_ok(context, ais_run(&context, &target, &options, &result));
    assert_int_equal(result->draws->chains, 2);
    assert_int_equal(result->draws->draws, 40);
    ais_run_free(result);
}

/* ---- threads ------------------------------------------------------------------------------------- */

typedef struct worker {
    asked of;
    uint64_t seed;
    ais_context context;
    ais_status status;
    ais_run_result *result;
} worker;

static void *work(void *data) {
    worker *this = data;
    const ais_target target = target_of(&this->of);
    const ais_run_options options = {AIS_RUN_HEAD, .seed = this->seed, .chains = 4, .draws = 300, .threads = 2};
    this->status = ais_run(&this->context, &target, &options, &this->result);
    return NULL;
}

/* Two densities at once give what each gives alone, to the last bit. */
static void two_runs_at_once(void **state) {
    (void)state;
    worker alone[2] = {{.of = {.mean = 2.5}, .seed = 7}, {.of = {.mean = -40.5}, .seed = 8}};
    worker both[2] = {{.of = {.mean = 2.5}, .seed = 7}, {.of = {.mean = -40.5}, .seed = 8}};
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) work(&alone[i]);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, work, &both[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) {
        assert_ok(alone[i].context, alone[i].status);
        assert_ok(both[i].context, both[i].status);
        assert_memory_equal(alone[i].result->draws->value, both[i].result->draws->value, 2 * 4 * 300 * sizeof(double));
        assert_counted(both[i].result, &both[i].of);
        ais_run_free(alone[i].result);
        ais_run_free(both[i].result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_learn_draw_and_judge),
        cmocka_unit_test(modes_that_no_mixture_fits_are_led_through),
        cmocka_unit_test(a_slab_around_a_spike_is_found),
        cmocka_unit_test(heavy_tails_are_followed),
        cmocka_unit_test(a_kernel_that_is_given_is_drawn_with),
        cmocka_unit_test(budgets_hold),
        cmocka_unit_test(stopped_among_the_draws_there_are_draws),
        cmocka_unit_test(a_density_that_gives_up_leaves_the_draws),
        cmocka_unit_test(a_page_of_a_run),
        cmocka_unit_test(stopped_in_the_check_there_are_none),
        cmocka_unit_test(draws_of_what_was_learned_until_a_stop),
        cmocka_unit_test(the_caller_may_end_it_after_learning),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(a_program_of_an_older_header_is_served),
        cmocka_unit_test(two_runs_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
