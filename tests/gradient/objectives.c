/* The objectives of flows against central differences, in double. */
#include "support.h"

#include "fit/flow_objective.h"
#include "simd/normal.h"

enum { DIM = 3, BLOCKS = 2, LANES = BLOCKS * AIS_BLOCK };

typedef struct fixture {
    ais_context context;
    ais_pool *pool;
    ais_learned *learned;
    ais_flow_trainer trainer;
    ais_arena arena;
} fixture;

static void begin(fixture *f, bool spline, int threads) {
    memset(f, 0, sizeof *f);
    ais_shape shape = {
        .map = spline ? AIS_SPLINE : AIS_REALNVP, .reversal = AIS_SWAP, .dim = DIM, .hidden = 5, .bins = 4};
    shape.activation = AIS_TANH;
    shape.marginal_bins = 3;
    ais_kernel *kernel;
    assert_ok(f->context, ais_pool_new(&f->context, threads, &f->pool));
    assert_ok(f->context, ais_kernel_learned(&f->context, &shape, 1, &kernel));
    const double mean[DIM] = {0.2, -0.1, 0.4}, factor[DIM * DIM] = {1.1, 0, 0.2, 0.3, 0.8, 0, 0, -0.2, 1.5};
    assert_ok(f->context, ais_kernel_whiten(&f->context, kernel, mean, factor));
    f->learned = (ais_learned *)kernel;
    for (size_t i = 0; i < f->learned->weight_count; i++) f->learned->weights[i] = odd(1, i, -0.5, 0.5);
    assert_true(ais_flow_trainer_new(&f->trainer, f->learned, f->pool, BLOCKS, &f->arena));
    for (int i = 0; i < DIM * LANES; i++) f->trainer.u[i] = odd(2, (uint64_t)i, -2, 2);
    for (int i = 0; i < DIM * LANES; i++) f->trainer.slope[i] = odd(4, (uint64_t)i, -3, 3);
    f->trainer.slope[7] = 40; /* a residual beyond which the loss is linear */
    for (int i = 0; i < LANES; i++) f->trainer.logp[i] = odd(3, (uint64_t)i, -4, 0);
}

static void end(fixture *f) {
    ais_kernel_free(&f->learned->kernel);
    ais_pool_free(f->pool);
    ais_arena_free(&f->arena);
}

static void differences(bool spline, ais_flow_objective objective) {
    fixture f;
    begin(&f, spline, 1);
    double step = 1e-5, worst = 0;
    ais_flow_loss(&f.trainer, objective);
    size_t count = f.learned->weight_count;
    ais_real *gradient = malloc(count * sizeof *gradient), *frozen = malloc(count * sizeof *frozen);
    memcpy(gradient, f.trainer.batch.gradient, count * sizeof *gradient);
    memcpy(frozen, f.learned->weights, count * sizeof *frozen);
    for (size_t i = 0; i < count; i++) {
        double side[2];
        for (int k = 0; k < 2; k++) {
            f.learned->weights[i] = frozen[i] + (k ? step : -step);
            side[k] = ais_flow_loss(&f.trainer, objective);
        }
        f.learned->weights[i] = frozen[i];
        double wanted = (side[1] - side[0]) / (2 * step);
        worst = fmax(worst, fabs(gradient[i] - wanted) / (1 + fabs(wanted)));
    }
    /* Fisher's slope along the residual is a difference itself; splines bend at their knots. */
    if (!(worst < (objective == AIS_FLOW_FISHER ? 1e-4 : 1e-7)))
        fail_msg("spline %d, objective %d: gradient misses by %.3g", spline, objective, worst);
    free(gradient);
    free(frozen);
    end(&f);
}

static void gradients(void **state) {
    (void)state;
    for (int spline = 0; spline < 2; spline++)
        for (int objective = AIS_FLOW_LIKELIHOOD; objective <= AIS_FLOW_FISHER; objective++)
            differences(spline, (ais_flow_objective)objective);
}

static void threads_change_nothing(void **state) {
    (void)state;
    fixture one, three;
    begin(&one, true, 1);
    begin(&three, true, 3);
    for (int objective = AIS_FLOW_LIKELIHOOD; objective <= AIS_FLOW_FISHER; objective++) {
        double loss[2];
        loss[0] = ais_flow_loss(&one.trainer, (ais_flow_objective)objective);
        loss[1] = ais_flow_loss(&three.trainer, (ais_flow_objective)objective);
        assert_true(loss[0] == loss[1]);
        assert_memory_equal(one.trainer.batch.gradient, three.trainer.batch.gradient,
                            one.learned->weight_count * sizeof(ais_real));
    }
    end(&one);
    end(&three);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients), cmocka_unit_test(threads_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
