/* What a run of the sampler may cost: effective draws, evaluations, seconds, each kept, counted and told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <aisampler/aisampler.h>

#include "sampler/resume.h"
#include "support.h"

/* ---- a density that knows how often it was asked ------------------------------------------------- */

typedef struct asked {
    atomic_long densities, gradients;
    double pause; /* seconds of an evaluation */
    double edge;  /* nothing lies left of it */
} asked;

static void rest(const asked *of) {
    if (of->pause == 0) return;
    struct timespec time = {.tv_sec = (time_t)of->pause, .tv_nsec = (long)(1e9 * (of->pause - floor(of->pause)))};
    nanosleep(&time, NULL);
}

static double value(const double *x, const asked *of) {
    if (x[0] < of->edge) return -INFINITY;
    return -0.5 * x[0] * x[0] - 0.5 * (x[1] - x[0]) * (x[1] - x[0]) / 0.09;
}
static double logp(const double *x, void *data) {
    asked *of = data;
    atomic_fetch_add(&of->densities, 1);
    rest(of);
    return value(x, of);
}
static double grad(const double *x, double *gradient, void *data) {
    asked *of = data;
    atomic_fetch_add(&of->gradients, 1);
    rest(of);
    double off = (x[1] - x[0]) / 0.09;
    gradient[0] = -x[0] + off;
    gradient[1] = -off;
    return value(x, of);
}
static void batch(size_t n, const double *x, double *result, void *data) {
    asked *of = data;
    atomic_fetch_add(&of->densities, (long)n);
    for (size_t c = 0; c < n; c++) result[c] = value((const double[]){x[c], x[n + c]}, of);
}

/* ---- one run ------------------------------------------------------------------------------------- */

typedef enum sampler { RWM, NUTS, SPLINE, HENON, CYCLE, SAMPLERS } sampler;

static ais_kernel *kernel_of(sampler which) {
    ais_context context = {0};
    ais_kernel *kernel, *part[2];
    const ais_shape spline = {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 2}, henon = {.map = AIS_HENON, .dim = 2};
    switch (which) {
    case RWM:
        assert_ok(context, ais_kernel_rwm(&context, NULL, &kernel));
        return kernel;
    case NUTS:
        assert_ok(context, ais_kernel_nuts(&context, NULL, &kernel));
        return kernel;
    case SPLINE:
        assert_ok(context, ais_kernel_learned(&context, &spline, 3, &kernel));
        return kernel;
    case HENON:
        assert_ok(context, ais_kernel_learned(&context, &henon, 3, &kernel));
        return kernel;
    default:
        part[0] = kernel_of(SPLINE);
        part[1] = kernel_of(NUTS);
        assert_ok(context, ais_kernel_cycle(&context, part, 2, &kernel));
        return kernel;
    }
}

typedef struct made {
    ais_status status;
    char message[1020];
    ais_sample_result result;
    ais_draws *draws;
    long densities, gradients; /* as the density counted them */
    double seconds;
} made;

static made run_in_doubt(ais_target target, sampler which, const ais_sample_options *options, const ais_doubt *doubt) {
    asked *of = target.data;
    ais_context context = {0};
    ais_sink *sink;
    made out = {0};
    of->densities = of->gradients = 0;
    ais_kernel *kernel = kernel_of(which);
    assert_ok(context, ais_sink_memory(&context, &sink));
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    out.status = ais_sample_on(&context, &target, kernel, options, NULL, doubt, &sink, 1, &out.result);
    clock_gettime(CLOCK_MONOTONIC, &to);
    out.seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    snprintf(out.message, sizeof out.message, "%s", context.message);
    out.draws = ais_sink_memory_take(sink);
    out.densities = of->densities;
    out.gradients = of->gradients;
    ais_sink_free(sink);
    ais_kernel_free(kernel);
    return out;
}

static made run_on(ais_target target, sampler which, const ais_sample_options *options) {
    return run_in_doubt(target, which, options, NULL);
}

static made run(sampler which, const ais_sample_options *options) {
    asked of = {.edge = -INFINITY};
    return run_on((ais_target){.name = "asked", .dim = 2, .logp = logp, .grad = grad, .data = &of}, which, options);
}

static void same_draws(const ais_draws *a, const ais_draws *b) {
    assert_int_equal(a->draws, b->draws);
    size_t n = (size_t)a->chains * (size_t)a->draws;
    assert_memory_equal(a->value, b->value, 2 * n * sizeof(double));
    assert_memory_equal(a->logp, b->logp, n * sizeof(double));
}

static void counted_right(const made *out) {
    assert_int_equal(out->result.densities, out->densities);
    assert_int_equal(out->result.gradients, out->gradients);
    long rest = out->densities + out->gradients - out->result.start_evaluations - out->result.warmup_evaluations;
    assert_true(out->result.start_evaluations > 0);
    assert_true(rest >= 0);
}

/* ---- tests --------------------------------------------------------------------------------------- */

/* Of every kernel, with and without a batch form whose lanes are padded, to the last one. */
static void counts_are_the_densitys_own(void **state) {
    (void)state;
    for (sampler which = 0; which < SAMPLERS; which++)
        for (int form = 0; form < 4; form++) {
            asked of = {.edge = form & 2 ? 0.3 : -INFINITY};
            ais_target target = {.name = "asked", .dim = 2, .logp = logp, .grad = grad, .data = &of};
            if (form & 1) target.batch = batch;
            const ais_sample_options options = {
                .seed = 2, .chains = 5, .warmup = 40, .draws = 30, .thin = 2, .threads = 3};
            made out = run_on(target, which, &options);
            if (out.status != AIS_OK) fail_msg("%s", out.message);
            counted_right(&out);
            assert_int_equal(out.result.ended, AIS_ENDED_DRAWS);
            if (which == RWM) assert_int_equal(out.result.warmup_evaluations, 5 * 40);
            if (which == RWM && form < 2) assert_int_equal(out.densities, 5 + 5 * 40 + 5 * 60);
            ais_draws_free(out.draws);
        }
}

/* Not one more, chains of equal length, and nothing that threads could change. */
static void evaluations_are_kept(void **state) {
    (void)state;
    const long budgets[] = {333, 1000, 4321};
    for (sampler which = 0; which < SAMPLERS; which++)
        for (size_t k = 0; k < 3; k++) {
            ais_sample_options options = {.seed = 5,
                                          .chains = 6,
                                          .warmup = which == NUTS || which == CYCLE ? 3 : 20,
                                          .draws = 100000,
                                          .threads = 1,
                                          .evaluations = budgets[k]};
            made one = run(which, &options);
            if (one.status != AIS_OK) fail_msg("sampler %d, %ld: %s", which, budgets[k], one.message);
            assert_int_equal(one.result.ended, AIS_ENDED_EVALUATIONS);
            counted_right(&one);
            assert_true(one.densities + one.gradients <= budgets[k]);
            if (which == RWM || which == SPLINE) /* one a draw: nothing but a last unequal share is left */
                assert_true(one.densities > budgets[k] - options.chains);
            assert_true(one.draws->draws == one.result.draws && one.result.draws > 0);
            for (int threads = 2; threads < 8; threads += 3) {
                options.threads = threads;
                made other = run(which, &options);
                same_draws(one.draws, other.draws);
                assert_int_equal(other.densities, one.densities);
                assert_int_equal(other.gradients, one.gradients);
                ais_draws_free(other.draws);
            }
            ais_draws_free(one.draws);
        }
}

static void effective_draws_are_reached(void **state) {
    (void)state;
    const sampler which[] = {RWM, NUTS};
    for (int k = 0; k < 2; k++) {
        ais_sample_options options = {.seed = 7, .chains = 8, .warmup = 200, .threads = 1, .effective = 1500};
        made one = run(which[k], &options);
        if (one.status != AIS_OK) fail_msg("%s", one.message);
        double worst = ais_worst_ess(2, 8, one.draws->draws, one.draws->value);
        assert_int_equal(one.result.ended, AIS_ENDED_EFFECTIVE);
        assert_true(worst >= 1500 && worst == one.result.effective);
        assert_true(worst < 2.5 * 1500); /* and not passed by far */
        options.threads = 5;
        made other = run(which[k], &options);
        same_draws(one.draws, other.draws);
        ais_draws_free(other.draws);
        options.draws = 200; /* 1600 draws are not enough: the limit comes first */
        made cut = run(which[k], &options);
        assert_int_equal(cut.result.ended, AIS_ENDED_DRAWS);
        assert_true(cut.result.effective < 1500 && cut.draws->draws == 200);
        ais_draws_free(cut.draws);
        ais_draws_free(one.draws);
    }
}

/* In doubt until there are so many draws. */
typedef struct sceptic {
    int draws;
    double times;
} sceptic;

static ais_status in_doubt(ais_context *context, void *data, const ais_kept *kept, double *times) {
    (void)context;
    const sceptic *of = data;
    for (int c = 0; c < kept->chains; c++) /* log p is that of the draws */
        for (int t = 0; t < kept->draws; t++) {
            const double x[] = {ais_kept_row(kept, 0, c)[t], ais_kept_row(kept, 1, c)[t]};
            assert_true(ais_kept_row(kept, 2, c)[t] == value(x, &(asked){.edge = -INFINITY}));
        }
    *times = kept->draws < of->draws ? of->times : 1;
    return AIS_OK;
}

static void doubts_are_drawn_out_where_that_is_worth_it(void **state) {
    (void)state;
    asked of = {.edge = -INFINITY};
    const ais_target target = {.name = "asked", .dim = 2, .logp = logp, .grad = grad, .data = &of};
    const ais_sample_options options = {.seed = 7, .chains = 8, .warmup = 200, .threads = 1, .effective = 1500};
    made sure = run_on(target, NUTS, &options);
    const sceptic who[] = {{2 * sure.draws->draws, 1.5}, {2 * sure.draws->draws, 10}};
    for (int k = 0; k < 2; k++) {
        made out = run_in_doubt(target, NUTS, &options, &(ais_doubt){in_doubt, (void *)&who[k]});
        assert_int_equal(out.status, AIS_OK);
        assert_int_equal(out.result.ended, AIS_ENDED_EFFECTIVE);
        if (k == 0)
            assert_in_range(out.draws->draws, who[k].draws, 4 * sure.draws->draws);
        else
            same_draws(sure.draws, out.draws);
        ais_draws_free(out.draws);
    }
    ais_draws_free(sure.draws);
}

/* A hundred effective draws of every chain agree mostly, by chance, and are enough when R-hat says so, too. Fewer are
 * refused in any case. */
static void chains_agree_before_it_is_enough(void **state) {
    (void)state;
    int doubted = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        made one = run(RWM, &(ais_sample_options){.seed = seed, .warmup = 200, .effective = 400, .threads = 1});
        ais_diagnosis *of = NULL;
        ais_context context = {0};
        assert_ok(context, ais_diagnose(&context, one.draws, NULL, &of));
        assert_true(of->worst_rhat <= AIS_MOST_RHAT);
        doubted += one.result.effective > 1.5 * 400;
        ais_diagnosis_free(of);
        ais_draws_free(one.draws);
        one = run(RWM, &(ais_sample_options){.seed = seed, .warmup = 200, .effective = 100, .threads = 1});
        assert_true(one.result.effective < 3 * 100);
        ais_draws_free(one.draws);
    }
    assert_true(doubted >= 2);
}

static void a_least_number_of_draws_is_made(void **state) {
    (void)state;
    ais_sample_options options = {.seed = 7, .chains = 8, .warmup = 200, .draws = 4000, .threads = 1};
    static const struct {
        sampler which;
        int least;
        double effective;
        int from, to; /* draws per chain */
        ais_ending ended;
    } some[] = {{NUTS, 2000, 800, 2000, 2000, AIS_ENDED_DRAWS},  /* enough */
                {RWM, 400, 400, 401, 3999, AIS_ENDED_EFFECTIVE}, /* not yet */
                {RWM, 200, 20000, 200, 200, AIS_ENDED_DRAWS}};   /* nor ever */
    for (int k = 0; k < 3; k++) {
        options.least = some[k].least;
        options.effective = some[k].effective;
        made out = run(some[k].which, &options);
        assert_int_equal(out.status, AIS_OK);
        assert_in_range(out.draws->draws, some[k].from, some[k].to);
        assert_int_equal(out.result.ended, some[k].ended);
        ais_draws_free(out.draws);
    }
    made bad = run(RWM, &(ais_sample_options){.draws = 100, .least = 101, .effective = 10, .threads = 1});
    assert_int_equal(bad.status, AIS_BAD_ARGUMENT);
    assert_string_equal(bad.message, "least is 101, but must be from 0 to draws, 100");
}

/* In the middle of a trajectory, too. */
static void a_deadline_ends_in_time(void **state) {
    (void)state;
    asked of = {.pause = 2e-3, .edge = -INFINITY};
    ais_target target = {.name = "asked", .dim = 2, .logp = logp, .grad = grad, .data = &of};
    ais_sample_options options = {.seed = 1, .chains = 4, .warmup = 2, .draws = 100000, .threads = 4, .seconds = 0.6};
    made out = run_on(target, RWM, &options);
    assert_int_equal(out.status, AIS_OK);
    assert_int_equal(out.result.ended, AIS_ENDED_SECONDS);
    assert_true(out.result.draws > 0 && out.draws->draws == out.result.draws);
    counted_right(&out);
    assert_true(out.seconds >= 0.6);
    ais_draws_free(out.draws);
    options.warmup = 100000;
    out = run_on(target, NUTS, &options);
    assert_int_equal(out.status, AIS_STOPPED);
    assert_non_null(strstr(out.message, "the deadline of 0.6 s passed after"));
    assert_int_equal(out.result.draws, 0);
    ais_draws_free(out.draws);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    const struct {
        ais_sample_options options;
        const char *word;
    } bad[] = {
        {{.chains = 4, .draws = 100, .effective = 401}, "only 400"},
        {{.chains = 4, .effective = 1e9}, "kept in memory"},
        {{.chains = 4, .effective = -1}, "effective is -1"},
        {{.chains = 4, .effective = NAN}, "effective is"},
        {{.chains = 4, .evaluations = -3}, "evaluations is -3"},
        {{.chains = 4, .warmup = 10, .evaluations = 47}, "at least 48"},
        {{.chains = 4, .seconds = -0.5}, "seconds is -0.5"},
        {{.chains = 4, .seconds = INFINITY}, "seconds is inf"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        made out = run(RWM, &bad[k].options);
        assert_int_equal(out.status, AIS_BAD_ARGUMENT);
        if (!strstr(out.message, bad[k].word)) fail_msg("'%s' is not in: %s", bad[k].word, out.message);
        assert_int_equal(out.densities, 0);
    }
    /* enough by the arithmetic, but a step size has to be found first */
    made out = run(NUTS, &(ais_sample_options){.seed = 1, .chains = 4, .warmup = 0, .evaluations = 9});
    assert_int_equal(out.status, AIS_STOPPED);
    assert_non_null(strstr(out.message, "too few to start 4 chains"));
    assert_true(out.densities + out.gradients <= 9);
}

/* A density that is not a number is still the density's fault, whatever the budget. */
static double broken(const double *x, void *data) { return x[0] > 0.5 ? NAN : logp(x, data); }
static void faults_are_still_faults(void **state) {
    (void)state;
    asked of = {.edge = -INFINITY};
    ais_target target = {.name = "broken", .dim = 2, .logp = broken, .data = &of};
    const double start[] = {-1, -1, -1, -1};
    made out = run_on(target, RWM, &(ais_sample_options){.seed = 1, .chains = 2, .start = start, .evaluations = 5000});
    assert_int_equal(out.status, AIS_BAD_DENSITY);
    assert_non_null(strstr(out.message, "is nan at x = ("));
}

typedef struct seen {
    int reports, over;
    long evaluations;
    double seconds, gap; /* the longest time between two reports */
} seen;
static void watch(const ais_progress *progress, void *data) {
    seen *so_far = data;
    so_far->reports++;
    so_far->over += progress->over;
    assert_true(progress->evaluations >= so_far->evaluations);
    so_far->gap = fmax(so_far->gap, progress->seconds - so_far->seconds);
    so_far->evaluations = progress->evaluations;
    so_far->seconds = progress->seconds;
    if (progress->over) assert_int_equal(progress->draws_done, progress->draws);
}

/* One draw of four chains takes more than a second here, and all of it is one round. */
static void progress_moves_within_a_round(void **state) {
    (void)state;
    asked of = {.pause = 20e-3, .edge = -INFINITY};
    seen so_far = {0};
    ais_target target = {.name = "asked", .dim = 2, .logp = logp, .grad = grad, .data = &of};
    made out = run_on(
        target, RWM,
        &(ais_sample_options){
            .seed = 1, .chains = 4, .draws = 2, .thin = 20, .threads = 2, .progress = watch, .progress_data = &so_far});
    assert_int_equal(out.status, AIS_OK);
    assert_true(so_far.reports >= 5);
    assert_int_equal(so_far.over, 1);
    assert_int_equal(so_far.evaluations, out.densities + out.gradients);
    ais_draws_free(out.draws);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_the_densitys_own),
        cmocka_unit_test(evaluations_are_kept),
        cmocka_unit_test(effective_draws_are_reached),
        cmocka_unit_test(a_deadline_ends_in_time),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(faults_are_still_faults),
        cmocka_unit_test(progress_moves_within_a_round),
        cmocka_unit_test(doubts_are_drawn_out_where_that_is_worth_it),
        cmocka_unit_test(chains_agree_before_it_is_enough),
        cmocka_unit_test(a_least_number_of_draws_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
