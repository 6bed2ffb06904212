/* A diagonal whitening takes a way of its own, whose results are those of the general one to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "kernel/diagonal_lanes.h"
#include "kernel/whitening.h"
#include "simd/matrix_lanes.h"

enum { MOST = 7, LANES = 2 * AIS_LANES };

static void odd_numbers(size_t n, double from, double *to) {
    for (size_t i = 0; i < n; i++) to[i] = 2.385 * sin(from + 1.7 * (double)i);
}

static void diagonal_is_the_matrix(void **unused) {
    (void)unused;
    _Alignas(64) double in[MOST * LANES], one[MOST * LANES], other[MOST * LANES];
    double matrix[MOST * MOST], offset[MOST];
    ais_isa before = ais_isa_now();
    for (int isa = 0; isa < AIS_ISA_COUNT; isa++)
        for (int n = 1; ais_isa_take((ais_isa)isa) && n <= MOST; n++) {
            size_t size = (size_t)n;
            memset(matrix, 0, sizeof matrix);
            for (size_t i = 0; i < size; i++) matrix[i * size + i] = 0.3 + 1.1 * (double)i;
            odd_numbers(size, 0.2, offset);
            odd_numbers(size * LANES, 0.9, in);
            for (size_t count = AIS_HALF; count <= LANES; count += AIS_HALF) {
                memset(one, 0, sizeof one);
                memset(other, 0, sizeof other);
                AIS_CHOOSE(ais_matrix_apply)(n, LANES, count, matrix, offset, in, one);
                AIS_CHOOSE(ais_diagonal_apply)(n, LANES, count, matrix, offset, in, other);
                assert_memory_equal(one, other, sizeof one);
            }
        }
    assert_true(ais_isa_take(before));
}

/* x = m + A u, term by term, for factors of every kind: the identity, diagonal, triangular, and one that has a single
 * number off the diagonal. */
static void every_factor_is_applied(void **unused) {
    (void)unused;
    enum { DIM = 3 };
    static const double factor[][DIM * DIM] = {{1, 0, 0, 0, 1, 0, 0, 0, 1},
                                               {0.7, 0, 0, 0, -2.3, 0, 0, 0, 1.9},
                                               {0.7, 0, 0, 0.4, -2.3, 0, 0.2, -0.6, 1.9},
                                               {0.7, 0, 0.8, 0, -2.3, 0, 0, 0, 1.9}};
    const double mean[DIM] = {0.3, -1.7, 2.9};
    _Alignas(64) double u[DIM * LANES], x[DIM * LANES], back[DIM * LANES];
    odd_numbers(DIM * LANES, 0.4, u);
    ais_context context = {0};
    ais_arena arena = {0};
    ais_whitening whitening;
    assert_int_equal(ais_whitening_new(&context, &whitening, DIM, &arena), AIS_OK);
    for (size_t k = 0; k < 2 * sizeof factor / sizeof *factor; k++) { /* twice: each after each kind */
        const double *a = factor[k % (sizeof factor / sizeof *factor)];
        assert_int_equal(ais_whitening_set(&context, &whitening, mean, a), AIS_OK);
        ais_unwhiten(&whitening, LANES, u, x);
        ais_whiten(&whitening, LANES, x, back);
        for (size_t i = 0; i < (size_t)DIM * LANES; i++) {
            const double *row = a + i / LANES * DIM, *point = u + i % LANES;
            double wanted = mean[i / LANES];
            for (int j = 0; j < DIM; j++) wanted += row[j] * point[j * LANES];
            assert_true(fabs(x[i] - wanted) < 1e-14 && fabs(back[i] - u[i]) < 1e-14);
        }
    }
    ais_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diagonal_is_the_matrix),
        cmocka_unit_test(every_factor_is_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
