/* A short training of a henon kernel: it learns, the laws hold on its weights, results do not depend on
 * threads, and what cannot work is refused or rolled back. */
#include "support.h"

#include "fit/henon_trainer.h"
#include "judge/fresh.h"
#include "judge/henon_judge.h"

enum { DIM = 2, LANES = 64 };

typedef struct setting {
    ais_context context;
    ais_pool *pool;
    ais_target *target;
    ais_population *population;
    ais_kernel *kernel;
    ais_henon_trainer *trainer;
} setting;

static void make(setting *s, int threads, const char *target) {
    ais_shape shape = {.map = AIS_HENON, .dim = DIM, .layers = 4, .hidden = 8, .activation = AIS_TANH};
    *s = (setting){0};
    assert_ok(s->context, ais_pool_new(&s->context, threads, &s->pool));
    assert_ok(s->context, ais_target_open(&s->context, target, &s->target));
    s->target->start_scale = 2;
    assert_ok(s->context, ais_population_new(&s->context, s->pool, s->target, 5, 128, NULL, &s->population));
    assert_ok(s->context, ais_population_move(&s->context, s->population, 1, 100));
    ais_population_scale_walk(s->population);
    assert_ok(s->context, ais_kernel_learned(&s->context, &shape, 5, &s->kernel));
    assert_ok(s->context, ais_henon_whiten(&s->context, s->kernel, s->population, true));
    ais_henon_spread(s->kernel, 5);
    assert_ok(s->context, ais_henon_trainer_new(&s->context, s->kernel, s->population, 5, &s->trainer));
}

static void drop(setting *s) {
    ais_henon_trainer_free(s->trainer);
    ais_kernel_free(s->kernel);
    ais_population_free(s->population);
    ais_target_close(s->target);
    ais_pool_free(s->pool);
}

typedef struct record {
    double first, last, acceptance;
    int reports, judgements, rollbacks;
} record;

static void note(void *data, const ais_loop_progress *progress) {
    record *r = data;
    if (r->reports++ == 0) r->first = progress->loss;
    r->last = progress->loss;
    r->judgements += progress->judged;
    r->acceptance = progress->acceptance;
    r->rollbacks = progress->rollbacks;
}

static ais_henon_stage brief(ais_henon_kind kind, long steps) {
    ais_henon_stage stage = ais_henon_stage_default(kind);
    stage.recipe.steps = steps;
    stage.recipe.judge_every = steps / 4;
    stage.recipe.judge_chains = 64;
    stage.recipe.judge_draws = 40;
    stage.recipe.helper_first = 30;
    return stage;
}

static ais_status train(setting *s, const ais_henon_stage *stage, record *r) {
    return ais_henon_train(&s->context, s->trainer, stage, &(ais_watch){.progress = note, .data = r});
}

static void stages(void **state) {
    (void)state;
    static float weights[2][4096];
    for (int k = 0; k < 2; k++) {
        setting s;
        make(&s, 1 + k, "ring");
        for (int kind = AIS_LIKELIHOOD; kind <= AIS_ADVERSARIAL; kind++) {
            record r = {0};
            ais_henon_stage stage = brief((ais_henon_kind)kind, kind == AIS_LIKELIHOOD ? 400 : 60);
            assert_ok(s.context, train(&s, &stage, &r));
            assert_int_equal(r.judgements, 4);
            assert_int_equal(r.reports - r.judgements,
                             stage.recipe.steps / 64); /* between judgements, every 64 steps */
            assert_true(isfinite(r.last));
            if (kind == AIS_LIKELIHOOD && !(r.last < r.first - 0.1))
                fail_msg("the likelihood did not rise: loss %g, then %g", r.first, r.last);
        }
        assert_true(ais_henon_trainer_best(s.trainer) > 0);
        size_t count;
        const float *trained = ais_kernel_weights(s.kernel, &count);
        assert_true(count < 4096);
        memcpy(weights[k], trained, count * sizeof *trained);
        if (k) assert_memory_equal(weights[0], weights[1], count * sizeof *trained);
        drop(&s);
    }
}

/* d(Mz) = -d(z) on trained weights, with Mz from the kernel's exact lattice. */
static void trained_discriminator(void **state) {
    (void)state;
    for (int form = AIS_PRODUCT; form <= AIS_GENERAL; form++) {
        setting s;
        make(&s, 2, "mog2");
        ais_discriminator discriminator;
        ais_arena arena = {0};
        record r = {0};
        ais_henon_stage stage = brief(AIS_ADVERSARIAL, 40);
        stage.form = (ais_discriminator_form)form;
        assert_ok(s.context, train(&s, &stage, &r));
        double z[2 * DIM * LANES], image[2 * DIM * LANES], again[2 * DIM * LANES], value[LANES], other[LANES];
        for (int i = 0; i < 2 * DIM * LANES; i++) z[i] = odd(3, (uint64_t)i, -3, 3);
        assert_ok(s.context, ais_kernel_involution(&s.context, s.kernel, LANES, z, image, NULL));
        assert_ok(s.context, ais_kernel_involution(&s.context, s.kernel, LANES, image, z, NULL));
        assert_ok(s.context, ais_kernel_involution(&s.context, s.kernel, LANES, z, again, NULL));
        size_t count;
        const ais_real *phi = ais_henon_trainer_discriminator(s.trainer, &discriminator);
        count = discriminator.weights;
        assert_non_null(phi);
        assert_int_equal(discriminator.form, form);
        ais_real *fresh = AIS_TAKE(&arena, ais_real, count);
        ais_discriminator_draw(&discriminator, 5, fresh);
        assert_memory_not_equal(fresh, phi, count * sizeof *phi); /* it was trained */
        ais_discriminator_tape *tape = ais_discriminator_tape_new(&discriminator, LANES, &arena);
        assert_non_null(tape);
        ais_discriminator_forward(&discriminator, phi, tape, z, again, value);
        ais_discriminator_forward(&discriminator, phi, tape, again, z, other);
        for (int c = 0; c < LANES; c++) {
            assert_true(value[c] == -other[c]);
            assert_true(isfinite(value[c]));
        }
        ais_arena_free(&arena);
        drop(&s);
    }
}

/* A rate that throws the kernel away is noticed, and the kernel keeps its best weights. */
static void divergence(void **state) {
    (void)state;
    setting s;
    make(&s, 2, "ring");
    record r = {0};
    ais_henon_stage good = brief(AIS_LIKELIHOOD, 300), bad = brief(AIS_EXACT, 200);
    assert_ok(s.context, train(&s, &good, &r));
    double before = ais_henon_trainer_best(s.trainer);
    bad.recipe.pace = (ais_pace){.rate = 30};
    bad.recipe.judge_every = 20;
    assert_ok(s.context, train(&s, &bad, &r));
    if (r.rollbacks == 0) fail_msg("acceptance fell to %g and nobody noticed", r.acceptance);
    assert_true(ais_henon_trainer_best(s.trainer) >= before);
    size_t count;
    const float *weights = ais_kernel_weights(s.kernel, &count);
    for (size_t i = 0; i < count; i++) assert_true(fabs((double)weights[i]) < 20);
    drop(&s);
}

static volatile sig_atomic_t stop;

static void stop_at_half(void *data, const ais_loop_progress *progress) {
    (void)data;
    stop = progress->step >= 40;
}

static void refusals(void **state) {
    (void)state;
    setting s;
    make(&s, 1, "ring");
    record r = {0};
    ais_henon_stage stage = brief(AIS_LIKELIHOOD, 80);
    const ais_watch watch = {.progress = stop_at_half, .stop = &stop};
    assert_int_equal(ais_henon_train(&s.context, s.trainer, &stage, &watch), AIS_STOPPED);
    stage.recipe.steps = 0;
    assert_int_equal(train(&s, &stage, &r), AIS_BAD_ARGUMENT);
    ais_henon_trainer *none;
    ais_kernel *other;
    ais_shape wide = {.map = AIS_HENON, .dim = 3}, flow = {.map = AIS_SPLINE, .dim = DIM};
    const ais_shape *shape[] = {&wide, &flow};
    for (int k = 0; k < 2; k++) {
        assert_ok(s.context, ais_kernel_learned(&s.context, shape[k], 1, &other));
        assert_int_equal(ais_henon_trainer_new(&s.context, other, s.population, 1, &none), AIS_BAD_ARGUMENT);
        assert_null(none);
        ais_kernel_free(other);
    }
    drop(&s);
}

/* With V = 0 layers are quarter turns, so that M is known: a fresh draw (swap, 4 layers), no move at all (flip, 4) and
 * x -> -x (flip, 5), whose mean looks perfect. The judge must tell them apart. */
static void judgement(void **state) {
    (void)state;
    enum { DRAWS = 100 };
    static const struct {
        ais_reversal reversal;
        int layers;
        double least, most;
    } known[] = {
        {AIS_SWAP, 4, 0.6, 1.4}, {AIS_FLIP, 4, 0.5 / DRAWS, 1.5 / DRAWS}, {AIS_FLIP, 5, 0.5 / DRAWS, 1.5 / DRAWS}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        setting s;
        make(&s, 2, "gaussian:dim=2");
        ais_kernel *kernel;
        ais_fresh_result result;
        ais_shape shape = {.map = AIS_HENON, .reversal = known[k].reversal, .dim = DIM, .layers = known[k].layers};
        assert_ok(s.context, ais_kernel_learned(&s.context, &shape, 5, &kernel));
        ais_henon_scale_last(kernel, 0);
        assert_ok(s.context, ais_henon_judge(&s.context, s.population, kernel, 5, 512, DRAWS, &result));
        if (!(result.worst_ess > known[k].least && result.worst_ess < known[k].most))
            fail_msg("reversal %d, %d layers: judged %g, acceptance %g", known[k].reversal, known[k].layers,
                     result.worst_ess, result.acceptance);
        assert_true(result.acceptance > 0.999);
        ais_kernel_free(kernel);
        drop(&s);
    }
}

/* A turned map proposes x' = -x cos(2 angle) - v sin(2 angle) on a round gaussian: always accepted, correlation known.
 */
static void turned(void **state) {
    (void)state;
    enum { CHAINS = 512, DRAWS = 40 };
    static const double angle = 0.37;
    setting s;
    make(&s, 2, "gaussian:dim=2");
    static double x[DIM * CHAINS * DRAWS];
    double acceptance, product = 0, square = 0;
    ais_kernel *kernel;
    ais_shape shape = {.map = AIS_HENON, .dim = DIM, .layers = 5, .hidden = 5, .activation = AIS_RELU};
    assert_ok(s.context, ais_kernel_learned(&s.context, &shape, 5, &kernel));
    ais_henon_scale_last(kernel, 0);
    ais_henon_turn(kernel, angle);
    assert_ok(s.context, ais_fresh_draws(&s.context, s.population, kernel, 5, CHAINS, DRAWS, x, &acceptance));
    for (size_t k = 1; k < sizeof x / sizeof *x; k++) {
        if (k % DRAWS == 0) continue;
        product += x[k] * x[k - 1];
        square += x[k] * x[k];
    }
    assert_true(acceptance > 0.999);
    if (!(fabs(product / square + cos(2 * angle)) < 0.03)) fail_msg("correlation %g", product / square);
    ais_kernel_free(kernel);
    drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stages),     cmocka_unit_test(trained_discriminator),
                                       cmocka_unit_test(divergence), cmocka_unit_test(judgement),
                                       cmocka_unit_test(turned),     cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
