/* A training that goes on from a checkpoint, whenever it was written, gives the kernel of one that was never
 * interrupted; and the test would see it if a field were wrong. */
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include <aisampler/aisampler.h>

#include "base/checksum.h"
#include "brief.h"
#include "file/kernel_file.h"

enum { MOST_MOMENTS = 512 };

typedef struct bytes {
    char *data;
    size_t count;
} bytes;

/* Copies of the checkpoint as training went on, made whenever the density is asked or progress is told. */
typedef struct history {
    const ais_target *target;
    const char *path;
    ino_t last;
    bytes moment[MOST_MOMENTS];
    int moments;
} history;

static void free_history(history *past) {
    for (int i = 0; i < past->moments; i++) free(past->moment[i].data);
}

static void look(history *past) {
    struct stat status;
    if (past->moments == MOST_MOMENTS || stat(past->path, &status) != 0 || status.st_ino == past->last) return;
    bytes *moment = &past->moment[past->moments++];
    moment->data = scratch_read(past->path, &moment->count);
    past->last = status.st_ino;
}

static void told(const ais_train_progress *progress, void *data) {
    (void)progress;
    look(data);
}

static double watched_logp(const double *x, void *data) {
    look(data);
    const ais_target *target = ((history *)data)->target;
    return target->logp(x, target->data);
}

static double watched_gradient(const double *x, double *gradient, void *data) {
    look(data);
    const ais_target *target = ((history *)data)->target;
    return target->grad(x, gradient, target->data);
}

static void watched_batch(size_t count, const double *x, double *logp, void *data) {
    look(data);
    const ais_target *target = ((history *)data)->target;
    target->batch(count, x, logp, target->data);
}

static ais_target watch(history *past, const ais_target *target) {
    past->target = target;
    ais_target made = *target;
    if (target->draws) return made;
    made.logp = watched_logp;
    made.grad = target->grad ? watched_gradient : NULL;
    made.batch = target->batch ? watched_batch : NULL;
    made.data = past;
    return made;
}

/* The kernel file's bytes; with them log Z and where the population is. */
typedef struct outcome {
    bytes kernel;
    double log_z, x;
    bool resumed;
    int points;
    long started; /* evaluations of the start */
} outcome;

/* A small A-NICE-MC, for options whose objective is this. */
static const char anice[] = "anice";

static ais_status train_anice(ais_context *context, const ais_target *target, const ais_train_options *options,
                              ais_kernel **kernel, ais_training **training) {
    const ais_anice_shape shape = {.dim = target->dim, .hidden = 16};
    const ais_anice_options small = {.seed = options->seed,
                                     .threads = options->threads,
                                     .shape = &shape,
                                     .iterations = options->steps,
                                     .critic = 16,
                                     .epoch = 6,
                                     .draws = 40,
                                     .checkpoint = options->checkpoint,
                                     .checkpoint_seconds = options->checkpoint_seconds,
                                     .resume = options->resume,
                                     .progress = options->progress,
                                     .progress_data = options->progress_data};
    return ais_train_anice(context, target, &small, kernel, training);
}

static ais_status train(ais_context *context, const ais_target *target, ais_train_options options, outcome *out) {
    ais_kernel *kernel;
    ais_training *training;
    *out = (outcome){0};
    ais_status status = options.objective == anice ? train_anice(context, target, &options, &kernel, &training)
                                                   : ais_train(context, target, &options, &kernel, &training);
    if (status != AIS_OK) return status;
    out->kernel.data = (char *)ais_kernel_encode(kernel, target, &out->kernel.count);
    assert_non_null(out->kernel.data);
    out->log_z = training->log_z;
    out->x = training->x[training->dim * (training->count - 1)];
    out->resumed = training->resumed;
    out->points = training->points;
    out->started = training->start_evaluations;
    ais_kernel_free(kernel);
    ais_training_free(training);
    return AIS_OK;
}

static bool same(const outcome *a, const outcome *b) {
    return a->kernel.count == b->kernel.count && memcmp(a->kernel.data, b->kernel.data, a->kernel.count) == 0;
}

/* ---- files taken apart ------------------------------------------------------------------------------ */

static void seal(bytes *file) {
    uint64_t sum = ais_checksum(file->data, file->count - 8);
    memcpy(file->data + file->count - 8, &sum, 8);
}

/* Where the last field of this name begins and its data lie; 0 when there is none. */
static size_t find(const bytes *file, const char *name, size_t *data, size_t *count) {
    uint32_t identity, head[2];
    uint64_t length;
    size_t found = 0;
    memcpy(&identity, file->data + 12, 4);
    for (size_t at = 16 + identity; at < file->count - 8;) {
        memcpy(head, file->data + at, 8);
        memcpy(&length, file->data + at + 8, 8);
        if (head[0] == 2 && strlen(name) == head[1] && memcmp(file->data + at + 16, name, head[1]) == 0) {
            found = at;
            *data = at + 16 + head[1];
            *count = (size_t)length;
        }
        at += 16 + head[1] + (size_t)length;
    }
    return found;
}

static bytes copy(const bytes *file) {
    bytes made = {.data = malloc(file->count), .count = file->count};
    assert_non_null(made.data);
    memcpy(made.data, file->data, file->count);
    return made;
}

/* Every number of the field changes a little: integers by one, numbers in the middle of the mantissa. */
static bytes spoil(const bytes *file, const char *name, size_t width) {
    bytes made = copy(file);
    size_t data = 0, count = 0;
    if (!find(file, name, &data, &count)) fail_msg("the checkpoint has no field %s", name);
    for (size_t i = 0; i < count; i++)
        if (width == 0 ? i == 0 : i % width == width - 2) made.data[data + i] ^= width == 0 ? 1 : 4;
    seal(&made);
    return made;
}

static bytes leave_out(const bytes *file, const char *name) {
    bytes made = copy(file);
    size_t data = 0, count = 0, at = find(file, name, &data, &count);
    assert_true(at > 0);
    memmove(made.data + at, made.data + data + count, made.count - data - count);
    made.count -= data + count - at;
    seal(&made);
    return made;
}

/* ---- the law ----------------------------------------------------------------------------------------- */

typedef struct field {
    const char *name;
    size_t width; /* of a number: 8, 4; 0: one integer */
} field;

typedef struct training_case {
    const char *target;
    bool plain; /* without its gradient */
    ais_train_options options;
    const field *matter; /* fields without which the kernel would be another; ends with NULL */
} training_case;

static void check_fields(const ais_target *target, const ais_train_options *options, const outcome *whole,
                         const bytes *moment, const field *matter) {
    ais_context context = {0};
    outcome other;
    for (const field *end = matter + 1; matter->name && (!brief() || matter < end); matter++) {
        bytes wrong = spoil(moment, matter->name, matter->width);
        scratch_write(options->checkpoint, wrong.data, wrong.count);
        bool fine = train(&context, target, *options, &other) == AIS_OK;
        if (fine && same(whole, &other) && !brief()) /* short trainings may end before it matters */
            fail_msg("a wrong %s makes no difference", matter->name);
        free(other.kernel.data);
        free(wrong.data);
        bytes less = leave_out(moment, matter->name);
        scratch_write(options->checkpoint, less.data, less.count);
        assert_int_equal(train(&context, target, *options, &other), AIS_BAD_FORMAT);
        assert_non_null(strstr(context.message, "does not fit this training"));
        free(less.data);
    }
}

static void check_case(const char *folder, const training_case *one) {
    ais_context context = {0};
    ais_target *opened;
    ais_train_options options = one->options;
    history past = {.path = scratch_path(folder, "k.training")};
    outcome whole, watched, resumed;
    char path[1024];
    snprintf(path, sizeof path, "%s", past.path);
    past.path = path;
    remove(path);
    if (ais_target_open(&context, one->target, &opened) != AIS_OK) fail_msg("%s", context.message);
    ais_target bare = *opened, *target = &bare;
    if (one->plain) bare.grad = NULL;
    ais_target eyes = watch(&past, target);
    options.threads = 1;
    /* With a checkpoint a budget ends some evaluations earlier: the density is asked so as to be known again. */
    if (options.evaluations) options.checkpoint = path;
    if (train(&context, target, options, &whole) != AIS_OK) fail_msg("%s", context.message);
    remove(path);
    options.checkpoint = path;
    options.checkpoint_seconds = 1e-9;
    options.progress = told;
    options.progress_data = &past;
    options.resume = true; /* nothing to resume: from the beginning */
    assert_int_equal(train(&context, &eyes, options, &watched), AIS_OK);
    assert_true(same(&whole, &watched) && !watched.resumed);
    options.progress = NULL;
    assert_true(past.moments >= (brief() ? 3 : 5));
    int tried = brief() ? 3 : 4;
    for (int i = brief(); i < tried; i++) { /* in brief not from the first, which takes a whole training */
        const bytes *moment = &past.moment[(past.moments - 1) * i / (tried - 1)];
        scratch_write(path, moment->data, moment->count);
        options.threads = i % 2 ? 3 : 1;
        if (train(&context, target, options, &resumed) != AIS_OK) fail_msg("%s", context.message);
        assert_true(resumed.resumed);
        assert_int_equal(resumed.points, whole.points);
        assert_int_equal(resumed.started, whole.started);
        assert_true(resumed.x == whole.x && (resumed.log_z == whole.log_z || isnan(whole.log_z)));
        if (!same(&whole, &resumed)) fail_msg("%s: moment %d of %d gives another kernel", one->target, i, tried);
        free(resumed.kernel.data);
    }
    check_fields(target, &options, &whole, &past.moment[1], one->matter);
    free(whole.kernel.data);
    free(watched.kernel.data);
    free_history(&past);
    ais_target_close(opened);
    remove(path);
}

static void one_mode_and_a_gradient(void **state) {
    static const field fields[] = {{"step", 0},         {"flow.m", 4},  {"flow.v", 4},
                                   {"flow.weights", 4}, {"batches", 0}, {"archive.gradient", 8},
                                   {"archive.x", 8},    {"present", 0}, {NULL, 0}};
    check_case(*state,
               &(training_case){.target = "heart",
                                .options = {.seed = 5, .evaluations = brief() ? 1000 : 0, .steps = brief() ? 60 : 0},
                                .matter = fields});
}

static void a_shape_that_was_given(void **state) {
    static const field fields[] = {{"flow.m", 4}, {"archive.gradient", 8}, {NULL, 0}};
    ais_shape shape = {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = 14, .activation = AIS_TANH};
    check_case(*state, &(training_case){.target = "heart",
                                        .options = {.seed = 2, .steps = 200, .rate = 1e-3, .shape = &shape},
                                        .matter = fields});
}

static void explored_with_nuts(void **state) {
    static const field fields[] = {{"archive.gradient", 8}, {NULL, 0}};
    static const ais_shape shape = {/* without it the bend would be undone, and nothing left to fit */
                                    .map = AIS_REALNVP,
                                    .reversal = AIS_SWAP,
                                    .dim = 4,
                                    .layers = 8,
                                    .depth = -1};
    check_case(*state, &(training_case){.target = "funnel:dim=4",
                                        .options = {.seed = 1, .steps = brief() ? 60 : 0, .shape = &shape},
                                        .matter = fields});
}

/* 24,000 evaluations: several new maps, then refinements, until the budget is spent. In brief one short fit. */
static void modes_without_a_gradient(void **state) {
    static const field fields[] = {
        {"round", 0},      {"archive.logp", 8}, {"archive.from", 0},        {"source.scale", 8},
        {"source.low", 8}, {"fine", 0},         {"source.mixture.mean", 8}, {NULL, 0}};
    const long steps = brief() ? 100 : 0;
    check_case(*state, &(training_case){.target = "ring5",
                                        .plain = true,
                                        .options = {.seed = 6, .evaluations = 24000, .steps = steps},
                                        .matter = fields});
}

/* Weights teach little there: the last fits go by differences, which later moments find again. */
static void slopes_of_differences(void **state) {
    static const field none[] = {{NULL, 0}};
    if (brief()) skip(); /* no short form reaches them; unit/differences does, of another training */
    check_case(*state,
               &(training_case){.target = "funnel:dim=6", .plain = true, .options = {.seed = 4}, .matter = none});
}

static void stages_of_henon(void **state) {
    static const field fields[] = {{"kernel.weights", 4}, {"kernel.m", 4}, {"kernel.v", 4},   {"draws", 0},
                                   {"kernel.step", 0},    {"chains.x", 8}, {"walk_scale", 8}, {NULL, 0}};
    ais_shape shape = {.map = AIS_HENON, .dim = 2, .layers = 3, .activation = AIS_TANH};
    check_case(
        *state,
        &(training_case){
            .target = "mog2",
            .options = {.seed = 4, .steps = 40, .population = 64, .shape = &shape, .objective = "likelihood+exact"},
            .matter = fields});
}

static void exact_stage_of_henon(void **state) {
    static const field fields[] = {{"common", 8}, {"kernel.averaged", 4}, {NULL, 0}};
    ais_shape shape = {.map = AIS_HENON, .dim = 2, .layers = 3, .activation = AIS_TANH};
    check_case(*state, &(training_case){
                           .target = "mog2",
                           .options = {.seed = 4, .steps = 70, .population = 64, .shape = &shape, .objective = "exact"},
                           .matter = fields});
}

static void the_papers_setting(void **state) {
    static const field fields[] = {
        {"kernel.weights", 4},        {"kernel.m", 4}, {"discriminator.m", 4}, {"discriminator.v", 4},
        {"discriminator.weights", 4}, {"draws", 0},    {"chains.x", 8},        {NULL, 0}};
    check_case(*state,
               &(training_case){.target = "mog2",
                                .options = {.seed = 4, .steps = brief() ? 40 : 100, .population = 64, .paper = true},
                                .matter = fields});
}

static void check_draws(const char *folder, const char *objective, const field *matter) {
    char spec[1100], path[1024];
    snprintf(path, sizeof path, "%s/draws.csv", folder);
    snprintf(spec, sizeof spec, "data:%s", path);
    ais_context context = {0};
    ais_target *target;
    assert_int_equal(ais_target_open(&context, "mog2", &target), AIS_OK);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "a,b\n");
    for (uint64_t i = 0; i < 1500; i++) {
        double x[2];
        target->reference->draw(1, i, x, target->data);
        fprintf(file, "%.17g,%.17g\n", x[0], x[1]);
    }
    fclose(file);
    ais_target_close(target);
    ais_shape shape = {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 2, .bins = 8, .activation = AIS_TANH};
    check_case(folder, &(training_case){
                           .target = spec,
                           .options = {.seed = 6, .steps = brief() ? 32 : 48, .shape = &shape, .objective = objective},
                           .matter = matter});
}

static void from_draws(void **state) {
    static const field fields[] = {{"step", 0},        {"map.step", 0},     {"map.m", 4}, {"map.v", 4},
                                   {"map.weights", 4}, {"map.averaged", 4}, {NULL, 0}};
    check_draws(*state, NULL, fields);
}

static void map_and_discriminator_together(void **state) {
    static const field fields[] = {{"step", 0}, {"map.m", 4}, {"discriminator.v", 4}, {"discriminator.weights", 4},
                                   {"turn", 0}, {NULL, 0}};
    check_draws(*state, "adversarial", fields);
}

static void the_baseline(void **state) {
    static const field fields[] = {{"step", 0},     {"reservoir", 8},      {"kernel.weights", 4},
                                   {"kernel.m", 4}, {"critic.weights", 4}, {"critic.v", 4},
                                   {NULL, 0}};
    check_case(
        *state,
        &(training_case){.target = "mog2", .options = {.seed = 8, .steps = 43, .objective = anice}, .matter = fields});
}

/* A-NICE-MC's rate is constant: the checkpoint that stays when 23 iterations are over goes on to 43. */
static void the_baseline_goes_on(void **state) {
    ais_context context = {0};
    ais_target *target;
    outcome whole, first, more;
    char path[1024];
    snprintf(path, sizeof path, "%s/k.training", (const char *)*state);
    remove(path);
    assert_int_equal(ais_target_open(&context, "mog2", &target), AIS_OK);
    ais_train_options options = {.seed = 8, .steps = 43, .objective = anice, .threads = 1};
    assert_int_equal(train(&context, target, options, &whole), AIS_OK);
    options.checkpoint = path;
    options.checkpoint_seconds = 1e-9;
    options.resume = true;
    options.steps = 23;
    assert_int_equal(train(&context, target, options, &first), AIS_OK);
    options.steps = 43;
    assert_int_equal(train(&context, target, options, &more), AIS_OK);
    assert_true(more.resumed && same(&whole, &more) && !same(&whole, &first));
    assert_int_equal(more.points, whole.points);
    free(whole.kernel.data);
    free(first.kernel.data);
    free(more.kernel.data);
    ais_target_close(target);
    remove(path);
}

/* ---- what is refused ---------------------------------------------------------------------------------- */

static void refuse(const char *path, const bytes *file, const ais_target *target, ais_train_options options,
                   ais_status wanted, const char *why) {
    ais_context context = {0};
    outcome none;
    bytes after = {0};
    scratch_write(path, file->data, file->count);
    options.checkpoint = path;
    options.resume = true;
    assert_int_equal(train(&context, target, options, &none), wanted);
    if (!strstr(context.message, why)) fail_msg("'%s' does not say '%s'", context.message, why);
    assert_null(strchr(context.message, '\n'));
    after.data = scratch_read(path, &after.count);
    assert_true(after.count == file->count && memcmp(after.data, file->data, after.count) == 0); /* left alone */
    free(after.data);
}

static void others_and_damaged_ones_are_refused(void **state) {
    ais_context context = {0};
    ais_target *target, *wider;
    outcome out;
    char path[1024];
    snprintf(path, sizeof path, "%s/k.training", (const char *)*state);
    ais_train_options options = {.seed = 1, .steps = 60, .threads = 1, .checkpoint = path};
    assert_int_equal(ais_target_open(&context, "mog2", &target), AIS_OK);
    assert_int_equal(ais_target_open(&context, "mog2:sd=0.6", &wider), AIS_OK);
    assert_int_equal(train(&context, target, options, &out), AIS_OK);
    free(out.kernel.data);
    bytes good = {0};
    good.data = scratch_read(path, &good.count); /* one that stayed */
    assert_non_null(good.data);

    ais_train_options other = options;
    other.seed = 2;
    refuse(path, &good, target, other, AIS_BAD_ARGUMENT, "there it is 'seed 1', here 'seed 2'");
    other = options;
    other.steps = 80;
    refuse(path, &good, target, other, AIS_BAD_ARGUMENT, "'steps 80'");
    other = options;
    other.evaluations = 5000;
    refuse(path, &good, target, other, AIS_BAD_ARGUMENT, "there it is 'evaluations 0', here 'evaluations 5000'");
    other = options;
    other.effective = 1000;
    refuse(path, &good, target, other, AIS_BAD_ARGUMENT, "there it is 'effective 0', here 'effective 1000'");
    other = options;
    other.seconds = 60;
    refuse(path, &good, target, other, AIS_BAD_ARGUMENT, "there it is 'seconds 0', here 'seconds 60'");
    other = options;
    other.paper = true;
    refuse(path, &good, target, other, AIS_BAD_ARGUMENT, "'preset paper'");
    other = options;
    other.ladder = true;
    other.steps = 0;
    refuse(path, &good, target, other, AIS_BAD_ARGUMENT, "'preset ladder'");
    refuse(path, &good, wider, options, AIS_BAD_ARGUMENT, "belongs to another training");
    ais_target changed = *wider; /* another density under the same name */
    changed.name = target->name;
    refuse(path, &good, &changed, options, AIS_BAD_ARGUMENT, "log density");
    for (size_t i = 0; i < 16; i++) { /* bytes all over the file */
        bytes wrong = copy(&good);
        wrong.data[good.count * i / 16 + (i == 0 ? 3 : 0)] ^= 16;
        refuse(path, &wrong, target, options, AIS_BAD_FORMAT, "");
        free(wrong.data);
    }
    for (size_t i = 0; i < 16; i++) {
        bytes cut = {.data = good.data, .count = good.count * i / 16 + (i > 8)};
        refuse(path, &cut, target, options, AIS_BAD_FORMAT, "k.training");
    }
    bytes newer = copy(&good);
    newer.data[8] = 9;
    seal(&newer);
    refuse(path, &newer, target, options, AIS_BAD_FORMAT, "version 9");
    free(newer.data);

    options.checkpoint = "/nowhere/k.training";
    assert_int_equal(train(&context, target, options, &out), AIS_FILE_ERROR);
    assert_non_null(strstr(context.message, "cannot write /nowhere/k.training"));
    free(good.data);
    ais_target_close(target);
    ais_target_close(wider);
}

/* A checksum that is right, but values that nobody wrote. */
static void impossible_values_are_refused(void **state) {
    static const int many = 25, unknown = 99, two = 2, zero = 0;
    static const size_t huge = (size_t)1 << 60;
    static const double nan = NAN, infinite = INFINITY;
    static const long minus = -1, none = 0;
    static const struct {
        const char *field;
        const void *value;
        size_t bytes;
    } wrong[] = {{"sources", &many, sizeof many},
                 {"archive.count", &huge, sizeof huge},
                 {"archive.from", &unknown, sizeof unknown},
                 {"archive.x", &nan, sizeof nan},
                 {"archive.logp", &infinite, sizeof infinite},
                 {"source.scale", &infinite, sizeof infinite},
                 {"mixture.weight", &minus, sizeof minus},
                 {"slopes", &two, sizeof two},
                 {"plan_number", &unknown, sizeof unknown},
                 {"likelihood_share", &nan, sizeof nan},
                 {"steps", &none, sizeof none},
                 {"draws", &huge, sizeof huge},
                 {"fitting", &zero, sizeof zero},
                 {"densities", &minus, sizeof minus},
                 {"present", &zero, sizeof zero},
                 {"factor", &nan, sizeof nan}};
    ais_context context = {0};
    ais_target *target;
    outcome out;
    bytes good = {0};
    const char *path = scratch_path(*state, "values.training");
    ais_train_options options = {.seed = 5, .threads = 1, .evaluations = brief() ? 1000 : 0, .checkpoint = path};
    assert_int_equal(ais_target_open(&context, "heart", &target), AIS_OK);
    assert_int_equal(train(&context, target, options, &out), AIS_OK);
    free(out.kernel.data);
    good.data = scratch_read(path, &good.count);
    assert_non_null(good.data);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bytes made = copy(&good);
        size_t data = 0, count = 0;
        if (!find(&good, wrong[i].field, &data, &count) || count < wrong[i].bytes)
            fail_msg("the checkpoint has no field %s", wrong[i].field);
        memcpy(made.data + data, wrong[i].value, wrong[i].bytes);
        seal(&made);
        refuse(path, &made, target, options, AIS_BAD_FORMAT, wrong[i].field);
        free(made.data);
    }
    free(good.data);
    ais_target_close(target);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mode_and_a_gradient),
        cmocka_unit_test(a_shape_that_was_given),
        cmocka_unit_test(explored_with_nuts),
        cmocka_unit_test(modes_without_a_gradient),
        cmocka_unit_test(slopes_of_differences),
        cmocka_unit_test(stages_of_henon),
        cmocka_unit_test(exact_stage_of_henon),
        cmocka_unit_test(the_papers_setting),
        cmocka_unit_test(from_draws),
        cmocka_unit_test(map_and_discriminator_together),
        cmocka_unit_test(the_baseline),
        cmocka_unit_test(the_baseline_goes_on),
        cmocka_unit_test(others_and_damaged_ones_are_refused),
        cmocka_unit_test(impossible_values_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
