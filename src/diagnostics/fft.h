/* The Fourier transform of real sequences whose length is a power of two.
 *
 * X_k = sum_t x_t exp(-2 pi i k t / length), k = 0..length/2: the rest follows by symmetry. */
#ifndef AIS_DIAGNOSTICS_FFT_H
#define AIS_DIAGNOSTICS_FFT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ais_fft {
    size_t length;
    double *cosine, *sine; /* of 2 pi k / length, k = 0..length/2 - 1 */
    double *re, *im;       /* length / 2 complex numbers */
    double *next_re, *next_im;
} ais_fft;

/* The smallest power of two that is at least n, and at least 2. */
size_t ais_fft_length(size_t n);

/* False when memory is out. length: a power of two, 2 or more. One plan serves one thread. */
bool ais_fft_init(ais_fft *fft, size_t length);
void ais_fft_free(ais_fft *fft);

/* count <= length values, followed by zeros; re and im have length / 2 + 1 values. */
void ais_fft_forward(ais_fft *fft, const double *x, size_t count, double *re, double *im);

/* Undoes forward: writes the first count values of x. im[0] and im[length / 2] are taken as 0. */
void ais_fft_inverse(ais_fft *fft, const double *re, const double *im, double *x, size_t count);

#endif
