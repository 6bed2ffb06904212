/* The density of a regression in batches, of every instruction set, against its definition in long double. */
#include "support.h"

#include <aisampler/target.h>

#include "simd/isa.h"
#include "target/logistic.h"

enum { MOST = 32 };
static const double tolerance = 2e-12; /* relative */

/* log p(w) by its definition, row by row. */
static double definition(const ais_regression *regression, const double *w) {
    long double sum = regression->constant;
    for (int i = 0; i < regression->dim; i++) sum -= (long double)regression->half_precision * w[i] * w[i];
    for (size_t row = 0; row < regression->rows; row++) {
        long double z = 0;
        for (int i = 0; i < regression->dim; i++)
            z += (long double)regression->by_column[(size_t)i * regression->padded + row] * w[i];
        sum -= z > 0 ? z + log1pl(expl(-z)) : log1pl(expl(z));
    }
    return (double)sum;
}

typedef void body(const void *, size_t, size_t, const double *, double *);

/* The largest relative miss over points of the posterior's scale and far from it; `nudge` spoils the points that the
 * body sees. */
static double worst_miss(const ais_target *target, body *block, double nudge) {
    const ais_regression *regression = &((const ais_logistic *)target->data)->lanes;
    const double scale[] = {0, 1e-8, 1e-3, 0.1, 0.5, 1, 3, 30, 1e3, 1e6};
    double worst = 0, w[MOST * AIS_LANES], logp[AIS_LANES];
    for (uint64_t s = 0; s < sizeof scale / sizeof *scale; s++) {
        for (int i = 0; i < target->dim * AIS_LANES; i++) w[i] = scale[s] * odd(s, (uint64_t)i, -1, 1) + nudge;
        block(regression, AIS_LANES, AIS_LANES, w, logp);
        for (int c = 0; c < AIS_LANES; c++) {
            double point[MOST];
            for (int i = 0; i < target->dim; i++) point[i] = w[i * AIS_LANES + c] - nudge;
            double wanted = definition(regression, point), miss = fabs(logp[c] - wanted) / fabs(wanted);
            worst = miss <= worst ? worst : miss;
        }
    }
    return worst;
}

static void check(const char *name, const char *isa, body *block) {
    ais_context context = {0};
    ais_target *target;
    assert_ok(context, ais_target_open(&context, name, &target));
    double miss = worst_miss(target, block, 0);
    print_message("%s, %s: %.2g\n", name, isa, miss);
    assert_true(miss < tolerance);
    assert_true(worst_miss(target, block, 1e-9) > tolerance);
    ais_target_close(target);
}

static void the_batch_is_the_definition(void **state) {
    (void)state;
    const char *const name[] = {"heart", "german", "australian", "german:rows=0.001", "australian:rows=0.7543"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        check(name[k], "base", ais_regression_block_base);
#if defined(__x86_64__) && !defined(AIS_ONE_ISA)
        if (ais_isa_now() >= AIS_AVX2) check(name[k], "avx2", ais_regression_block_avx2);
        if (ais_isa_now() >= AIS_AVX512) check(name[k], "avx512", ais_regression_block_avx512);
#endif
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_batch_is_the_definition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
