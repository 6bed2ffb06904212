/* ESS estimators that need the true moments. */
#include <aisampler/diagnostics.h>

#include <math.h>

#include "diagnostics/column.h"

/* Lags up to here one by one: most chains are cut before, and a transform costs as much. */
enum { DIRECT_LAGS = 64 };

/* Adds 2 (1 - t/N) rho_t for t = first..last-1 to sum; true when the cut was met. */
typedef struct song_sum {
    double sum, cut, variance;
    int draws;
} song_sum;

static bool add_lag(song_sum *song, int t, double products) {
    double rho = products / ((double)(song->draws - t) * song->variance);
    if (!(rho >= song->cut)) return true;
    song->sum += 2 * (1 - (double)t / song->draws) * rho;
    return false;
}

/* The remaining lags by one transform: a slow chain would otherwise cost draws^2. */
static bool add_far_lags(song_sum *song, const double *x, double mean) {
    size_t n = (size_t)song->draws, length = ais_fft_length(2 * n), bins = length / 2 + 1;
    ais_fft fft = {0};
    ais_arena arena = {0};
    double *re = AIS_TAKE(&arena, double, bins), *im = AIS_TAKE(&arena, double, bins);
    double *product = AIS_TAKE(&arena, double, n);
    bool complete = re && im && product && ais_fft_init(&fft, length);
    if (complete) {
        for (size_t t = 0; t < n; t++) product[t] = x[t] - mean;
        ais_fft_forward(&fft, product, n, re, im);
        for (size_t k = 0; k < bins; k++) {
            re[k] = re[k] * re[k] + im[k] * im[k];
            im[k] = 0;
        }
        ais_fft_inverse(&fft, re, im, product, n);
        for (int t = DIRECT_LAGS; t < song->draws; t++)
            if (add_lag(song, t, product[t])) break;
    }
    ais_fft_free(&fft);
    ais_arena_free(&arena);
    return complete;
}

/* math.md (23). */
double ais_ess_song(const double *x, int draws, double mean, double variance, double cut) {
    if (draws < 1 || !(variance > 0) || !isfinite(variance) || !isfinite(mean) || isnan(cut)) return NAN;
    for (int t = 0; t < draws; t++)
        if (!isfinite(x[t])) return NAN;
    song_sum song = {.sum = 1, .cut = cut, .variance = variance, .draws = draws};
    for (int t = 1; t < draws && t < DIRECT_LAGS; t++) {
        double products = 0;
        for (int s = 0; s + t < draws; s++) products += (x[s] - mean) * (x[s + t] - mean);
        if (add_lag(&song, t, products)) return draws / song.sum;
    }
    if (draws > DIRECT_LAGS && !add_far_lags(&song, x, mean)) return NAN;
    return draws / song.sum;
}

/* math.md (24). */
double ais_ess_error(const double *x, int chains, int draws, double mean, double variance) {
    if (chains < 1 || draws < 1 || !(variance > 0) || !isfinite(variance) || !isfinite(mean)) return NAN;
    double squares = 0;
    for (int c = 0; c < chains; c++) {
        double error = ais_mean(x + (size_t)c * (size_t)draws, (size_t)draws) - mean;
        squares += error * error;
    }
    return variance / (squares / chains);
}
