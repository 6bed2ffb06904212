/* Both discriminators and their losses against central differences, and the law d(Mz) = -d(z). */
#include "support.h"

#include "fit/discriminator.h"

enum { LANES = 16, DIM = 3, ROWS = 2 * DIM };
static const double h = 1e-5, tolerance = 1e-7;

typedef struct subject {
    ais_discriminator discriminator;
    ais_discriminator_tape *tape;
    ais_real *weights, *gradient;
    double z[ROWS * LANES], image[ROWS * LANES], value[LANES], up[LANES];
    double gradient_z[ROWS * LANES], gradient_image[ROWS * LANES];
    ais_arena arena;
} subject;

static subject *make(ais_discriminator_form form, int depth, bool tanh) {
    subject *s = calloc(1, sizeof *s);
    ais_discriminator_build(&s->discriminator, form, DIM, 7, depth, tanh);
    s->tape = ais_discriminator_tape_new(&s->discriminator, LANES, &s->arena);
    s->weights = AIS_TAKE(&s->arena, ais_real, s->discriminator.weights);
    s->gradient = AIS_TAKE(&s->arena, ais_real, s->discriminator.weights);
    assert_non_null(s->tape);
    ais_discriminator_draw(&s->discriminator, 11, s->weights);
    for (size_t i = 0; i < s->discriminator.weights; i++) s->weights[i] += odd(1, i, -0.2, 0.2);
    for (size_t i = 0; i < ROWS * LANES; i++) {
        s->z[i] = odd(2, i, -2, 2);
        s->image[i] = odd(3, i, -2, 2);
    }
    for (size_t c = 0; c < LANES; c++) s->up[c] = odd(4, c, -1, 1.5);
    return s;
}

static void drop(subject *s) {
    ais_arena_free(&s->arena);
    free(s);
}

static double loss(subject *s) {
    double sum = 0;
    ais_discriminator_forward(&s->discriminator, s->weights, s->tape, s->z, s->image, s->value);
    for (int c = 0; c < LANES; c++) sum += s->up[c] * s->value[c];
    return sum;
}

static double miss(subject *s, double *at, double gradient) {
    double keep = *at;
    *at = keep + h;
    double up = loss(s);
    *at = keep - h;
    double down = loss(s);
    *at = keep;
    return fabs((up - down) / (2 * h) - gradient) / (1 + fabs(gradient));
}

static double worst(subject *s, bool spoil) {
    double result = 0;
    memset(s->gradient, 0, s->discriminator.weights * sizeof *s->gradient);
    loss(s);
    ais_discriminator_backward(&s->discriminator, s->weights, s->tape, s->up, s->gradient_z, s->gradient_image,
                               s->gradient);
    if (spoil) s->gradient[s->discriminator.weights / 2] += 1e-3;
    for (size_t i = 0; i < s->discriminator.weights; i++)
        result = fmax(result, miss(s, &s->weights[i], s->gradient[i]));
    for (size_t i = 0; i < ROWS * LANES; i++) {
        result = fmax(result, miss(s, &s->z[i], s->gradient_z[i]));
        result = fmax(result, miss(s, &s->image[i], s->gradient_image[i]));
    }
    return result;
}

static void gradients(void **state) {
    (void)state;
    for (int form = AIS_PRODUCT; form <= AIS_GENERAL; form++)
        for (int depth = 1; depth <= 3; depth++) {
            subject *s = make((ais_discriminator_form)form, depth, true);
            double found = worst(s, false);
            if (!(found < tolerance)) fail_msg("form %d, depth %d: gradient misses by %.3g", form, depth, found);
            if (worst(s, true) < 100 * tolerance) fail_msg("form %d: a spoilt gradient was not noticed", form);
            drop(s);
        }
}

/* Exactly, in both forms and activations; a pair that is not exchanged does not pass. */
static void antisymmetry(void **state) {
    (void)state;
    for (int form = AIS_PRODUCT; form <= AIS_GENERAL; form++)
        for (int tanh = 0; tanh < 2; tanh++) {
            subject *s = make((ais_discriminator_form)form, 3, tanh);
            double swapped[LANES];
            loss(s);
            ais_discriminator_forward(&s->discriminator, s->weights, s->tape, s->image, s->z, swapped);
            for (int c = 0; c < LANES; c++) {
                assert_true(swapped[c] == -s->value[c]);
                assert_true(s->value[c] != 0);
            }
            ais_discriminator_forward(&s->discriminator, s->weights, s->tape, s->z, s->z, swapped);
            for (int c = 0; c < LANES; c++) assert_true(swapped[c] == 0);
            drop(s);
        }
}

static void losses(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++)
        for (double d = -7.3; d < 8; d += 0.71) {
            double slope, spare;
            double value = ais_discriminator_loss_at((ais_discriminator_loss)k, d, &slope);
            double up = ais_discriminator_loss_at((ais_discriminator_loss)k, d + h, &spare);
            double down = ais_discriminator_loss_at((ais_discriminator_loss)k, d - h, &spare);
            double r = 1 / (1 + exp(-d));
            assert_near(value, k == AIS_RLOGR ? r * log(r) : log1p(exp(d)), 1e-12);
            assert_near(slope, (up - down) / (2 * h), 1e-9);
        }
    double slope;
    for (int k = 0; k < 2; k++)
        for (double d = -900; d <= 900; d += 1800) {
            assert_true(isfinite(ais_discriminator_loss_at((ais_discriminator_loss)k, d, &slope)));
            assert_true(isfinite(slope));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients), cmocka_unit_test(antisymmetry),
                                       cmocka_unit_test(losses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
