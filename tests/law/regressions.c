/* The stored moments of the regression posteriors against importance sampling with our own density.
 * The stored ones come from numpy and share no code, so this catches a wrong sign, row, scale or
 * prior on either side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/target.h>

#include "base/random.h"
#include "simd/normal.h"

enum { MOST = 32, DRAWS = 16000, BATCH = 64 };

typedef struct normal {
    double centre[MOST], factor[MOST][MOST], log_determinant; /* of the precision's Cholesky factor */
} normal;

/* Minus the Hessian by central differences of the gradient, and its Cholesky factor. */
static void set_precision(const ais_target *target, normal *fit) {
    int dim = target->dim;
    double x[MOST], up[MOST], down[MOST], h = 1e-4;
    memcpy(x, fit->centre, sizeof x);
    for (int i = 0; i < dim; i++) {
        x[i] = fit->centre[i] + h;
        target->grad(x, up, target->data);
        x[i] = fit->centre[i] - h;
        target->grad(x, down, target->data);
        x[i] = fit->centre[i];
        for (int j = 0; j < dim; j++) fit->factor[i][j] = (down[j] - up[j]) / (2 * h);
    }
    fit->log_determinant = 0;
    for (int j = 0; j < dim; j++) {
        for (int k = 0; k < j; k++) fit->factor[j][j] -= fit->factor[j][k] * fit->factor[j][k];
        assert_true(fit->factor[j][j] > 0);
        fit->factor[j][j] = sqrt(fit->factor[j][j]);
        fit->log_determinant += log(fit->factor[j][j]);
        for (int i = j + 1; i < dim; i++) {
            for (int k = 0; k < j; k++) fit->factor[i][j] -= fit->factor[i][k] * fit->factor[j][k];
            fit->factor[i][j] /= fit->factor[j][j];
        }
    }
}

static void solve_upper(const normal *fit, int dim, double *b) {
    for (int i = dim; i-- > 0;) {
        for (int k = i + 1; k < dim; k++) b[i] -= fit->factor[k][i] * b[k];
        b[i] /= fit->factor[i][i];
    }
}

static void fit_laplace(const ais_target *target, normal *fit) {
    double step[MOST];
    memset(fit, 0, sizeof *fit);
    for (int iteration = 0; iteration < 12; iteration++) {
        set_precision(target, fit);
        target->grad(fit->centre, step, target->data);
        for (int i = 0; i < target->dim; i++) {
            for (int k = 0; k < i; k++) step[i] -= fit->factor[i][k] * step[k];
            step[i] /= fit->factor[i][i];
        }
        solve_upper(fit, target->dim, step);
        for (int i = 0; i < target->dim; i++) fit->centre[i] += step[i];
    }
    set_precision(target, fit);
}

/* A little wider than the Laplace fit, so that weights stay small. */
static void draw_weighted(const ais_target *target, const normal *fit, double *x, double *log_weight) {
    const double wide = 1.12, log_2_pi = log(2 * acos(-1));
    int dim = target->dim;
    double *across = malloc(sizeof(double) * MOST * BATCH), logp[BATCH];
    for (int d = 0; d < DRAWS; d++) {
        double *point = x + (size_t)d * MOST;
        ais_stream stream = {.seed = 7, .step = (uint64_t)d, .purpose = AIS_FOR_USER};
        ais_normals(&stream, (size_t)dim, point);
        log_weight[d] = 0.5 * dim * log_2_pi - fit->log_determinant + dim * log(wide);
        for (int i = 0; i < dim; i++) log_weight[d] += 0.5 * point[i] * point[i];
        solve_upper(fit, dim, point);
        for (int i = 0; i < dim; i++) point[i] = fit->centre[i] + wide * point[i];
        for (int i = 0; i < dim; i++) across[i * BATCH + d % BATCH] = point[i];
        if (d % BATCH != BATCH - 1) continue;
        target->batch(BATCH, across, logp, target->data);
        for (int c = 0; c < BATCH; c++) log_weight[d - BATCH + 1 + c] += logp[c];
    }
    free(across);
}

static void compare(const char *name, const char *what, int i, const double *f, const double *weight, double truth,
                    double spread) {
    double total = 0, sum = 0, error = 0;
    for (int d = 0; d < DRAWS; d++) {
        total += weight[d];
        sum += weight[d] * f[d];
    }
    for (int d = 0; d < DRAWS; d++) error += pow(weight[d] * (f[d] - sum / total) / total, 2);
    error = sqrt(error);
    assert_true(error < 0.1 * spread); /* sharp enough to mean something */
    if (!(fabs(sum / total - truth) <= 5 * error + 0.002 * spread))
        fail_msg("%s: %s %d is %.6g, stored %.6g, standard error %.3g", name, what, i, sum / total, truth, error);
}

static void stored_moments_are_right(void **state) {
    const char *name = *state;
    ais_context context = {0};
    ais_target *target;
    assert_int_equal(ais_target_open(&context, name, &target), AIS_OK);
    const ais_reference *reference = target->reference;
    normal fit;
    fit_laplace(target, &fit);
    double *x = malloc(sizeof *x * DRAWS * MOST), *weight = malloc(sizeof *weight * DRAWS),
           *f = malloc(sizeof *f * DRAWS), total = 0, squares = 0;
    draw_weighted(target, &fit, x, weight);
    for (int d = 0; d < DRAWS; d++) {
        weight[d] = exp(weight[d] - reference->log_z);
        total += weight[d] / DRAWS;
        squares += weight[d] * weight[d] / DRAWS;
    }
    double z_error = sqrt((squares - total * total) / DRAWS);
    assert_true(z_error < 0.02);
    if (!(fabs(total - 1) < 5 * z_error + 0.002)) fail_msg("%s: Z is %g of the stored one", name, total);
    for (int i = 0; i < target->dim; i++) {
        for (int d = 0; d < DRAWS; d++) f[d] = x[d * MOST + i];
        compare(name, "mean", i, f, weight, reference->mean[i], sqrt(reference->variance[i]));
        for (int d = 0; d < DRAWS; d++) f[d] = pow(x[d * MOST + i] - reference->mean[i], 2);
        compare(name, "variance", i, f, weight, reference->variance[i], reference->variance[i]);
        for (int d = 0; d < DRAWS; d++) f[d] = pow(x[d * MOST + i], 2);
        compare(name, "square", i, f, weight, reference->square_mean[i], sqrt(reference->square_variance[i]));
        for (int d = 0; d < DRAWS; d++) f[d] = pow(pow(x[d * MOST + i], 2) - reference->square_mean[i], 2);
        compare(name, "variance of the square", i, f, weight, reference->square_variance[i],
                reference->square_variance[i]);
    }
    free(x);
    free(weight);
    free(f);
    ais_target_close(target);
}

int main(void) {
    static char heart[] = "heart", german[] = "german", australian[] = "australian";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(stored_moments_are_right, heart),
        cmocka_unit_test_prestate(stored_moments_are_right, german),
        cmocka_unit_test_prestate(stored_moments_are_right, australian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
