/* The objectives of flows against central differences, in double. */
#include "support.h"

#include "simd/normal.h"
#include "trainer/flow_objective.h"

enum { DIM = 3, BLOCKS = 2, LANES = BLOCKS * AIS_BLOCK };

/* A density with some of everything: correlated, skew, with a gradient. */
static double logp(const double *x, void *data) {
    (void)data;
    double bend = x[1] - 0.3 * x[0] * x[0];
    return -0.5 * x[0] * x[0] - bend * bend - log(cosh(x[2] - 0.5 * x[0]));
}

static double grad(const double *x, double *gradient, void *data) {
    double bend = x[1] - 0.3 * x[0] * x[0], slant = tanh(x[2] - 0.5 * x[0]);
    gradient[0] = -x[0] + 1.2 * bend * x[0] + 0.5 * slant;
    gradient[1] = -2 * bend;
    gradient[2] = -slant;
    return logp(x, data);
}

static const ais_target target = {.name = "bent", .dim = DIM, .logp = logp, .grad = grad};

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
    assert_true(ais_flow_trainer_new(&f->trainer, f->learned, &target, f->pool, BLOCKS, &f->arena));
    for (int i = 0; i < DIM * LANES; i++) f->trainer.u[i] = odd(2, (uint64_t)i, -2, 2);
    for (int i = 0; i < LANES; i++) f->trainer.logp[i] = odd(3, (uint64_t)i, -4, 0);
}

static void end(fixture *f) {
    ais_kernel_free(&f->learned->kernel);
    ais_pool_free(f->pool);
    ais_arena_free(&f->arena);
}

/* log q of the path objective with the weights held at `frozen`, at x = T^-1(v) with the present ones. */
static double path_loss(fixture *f, ais_real *frozen) {
    ais_real *present = f->learned->weights;
    ais_flow_tape *tape = ais_flow_tape_new(&f->learned->flow, AIS_BLOCK, &f->arena);
    double sum = 0, z[DIM * AIS_BLOCK], x[DIM * AIS_BLOCK], det[AIS_BLOCK];
    for (int b = 0; b < BLOCKS; b++) {
        memcpy(z, f->trainer.u + b * DIM * AIS_BLOCK, sizeof z);
        ais_flow_map(&f->learned->flow, present, tape, true, z, det);
        ais_unwhiten(&f->learned->whitening, AIS_BLOCK, z, x);
        memset(det, 0, sizeof det);
        ais_flow_map(&f->learned->flow, frozen, tape, false, z, det);
        for (int c = 0; c < AIS_BLOCK; c++) {
            double point[DIM], log_q = det[c];
            for (int i = 0; i < DIM; i++) {
                point[i] = x[i * AIS_BLOCK + c];
                log_q -= 0.5 * z[i * AIS_BLOCK + c] * z[i * AIS_BLOCK + c];
            }
            sum += log_q - logp(point, NULL);
        }
    }
    return sum / LANES;
}

static void differences(bool spline, ais_flow_objective objective) {
    fixture f;
    begin(&f, spline, 1);
    double loss, step = 1e-5, worst = 0;
    assert_ok(f.context, ais_flow_loss(&f.context, &f.trainer, objective, &loss));
    size_t count = f.learned->weight_count;
    ais_real *gradient = malloc(count * sizeof *gradient), *frozen = malloc(count * sizeof *frozen);
    memcpy(gradient, f.trainer.batch.gradient, count * sizeof *gradient);
    memcpy(frozen, f.learned->weights, count * sizeof *frozen);
    for (size_t i = 0; i < count; i++) {
        double side[2];
        for (int k = 0; k < 2; k++) {
            f.learned->weights[i] = frozen[i] + (k ? step : -step);
            if (objective == AIS_FLOW_PATH)
                side[k] = path_loss(&f, frozen);
            else
                assert_ok(f.context, ais_flow_loss(&f.context, &f.trainer, objective, &side[k]));
        }
        f.learned->weights[i] = frozen[i];
        double wanted = (side[1] - side[0]) / (2 * step);
        worst = fmax(worst, fabs(gradient[i] - wanted) / (1 + fabs(wanted)));
    }
    if (!(worst < 1e-7)) fail_msg("spline %d, objective %d: gradient misses by %.3g", spline, objective, worst);
    free(gradient);
    free(frozen);
    end(&f);
}

static void gradients(void **state) {
    (void)state;
    for (int spline = 0; spline < 2; spline++)
        for (int objective = AIS_FLOW_LIKELIHOOD; objective <= AIS_FLOW_PATH; objective++)
            differences(spline, (ais_flow_objective)objective);
}

static void threads_change_nothing(void **state) {
    (void)state;
    fixture one, three;
    begin(&one, true, 1);
    begin(&three, true, 3);
    for (int objective = AIS_FLOW_LIKELIHOOD; objective <= AIS_FLOW_PATH; objective++) {
        double loss[2];
        assert_ok(one.context, ais_flow_loss(&one.context, &one.trainer, (ais_flow_objective)objective, &loss[0]));
        assert_ok(three.context,
                  ais_flow_loss(&three.context, &three.trainer, (ais_flow_objective)objective, &loss[1]));
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
