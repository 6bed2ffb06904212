/* Diagonal, triangular and full whitenings, in tiles of registers and parts of columns, are the product term by term,
 * to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "learned/pullback.h"
#include "map/whitening.h"
#include "map/whitening_lanes.h"

enum { MOST = 70, LANES = 2 * AIS_LANES };

static void odd_numbers(size_t n, double from, double *to) {
    for (size_t i = 0; i < n; i++) to[i] = 2.385 * sin(from + 1.7 * (double)i);
}

typedef struct products {
    _Alignas(64) double in[MOST * LANES], wanted[MOST * LANES], out[MOST * LANES];
    double matrix[MOST * MOST], offset[MOST];
} products;

/* Diagonal, lower triangular, full. */
static void make_matrix(ais_form form, size_t n, double *matrix) {
    odd_numbers(n * n, 0.3, matrix);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if ((form != AIS_FORM_FULL && j > i) || (form == AIS_FORM_DIAGONAL && j < i)) matrix[i * n + j] = 0;
}

/* Row by row from the offset on; one rounding a term where the set has multiply-adds. */
static void multiply(size_t n, size_t count, products *p) {
#ifdef __FP_FAST_FMA
    const bool fused = true;
#else
    const bool fused = ais_isa_now() != AIS_BASE;
#endif
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < count; c++) {
            double sum = p->offset[i];
            for (size_t j = 0; j < n; j++) {
                double a = p->matrix[i * n + j], b = p->in[j * LANES + c], product = a * b;
                sum = fused ? fma(a, b, sum) : sum + product;
            }
            p->wanted[i * LANES + c] = sum;
        }
}

static void compare(products *p, ais_form form, int n, size_t count) {
    memset(p->wanted, 0, sizeof p->wanted);
    memset(p->out, 0, sizeof p->out);
    multiply((size_t)n, count, p);
    if (form == AIS_FORM_DIAGONAL)
        AIS_CHOOSE(ais_diagonal_apply)(n, LANES, count, p->matrix, p->offset, p->in, p->out);
    else
        AIS_CHOOSE(ais_dense_apply)(n, form == AIS_FORM_LOWER, LANES, count, p->matrix, p->offset, p->in, p->out);
    assert_memory_equal(p->wanted, p->out, sizeof p->out);
}

static void every_way_is_the_matrix(void **unused) {
    (void)unused;
    static products p;
    static const int dim[] = {1, 2, 5, 31, 32, 33, 64, MOST};
    ais_isa before = ais_isa_now();
    for (int isa = 0; isa < AIS_ISA_COUNT; isa++) {
        if (!ais_isa_take((ais_isa)isa)) continue;
        for (size_t k = 0; k < sizeof dim / sizeof *dim; k++)
            for (ais_form form = AIS_FORM_FULL; form <= AIS_FORM_DIAGONAL; form++) {
                make_matrix(form, (size_t)dim[k], p.matrix);
                odd_numbers((size_t)dim[k], 0.2, p.offset);
                odd_numbers((size_t)dim[k] * LANES, 0.9, p.in);
                for (size_t count = AIS_HALF; count <= LANES; count += AIS_HALF) compare(&p, form, dim[k], count);
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

/* A point by itself goes to latent space and comes back, in one lane too, where there is no room for a whole vector,
 * and in more dimensions than one part of columns has. */
static void a_point_alone_comes_back(void **state) {
    (void)state;
    static double factor[MOST * MOST], mean[MOST], x[MOST], z[MOST], back[MOST];
    odd_numbers(MOST, 0.9, x);
    odd_numbers(MOST, 1.1, mean);
    for (int dim = 1; dim <= MOST; dim++) {
        ais_context context = {0};
        ais_arena arena = {0};
        ais_kernel *map;
        ais_pullback density;
        const ais_shape shape = {.map = AIS_AFFINE, .reversal = AIS_SWAP, .dim = dim};
        const ais_target target = {.name = "none", .dim = dim};
        for (int k = 0; k < dim * dim; k++) factor[k] = k % (dim + 1) ? 0.3 / dim * sin(k) : 1;
        assert_int_equal(ais_kernel_learned(&context, &shape, 1, &map), AIS_OK);
        assert_int_equal(ais_kernel_whiten(&context, map, mean, factor), AIS_OK);
        assert_true(ais_pullback_take(&density, (const ais_learned *)map, &target, 1, AIS_LANES, true, &arena));
        ais_pullback_alone(&density, x, z);
        ais_pullback_point(&density, z, back);
        for (int i = 0; i < dim; i++)
            if (!(fabs(back[i] - x[i]) < 1e-12))
                fail_msg("%d dimensions: coordinate %d of %g comes back as %g", dim, i + 1, x[i], back[i]);
        ais_arena_free(&arena);
        ais_kernel_free(map);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_alone_comes_back),
        cmocka_unit_test(every_way_is_the_matrix),
        cmocka_unit_test(every_factor_is_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
