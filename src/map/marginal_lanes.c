/* Splines whose parameters all lanes share: the bins are prepared once, and a lane fetches the row of its own. */
#include "map/spline_bin.h"

enum {
    AT_ONCE = AIS_LANES, /* coordinates */
    FACTORS = 16,        /* derivatives in one product, each between 1e-9 and 1e9 or so */
};

/* The knots of AT_ONCE coordinates, which are the lanes here: bins + 1 of them. */
typedef struct knots {
    double x[AIS_MAX_BINS + 1][AT_ONCE], y[AIS_MAX_BINS + 1][AT_ONCE], slope[AIS_MAX_BINS + 1][AT_ONCE];
} knots;

static void set_knots(const ais_layer_call *call, int first, knots *set) {
    int bins = call->bins, params = ais_spline_params(bins), left = call->mapped - first;
    int count = left < AT_ONCE ? left : AT_ONCE;
    ais_real p[3 * AIS_MAX_BINS][AT_ONCE] = {{0}}, wide[AIS_MAX_BINS][AIS_LANES], high[AIS_MAX_BINS][AIS_LANES];
    double span = 2 * call->bound, least = least_width * span, rest = span - least * bins;
    for (int k = 0; k < params; k++)
        for (int j = 0; j < AT_ONCE; j++) p[k][j] = j < count ? call->p[(first + j) * params + k] : 0;
    softmax(bins, AT_ONCE, p[0], AIS_LANES, wide[0]);
    softmax(bins, AT_ONCE, p[bins], AIS_LANES, high[0]);
    for (int j = 0; j < AT_ONCE; j++) {
        set->x[0][j] = set->y[0][j] = -call->bound;
        set->slope[0][j] = set->slope[bins][j] = 1;
    }
    for (int k = 1; k < bins; k++)
#pragma omp simd
        for (int j = 0; j < AT_ONCE; j++) {
            set->x[k][j] = set->x[k - 1][j] + (least + rest * (double)wide[k - 1][j]);
            set->y[k][j] = set->y[k - 1][j] + (least + rest * (double)high[k - 1][j]);
            set->slope[k][j] = softplus((double)p[2 * bins + k - 1][j] + slope_shift) + least_slope;
        }
    for (int j = 0; j < AT_ONCE; j++) set->x[bins][j] = set->y[bins][j] = call->bound;
}

/* What `land` of spline_bin.h needs of a bin, with all that depends on the bin alone done before; F maps to height
 * (s t^2 + d0 q) / (s + bend q) above y, t = unit v + shift the place in the bin, q = t (1 - t). Inverse: unit v +
 * shift is the place between y and y + height, to which t is found. */
enum { UNIT, SHIFT, SLOPE, FIRST, BEND, CORNER, SIZE, COLUMNS = AIS_MARGINAL_COLUMNS };

static void set_bins(const knots *set, int bins, int j, bool inverse, double *knot, double (*row)[COLUMNS]) {
    for (int k = 0; k < bins; k++) {
        double x = set->x[k][j], y = set->y[k][j], width = set->x[k + 1][j] - x, height = set->y[k + 1][j] - y;
        double s = height / width, unit = inverse ? 1 / height : 1 / width;
        knot[k] = inverse ? y : x;
        row[k][UNIT] = unit;
        row[k][SHIFT] = -knot[k] * unit;
        row[k][SLOPE] = s;
        row[k][FIRST] = set->slope[k][j];
        row[k][BEND] = set->slope[k][j] + set->slope[k + 1][j] - 2 * s;
        row[k][CORNER] = inverse ? x : y;
        row[k][SIZE] = inverse ? width : height;
        row[k][COLUMNS - 1] = 0;
    }
}

void AIS_ISA(ais_marginal_prepare)(const ais_layer_call *call, double *table) {
    knots set;
    int bins = call->bins;
    for (int m = 0; m < call->mapped; m++) {
        if (m % AT_ONCE == 0) set_knots(call, m, &set);
        for (int inverse = 0; inverse < 2; inverse++, table += (1 + COLUMNS) * bins)
            set_bins(&set, bins, m % AT_ONCE, inverse == 1, table + COLUMNS * bins, (double(*)[COLUMNS])table);
    }
}

/* column[q][c] = row[number[c]][q] */
AIS_INLINE void fetch(const double (*row)[COLUMNS], ais_longs number, ais_doubles column[COLUMNS]) {
    int64_t at[AIS_WORDS];
    memcpy(at, &number, sizeof at);
#if defined(__AVX2__) && !defined(__AVX512F__)
    for (int q = 0; q < COLUMNS; q += 4) {
        ais_doubles a = ais_load(row[at[0]] + q), b = ais_load(row[at[1]] + q);
        ais_doubles c = ais_load(row[at[2]] + q), d = ais_load(row[at[3]] + q);
        ais_doubles even[2] = {_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d)};
        ais_doubles odd[2] = {_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d)};
        column[q] = _mm256_permute2f128_pd(even[0], even[1], 0x20);
        column[q + 1] = _mm256_permute2f128_pd(odd[0], odd[1], 0x20);
        column[q + 2] = _mm256_permute2f128_pd(even[0], even[1], 0x31);
        column[q + 3] = _mm256_permute2f128_pd(odd[0], odd[1], 0x31);
    }
#else
    for (int q = 0; q < COLUMNS; q++) {
        double part[AIS_WORDS];
        for (int c = 0; c < AIS_WORDS; c++) part[c] = row[at[c]][q];
        column[q] = ais_load(part);
    }
#endif
}

/* Where vectors of points land; the derivative of F there is up / down. */
typedef struct landings {
    ais_doubles image, up, down;
} landings;

AIS_INLINE landings land_all(bool inverse, ais_doubles value, ais_doubles outside, const ais_doubles of[COLUMNS]) {
    const ais_doubles zero = {0}, one = ais_spread_double(1);
    ais_doubles s = of[SLOPE], d0 = of[FIRST], bend = of[BEND], place = ais_fma_double(value, of[UNIT], of[SHIFT]);
    ais_doubles t = ais_min_double(ais_max_double(place, zero), one), steep = s - d0, root = one;
    if (inverse) { /* a t^2 + b t = s place, in the form that cancels nothing; 2 a t + b = root */
        ais_doubles bent = t * bend, a = steep + bent, b = d0 - bent, c = s * t + s * t;
        root = ais_sqrt_double(ais_max_double(ais_fma_double(a + a, c, b * b), zero));
        t = ais_min_double(c / (b + root), one);
    }
    ais_doubles q = t - t * t, below = ais_fma_double(bend, q, s);
    if (inverse)
        return (landings){.image = ais_fma_double(of[SIZE], t, of[CORNER]) + outside, .up = s * root, .down = below};
    ais_doubles risen = ais_fma_double(s * t, t, d0 * q) / below;
    return (landings){.image = ais_fma_double(of[SIZE], risen, of[CORNER]) + outside,
                      .up = s * s * ais_fma_double(t, ais_fma_double(bend, t, steep + steep), d0),
                      .down = below * below};
}

/* One coordinate in AIS_LANES lanes. Beyond the bound the map is the identity: what is beyond is added again, and the
 * slope at the bound is 1. */
AIS_INLINE void map_shared(const double *table, int bins, bool inverse, double bound, double *row, double *kept,
                           double *up, double *down) {
    const double *knot = table + COLUMNS * bins;
    ais_longs numbers[AIS_LANES / AIS_WORDS] = {{0}};
    for (int k = 1; k < bins; k++) {
        ais_doubles here = ais_spread_double(knot[k]);
        for (int c = 0; c < AIS_LANES; c += AIS_WORDS) numbers[c / AIS_WORDS] -= ais_load(row + c) >= here;
    }
    for (int c = 0; c < AIS_LANES; c += AIS_WORDS) {
        ais_doubles value = ais_load(row + c), of[COLUMNS] = {{0}};
        fetch((const double(*)[COLUMNS])table, numbers[c / AIS_WORDS], of);
        ais_doubles inside = ais_min_double(ais_max_double(value, ais_spread_double(-bound)), ais_spread_double(bound));
        landings at = land_all(inverse, inside, value - inside, of);
        ais_store(row + c, at.image);
        ais_store(kept + c, inverse ? at.image : value);
        ais_store(up + c, ais_load(up + c) * at.up);
        ais_store(down + c, ais_load(down + c) * at.down);
    }
}

/* Never inlined: gcc would take the first lanes out of the loop and give them the scalar logarithm, whose last bit may
 * differ from the vectors'. */
__attribute__((noinline)) static void add_log(const double *over, const double *under, double *det) {
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) det[c] += log(over[c] / under[c]);
}

AIS_INLINE void marginal(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    size_t lanes = call->lanes, side = (size_t)((1 + COLUMNS) * call->bins);
    for (int m = 0; m < call->mapped; m += FACTORS) {
        int left = call->mapped - m, count = left < FACTORS ? left : FACTORS;
        for (size_t first = 0; first < lanes; first += AIS_LANES) {
            double up[AIS_LANES], down[AIS_LANES];
            for (int c = 0; c < AIS_LANES; c++) up[c] = down[c] = 1;
            for (int j = m; j < m + count; j++)
                map_shared(call->table + (size_t)(2 * j + inverse) * side, call->bins, inverse, call->bound,
                           z + (size_t)call->index[j] * lanes + first, x + (size_t)j * lanes + first, up, down);
            add_log(inverse ? down : up, inverse ? up : down, log_det + first);
        }
    }
}

void AIS_ISA(ais_marginal_map)(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    if (inverse)
        marginal(call, true, z, x, log_det);
    else
        marginal(call, false, z, x, log_det);
}
