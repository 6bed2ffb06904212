/* The numerical pieces under diagnostics: transform, order, inverse distribution functions, moments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <aisampler/diagnostics.h>

#include "base/special.h"
#include "chains.h"
#include "diagnostics/column.h"

static void transform_is_the_sum_it_stands_for(void **state) {
    (void)state;
    for (size_t length = 2; length <= 256; length *= 2) {
        size_t count = length - length / 3; /* padded with zeros */
        double *x = ar1_chains(7, 1, (int)length, 0.3), re[129], im[129], back[256];
        ais_fft fft;
        assert_true(ais_fft_init(&fft, length));
        ais_fft_forward(&fft, x, count, re, im);
        for (size_t k = 0; k <= length / 2; k++) {
            double sum_re = 0, sum_im = 0;
            for (size_t t = 0; t < count; t++) {
                double angle = 6.283185307179586 * (double)(k * t % length) / (double)length;
                sum_re += x[t] * cos(angle);
                sum_im -= x[t] * sin(angle);
            }
            assert_near(re[k], sum_re, 1e-13 * (double)length);
            assert_near(im[k], sum_im, 1e-13 * (double)length);
        }
        ais_fft_inverse(&fft, re, im, back, length);
        for (size_t t = 0; t < length; t++) assert_near(back[t], t < count ? x[t] : 0, 1e-14);
        ais_fft_free(&fft);
        free(x);
    }
    assert_int_equal(ais_fft_length(1), 2);
    assert_int_equal(ais_fft_length(1024), 1024);
    assert_int_equal(ais_fft_length(1025), 2048);
}

static void autocovariance_is_the_sum_it_stands_for(void **state) {
    (void)state;
    ais_context context = {0};
    static const int lengths[] = {1, 2, 3, 17, 64, 201};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i];
        double *x = ar1_chains(3, 1, n, 0.8), by_transform[201];
        for (int t = 0; t < n; t++) x[t] += 40;
        assert_int_equal(ais_autocovariance(&context, x, n, by_transform), AIS_OK);
        double mean = ais_mean(x, (size_t)n);
        for (int lag = 0; lag < n; lag++) {
            double sum = 0;
            for (int t = 0; t + lag < n; t++) sum += (x[t] - mean) * (x[t + lag] - mean);
            assert_near(by_transform[lag], sum / n, 1e-13);
        }
        free(x);
    }
    double nothing = 0;
    assert_int_equal(ais_autocovariance(&context, &nothing, 0, &nothing), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "0"));
}

/* math.md (26) from every autocovariance, by transforms, and with a loop of its own over pairs. */
static double ess_by_transforms(const double *x, int chains, int draws) {
    ais_context context = {0};
    int half = draws / 2, halves = 2 * chains;
    size_t n = (size_t)half;
    double *one = calloc(n, sizeof *one), *rho = calloc(n, sizeof *rho), *mean = calloc((size_t)halves, sizeof *mean);
    assert_true(one && rho && mean);
    for (int h = 0; h < halves; h++) {
        const double *from = x + (h / 2) * draws + (h % 2 ? draws - half : 0);
        assert_int_equal(ais_autocovariance(&context, from, half, one), AIS_OK);
        for (int t = 0; t < half; t++) rho[t] += one[t] / halves;
        mean[h] = ais_mean(from, n);
    }
    double within = rho[0] * half / (half - 1), total = rho[0] + ais_variance(mean, (size_t)halves);
    for (int t = 0; t < half; t++) rho[t] = t ? 1 - (within - rho[t]) / total : 1;
    double time = -1, least = INFINITY;
    int t = 0;
    for (; t < half - 4 && rho[t] + rho[t + 1] > 0; t += 2) {
        least = fmin(least, rho[t] + rho[t + 1]);
        time += 2 * least;
    }
    time += rho[t] > 0 || rho[t] + rho[t + 1] >= 0 ? rho[t] : 0;
    free(one);
    free(rho);
    free(mean);
    return halves * half / fmax(time, 1 / log10((double)halves * half));
}

/* Chains that mix need few lags, which are summed up; those that do not, and short ones, are transformed. */
static void ess_is_the_same_whichever_way_it_is_computed(void **state) {
    (void)state;
    static const int lengths[] = {40, 255, 257, 300, 1025, 6000};
    static const double correlations[] = {-0.6, 0, 0.5, 0.9, 0.97, 0.999};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < sizeof correlations / sizeof *correlations; k++)
            for (int apart = 0; apart < 2; apart++) {
                int chains = 1 + (int)(i % 4), n = lengths[i];
                double *x = ar1_chains(11 + k, chains, n, correlations[k]);
                for (int at = 0; at < chains * n; at++) x[at] += 1000 + 0.2 * apart * (at / n);
                assert_relative(ais_ess_mean(x, chains, n), ess_by_transforms(x, chains, n), 1e-8);
                free(x);
            }
}

/* Computed with 40 digits (mpmath) from the double that stands here. */
static void normal_quantile_is_exact(void **state) {
    (void)state;
    static const double known[][2] = {{0.5000000009313226, 2.33447949833329814e-9},
                                      {0.6, 0.2533471031357997413},
                                      {0.25, -0.6744897501960817432},
                                      {0.075, -1.439531470938455935},
                                      {0.0749, -1.440238267527963663},
                                      {0.925, 1.439531470938456229},
                                      {0.9251, 1.440238267527963859},
                                      {0.999, 3.090232306167813278},
                                      {0.001, -3.090232306167813535},
                                      {2.385e-05, -4.066619648880271187},
                                      {1.4e-11, -6.656723091518183636},
                                      {1.3e-11, -6.667611456510740835},
                                      {1e-20, -9.26234008979840758},
                                      {1e-100, -21.27345356096532429},
                                      {1e-300, -37.04709629936119924},
                                      {0.9999999999999999, 8.209536151601386856},
                                      {0.9999999999990905, 7.047700256664408725}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_relative(ais_normal_quantile(known[i][0]), known[i][1], 1e-15);
    assert_true(ais_normal_quantile(0.5) == 0);
    assert_true(ais_normal_quantile(0) == -INFINITY && ais_normal_quantile(1) == INFINITY);
    assert_true(isnan(ais_normal_quantile(-1e-9)) && isnan(ais_normal_quantile(1.1)) &&
                isnan(ais_normal_quantile(NAN)));
    for (double p = 1e-6; p < 1; p += 0.00137) /* the law, across the seams of the pieces */
        assert_relative(0.5 * erfc(-ais_normal_quantile(p) / sqrt(2)), p, 2e-14);
}

static void beta_quantile_undoes_the_distribution(void **state) {
    (void)state;
    assert_relative(ais_beta_cdf(0.3, 2.385, 1.7), 0.120106770418994464, 1e-13);
    assert_relative(ais_beta_cdf(0.02, 1, 100.5), 0.868713337792420314, 1e-13);
    assert_relative(ais_beta_cdf(0.5, 500.25, 500.75), 0.506307042284458896, 1e-13);
    assert_relative(ais_beta_cdf(0.0512, 51235.5, 949001.25), 0.4583098118950868, 1e-11);
    assert_relative(ais_beta_cdf(0.9, 20.5, 1), pow(0.9, 20.5), 1e-13);
    assert_true(ais_beta_cdf(-1, 2, 3) == 0 && ais_beta_cdf(1, 2, 3) == 1);
    static const double shape[][2] = {{1, 1}, {2.385, 1.7}, {1.2, 4e5}, {51.3, 950}, {3e6, 2e6}, {1e5, 1.01}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (double p = 0.01; p < 1; p += 0.07) {
            double x = ais_beta_quantile(p, shape[i][0], shape[i][1]);
            assert_relative(ais_beta_cdf(x, shape[i][0], shape[i][1]), p, 1e-8); /* x is near 1 in the last */
        }
    assert_true(isnan(ais_beta_quantile(0.5, -1, 2)) && isnan(ais_beta_quantile(1.5, 1, 2)));
    assert_true(isnan(ais_beta_quantile(0.5, INFINITY, 2)) && isnan(ais_beta_cdf(0.5, 0, 2)));
}

static void order_sorts_and_keeps_ties(void **state) {
    (void)state;
    enum { N = 1000 };
    double x[N];
    ais_ordered order[N], spare[N];
    for (int i = 0; i < N; i++) {
        double u = ais_random_uniform(&(ais_stream){.seed = 5, .purpose = AIS_FOR_USER}, (uint32_t)i);
        x[i] = i % 3 ? (u - 0.5) * pow(10, floor(40 * u) - 20) : floor(8 * u) - 4; /* wide, with ties */
    }
    x[17] = INFINITY, x[18] = -INFINITY, x[19] = -0.0, x[20] = 0.0, x[21] = 5e-324, x[22] = -5e-324;
    ais_order(x, N, order, spare);
    for (int i = 1; i < N; i++) {
        double a = x[order[i - 1].index], b = x[order[i].index];
        assert_true(a <= b);
        assert_int_equal(a == b, order[i - 1].key == order[i].key);
        if (a == b) assert_true(order[i - 1].index < order[i].index);
    }
    ais_order(x, 0, order, spare);
}

static void scores_share_the_mean_rank_of_ties(void **state) {
    (void)state;
    double x[8] = {3, 1, 4, 1, 5, 9, 2, 6}, scores[8];
    ais_column column;
    assert_true(ais_column_init(&column, 1, 8));
    ais_column_normalise(&column, x, scores);
    assert_relative(scores[1], ais_normal_quantile((1.5 - 0.375) / 8.25), 1e-15);
    assert_true(scores[1] == scores[3]);
    assert_relative(scores[5], ais_normal_quantile((8 - 0.375) / 8.25), 1e-15);
    ais_column_normalise_folded(&column, x, scores); /* the median is 3.5: 0.5, 2.5, 0.5, 2.5, 1.5, 5.5, 1.5, 2.5 */
    assert_true(scores[0] == scores[2] && scores[1] == scores[3] && scores[1] == scores[7]);
    assert_relative(scores[0], ais_normal_quantile((1.5 - 0.375) / 8.25), 1e-15);
    assert_relative(scores[5], ais_normal_quantile((8 - 0.375) / 8.25), 1e-15);
    ais_column_free(&column);
}

/* What follows from the order of x is what sorting anew would say, to the bit: values on both sides of 0, ties among
 * them, squares that round to the same number. */
static void folded_and_squared_ranks_need_no_sorting(void **state) {
    (void)state;
    enum { N = 1000 };
    double x[N], other[N], scores[N], wanted[N];
    ais_column column, anew;
    assert_true(ais_column_init(&column, 2, N / 2) && ais_column_init(&anew, 2, N / 2));
    for (int shift = -1; shift <= 1; shift++) {
        for (int i = 0; i < N; i++) {
            double u = ais_random_uniform(&(ais_stream){.seed = 9, .purpose = AIS_FOR_USER}, (uint32_t)i);
            x[i] = i % 3 ? (u - 0.5) * pow(10, floor(40 * u) - 20) : floor(8 * u) - 4;
            x[i] += i % 7 ? 3 * shift : 3 * shift * (1 + 1e-15 * u);
        }
        x[1] = -0.0, x[2] = 0.0;
        ais_column_normalise(&column, x, scores);
        ais_column_normalise_square(&column, x, scores);
        for (int i = 0; i < N; i++) other[i] = x[i] * x[i];
        ais_column_normalise(&anew, other, wanted);
        assert_memory_equal(scores, wanted, sizeof scores);
        ais_column_normalise_folded(&column, x, scores);
        double median = ais_quantile(x, N, 0.5);
        for (int i = 0; i < N; i++) other[i] = fabs(x[i] - median);
        ais_column_normalise(&anew, other, wanted);
        assert_memory_equal(scores, wanted, sizeof scores);
    }
    ais_column_free(&column);
    ais_column_free(&anew);
}

/* Values of numpy 2.4: np.quantile, np.mean, np.var(ddof=1). */
static void moments_and_quantiles(void **state) {
    (void)state;
    double x[5] = {2.385, -1.5, 7.25, 0.1, 3.0};
    assert_near(ais_quantile(x, 5, 0), -1.5, 0);
    assert_near(ais_quantile(x, 5, 1), 7.25, 0);
    assert_near(ais_quantile(x, 5, 0.5), 2.385, 0);
    assert_near(ais_quantile(x, 5, 0.05), -1.18, 1e-15);
    assert_near(ais_quantile(x, 5, 0.95), 6.4, 1e-14);
    assert_near(ais_quantile(x, 5, 0.37), 1.1968, 1e-14);
    assert_near(ais_quantile(x, 1, 0.37), 2.385, 0);
    assert_true(isnan(ais_quantile(x, 0, 0.5)) && isnan(ais_quantile(x, 5, 1.5)) && isnan(ais_quantile(x, 5, NAN)));
    assert_near(ais_mean(x, 5), 2.247, 1e-15);
    assert_near(ais_variance(x, 5), 11.06642, 1e-14);
    assert_true(isnan(ais_mean(x, 0)) && isnan(ais_variance(x, 1)));
    double equal[300], *far = ar1_chains(1, 1, 1000, 0);
    for (int i = 0; i < 300; i++) equal[i] = 0.1;
    assert_true(ais_mean(equal, 300) == 0.1 && ais_variance(equal, 300) == 0);
    double variance = ais_variance(far, 1000);
    for (int i = 0; i < 1000; i++) far[i] += 1e8;
    assert_relative(ais_variance(far, 1000), variance, 1e-7); /* what the addition itself rounds */
    far[3] = NAN;
    assert_true(isnan(ais_mean(far, 1000)) && isnan(ais_variance(far, 1000)) && isnan(ais_quantile(far, 1000, 0.5)));
    free(far);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transform_is_the_sum_it_stands_for),
        cmocka_unit_test(autocovariance_is_the_sum_it_stands_for),
        cmocka_unit_test(ess_is_the_same_whichever_way_it_is_computed),
        cmocka_unit_test(normal_quantile_is_exact),
        cmocka_unit_test(beta_quantile_undoes_the_distribution),
        cmocka_unit_test(order_sorts_and_keeps_ties),
        cmocka_unit_test(scores_share_the_mean_rank_of_ties),
        cmocka_unit_test(folded_and_squared_ranks_need_no_sorting),
        cmocka_unit_test(moments_and_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
