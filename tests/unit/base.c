/* The base and simd layers: random numbers, fixed point, arena, threads. */
#include "support.h"

#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/fixed.h"
#include "base/pool.h"
#include "base/sort.h"
#include "base/streams.h"
#include "simd/isa.h"
#include "simd/normal.h"

/* The known answers that Random123 publishes for philox4x32-10. */
static void philox_known_answers(void **state) {
    (void)state;
    const struct {
        ais_stream stream;
        uint32_t index, bits[4];
    } known[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{UINT64_MAX, (UINT64_C(1) << 56) - 1, UINT32_MAX, 255},
         UINT32_MAX,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x299f31d0a4093822, 0xa308d313198a2e, 0x03707344, 0x85},
         0x243f6a88,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int k = 0; k < 3; k++) {
        uint32_t bits[4];
        ais_random_bits(&known[k].stream, known[k].index, bits);
        assert_memory_equal(bits, known[k].bits, sizeof bits);
    }
}

static void streams_do_not_meet(void **state) {
    (void)state;
    const ais_stream stream = {7, 7, 7, 7};
    ais_stream other[4] = {stream, stream, stream, stream};
    other[0].seed++, other[1].step += UINT64_C(1) << 33, other[2].chain++, other[3].purpose++;
    for (int k = 0; k < 4; k++) assert_true(ais_random_uniform(&stream, 0) != ais_random_uniform(&other[k], 0));
    assert_true(ais_random_uniform(&stream, 0) != ais_random_uniform(&stream, 1));
}

static bool overlap(uint64_t a, uint64_t length, uint64_t b, uint64_t other) { return a < b + other && b < a + length; }

static bool uses_meet(const ais_stream_use *a, const ais_stream_use *b) {
    return a->jobs & b->jobs && a->purposes & b->purposes && overlap(a->chain, a->chains, b->chain, b->chains) &&
           overlap(a->step, a->steps, b->step, b->steps);
}

/* Whatever takes random numbers has a row of its own, and no two rows that occur in one job have a number in common. */
static void uses_do_not_meet(void **state) {
    (void)state;
    for (int a = 0; a < AIS_USES; a++) {
        const ais_stream_use *row = &ais_stream_table[a];
        assert_true(row->jobs && row->purposes && row->chains && row->steps);
        assert_true(row->step + row->steps <= UINT64_C(1) << 56 && row->chain + row->chains <= UINT64_C(1) << 32);
        assert_true(uses_meet(row, row));
        for (int b = 0; b < a; b++)
            if (uses_meet(row, &ais_stream_table[b])) fail_msg("rows %d and %d of ais_stream_table meet", b, a);
    }
    /* As it was once: the weights that flows are spread by were those of their second matrix. */
    ais_stream_use spread = ais_stream_table[AIS_USE_FLOW_SPREAD];
    spread.chain = 1;
    assert_true(uses_meet(&spread, &ais_stream_table[AIS_USE_NET]));
    ais_stream stream = ais_stream_for(AIS_USE_HENON_SPREAD, 5, 3, 0);
    assert_true(stream.seed == 5 && stream.step == 4003 && stream.chain == 0 && stream.purpose == AIS_FOR_WEIGHTS);
}

/* Moments of 10^6 normals within 5 standard errors, and the tail beyond 4 is there. */
static void normals_are_normal(void **state) {
    (void)state;
    enum { N = 1000000 };
    double *value = malloc(N * sizeof *value), sum[4] = {0};
    ais_stream stream = {.seed = 2385, .purpose = AIS_FOR_USER};
    ais_normals(&stream, N, value);
    int beyond = 0;
    for (int i = 0; i < N; i++) {
        double x = value[i];
        sum[0] += x, sum[1] += x * x, sum[2] += x * x * x, sum[3] += x * x * x * x;
        beyond += fabs(x) > 4;
    }
    const double mean[4] = {0, 1, 0, 3}, variance[4] = {1, 2, 15, 96};
    for (int k = 0; k < 4; k++) assert_near(sum[k] / N, mean[k], 5 * sqrt(variance[k] / N));
    assert_in_range(beyond, 63 - 40, 63 + 40);
    /* neighbours and the two of a pair are uncorrelated */
    for (int lag = 1; lag <= 2; lag++) {
        double product = 0;
        for (int i = 0; i + lag < N; i++) product += value[i] * value[i + lag];
        assert_near(product / N, 0, 5e-3);
    }
    free(value);
}

static void lanes_equal_single_streams(void **state) {
    (void)state;
    enum { LANES = 48, COUNT = 7 };
    double value[COUNT * LANES], uniform[LANES], alone[COUNT];
    ais_stream stream = {.seed = 3, .step = 1234567890123, .chain = 17, .purpose = AIS_FOR_MOMENTUM};
    ais_normals_lanes(&stream, COUNT, LANES, value);
    ais_uniforms_lanes(&stream, 5, LANES, uniform);
    for (uint32_t c = 0; c < LANES; c++) {
        ais_stream one = stream;
        one.chain += c;
        ais_normals(&one, COUNT, alone);
        for (int k = 0; k < COUNT; k++) assert_true(alone[k] == value[k * LANES + (int)c]);
        assert_true(uniform[c] == ais_random_uniform(&one, 5));
    }
}

static void uniforms_are_open(void **state) {
    (void)state;
    ais_stream stream = {.seed = 1, .purpose = AIS_FOR_USER};
    double low = 1, high = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        double u = ais_random_uniform(&stream, i);
        low = u < low ? u : low, high = u > high ? u : high;
        assert_true(ais_random_below(&stream, i, 7) < 7);
    }
    assert_true(low > 0 && low < 1e-3 && high < 1 && high > 1 - 1e-3);
}

static void fixed_point(void **state) {
    (void)state;
    assert_true(ais_fixed_from(1) == INT64_C(1) << 32);
    assert_true(ais_fixed_from(-2.5) == -(INT64_C(5) << 31));
    assert_true(ais_fixed_from(0x1p-33) == 0 && ais_fixed_from(0x1.8p-33) == 1); /* ties go to even */
    assert_true(ais_fixed_from(INFINITY) == INT64_C(1) << 62);
    assert_true(ais_fixed_from(-1e300) == -(INT64_C(1) << 62));
    assert_true(ais_fixed_from(NAN) == ais_fixed_from(NAN));
    for (uint64_t i = 0; i < 100000; i++) {
        double value = odd(4, i, -1, 1) * exp2(odd(5, i, -30, 30));
        int64_t fixed = ais_fixed_from(value);
        assert_near(ais_fixed_to(fixed), value, 0x1p-33 + fabs(value) * 0x1p-53);
        int64_t a = (int64_t)(odd(6, i, -1, 1) * 0x1p63), b = (int64_t)(odd(7, i, -1, 1) * 0x1p63);
        assert_true(ais_fixed_sub(ais_fixed_add(a, b), b) == a);
        assert_true(ais_fixed_sub(b, ais_fixed_sub(b, a)) == a);
    }
}

static void arena(void **state) {
    (void)state;
    ais_arena memory = {0};
    char *slice[100];
    for (size_t i = 0; i < 100; i++) {
        slice[i] = ais_arena_take(&memory, i * 977);
        assert_non_null(slice[i]);
        assert_int_equal((uintptr_t)slice[i] % AIS_ALIGNMENT, 0);
        for (size_t k = 0; k < i * 977; k++) assert_int_equal(slice[i][k], 0);
        memset(slice[i], (int)i, i * 977);
    }
    for (size_t i = 1; i < 100; i++) assert_int_equal(slice[i][i * 977 - 1], (int)i);
    assert_null(ais_arena_take(&memory, SIZE_MAX / 2));
    ais_arena_free(&memory);
}

/* As sorting has it, for numbers that are often equal, sorted, falling or at random. */
static void selection(void **state) {
    (void)state;
    enum { MOST = 500 };
    double x[MOST], sorted[MOST];
    ais_stream stream = {.purpose = 3};
    uint32_t at = 0;
    for (size_t n = 1; n <= MOST; n += 1 + n / 3)
        for (int kind = 0; kind < 4; kind++)
            for (int turn = 0; turn < 20; turn++) {
                double few = kind == 0 ? 4 : 1e6;
                for (size_t i = 0; i < n; i++) x[i] = floor(few * ais_random_uniform(&stream, at++));
                if (kind >= 2) qsort(x, n, sizeof *x, kind == 2 ? ais_rising : ais_falling);
                memcpy(sorted, x, n * sizeof *x);
                qsort(sorted, n, sizeof *sorted, ais_rising);
                size_t k = (size_t)((double)n * ais_random_uniform(&stream, at++));
                assert_true(ais_select(n, x, k) == sorted[k]);
                assert_true(x[k] == sorted[k]);
                for (size_t i = 0; i < n; i++) assert_true(i < k ? x[i] <= x[k] : x[i] >= x[k]);
                qsort(x, n, sizeof *x, ais_rising);
                assert_memory_equal(x, sorted, n * sizeof *x);
            }
}

static void count_task(void *data, int i) { atomic_fetch_add(&((atomic_int *)data)[i], 1); }

static void pool(void **state) {
    (void)state;
    ais_context context = {0};
    for (int threads = 1; threads <= 7; threads += 3) {
        ais_pool *workers;
        assert_ok(context, ais_pool_new(&context, threads, &workers));
        for (int round = 0; round < 200; round++) {
            atomic_int done[33] = {0};
            ais_pool_run(workers, 33, count_task, done);
            for (int i = 0; i < 33; i++) assert_int_equal(atomic_load(&done[i]), 1);
        }
        ais_pool_free(workers);
    }
    ais_pool *none;
    assert_int_equal(ais_pool_new(&context, -1, &none), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "-1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(streams_do_not_meet),
        cmocka_unit_test(uses_do_not_meet),
        cmocka_unit_test(normals_are_normal),
        cmocka_unit_test(lanes_equal_single_streams),
        cmocka_unit_test(uniforms_are_open),
        cmocka_unit_test(fixed_point),
        cmocka_unit_test(arena),
        cmocka_unit_test(selection),
        cmocka_unit_test(pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
