/* Messages about arguments that only a program can give, one row each: what no command line and no file of the tests in
 * tests/fault/bad_input.sh reaches. */
#include "support.h"

#include <aisampler/aisampler.h>

#define assert_says(words, wanted, call)                                                                               \
    do {                                                                                                               \
        ais_context context = {0};                                                                                     \
        int status = (call);                                                                                           \
        if (status != (wanted) || !strstr(context.message, words))                                                     \
            fail_msg("%s: status %d, '%s', but '%s' was wanted", #call, status, context.message, words);               \
    } while (0)

static double bowl(const double *x, void *data) {
    (void)data;
    return -0.5 * x[0] * x[0] - 0.5 * x[1] * x[1];
}

static const ais_target plain = {.name = "bowl", .dim = 2, .logp = bowl};

static double flat(const double *x, void *data) {
    (void)x, (void)data;
    return 0;
}

static double high(const double *x, void *data) { return bowl(x, data) + 1e16; }

static double wide(const double *x, void *data) {
    const double y[] = {1e-10 * x[0], 1e-10 * x[1]};
    return bowl(y, data);
}

static double long_way(const double *x, void *data) {
    const double y[] = {x[0], 1e-10 * x[1]};
    return bowl(y, data);
}

static void kernels(void **state) {
    (void)state;
    ais_context fresh = {0};
    ais_kernel *made = NULL, *walk;
    const ais_classical_options negative = {.scale = -1};
    const ais_classical_options long_steps = {.leapfrogs = 3};
    assert_says("there is no classical kernel 'walk'; there are ", AIS_BAD_ARGUMENT,
                ais_kernel_classical(&context, "walk", NULL, &made));
    assert_says("rwm takes no leapfrogs", AIS_BAD_ARGUMENT, ais_kernel_classical(&context, "rwm", &long_steps, &made));
    assert_says("slice: scale is -1", AIS_BAD_ARGUMENT, ais_kernel_classical(&context, "slice", &negative, &made));
    const ais_shape pivot = {.map = AIS_HENON, .dim = 2, .pivot = 1};
    assert_says("pivot is for maps on x alone", AIS_BAD_ARGUMENT, ais_kernel_learned(&context, &pivot, 1, &made));
    assert_null(made);
    assert_ok(fresh, ais_kernel_rwm(&fresh, NULL, &walk));
    double z[4] = {0}, image[4];
    const double mean[2] = {NAN, 0}, factor[4] = {1, 0, 0, 1};
    assert_says("has no involution", AIS_BAD_ARGUMENT, ais_kernel_involution(&context, walk, 1, z, image, NULL));
    assert_says("has no whitening", AIS_BAD_ARGUMENT, ais_kernel_whiten(&context, walk, mean, factor));
    assert_says("is not a latent kernel", AIS_BAD_ARGUMENT, ais_kernel_set_proposals(&context, walk, 3));
    const ais_shape affine = {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = 2};
    ais_kernel *map, *latent;
    assert_ok(fresh, ais_kernel_learned(&fresh, &affine, 1, &map));
    assert_says("mean 0 is nan, not a finite number", AIS_BAD_ARGUMENT, ais_kernel_whiten(&context, map, mean, factor));
    assert_ok(fresh, ais_kernel_latent(&fresh, map, walk, &latent));
    assert_says("proposals is 1001", AIS_BAD_ARGUMENT, ais_kernel_set_proposals(&context, latent, 1001));
    ais_kernel_free(latent);
}

static void targets(void **state) {
    (void)state;
    ais_target *made = NULL;
    const ais_parameter twice[] = {{"a", AIS_NORMAL(0, 1)}, {"a", AIS_NORMAL(0, 1)}};
    const ais_parameter odd_kind[] = {{"a", .kind = AIS_KIND_COUNT}, {"b", AIS_REAL}};
    const ais_parameter odd_count[] = {{"a", AIS_REAL, .count = -2}, {"b", AIS_REAL}};
    assert_says("two parameters are called a", AIS_BAD_DENSITY, ais_target_with(&context, &plain, twice, 2, &made));
    assert_says("there is no kind", AIS_BAD_DENSITY, ais_target_with(&context, &plain, odd_kind, 2, &made));
    assert_says("count is -2", AIS_BAD_DENSITY, ais_target_with(&context, &plain, odd_count, 2, &made));
    assert_says("no parameters in the list", AIS_BAD_DENSITY, ais_target_with(&context, &plain, twice, 0, &made));
    assert_says("has no value", AIS_BAD_ARGUMENT, ais_target_open(&context, "blr:data/heart.csv:label=", &made));
    assert_says("needs a program", AIS_BAD_ARGUMENT, ais_target_open(&context, "stan:", &made));
    assert_says("ends with a colon", AIS_BAD_ARGUMENT, ais_target_open(&context, "stan:model.stan:", &made));
    assert_says("is a file MODEL.stan", AIS_BAD_ARGUMENT, ais_target_open(&context, "stan:model.txt", &made));
    assert_says("no Stan program was given", AIS_BAD_ARGUMENT, ais_target_stan(&context, NULL, NULL, NULL, &made));
    assert_says("cannot open /etc/passwd.so", AIS_FILE_ERROR,
                ais_target_stan(&context, "/etc/passwd.so", NULL, NULL, &made));
    assert_null(made);
}

static void runs(void **state) {
    (void)state;
    ais_context fresh = {0};
    ais_run_result *result = NULL;
    ais_kernel *walk;
    assert_ok(fresh, ais_kernel_rwm(&fresh, NULL, &walk));
    ais_training training = {0};
    const ais_train_options learning = {0};
    const ais_run_options both = {AIS_RUN_HEAD, .learning = &learning, .before = {.kernel = walk}},
                          orphan = {AIS_RUN_HEAD, .before = {.training = &training}},
                          extend = {AIS_RUN_HEAD, .extend = -1}, resume = {AIS_RUN_HEAD, .resume = true};
    assert_says("a kernel is given", AIS_BAD_ARGUMENT, ais_run(&context, &plain, &both, &result));
    assert_says("a training without its kernel", AIS_BAD_ARGUMENT, ais_run(&context, &plain, &orphan, &result));
    assert_says("must not be negative", AIS_BAD_ARGUMENT, ais_run(&context, &plain, &extend, &result));
    assert_says("need the checkpoint", AIS_BAD_ARGUMENT, ais_run(&context, &plain, &resume, &result));
    const ais_sample_options negative = {.chains = -1};
    ais_sample_result sampled;
    assert_says("chains is -1", AIS_BAD_ARGUMENT, ais_sample(&context, &plain, walk, &negative, NULL, 0, &sampled));
    const ais_sample_options some = {.chains = 1, .draws = 10};
    ais_target nothing = {.name = "nothing", .dim = 2};
    assert_says("no log density", AIS_BAD_ARGUMENT, ais_sample(&context, &nothing, walk, &some, NULL, 0, &sampled));
    /* On a constant every step is accepted, and the scale grows until its square is no number. */
    const ais_target endless = {.name = "endless", .dim = 2, .logp = flat};
    const ais_sample_options adapting = {.chains = 1, .warmup = 4000, .draws = 10};
    assert_says("variances of warm-up overflow", AIS_BAD_DENSITY,
                ais_sample(&context, &endless, walk, &adapting, NULL, 0, &sampled));
    ais_kernel *map;
    const ais_shape three = {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = 3};
    assert_ok(fresh, ais_kernel_learned(&fresh, &three, 1, &map));
    assert_says("made for dimension 3, but bowl has 2", AIS_BAD_ARGUMENT,
                ais_sample(&context, &plain, map, &some, NULL, 0, &sampled));
    ais_kernel_free(map);
    ais_kernel_free(walk);
}

static void trainings(void **state) {
    (void)state;
    ais_context fresh = {0};
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    ais_draws *draws;
    assert_ok(fresh, ais_draws_new(&fresh, 3, 2, 50, 0, &draws));
    const ais_shape joint = {.map = AIS_REALNVP, .dim = 2, .joint = true}, henon = {.map = AIS_HENON, .dim = 2};
    const ais_train_options flip = {.seed = 1, .shape = &joint}, nuts = {.seed = 1, .method = AIS_START_NUTS},
                            other = {.seed = 1, .method = AIS_START_DRAWS, .start = draws},
                            wider = {.seed = 1, .method = AIS_START_DRAWS, .start = draws, .shape = &henon},
                            odd_stage = {.seed = 1, .shape = &henon, .objective = "fisher", .steps = 1};
    assert_says("for independent proposals is a spline or realnvp", AIS_BAD_ARGUMENT,
                ais_train(&context, &plain, &flip, &kernel, &training));
    assert_says("a start from NUTS needs the gradient", AIS_BAD_ARGUMENT,
                ais_train(&context, &plain, &nuts, &kernel, &training));
    assert_says("have 3 parameters", AIS_BAD_ARGUMENT, ais_train(&context, &plain, &other, &kernel, &training));
    assert_says("have 3 parameters", AIS_BAD_ARGUMENT, ais_train(&context, &plain, &wider, &kernel, &training));
    assert_says("the stages of a henon kernel", AIS_BAD_ARGUMENT,
                ais_train(&context, &plain, &odd_stage, &kernel, &training));
    assert_null(kernel);
    assert_null(training);
    ais_draws_free(draws);
}

/* Densities that learning refuses, each with what to do; and a gradient that fisher lacks. */
static void densities(void **state) {
    (void)state;
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    const ais_target constant = {.name = "high", .dim = 2, .logp = high}, far = {.name = "far", .dim = 2, .logp = wide},
                     along = {.name = "along", .dim = 2, .logp = long_way};
    const ais_train_options usual = {.seed = 1}, fisher = {.seed = 1, .objective = "fisher"};
    assert_says("leave the constant out", AIS_BAD_DENSITY, ais_train(&context, &constant, &usual, &kernel, &training));
    assert_says("all over the search region", AIS_BAD_DENSITY, ais_train(&context, &far, &usual, &kernel, &training));
    assert_says("falls along one direction only", AIS_BAD_DENSITY,
                ais_train(&context, &along, &usual, &kernel, &training));
    assert_says("objective fisher needs the gradient", AIS_BAD_ARGUMENT,
                ais_train(&context, &plain, &fisher, &kernel, &training));
    assert_null(kernel);
    assert_null(training);
}

static volatile sig_atomic_t stop;

static void stop_on_the_ladder(const ais_train_progress *progress, void *data) {
    (void)data;
    if (strcmp(progress->stage, "ladder") == 0) stop = 1;
}

/* In the first round there is no kernel yet. */
static void a_ladder_that_is_stopped(void **state) {
    (void)state;
    ais_kernel *kernel = NULL;
    ais_training *training = NULL;
    const ais_train_options climb = {.seed = 1, .ladder = true, .progress = stop_on_the_ladder, .stop = &stop};
    assert_says("stopped on the ladder", AIS_STOPPED, ais_train(&context, &plain, &climb, &kernel, &training));
    ais_kernel_free(kernel);
    ais_training_free(training);
    stop = 0;
}

static void figures(void **state) {
    (void)state;
    const ais_draws empty = {.dim = 1};
    const ais_figure_data none = {.draws = &empty};
    ais_figure *figure = NULL;
    assert_says("unknown figure 'trase'", AIS_BAD_ARGUMENT, ais_figure_of_draws(&context, "trase", &none, &figure));
    assert_says("there are no draws", AIS_BAD_ARGUMENT, ais_figure_of_draws(&context, "trace", &none, &figure));
    assert_null(figure);
}

/* A compiler of too many letters and of too many words. */
static void compilers(void **state) {
    (void)state;
    const char *before = getenv("CC");
    char *kept = before ? strdup(before) : NULL, text[20000];
    ais_target *made = NULL;
    memset(text, 'c', sizeof text - 1);
    text[sizeof text - 1] = 0;
    setenv("CC", text, 1);
    assert_says("CC is longer than", AIS_BAD_ARGUMENT,
                ais_target_open(&context, "bench/few_evaluations/targets/mog6.c", &made));
    for (int i = 0; i < 400; i++) text[i] = i % 2 ? ' ' : 'c';
    text[400] = 0;
    setenv("CC", text, 1);
    assert_says("CC has more than", AIS_BAD_ARGUMENT,
                ais_target_open(&context, "bench/few_evaluations/targets/mog6.c", &made));
    if (kept)
        setenv("CC", kept, 1);
    else
        unsetenv("CC");
    free(kept);
}

/* Bounds around a density that has some, one inside of the other. */
static void bounds_twice(void **state) {
    (void)state;
    ais_context fresh = {0};
    const ais_parameter two[] = {{"a", AIS_NORMAL(0, 1)}, {"b", AIS_NORMAL(0, 1)}};
    ais_target *inner, *outer = NULL;
    assert_ok(fresh, ais_target_with(&fresh, &plain, two, 2, &inner));
    assert_says("has parameters of its own", AIS_BAD_ARGUMENT, ais_target_with(&context, inner, two, 2, &outer));
    assert_null(outer);
    ais_target_close(inner);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels),   cmocka_unit_test(targets),   cmocka_unit_test(runs),
        cmocka_unit_test(trainings), cmocka_unit_test(densities), cmocka_unit_test(a_ladder_that_is_stopped),
        cmocka_unit_test(figures),   cmocka_unit_test(compilers), cmocka_unit_test(bounds_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
