/* Splines whose parameters all lanes share. */
#include "kernel/spline_bin.h"

enum {
    AT_ONCE = AIS_LANES,
    FACTORS = 8
}; /* coordinates; derivatives in one product, each between 1e-9 and 1e9 or so */

/* The knots of AT_ONCE coordinates, which are the lanes here: bins + 1 of them. */
typedef struct knots {
    double x[AIS_MAX_BINS + 1][AT_ONCE], y[AIS_MAX_BINS + 1][AT_ONCE], slope[AIS_MAX_BINS + 1][AT_ONCE];
} knots;

static void set_knots(const ais_layer_call *call, int first, knots *set) {
    int bins = call->bins, params = ais_spline_params(bins), left = call->mapped - first;
    int count = left < AT_ONCE ? left : AT_ONCE;
    ais_real p[3 * AIS_MAX_BINS][AT_ONCE], wide[AIS_MAX_BINS][AIS_LANES], high[AIS_MAX_BINS][AIS_LANES];
    double span = 2 * call->bound, least = least_width * span, rest = span - least * bins;
    for (int k = 0; k < params; k++)
        for (int j = 0; j < AT_ONCE; j++) p[k][j] = j < count ? call->p[(first + j) * params + k] : 0;
    softmax(bins, AT_ONCE, p[0], wide);
    softmax(bins, AT_ONCE, p[bins], high);
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

/* The bins of one coordinate, column by column. */
typedef struct table {
    double knot[AIS_MAX_BINS]; /* where a bin begins, on the side that is searched */
    double x[AIS_MAX_BINS], width[AIS_MAX_BINS], y[AIS_MAX_BINS], height[AIS_MAX_BINS], s[AIS_MAX_BINS];
    double slope[2][AIS_MAX_BINS];
} table;

static void set_table(const knots *set, int bins, int j, bool inverse, table *to) {
    for (int k = 0; k < bins; k++) {
        to->x[k] = set->x[k][j];
        to->y[k] = set->y[k][j];
        to->width[k] = set->x[k + 1][j] - set->x[k][j];
        to->height[k] = set->y[k + 1][j] - set->y[k][j];
        to->s[k] = to->height[k] / to->width[k];
        to->slope[0][k] = set->slope[k][j];
        to->slope[1][k] = set->slope[k + 1][j];
        to->knot[k] = inverse ? to->y[k] : to->x[k];
    }
}

enum { COLUMNS = sizeof(table) / sizeof(double[AIS_MAX_BINS]) };

/* chosen[q][c] = column q of the bin in which at[c] lies, c < AIS_LANES. */
AIS_INLINE void choose_bins(const table *bins_of, int bins, const double *at, double (*chosen)[AIS_LANES]) {
    const double(*column)[AIS_MAX_BINS] = (const double(*)[AIS_MAX_BINS])bins_of;
    for (int c = 0; c < AIS_LANES; c += AIS_WORDS) {
        ais_doubles value = ais_load(at + c), found[COLUMNS];
#pragma GCC unroll 8
        for (int q = 1; q < COLUMNS; q++) found[q] = ais_spread_double(column[q][0]);
        for (int k = 1; k < bins; k++) {
            ais_longs here = value >= column[0][k];
#pragma GCC unroll 8
            for (int q = 1; q < COLUMNS; q++) found[q] = ais_pick(here, ais_spread_double(column[q][k]), found[q]);
        }
#pragma GCC unroll 8
        for (int q = 1; q < COLUMNS; q++) ais_store(chosen[q] + c, found[q]);
    }
}

/* One coordinate in AIS_LANES lanes. */
AIS_INLINE void map_shared(const table *bins_of, int bins, bool inverse, double bound, double *row, double *kept,
                           double *up, double *down) {
    double chosen[COLUMNS][AIS_LANES];
    choose_bins(bins_of, bins, row, chosen);
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        double value = row[c];
        landing at = land(inverse, bound, value, chosen[1][c], chosen[2][c], chosen[3][c], chosen[4][c], chosen[5][c],
                          chosen[6][c], chosen[7][c]);
        row[c] = at.image;
        kept[c] = inverse ? at.image : value;
        up[c] *= at.up;
        down[c] *= at.down;
    }
}

AIS_INLINE void add_log(bool inverse, double *up, double *down, double *det) {
#pragma omp simd
    for (int c = 0; c < AIS_LANES; c++) {
        det[c] += inverse ? log(down[c] / up[c]) : log(up[c] / down[c]);
        up[c] = down[c] = 1;
    }
}

AIS_INLINE void marginal(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    knots set;
    table tables[FACTORS];
    size_t lanes = call->lanes;
    for (int m = 0; m < call->mapped; m += FACTORS) {
        int left = call->mapped - m, count = left < FACTORS ? left : FACTORS;
        if (m % AT_ONCE == 0) set_knots(call, m, &set);
        for (int j = 0; j < count; j++) set_table(&set, call->bins, m % AT_ONCE + j, inverse, &tables[j]);
        for (size_t first = 0; first < lanes; first += AIS_LANES) {
            double up[AIS_LANES], down[AIS_LANES];
            for (int c = 0; c < AIS_LANES; c++) up[c] = down[c] = 1;
            for (int j = 0; j < count; j++)
                map_shared(&tables[j], call->bins, inverse, call->bound, z + (size_t)call->index[m + j] * lanes + first,
                           x + (size_t)(m + j) * lanes + first, up, down);
            add_log(inverse, up, down, log_det + first);
        }
    }
}

void AIS_ISA(ais_marginal_map)(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det) {
    if (inverse)
        marginal(call, true, z, x, log_det);
    else
        marginal(call, false, z, x, log_det);
}
