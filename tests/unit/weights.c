/* What weights of a map's draws say of a chain that it proposes for: acceptance and draws per effective draw as a chain
 * has them, and the worst where one draw has all the mass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "judge/weights.h"
#include "simd/normal.h"

enum { PROPOSALS = 4096, STEPS = 1 << 20 };

/* log p / q for p = N(0, 1) and q = N(0, sd^2), up to a constant. */
static double log_weight(double x, double sd) { return 0.5 * x * x * (1 / (sd * sd) - 1); }

static double normal_of(uint64_t step, uint32_t chain) {
    ais_stream stream = {.seed = 7, .step = step, .chain = chain, .purpose = AIS_FOR_USER};
    double pair[2];
    ais_normals(&stream, 2, pair);
    return pair[0];
}

static double uniform_of(uint64_t step) {
    ais_stream stream = {.seed = 7, .step = step, .purpose = AIS_FOR_USER + 1};
    return ais_random_uniform(&stream, 0);
}

/* A chain of independent proposals: its acceptance, and the time of x^2 by batch means. */
static void chain(double sd, double *acceptance, double *time) {
    enum { BATCH = 1024 };
    double x = 0, sum = 0, square = 0, batch = 0, batches = 0;
    long moved = 0;
    for (uint64_t t = 0; t < STEPS; t++) {
        double y = sd * normal_of(t, 1);
        if (log(uniform_of(t)) < log_weight(y, sd) - log_weight(x, sd)) {
            x = y;
            moved++;
        }
        sum += x * x / STEPS;
        square += x * x * x * x / STEPS;
        batch += (x * x - 1) / BATCH;
        if ((t + 1) % BATCH) continue;
        batches += batch * batch / (STEPS / BATCH);
        batch = 0;
    }
    *acceptance = (double)moved / STEPS;
    *time = BATCH * batches / (square - sum * sum);
}

static ais_verdict judge(size_t n, const double *weight) {
    ais_context context = {0};
    ais_verdict verdict;
    assert_int_equal(ais_judge_weights(&context, n, weight, 0, NULL, 4000, &verdict), AIS_OK);
    return verdict;
}

static ais_verdict judge_normal(double sd) {
    static double weight[PROPOSALS];
    for (size_t c = 0; c < PROPOSALS; c++) weight[c] = log_weight(sd * normal_of(c, 2), sd);
    return judge(PROPOSALS, weight);
}

static void as_a_chain_has_them(void **state) {
    (void)state;
    static const double sds[] = {1.2, 1.6, 2.5};
    for (size_t k = 0; k < sizeof sds / sizeof *sds; k++) {
        double acceptance, time;
        ais_verdict verdict = judge_normal(sds[k]);
        chain(sds[k], &acceptance, &time);
        print_message("sd %.1f: acceptance %.3f (chain %.3f), draws per effective draw %.2f (of x^2: %.2f)\n", sds[k],
                      verdict.acceptance, acceptance, verdict.seen, time);
        assert_true(fabs(verdict.acceptance - acceptance) < 0.02);
        assert_true(verdict.seen > 0.8 * time && verdict.seen < 1.6 * time);
    }
}

/* Heavier tails than the map's make it dear, and steps of another kernel between proposals help. */
static void tails_are_dear(void **state) {
    (void)state;
    ais_verdict narrow = judge_normal(0.6), wide = judge_normal(1.3);
    assert_true(narrow.seen > 4 * wide.seen);
    assert_true(narrow.relieved[0] < 0.6 * narrow.seen);
    for (int k = 1; k < AIS_RELIEFS; k++) assert_true(narrow.relieved[k] >= narrow.relieved[k - 1]);
    assert_true(ais_draws_per_effective(&wide, 0) == wide.seen);
    assert_true(ais_draws_per_effective(&wide, 1) == wide.relieved[0]);
}

/* A mixture that is exact on one mode and fair on another: weights that are all alike, and a few of another size, which
 * are bounded. They are no tail without an end. */
static void two_kinds_of_weights_are_no_tail(void **state) {
    (void)state;
    enum { N = 256, FAIR = 20 };
    double weight[N];
    for (int shift = 0; shift < 20; shift++) {
        for (uint64_t c = 0; c < N; c++)
            weight[c] = c < FAIR ? 0.2 - 0.1 * pow(normal_of(c, 3 + (uint32_t)shift), 2) : 1e-3 * normal_of(c, 99);
        assert_true(judge(N, weight).seen < 1.5);
    }
}

/* All of the mass in one draw, by so much that the others underflow beside it. */
static void one_draw_has_it_all(void **state) {
    (void)state;
    enum { N = 256 };
    double weight[N];
    for (int spread = 1; spread <= 1000; spread *= 10) {
        for (size_t c = 0; c < N; c++) weight[c] = -(double)spread * (double)c;
        ais_verdict verdict = judge(N, weight);
        assert_true(verdict.seen > 50);
        assert_true(verdict.acceptance < 0.05);
        assert_true(verdict.relieved[0] > 5);
    }
    for (size_t c = 0; c < N; c++) weight[c] = -INFINITY;
    assert_true(isinf(judge(N, weight).seen));
}

static void same_verdict(const ais_verdict *a, const ais_verdict *b) {
    assert_true(fabs(a->acceptance - b->acceptance) < 1e-9);
    for (int k = 0; k < AIS_RELIEFS; k++) assert_true(fabs(a->relieved[k] - b->relieved[k]) < 1e-9);
}

/* What no fit can save is known beforehand, and what more draws would. */
static void all_that_is_left_is_what_was_not_seen(void **state) {
    (void)state;
    enum { N = 256 };
    double weight[4 * N] = {0};
    const ais_verdict few = judge(N, weight), many = judge(4 * N, weight), flawless = ais_flawless(N),
                      more = ais_verdict_of_more(&few, 4);
    same_verdict(&few, &flawless);
    same_verdict(&many, &more);
    for (int k = 0; k < AIS_RELIEFS; k++) assert_true(more.relieved[k] < few.relieved[k]);
    const ais_verdict flawed = judge_normal(0.8), best = ais_flawless(PROPOSALS);
    for (int k = 0; k < AIS_RELIEFS; k++) assert_true(flawed.relieved[k] > best.relieved[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_chain_has_them), cmocka_unit_test(tails_are_dear), cmocka_unit_test(one_draw_has_it_all),
        cmocka_unit_test(two_kinds_of_weights_are_no_tail), cmocka_unit_test(all_that_is_left_is_what_was_not_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
