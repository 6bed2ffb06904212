/* The scale of a hierarchical density is undone in closed form: from gradients at points none of which is in the neck,
 * the map fitted has even importance weights on its own draws, and the right mass in the neck; spoilt a little it has
 * not. */
#include "support.h"

#include <aisampler/aisampler.h>

#include "explore/source.h"
#include "fit/neck.h"
#include "learned/learned.h"
#include "look/importance.h"

enum { SCHOOLS = 8, DIM = SCHOOLS + 2, POINTS = 400, DRAWS = 4096 };

/* Eight schools, centred, with log tau times `stretch` as the scale's coordinate: below 0 it is that of a precision. */
static double schools(double stretch, const double *x, double *gradient) {
    static const double effect[SCHOOLS] = {28, 8, -3, 7, -1, 1, 18, 12},
                        error[SCHOOLS] = {15, 10, 16, 11, 9, 11, 10, 18};
    double log_tau = x[1] / stretch, square = exp(2 * log_tau), sum = -x[0] * x[0] / 50 - log(25 + square) + log_tau;
    gradient[0] = -x[0] / 25;
    gradient[1] = 1 - 2 * square / (25 + square) - SCHOOLS;
    for (int j = 0; j < SCHOOLS; j++) {
        double away = x[2 + j] - x[0], pull = away / square, off = (effect[j] - x[2 + j]) / error[j];
        sum -= 0.5 * away * pull + log_tau + 0.5 * off * off;
        gradient[0] += pull;
        gradient[1] += away * pull;
        gradient[2 + j] = -pull + off / error[j];
    }
    gradient[1] /= stretch;
    return sum;
}

/* The fitted kernel; points have log tau between 0 and 3, whatever the density is there. */
static ais_kernel *fitted(ais_context *context, double stretch, double *misfit) {
    const ais_shape shape = {
        .map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = DIM, .layers = 1, .depth = -1, .neck = 24};
    static double x[POINTS * DIM], gradient[POINTS * DIM];
    ais_kernel *kernel;
    for (size_t c = 0; c < POINTS; c++) {
        for (size_t i = 0; i < DIM; i++) x[c * DIM + i] = odd(3, c * DIM + i, -8, 12);
        x[c * DIM + 1] = stretch * odd(4, c, 0, 3);
        schools(stretch, x + c * DIM, gradient + c * DIM);
    }
    const ais_bend_points points = {.n = POINTS, .x = x, .gradient = gradient};
    assert_ok((*context), ais_neck_fit(context, &shape, &points, &kernel, misfit));
    assert_non_null(kernel);
    return kernel;
}

/* Walks along the ridge, the whole length of it. */
static void warp(ais_kernel *kernel, double stretch) {
    enum { STEPS = 161 };
    const double first = -20, step = 0.25;
    double logp[STEPS], x[DIM], gradient[DIM];
    size_t from = STEPS, end = 0;
    for (size_t k = 0; k < STEPS; k++) {
        logp[k] = ais_neck_ridge(kernel, first + step * (double)k, x);
        logp[k] += schools(stretch, x, gradient);
    }
    double top = -INFINITY;
    for (size_t k = 0; k < STEPS; k++) top = fmax(top, logp[k]);
    for (size_t k = 0; k < STEPS; k++)
        if (logp[k] > top - 22) {
            if (from == STEPS) from = k;
            end = k + 1;
        }
    assert_true(from > 0 && end < STEPS);
    ais_context context = {0};
    const double begin = first + step * (double)from;
    bool done;
    assert_ok(context, ais_neck_warp(&context, kernel, (end - from) / 2, begin, step, logp + from, &done));
    assert_false(done); /* it has no end */
    assert_ok(context, ais_neck_warp(&context, kernel, 3, begin, step, logp + from, &done));
    assert_false(done);
    assert_ok(context, ais_neck_warp(&context, kernel, end - from, begin, step, logp + from, &done));
    assert_true(done);
}

/* Importance ESS per draw; *neck: the share of draws beyond the 1% point of log tau. */
static double share(const ais_kernel *kernel, double stretch, double *neck) {
    static double x[DRAWS * DIM], logq[DRAWS], weight[DRAWS], room[DRAWS];
    ais_context context = {0};
    ais_pool *pool;
    double gradient[DIM];
    assert_ok(context, ais_pool_new(&context, 1, &pool));
    assert_ok(context, ais_source_draw(&context, &(ais_source){.map = kernel}, DIM, pool, 11, 1, DRAWS, x, logq));
    *neck = 0;
    for (size_t c = 0; c < DRAWS; c++) {
        weight[c] = schools(stretch, x + c * DIM, gradient) - logq[c];
        *neck += (x[c * DIM + 1] / stretch < -3.0133) / (double)DRAWS;
    }
    ais_pool_free(pool);
    return ais_weigh(DRAWS, weight, room).ess / DRAWS;
}

static void necks_are_reached_from_before_them(void **state) {
    (void)state;
    const double stretches[] = {1, 0.2, -3};
    for (int k = 0; k < 3; k++) {
        ais_context context = {0};
        double misfit, neck, even;
        ais_kernel *kernel = fitted(&context, stretches[k], &misfit);
        warp(kernel, stretches[k]);
        even = share(kernel, stretches[k], &neck);
        print_message("stretch %g: misfit %.2g, share %.4f, in the neck %.4f\n", stretches[k], misfit, even, neck);
        assert_true(misfit < 1e-6 && even > 0.99);
        assert_true(fabs(neck - 0.01) < 0.005); /* three standard errors */
        size_t count;
        float *weights = ais_kernel_weights(kernel, &count);
        weights[0] *= 1.1F; /* the rate */
        even = share(kernel, stretches[k], &neck);
        print_message("    with another rate: share %.4f\n", even);
        assert_true(even < 0.9);
        ais_kernel_free(kernel);
    }
}

static void what_it_is_for(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel;
    double misfit;
    const ais_shape shape = {.map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = 3, .layers = 1, .depth = -1};
    assert_int_equal(ais_neck_fit(&context, &shape, &(ais_bend_points){0}, &kernel, &misfit), AIS_BAD_ARGUMENT);
    assert_null(kernel);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(necks_are_reached_from_before_them),
                                       cmocka_unit_test(what_it_is_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
