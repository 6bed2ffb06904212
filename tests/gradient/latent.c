/* The density in latent space against the definition, and its gradient against central differences, in double. */
#include "support.h"

#include "learned/pullback.h"
#include "map/neck.h"

enum { DIM = 4, LANES = 32 };
static const double h = 1e-5, tolerance = 2e-7;

/* A density with no symmetry that would hide a wrong index. */
static double bent_grad(const double *x, double *gradient, void *data) {
    (void)data;
    double sum = 0;
    memset(gradient, 0, DIM * sizeof *gradient);
    for (int i = 0; i < DIM; i++) {
        int next = (i + 1) % DIM;
        double off = x[i] - 0.3 * x[next] * x[next] + 0.1 * i;
        sum -= 0.5 * off * off * (1 + 0.2 * i);
        gradient[i] -= off * (1 + 0.2 * i);
        gradient[next] += 0.6 * x[next] * off * (1 + 0.2 * i);
    }
    return sum;
}

static double bent_logp(const double *x, void *data) {
    double gradient[DIM];
    return bent_grad(x, gradient, data);
}

static const ais_target bent = {.name = "bent", .dim = DIM, .logp = bent_logp, .grad = bent_grad};

static ais_learned *make(const ais_shape *shape, const double *factor) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_learned(&context, shape, 1, &kernel));
    ais_learned *learned = (ais_learned *)kernel;
    size_t fixed = shape->neck ? ais_neck_weights(shape->dim, shape->neck) : 0; /* its bins: as wide as others' */
    for (size_t i = 0; i < learned->weight_count; i++) learned->weights[i] = odd(1, i, -0.5, 0.5) + (i < fixed);
    double mean[DIM];
    for (int i = 0; i < DIM; i++) mean[i] = odd(2, (uint64_t)i, -1, 1);
    assert_ok(context, ais_kernel_whiten(&context, kernel, mean, factor));
    return learned;
}

/* log p(x) + log|det|, x and the determinant by way of what a proposal with v = z gives. */
static double defined(const ais_learned *learned, const double *z) {
    ais_arena arena = {0};
    ais_proposal proposal;
    double x[DIM];
    assert_true(ais_proposal_new(learned, AIS_LANES, &arena, &proposal));
    for (int i = 0; i < DIM; i++) proposal.v[i * AIS_LANES] = z[i];
    ais_propose_independent(learned, &proposal);
    for (int i = 0; i < DIM; i++) x[i] = proposal.x[i * AIS_LANES];
    double value = bent_logp(x, NULL) - proposal.next_det[0];
    ais_arena_free(&arena);
    return value;
}

static void check(const ais_shape *shape, const double *factor, bool single) {
    ais_learned *learned = make(shape, factor);
    ais_arena arena = {0};
    ais_pullback density;
    assert_true(ais_pullback_take(&density, learned, &bent, LANES, LANES, single, &arena));
    const ais_target *latent = &density.latent;
    double lanes[DIM * LANES], logp[LANES];
    for (int i = 0; i < DIM * LANES; i++) lanes[i] = odd(3, (uint64_t)i, -2.6, 2.6); /* some beyond the splines */
    latent->batch(LANES, lanes, logp, latent->data);
    for (int c = 0; c < LANES; c++) {
        double z[DIM], gradient[DIM], unused[DIM];
        for (int i = 0; i < DIM; i++) z[i] = lanes[i * LANES + c];
        double value = latent->grad(z, gradient, latent->data);
        assert_near(value, defined(learned, z), 1e-11 * (1 + fabs(value)));
        assert_true(value == latent->logp(z, latent->data));
        if (!single) assert_true(value == logp[c]); /* lanes change no bit */
        for (int i = 0; i < DIM; i++) {
            double keep = z[i];
            z[i] = keep + h;
            double up = latent->grad(z, unused, latent->data);
            z[i] = keep - h;
            double down = latent->grad(z, unused, latent->data), wanted = (up - down) / (2 * h);
            z[i] = keep;
            if (!(fabs(gradient[i] - wanted) < tolerance * (1 + fabs(wanted))))
                fail_msg("map %d, layers %d, coordinate %d: gradient %.12g, difference %.12g", (int)shape->map,
                         shape->layers, i, gradient[i], wanted);
            if (fabs(gradient[i] * 1.001 + copysign(1e-3, gradient[i]) - wanted) < 100 * tolerance)
                fail_msg("a spoilt gradient would pass");
        }
    }
    ais_arena_free(&arena);
    ais_kernel_free(&learned->kernel);
}

static void latent_gradients(void **state) {
    (void)state;
    const ais_shape shapes[] = {
        {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = DIM},
        {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = DIM, .hidden = 5, .activation = AIS_TANH},
        {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = DIM, .depth = -1, .marginal_bins = 4, .pivot = 1},
        {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = DIM, .depth = -1, .layers = 5, .pivot = 1},
        {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = DIM, .depth = -1, .layers = 1, .pivot = 2},
        {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = DIM, .depth = -1, .layers = 2, .neck = 6},
        {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = DIM, .depth = 2, .hidden = 16, .activation = AIS_TANH},
        {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = DIM, .hidden = 5, .bins = 5, .activation = AIS_TANH},
        {.map = AIS_SPLINE,
         .reversal = AIS_SWAP,
         .dim = DIM,
         .hidden = 5,
         .bins = 5,
         .marginal_bins = 6,
         .bound = 2.2,
         .activation = AIS_TANH},
    };
    double factor[3][DIM * DIM] = {{0}}; /* diagonal, lower, full */
    for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++) {
            double value = odd(4, (uint64_t)(i * DIM + j), -0.4, 0.4) + (i == j ? 1 : 0);
            for (int f = 0; f < 3; f++)
                if (i == j || (f == 1 && j < i) || f == 2) factor[f][i * DIM + j] = value;
        }
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int f = 0; f < 6; f++) check(&shapes[s], factor[f / 2], f % 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(latent_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
