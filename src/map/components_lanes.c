#include "map/components_lanes.h"

#include <float.h>
#include <math.h>

#include "map/components.h"
#include "simd/doubles.h"

#define LOG2_E 0x1.71547652b82fep+0

/* ROWS x SPAN sums stay in registers; PAIR components' exponentials are under way at once; the terms of CHUNK
 * components are there before the first is exponentiated. */
enum { ROWS = 6, SPAN = 2, POINTS = SPAN * AIS_WORDS, PAIR = 2, CHUNK = 32 };

/* Adds the squares of some rows of F^-1 (x - m). rows is a constant after inlining. */
AIS_INLINE void add_rows(int rows, size_t dim, const double *whiten, const double *mean, const double *x,
                         ais_doubles square[SPAN]) {
    ais_doubles sum[ROWS][SPAN];
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < SPAN; s++) sum[r][s] = (ais_doubles){0};
    for (size_t j = 0; j < dim; j++) {
        ais_doubles away[SPAN], centre = ais_spread_double(mean[j]);
        for (int s = 0; s < SPAN; s++) away[s] = ais_load(x + j * AIS_LANES + (size_t)(s * AIS_WORDS)) - centre;
        for (int r = 0; r < rows; r++) {
            ais_doubles factor = ais_spread_double(whiten[(size_t)r * dim + j]);
            for (int s = 0; s < SPAN; s++) sum[r][s] = ais_fma_double(factor, away[s], sum[r][s]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < SPAN; s++) square[s] = ais_fma_double(sum[r][s], sum[r][s], square[s]);
}

/* The logarithm of component k's part of q: of a t, log_scale - (freedom + dim)/2 log(1 + distance^2/freedom). */
AIS_INLINE void log_terms(const ais_components *q, size_t dim, bool normal, int k, const double *x, ais_doubles *term) {
    size_t row = 0;
    const double *whiten = q->whiten + (size_t)k * dim * dim, *mean = q->mean + (size_t)k * dim;
    const ais_doubles scale = ais_spread_double(q->log_scale[k]), most = ais_spread_double(1e300);
    ais_doubles square[SPAN] = {{0}};
    for (; row + ROWS <= dim; row += ROWS) add_rows(ROWS, dim, whiten + row * dim, mean, x, square);
    for (; row + 2 <= dim; row += 2) add_rows(2, dim, whiten + row * dim, mean, x, square);
    if (row < dim) add_rows(1, dim, whiten + row * dim, mean, x, square);
    const ais_doubles power = ais_spread_double(normal ? -0.5 : -0.5 * (q->freedom + q->dim));
    for (int s = 0; s < SPAN; s++) {
        square[s] = ais_min_double(square[s], most);
        if (!normal)
            square[s] =
                ais_log_normal(ais_fma_double(square[s], ais_spread_double(1 / q->freedom), ais_spread_double(1)));
        term[s] = ais_fma_double(power, square[s], scale);
    }
}

/* q is sum e^top, top being the largest term so far. */
typedef struct running {
    ais_doubles top[SPAN], sum[SPAN];
} running;

AIS_INLINE void add_terms(int many, const ais_doubles *term, running *r) {
    ais_doubles power[PAIR * SPAN];
    for (int i = 0; i < many * SPAN; i++) power[i] = ais_spread_double(LOG2_E) * (term[i] - r->top[i % SPAN]);
    ais_powers_below(many * SPAN, power);
    for (int i = 0; i < many * SPAN; i++) r->sum[i % SPAN] += power[i];
}

/* Some more components. */
AIS_INLINE void add_chunk(int many, const ais_doubles *term, running *r) {
    ais_doubles before[SPAN];
    for (int s = 0; s < SPAN; s++) before[s] = r->top[s];
    for (int i = 0; i < many * SPAN; i++) r->top[i % SPAN] = ais_max_double(r->top[i % SPAN], term[i]);
    for (int s = 0; s < SPAN; s++) before[s] = ais_spread_double(LOG2_E) * (before[s] - r->top[s]);
    ais_powers_below(SPAN, before);
    for (int s = 0; s < SPAN; s++) r->sum[s] *= before[s];
    int k = 0;
    for (; k + PAIR <= many; k += PAIR) add_terms(PAIR, term + k * SPAN, r);
    for (; k < many; k++) add_terms(1, term + k * SPAN, r);
}

static void store_rows(const ais_doubles *term, size_t stride, size_t points, double *to) {
    double value[POINTS];
    for (int s = 0; s < SPAN; s++) ais_store(value + s * AIS_WORDS, term[s]);
    for (size_t c = 0; c < points && c < POINTS; c++) to[c * stride] = value[c];
}

/* dim and normal may be constants after inlining. */
AIS_INLINE void tile(const ais_components *q, size_t dim, bool normal, size_t points, const double *x, double *logq,
                     double *term) {
    size_t stride = (size_t)q->count;
    for (size_t c = 0; c < points; c += POINTS) {
        running r;
        for (int s = 0; s < SPAN; s++) {
            r.top[s] = ais_spread_double(-DBL_MAX); /* finite, so that no difference is NaN */
            r.sum[s] = (ais_doubles){0};
        }
        for (int first = 0; first < q->count; first += CHUNK) {
            ais_doubles terms[CHUNK * SPAN];
            int many = q->count - first < CHUNK ? q->count - first : CHUNK;
            for (int k = 0; k < many; k++) {
                log_terms(q, dim, normal, first + k, x + c, terms + k * SPAN);
                if (term) store_rows(terms + k * SPAN, stride, points - c, term + c * stride + (size_t)(first + k));
            }
            add_chunk(many, terms, &r);
        }
        for (int s = 0; s < SPAN; s++) ais_store(logq + c + s * AIS_WORDS, r.top[s] + ais_log_normal(r.sum[s]));
    }
}

void AIS_ISA(ais_components_tile)(const ais_components *q, size_t points, const double *x, double *logq, double *term) {
    bool normal = isinf(q->freedom);
    if (q->dim == 2 && normal)
        tile(q, 2, true, points, x, logq, term);
    else if (q->dim == 2)
        tile(q, 2, false, points, x, logq, term);
    else
        tile(q, (size_t)q->dim, normal, points, x, logq, term);
}

/* Some rows of F z; several at once, because each is one long chain of additions. */
AIS_INLINE void multiply_rows(int rows, size_t dim, const double *factor, const double *z, double *product) {
    ais_doubles sum[4] = {{0}};
    size_t j = 0;
    for (; j + AIS_WORDS <= dim; j += AIS_WORDS) {
        ais_doubles part = ais_load(z + j);
        for (int r = 0; r < rows; r++) sum[r] = ais_fma_double(ais_load(factor + (size_t)r * dim + j), part, sum[r]);
    }
    for (int r = 0; r < rows; r++) {
        double total = 0;
        for (int l = 0; l < AIS_WORDS; l++) total += sum[r][l];
        for (size_t i = j; i < dim; i++) total += factor[(size_t)r * dim + i] * z[i];
        product[r] = total;
    }
}

void AIS_ISA(ais_components_place)(const ais_components *q, int k, double far, const double *z, double *x) {
    size_t dim = (size_t)q->dim, i = 0;
    const double *factor = q->factor + (size_t)k * dim * dim, *mean = q->mean + (size_t)k * dim;
    for (; i + 4 <= dim; i += 4) multiply_rows(4, dim, factor + i * dim, z, x + i);
    for (; i < dim; i++) multiply_rows(1, dim, factor + i * dim, z, x + i);
    for (i = 0; i < dim; i++) x[i] = mean[i] + far * x[i];
}
