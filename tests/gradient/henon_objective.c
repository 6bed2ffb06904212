/* The objectives of henon kernels, through M, the whitening, the base, the mixing term and the
 * discriminator, against central differences. */
#include "support.h"

#include "fit/henon_objective.h"

enum { DIM = 2, BLOCKS = 2 };
static const double h = 1e-6, tolerance = 3e-6;

/* log of a mixture of two unequal bumps, with its gradient */
static double density(const double *x, double *gradient, void *data) {
    (void)data;
    double a = exp(-0.5 * ((x[0] - 1) * (x[0] - 1) + x[1] * x[1])),
           b = 0.4 * exp(-(x[0] + 2) * (x[0] + 2) - x[1] * x[1]);
    gradient[0] = (-(x[0] - 1) * a - 2 * (x[0] + 2) * b) / (a + b);
    gradient[1] = (-x[1] * a - 2 * x[1] * b) / (a + b);
    return log(a + b);
}

static double density_alone(const double *x, void *data) {
    double gradient[DIM];
    return density(x, gradient, data);
}

typedef struct subject {
    ais_arena arena;
    ais_pool *pool;
    ais_target target;
    ais_whitening whitening;
    ais_discriminator discriminator;
    ais_mixing mixing;
    ais_henon_objective objective;
    ais_real *theta, *phi;
} subject;

static void make(subject *s, bool adversarial, bool mixing, double likelihood, ais_reversal reversal) {
    ais_context context = {0};
    *s = (subject){.target = {.name = "bumps", .dim = DIM, .logp = density_alone, .grad = density}};
    assert_ok(context, ais_pool_new(&context, 2, &s->pool));
    assert_ok(context, ais_whitening_new(&context, &s->whitening, DIM, &s->arena));
    double mean[DIM] = {0.3, -0.2}, factor[DIM * DIM] = {1.4, 0.2, -0.3, 0.9};
    assert_ok(context, ais_whitening_set(&context, &s->whitening, mean, factor));
    ais_discriminator_build(&s->discriminator, AIS_PRODUCT, DIM, 6, 2, true);
    ais_mixing_options features = {
        .dim = DIM, .waves = 4, .ripples = 3, .weight = 4, .scale = 1.5, .centre = mean, .seed = 3};
    assert_true(ais_mixing_new(&s->mixing, &features, &s->arena));
    s->objective = (ais_henon_objective){.reversal = reversal,
                                         .whitening = &s->whitening,
                                         .target = &s->target,
                                         .discriminator = adversarial ? &s->discriminator : NULL,
                                         .mixing = mixing ? &s->mixing : NULL,
                                         .strength = 0.7,
                                         .likelihood = likelihood,
                                         .h = 1e-5};
    ais_henon_build(&s->objective.henon, DIM, 3, 5, 1, true);
    assert_true(ais_henon_objective_new(&s->objective, s->pool, BLOCKS, &s->arena));
    size_t count = ais_henon_theta(&s->objective.henon);
    s->theta = AIS_TAKE(&s->arena, ais_real, count);
    ais_henon_base_init(2 * DIM, s->theta + s->objective.henon.weights);
    for (size_t i = 0; i < count; i++) s->theta[i] += odd(1, i, -0.4, 0.4);
    s->phi = AIS_TAKE(&s->arena, ais_real, s->discriminator.weights);
    ais_discriminator_draw(&s->discriminator, 5, s->phi);
    for (int b = 0; b < BLOCKS; b++)
        for (size_t c = 0; c < AIS_BLOCK; c++) {
            double x[DIM];
            for (size_t i = 0; i < DIM; i++)
                s->objective.block[b].x[i * AIS_BLOCK + c] = x[i] = odd(20 + (uint64_t)b, i * AIS_BLOCK + c, -2, 2);
            s->objective.block[b].logp[c] = density_alone(x, NULL);
        }
    ais_henon_objective_draw(&s->objective, 9, 4);
}

static void drop(subject *s) {
    ais_pool_free(s->pool);
    ais_arena_free(&s->arena);
}

typedef double evaluate(subject *s);
static double likelihood(subject *s) { return ais_henon_likelihood(&s->objective, s->theta); }
static double exact(subject *s) { return ais_henon_acceptance(&s->objective, s->theta, NULL); }
static double soft(subject *s) {
    s->objective.exact = AIS_SOFT;
    return exact(s);
}
static double root(subject *s) {
    s->objective.exact = AIS_ROOT;
    return exact(s);
}
static double adversarial(subject *s) { return ais_henon_acceptance(&s->objective, s->theta, s->phi); }
static double discriminate(subject *s) { return ais_henon_discriminate(&s->objective, s->theta, s->phi); }

static double worst(subject *s, evaluate *loss, bool spoil) {
    bool by_phi = loss == discriminate;
    const ais_batch *batch = by_phi ? &s->objective.discriminator_batch : &s->objective.batch;
    ais_real *weights = by_phi ? s->phi : s->theta, *gradient = malloc(batch->count * sizeof *gradient);
    double result = 0;
    loss(s);
    memcpy(gradient, batch->gradient, batch->count * sizeof *gradient);
    if (spoil) gradient[batch->count / 3] += 1e-3;
    for (size_t i = 0; i < batch->count; i++) {
        ais_real keep = weights[i];
        weights[i] = keep + h;
        double up = loss(s);
        weights[i] = keep - h;
        double down = loss(s);
        weights[i] = keep;
        result = fmax(result, fabs((up - down) / (2 * h) - gradient[i]) / (1 + fabs(gradient[i])));
    }
    free(gradient);
    return result;
}

static void check(const char *name, evaluate *loss, bool with_discriminator, bool mixing, double share,
                  ais_reversal reversal) {
    subject s;
    make(&s, with_discriminator, mixing, share, reversal);
    double found = worst(&s, loss, false);
    if (!(found < tolerance)) fail_msg("%s: gradient misses by %.3g", name, found);
    if (worst(&s, loss, true) < 100 * tolerance) fail_msg("%s: a spoilt gradient was not noticed", name);
    drop(&s);
}

static void kernels(void **state) {
    (void)state;
    check("likelihood", likelihood, false, false, 0, AIS_FLIP);
    check("exact", exact, false, false, 0, AIS_FLIP);
    check("exact, swap", exact, false, false, 0, AIS_SWAP);
    check("exact and mixing", exact, false, true, 0, AIS_FLIP);
    check("exact, mixing, likelihood", exact, false, true, 0.3, AIS_SWAP);
    check("exact, soft", soft, false, true, 0, AIS_FLIP);
    check("exact, root", root, false, true, 0, AIS_FLIP);
    check("adversarial", adversarial, true, false, 0, AIS_FLIP);
    check("adversarial and mixing", adversarial, true, true, 0.2, AIS_FLIP);
}

static void discriminators(void **state) {
    (void)state;
    check("logistic", discriminate, true, false, 0, AIS_FLIP);
}

/* Differences of the density give the gradient's result. */
static void differences(void **state) {
    (void)state;
    subject s;
    make(&s, false, true, 0, AIS_FLIP);
    size_t count = s.objective.batch.count;
    ais_real *wanted = malloc(count * sizeof *wanted);
    exact(&s);
    memcpy(wanted, s.objective.batch.gradient, count * sizeof *wanted);
    s.objective.differences = true;
    exact(&s);
    for (size_t i = 0; i < count; i++) assert_near(s.objective.batch.gradient[i], wanted[i], 1e-7);
    free(wanted);
    drop(&s);
}

/* One lane outside the support loses its gradient and harms no other. */
static double half_plane(const double *x, void *data) { return x[0] > -0.5 ? density_alone(x, data) : -INFINITY; }
static void outside(void **state) {
    (void)state;
    subject s;
    make(&s, false, true, 0.1, AIS_FLIP);
    s.target.logp = half_plane;
    s.target.grad = NULL;
    assert_true(isfinite(exact(&s)));
    int lost = 0;
    for (int b = 0; b < BLOCKS; b++)
        for (int c = 0; c < AIS_BLOCK; c++) lost += s.objective.block[b].bad[c];
    assert_in_range(lost, 1, BLOCKS * AIS_BLOCK - 1);
    for (size_t i = 0; i < s.objective.batch.count; i++) assert_true(isfinite(s.objective.batch.gradient[i]));
    drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels), cmocka_unit_test(discriminators),
                                       cmocka_unit_test(differences), cmocka_unit_test(outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
