/* The mixture of Student-t's or normals: its density is normalised and that of the definition, its draws follow it, and
 * lanes, rows and single points agree. */
#include "support.h"

#include "map/components.h"
#include "simd/isa.h"

#define PI 3.14159265358979323846

/* Components of odd places and shapes, F far from diagonal. */
static void make(ais_components *q, ais_arena *arena, int dim, int count, double freedom) {
    ais_context context = {0};
    assert_true(ais_components_take(q, arena, dim, count));
    q->freedom = freedom;
    double *mean = malloc((size_t)dim * sizeof *mean), *factor = malloc((size_t)(dim * dim) * sizeof *factor);
    for (int k = 0; k < count; k++) {
        uint64_t seed = (uint64_t)(100 * dim + k);
        for (int i = 0; i < dim; i++) mean[i] = odd(seed, (uint64_t)i, -3, 3);
        for (int i = 0; i < dim * dim; i++)
            factor[i] = odd(seed + 7, (uint64_t)i, -0.3, 0.3) / sqrt(dim) + (i % (dim + 1) ? 0 : 0.8);
        assert_ok(context, ais_components_set_factor(&context, q, k, mean, factor));
        q->weight[k] = odd(seed + 9, 0, 1, 3);
    }
    ais_components_weigh(q);
    free(mean);
    free(factor);
}

/* The definition in long double, from F^-1 and log|det F|. */
static double defined_logq(const ais_components *q, const double *x) {
    long double sum = 0, top = -INFINITY, term[64], nu = q->freedom, d = q->dim;
    for (int k = 0; k < q->count; k++) {
        long double square = 0, peak;
        for (int i = 0; i < q->dim; i++) {
            long double u = 0;
            for (int j = 0; j < q->dim; j++)
                u += (long double)q->whiten[(k * q->dim + i) * q->dim + j] * (x[j] - q->mean[k * q->dim + j]);
            square += u * u;
        }
        peak = isinf(q->freedom) ? -0.5L * d * logl(2 * PI)
                                 : lgammal(0.5L * (nu + d)) - lgammal(0.5L * nu) - 0.5L * d * logl(nu * PI);
        term[k] = logl(q->weight[k]) + peak - q->log_volume[k] -
                  (isinf(q->freedom) ? 0.5L * square : 0.5L * (nu + d) * log1pl(square / nu));
        top = fmaxl(top, term[k]);
    }
    for (int k = 0; k < q->count; k++) sum += expl(term[k] - top);
    return (double)(top + logl(sum));
}

static const double freedoms[] = {1, 1.3, 2, 5, 30, INFINITY};
enum { FREEDOMS = sizeof freedoms / sizeof *freedoms };

static void density_is_the_definition(void **state) {
    (void)state;
    enum { N = 37 }; /* no multiple of a tile */
    const struct { int dim, count; } sizes[] = {{1, 1}, {1, 4}, {2, 40}, {3, 2}, {7, 3}, {13, 5}, {100, 2}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int f = 0; f < FREEDOMS; f++) {
            ais_arena arena = {0};
            ais_components q;
            int dim = sizes[s].dim, count = sizes[s].count;
            make(&q, &arena, dim, count, freedoms[f]);
            double *x = AIS_TAKE(&arena, double, N *dim), *share = AIS_TAKE(&arena, double, N *count), logq[N];
            for (int i = 0; i < N * dim; i++) x[i] = odd(3, (uint64_t)i, -4, 4);
            for (int i = 0; i < dim; i++) x[5 * dim + i] *= 1e6; /* far out */
            ais_components_logq(&q, N, x, logq, share, NULL);
            for (int c = 0; c < N; c++) {
                double wanted = defined_logq(&q, x + c * dim), sum = 0, alone;
                assert_near(logq[c], wanted, 1e-12 * (1 + fabs(wanted)) * dim);
                ais_components_logq(&q, 1, x + c * dim, &alone, NULL, NULL);
                assert_true(alone == logq[c]);
                for (int k = 0; k < count; k++) sum += share[c * count + k];
                assert_near(sum, 1, 1e-11);
            }
            ais_arena_free(&arena);
        }
}

/* The integral by the substitution x = sinh t, which reaches far enough for the tails of a Cauchy density. */
static void density_integrates_to_one(void **state) {
    (void)state;
    enum { LINE = 4001, SIDE = 501 };
    for (int f = 0; f < FREEDOMS; f++) {
        ais_arena arena = {0};
        ais_components q;
        make(&q, &arena, 1, 3, freedoms[f]);
        double *x = AIS_TAKE(&arena, double, LINE), *logq = AIS_TAKE(&arena, double, LINE), sum = 0, step = 0.02;
        for (int i = 0; i < LINE; i++) x[i] = sinh(step * (i - LINE / 2));
        ais_components_logq(&q, LINE, x, logq, NULL, NULL);
        for (int i = 0; i < LINE; i++) sum += exp(logq[i]) * cosh(step * (i - LINE / 2)) * step;
        assert_near(sum, 1, 1e-9);
        make(&q, &arena, 2, 2, freedoms[f]);
        x = AIS_TAKE(&arena, double, 2 * SIDE);
        sum = 0;
        step = freedoms[f] < 5 ? 0.08 : 0.04;
        for (int i = 0; i < SIDE && freedoms[f] >= 2; i++) {
            double a = step * (i - SIDE / 2);
            for (int j = 0; j < SIDE; j++) x[2 * j] = sinh(a), x[2 * j + 1] = sinh(step * (j - SIDE / 2));
            ais_components_logq(&q, SIDE, x, logq, NULL, NULL);
            for (int j = 0; j < SIDE; j++) sum += exp(logq[j]) * cosh(a) * cosh(step * (j - SIDE / 2)) * step * step;
        }
        if (freedoms[f] >= 2) assert_near(sum, 1, 1e-6);
        ais_arena_free(&arena);
    }
}

/* Draws in one dimension, binned where the density has equal masses. */
static void draws_follow_the_density(void **state) {
    (void)state;
    enum { LINE = 40001, BINS = 50, LANES = 2000, STEPS = 50 };
    for (int f = 0; f < FREEDOMS; f++) {
        ais_arena arena = {0};
        ais_components q;
        ais_components_work work;
        make(&q, &arena, 1, 3, freedoms[f]);
        assert_true(ais_components_work_take(&work, &arena, 1, LANES));
        double *x = AIS_TAKE(&arena, double, LINE), *logq = AIS_TAKE(&arena, double, LINE);
        double edge[BINS], mass = 0, step = 0.002, chi_square = 0, count[BINS] = {0}, n = (double)LANES * STEPS;
        for (int i = 0; i < LINE; i++) x[i] = sinh(step * (i - LINE / 2));
        ais_components_logq(&q, LINE, x, logq, NULL, NULL);
        for (int i = 0, b = 0; i < LINE; i++) { /* the cell of node i reaches half a step to either side */
            double t = step * (i - LINE / 2), cell = exp(logq[i]) * cosh(t) * step;
            for (; b + 1 < BINS && mass + cell > (b + 1.0) / BINS; b++)
                edge[b] = sinh(t + step * (((b + 1.0) / BINS - mass) / cell - 0.5));
            mass += cell;
        }
        for (uint64_t s = 0; s < STEPS; s++) {
            ais_stream stream = {.seed = 5, .step = s, .purpose = AIS_FOR_MIXTURE};
            ais_components_draw_lanes(&q, &stream, LANES, LANES, &work, x);
            for (int c = 0; c < LANES; c++) {
                int b = 0;
                while (b + 1 < BINS && x[c] > edge[b]) b++;
                count[b]++;
            }
        }
        for (int b = 0; b < BINS; b++) chi_square += pow(count[b] - n / BINS, 2) / (n / BINS);
        print_message("freedom %g: chi^2 %.1f of %d bins\n", freedoms[f], chi_square, BINS);
        assert_true(chi_square < BINS - 1 + 4 * sqrt(2.0 * (BINS - 1)));
        ais_arena_free(&arena);
    }
}

/* Mean and covariance: sum_k w_k m_k, and sum_k w_k (F F' freedom / (freedom - 2) + m m') without the mean's. */
static void draws_have_the_moments(void **state) {
    (void)state;
    enum { DIM = 3, N = 200000 };
    const double some[] = {7, 30, INFINITY};
    for (int f = 0; f < 3; f++) {
        ais_arena arena = {0};
        ais_components q;
        make(&q, &arena, DIM, 2, some[f]);
        double mean[DIM] = {0}, second[DIM][DIM] = {{0}}, sum[DIM] = {0}, x[DIM];
        double product[DIM][DIM] = {{0}}, square[DIM][DIM] = {{0}};
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < DIM; i++) {
                mean[i] += q.weight[k] * q.mean[k * DIM + i];
                for (int j = 0; j < DIM; j++) {
                    double c = 0;
                    for (int l = 0; l < DIM; l++)
                        c += q.factor[(k * DIM + i) * DIM + l] * q.factor[(k * DIM + j) * DIM + l];
                    if (!isinf(some[f])) c *= some[f] / (some[f] - 2);
                    second[i][j] += q.weight[k] * (c + q.mean[k * DIM + i] * q.mean[k * DIM + j]);
                }
            }
        for (uint32_t c = 0; c < N; c++) {
            ais_stream stream = {.seed = 9, .step = 1, .chain = c, .purpose = AIS_FOR_MIXTURE};
            ais_components_draw_one(&q, &stream, x);
            for (int i = 0; i < DIM; i++) {
                sum[i] += x[i];
                for (int j = 0; j < DIM; j++) {
                    product[i][j] += x[i] * x[j];
                    square[i][j] += x[i] * x[i] * x[j] * x[j];
                }
            }
        }
        for (int i = 0; i < DIM; i++) {
            assert_near(sum[i] / N, mean[i], 4 * sqrt((second[i][i] - mean[i] * mean[i]) / N));
            for (int j = 0; j < DIM; j++) {
                double average = product[i][j] / N, error = sqrt((square[i][j] / N - average * average) / N);
                assert_near(average, second[i][j], 4 * error);
            }
        }
        ais_arena_free(&arena);
    }
}

static void lanes_and_points_agree(void **state) {
    (void)state;
    enum { DIM = 5, CHAINS = 19, LANES = 32 };
    for (int f = 0; f < FREEDOMS; f++) {
        ais_arena arena = {0};
        ais_components q;
        ais_components_work work;
        make(&q, &arena, DIM, 3, freedoms[f]);
        assert_true(ais_components_work_take(&work, &arena, DIM, LANES));
        for (uint64_t step = 0; step < 50; step++) { /* long enough for second attempts at a radius */
            ais_stream stream = {.seed = 2, .step = step, .chain = 48, .purpose = AIS_FOR_MIXTURE};
            double x[DIM * LANES] = {0}, logq[LANES], one[DIM], alone;
            ais_components_draw_lanes(&q, &stream, CHAINS, LANES, &work, x);
            ais_components_logq_lanes(&q, CHAINS, LANES, &work, x, logq);
            for (int c = 0; c < CHAINS; c++, stream.chain++) {
                ais_components_draw_one(&q, &stream, one);
                for (int i = 0; i < DIM; i++) assert_true(one[i] == x[i * LANES + c]);
                ais_components_logq(&q, 1, one, &alone, NULL, NULL);
                assert_true(alone == logq[c]);
            }
        }
        ais_arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_is_the_definition), cmocka_unit_test(density_integrates_to_one),
        cmocka_unit_test(draws_follow_the_density),  cmocka_unit_test(draws_have_the_moments),
        cmocka_unit_test(lanes_and_points_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
