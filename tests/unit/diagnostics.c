/* ESS, R-hat, MCSE and the rest where the answer is known. tests/cli/arviz_diagnostics.sh compares
 * with ArviZ on draws of every odd kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <aisampler/diagnostics.h>

#include "chains.h"

/* AR(1) has an ESS of n (1 - rho) / (1 + rho) for the mean, and rho^2 in place of rho for the variance. */
static void ess_of_autoregressions(void **state) {
    (void)state;
    static const double rhos[] = {-0.5, 0, 0.5, 0.9};
    for (size_t i = 0; i < sizeof rhos / sizeof *rhos; i++) {
        int chains = 4, draws = 25000;
        double rho = rhos[i], n = (double)chains * draws, *x = ar1_chains(11, chains, draws, rho);
        double mean = n * (1 - rho) / (1 + rho), sd = n * (1 - rho * rho) / (1 + rho * rho);
        assert_relative(ais_ess_mean(x, chains, draws), mean, 0.1);
        assert_relative(ais_ess_bulk(x, chains, draws), mean, 0.1);
        assert_relative(ais_ess_sd(x, chains, draws), sd, 0.1);
        assert_relative(ais_mcse_mean(x, chains, draws), 1 / sqrt(mean), 0.06);
        assert_relative(ais_mcse_sd(x, chains, draws), 1 / sqrt(2 * sd), 0.06);
        assert_between(ais_rhat(x, chains, draws), 0.9999, 1.001);
        free(x);
    }
}

static void ess_of_independent_draws(void **state) {
    (void)state;
    double *x = ar1_chains(12, 4, 10000, 0);
    assert_relative(ais_ess_tail(x, 4, 10000), 40000, 0.1);
    assert_relative(ais_ess_quantile(x, 4, 10000, 0.3), 40000, 0.1);
    /* sqrt(p (1-p) / n) over the density at the median */
    assert_relative(ais_mcse_quantile(x, 4, 10000, 0.5), 0.5 / 200 * sqrt(6.283185307179586), 0.1);
    free(x);
}

/* A chain whose steps alternate knows its mean better than independent draws do, up to n log10 n. */
static void antithetic_chains_are_capped(void **state) {
    (void)state;
    double *x = ar1_chains(13, 2, 1000, -0.99), cap = 2000 * log10(2000);
    assert_relative(ais_ess_mean(x, 2, 1000), cap, 1e-12);
    assert_true(ais_ess_sd(x, 2, 1000) < 200); /* and yet its variance is known badly */
    free(x);
    x = ar1_chains(14, 4, 5000, -0.5);
    assert_between(ais_ess_mean(x, 4, 5000), 50000, 72000); /* 3 n */
    free(x);
}

static void rhat_sees_what_it_should(void **state) {
    (void)state;
    int draws = 1000;
    double *x = ar1_chains(15, 4, draws, 0);
    assert_true(ais_rhat(x, 4, draws) < 1.01);
    for (int t = 0; t < draws; t++) x[3 * draws + t] *= 4; /* the same mean, another width */
    assert_true(ais_rhat_bulk(x, 4, draws) < 1.01);
    assert_true(ais_rhat_folded(x, 4, draws) > 1.1);
    assert_true(ais_rhat(x, 4, draws) == ais_rhat_folded(x, 4, draws));
    for (int t = 0; t < draws; t++) x[t] += 3; /* another mean */
    assert_true(ais_rhat_split(x, 4, draws) > 1.1 && ais_rhat_bulk(x, 4, draws) > 1.1);
    for (int i = 0; i < 4 * draws; i++) x[i] = i % draws + 1e-3 * (i / draws); /* chains alike, but on a way */
    assert_true(ais_rhat(x, 4, draws) > 1.5);
    free(x);
}

/* Bulk ESS and R-hat look at ranks only; ESS of the mean does not mind shift and scale. */
static void numbers_keep_their_invariances(void **state) {
    (void)state;
    double *x = ar1_chains(16, 3, 501, 0.7), *y = ar1_chains(16, 3, 501, 0.7);
    for (int i = 0; i < 3 * 501; i++) y[i] = exp(3 * x[i]);
    assert_relative(ais_ess_bulk(y, 3, 501), ais_ess_bulk(x, 3, 501), 1e-12);
    assert_relative(ais_ess_tail(y, 3, 501), ais_ess_tail(x, 3, 501), 1e-12);
    assert_relative(ais_rhat_bulk(y, 3, 501), ais_rhat_bulk(x, 3, 501), 1e-12);
    for (int i = 0; i < 3 * 501; i++) y[i] = 1e-30 * x[i];
    assert_relative(ais_ess_mean(y, 3, 501), ais_ess_mean(x, 3, 501), 1e-9);
    assert_relative(ais_ess_sd(y, 3, 501), ais_ess_sd(x, 3, 501), 1e-9);
    free(x);
    free(y);
}

static void what_cannot_be_had_is_nan(void **state) {
    (void)state;
    double *x = ar1_chains(17, 2, 10, 0), same[20];
    for (int i = 0; i < 20; i++) same[i] = 0.3;
    assert_true(isnan(ais_ess_bulk(x, 2, 3)) && isnan(ais_ess_bulk(x, 0, 10)) && isnan(ais_rhat(x, 2, 3)));
    assert_true(isnan(ais_rhat(x, 1, 10)) && isnan(ais_rhat_split(x, 1, 10)));
    assert_true(isfinite(ais_ess_bulk(x, 1, 10)) && isfinite(ais_ess_tail(x, 1, 4)));
    assert_true(isnan(ais_ess_bulk(same, 2, 10)) && isnan(ais_ess_tail(same, 2, 10)) &&
                isnan(ais_ess_mean(same, 2, 10)));
    assert_true(isnan(ais_rhat(same, 2, 10)) && isnan(ais_mcse_mean(same, 2, 10)) && isnan(ais_mcse_sd(same, 2, 10)));
    assert_true(isnan(ais_ess_quantile(x, 2, 10, 1.5)) && isnan(ais_mcse_quantile(x, 2, 10, -0.1)));
    same[10] = 0.7; /* one other value is enough */
    assert_true(isfinite(ais_ess_bulk(same, 2, 10)));
    for (int i = 10; i < 20; i++) same[i] = 0.7;
    assert_true(ais_rhat(same, 2, 10) == INFINITY);
    x[4] = INFINITY;
    assert_true(isnan(ais_ess_bulk(x, 2, 10)) && isnan(ais_rhat(x, 2, 10)) && isnan(ais_mcse_quantile(x, 2, 10, 0.5)));
    x[4] = NAN;
    assert_true(isnan(ais_ess_bulk(x, 2, 10)) && isnan(ais_ess_tail(x, 2, 10)) && isnan(ais_ess_sd(x, 2, 10)));
    free(x);
}

static double song_by_definition(const double *x, int n, double mean, double variance, double cut) {
    double sum = 1;
    for (int t = 1; t < n; t++) {
        double rho = 0;
        for (int s = 0; s + t < n; s++) rho += (x[s] - mean) * (x[s + t] - mean);
        rho /= (n - t) * variance;
        if (rho < cut) break;
        sum += 2 * (1 - (double)t / n) * rho;
    }
    return n / sum;
}

static void song_is_its_definition(void **state) {
    (void)state;
    static const double rhos[] = {0, 0.5, 0.9, 0.995}; /* the last one passes lag 64 */
    for (size_t i = 0; i < sizeof rhos / sizeof *rhos; i++) {
        double *x = ar1_chains(18, 1, 3000, rhos[i]);
        assert_relative(ais_ess_song(x, 3000, 0.1, 1.2, 0.05), song_by_definition(x, 3000, 0.1, 1.2, 0.05), 1e-10);
        assert_relative(ais_ess_song(x, 3000, 0, 1, -INFINITY), song_by_definition(x, 3000, 0, 1, -INFINITY), 1e-8);
        free(x);
    }
    double x[3] = {1, 2, 4};
    assert_relative(ais_ess_song(x, 3, 1, 2, 0.05), 3.0 / (1 + 2 * (2.0 / 3) * (3.0 / (2 * 2))), 1e-14);
    assert_true(ais_ess_song(x, 1, 1, 2, 0.05) == 1);
    assert_true(isnan(ais_ess_song(x, 0, 1, 2, 0.05)) && isnan(ais_ess_song(x, 3, 1, 0, 0.05)));
    x[1] = NAN;
    assert_true(isnan(ais_ess_song(x, 3, 1, 2, 0.05)));
}

/* Two ways to fool Song's estimator; the error ESS and the bulk ESS see through both. */
static void song_is_fooled_and_the_error_is_not(void **state) {
    (void)state;
    enum { CHAINS = 200, DRAWS = 1000 };
    double *x = ar1_chains(19, CHAINS, DRAWS, 0), *start = ar1_chains(20, CHAINS, 1, 0), song = 0;
    /* Truth N(0, 1). Every chain trembles about a point of its own close to 0: (x - 0)^2 is small
     * against the variance, so no correlation is ever above the cut. */
    for (int i = 0; i < CHAINS * DRAWS; i++)
        x[i] = 0.18 * start[i / DRAWS] / fmax(fabs(start[i / DRAWS]), 1) + 0.02 * x[i];
    for (int c = 0; c < CHAINS; c++) song += ais_ess_song(x + c * DRAWS, DRAWS, 0, 1, 0.05) / CHAINS;
    assert_true(song == DRAWS);
    assert_true(ais_ess_error(x, CHAINS, DRAWS, 0, 1) < 120); /* of 1000, and their variance is wrong altogether */
    assert_true(ais_ess_bulk(x, CHAINS, DRAWS) / CHAINS < 5);
    assert_true(ais_rhat(x, CHAINS, DRAWS) > 1.5);
    free(start);
    free(x);
    /* Independent draws of a wrong mean, shifted by 0.2: rho = 0.04 for ever, never above the cut. */
    x = ar1_chains(21, CHAINS, DRAWS, 0);
    for (int i = 0; i < CHAINS * DRAWS; i++) x[i] += 0.2;
    song = 0;
    for (int c = 0; c < CHAINS; c++) song += ais_ess_song(x + c * DRAWS, DRAWS, 0, 1, 0.05) / CHAINS;
    assert_true(song > 0.8 * DRAWS);
    assert_between(ais_ess_error(x, CHAINS, DRAWS, 0, 1), 22, 27); /* 1 / (0.04 + 0.001) */
    free(x);
}

static void error_ess_of_honest_chains(void **state) {
    (void)state;
    double *x = ar1_chains(22, 500, 300, 0.5);
    assert_relative(ais_ess_error(x, 500, 300, 0, 1), 100, 0.2); /* sd of the estimate: 6% */
    free(x);
    double two[4] = {1, 3, 0, 2}; /* means 2 and 1 */
    assert_relative(ais_ess_error(two, 2, 2, 1.5, 7), 28, 1e-14);
    assert_true(isnan(ais_ess_error(two, 2, 2, 1.5, 0)) && isnan(ais_ess_error(two, 0, 2, 1.5, 1)));
}

static void energies_and_other_chains(void **state) {
    (void)state;
    double energy[5] = {1, 3, 2, 2, 7};
    assert_relative(ais_ebfmi(energy, 5), (4 + 1 + 0 + 25) / 4.0 / 5.5, 1e-14);
    double same[3] = {2, 2, 2}, mean, largest;
    assert_true(isnan(ais_ebfmi(same, 3)) && isnan(ais_ebfmi(energy, 1)));
    double *slow = ar1_chains(23, 1, 5000, 0.99);
    assert_true(ais_ebfmi(slow, 5000) < 0.05);
    free(slow);

    double x[9] = {1, 2, 3, 6, 4, 2, 1, 3, 2}; /* correlations -1, 1/2, -1/2 */
    ais_cross_chain_correlation(x, 3, 3, &mean, &largest);
    assert_relative(largest, 1, 1e-14);
    assert_relative(mean, 2.0 / 3, 1e-14);
    x[3] = x[4] = x[5] = 1; /* a stuck chain correlates with nothing */
    ais_cross_chain_correlation(x, 3, 3, &mean, &largest);
    assert_relative(mean, 0.5, 1e-14);
    ais_cross_chain_correlation(x, 1, 9, &mean, &largest);
    assert_true(isnan(mean) && isnan(largest));
    /* Of many chains some are taken, from the first one to the end: here those that are not stuck, one in 100. */
    enum { MANY = 100 * AIS_MOST_COMPARED };
    double *many = malloc(MANY * 2 * sizeof *many);
    assert_non_null(many);
    for (int c = 0; c < MANY; c++) {
        many[2 * c] = c % 100 ? 1 : 2;
        many[2 * c + 1] = c % 100 ? 1 : 3;
    }
    ais_cross_chain_correlation(many, MANY, 2, &mean, &largest);
    free(many);
    assert_relative(mean, 1, 1e-14);
    assert_relative(largest, 1, 1e-14);
}

static void kl_by_hand(void **state) {
    (void)state;
    double weight[3] = {0.5, 0.5, 0}, share[3] = {0.25, 0.75, 0};
    assert_relative(ais_mode_kl(weight, share, 3), 0.5 * log(2) + 0.5 * log(2.0 / 3), 1e-14);
    assert_true(ais_mode_kl(weight, weight, 3) == 0);
    share[0] = 0, share[1] = 1;
    assert_true(ais_mode_kl(weight, share, 3) == INFINITY);
    share[0] = -1;
    assert_true(isnan(ais_mode_kl(weight, share, 3)) && isnan(ais_mode_kl(weight, share, 0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ess_of_autoregressions),
        cmocka_unit_test(ess_of_independent_draws),
        cmocka_unit_test(antithetic_chains_are_capped),
        cmocka_unit_test(rhat_sees_what_it_should),
        cmocka_unit_test(numbers_keep_their_invariances),
        cmocka_unit_test(what_cannot_be_had_is_nan),
        cmocka_unit_test(song_is_its_definition),
        cmocka_unit_test(song_is_fooled_and_the_error_is_not),
        cmocka_unit_test(error_ess_of_honest_chains),
        cmocka_unit_test(energies_and_other_chains),
        cmocka_unit_test(kl_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
