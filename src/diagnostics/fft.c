/* A real sequence of length 2 N is taken as N complex numbers x_{2t} + i x_{2t+1}; these go through
 * Stockham's radix-2 transform (no bit reversal: every pass writes in order), and the two halves are
 * separated by the symmetry of a real sequence's transform. */
#include "diagnostics/fft.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/constants.h"

size_t ais_fft_length(size_t n) {
    size_t length = 2;
    while (length < n) length *= 2;
    return length;
}

bool ais_fft_init(ais_fft *fft, size_t length) {
    const double two_pi = 2 * AIS_PI;
    size_t half = length / 2;
    *fft = (ais_fft){.length = length};
    double *memory = ais_allocate(6 * half * sizeof(double));
    if (!memory) return false;
    fft->cosine = memory;
    fft->sine = memory + half;
    fft->re = memory + 2 * half;
    fft->im = memory + 3 * half;
    fft->next_re = memory + 4 * half;
    fft->next_im = memory + 5 * half;
    for (size_t k = 0; k < half; k++) {
        double angle = two_pi * ((double)k / (double)length);
        fft->cosine[k] = cos(angle);
        fft->sine[k] = sin(angle);
    }
    return true;
}

void ais_fft_free(ais_fft *fft) {
    free(fft->cosine);
    *fft = (ais_fft){0};
}

static void swap(double **a, double **b) {
    double *keep = *a;
    *a = *b;
    *b = keep;
}

/* One pass: pairs that lie `groups * stride` apart, stride neighbours at a time. */
static void pass(const ais_fft *fft, size_t groups, size_t stride, const double *restrict re, const double *restrict im,
                 double *restrict next_re, double *restrict next_im) {
    for (size_t p = 0; p < groups; p++) {
        /* exp(-2 pi i p / (2 groups)); the table's step is 2 pi / length = 2 pi / (4 groups stride) */
        double wr = fft->cosine[2 * p * stride], wi = -fft->sine[2 * p * stride];
        size_t a = p * stride, b = (p + groups) * stride, even = 2 * p * stride, odd = even + stride;
        for (size_t q = 0; q < stride; q++) {
            double dr = re[a + q] - re[b + q], di = im[a + q] - im[b + q];
            next_re[even + q] = re[a + q] + re[b + q];
            next_im[even + q] = im[a + q] + im[b + q];
            next_re[odd + q] = dr * wr - di * wi;
            next_im[odd + q] = dr * wi + di * wr;
        }
    }
}

/* The transform of the length / 2 complex numbers in (re, im), in place. */
static void transform(ais_fft *fft) {
    for (size_t groups = fft->length / 4, stride = 1; groups >= 1; groups /= 2, stride *= 2) {
        pass(fft, groups, stride, fft->re, fft->im, fft->next_re, fft->next_im);
        swap(&fft->re, &fft->next_re);
        swap(&fft->im, &fft->next_im);
    }
}

void ais_fft_forward(ais_fft *fft, const double *x, size_t count, double *re, double *im) {
    size_t half = fft->length / 2;
    for (size_t t = 0; t < half; t++) {
        fft->re[t] = 2 * t < count ? x[2 * t] : 0;
        fft->im[t] = 2 * t + 1 < count ? x[2 * t + 1] : 0;
    }
    transform(fft);
    const double *zr = fft->re, *zi = fft->im;
    re[0] = zr[0] + zi[0];
    re[half] = zr[0] - zi[0];
    im[0] = im[half] = 0;
    for (size_t k = 1; k < half; k++) {
        double er = 0.5 * (zr[k] + zr[half - k]), ei = 0.5 * (zi[k] - zi[half - k]);       /* of x_{2t} */
        double odd_r = 0.5 * (zi[k] + zi[half - k]), odd_i = 0.5 * (zr[half - k] - zr[k]); /* of x_{2t+1} */
        double c = fft->cosine[k], s = fft->sine[k];
        re[k] = er + c * odd_r + s * odd_i;
        im[k] = ei + c * odd_i - s * odd_r;
    }
}

void ais_fft_inverse(ais_fft *fft, const double *re, const double *im, double *x, size_t count) {
    size_t half = fft->length / 2;
    /* The inverse transform is the forward one with real and imaginary parts exchanged. */
    double *zr = fft->im, *zi = fft->re;
    zr[0] = 0.5 * (re[0] + re[half]);
    zi[0] = 0.5 * (re[0] - re[half]);
    for (size_t k = 1; k < half; k++) {
        double er = 0.5 * (re[k] + re[half - k]), ei = 0.5 * (im[k] - im[half - k]);
        double dr = 0.5 * (re[k] - re[half - k]), di = 0.5 * (im[k] + im[half - k]);
        double c = fft->cosine[k], s = fft->sine[k];
        double odd_r = dr * c - di * s, odd_i = di * c + dr * s;
        zr[k] = er - odd_i;
        zi[k] = ei + odd_r;
    }
    transform(fft);
    double scale = 1 / (double)half;
    for (size_t t = 0; t < count; t++) x[t] = scale * (t % 2 ? fft->re[t / 2] : fft->im[t / 2]);
}
