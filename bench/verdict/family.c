/* Densities whose marginals are known exactly, for bench/verdict: -DFAMILY=name -DDIM=n, with -DGRADIENT their
 * gradient. A, B, C: numbers of the family. All are normalised: log Z = 0 (walls: the same). bench/verdict/corpus.py
 * has their distribution functions. */
#include <aisampler/density.h>
#include <math.h>

#ifndef A
#define A 1
#endif
#ifndef B
#define B 1
#endif
#ifndef C
#define C 0.5
#endif
static const double a = A, b = B, c = C, LOG_2PI = 1.8378770664093454836;

/* Functions of one coordinate, multiplied: log density and slope. */
static inline double bell(double z, double sd) { return -0.5 * z * z / (sd * sd) - log(sd) - 0.5 * LOG_2PI; }

/* N(a, b^2) */
static inline double normal(double x, int i, double *slope) {
    (void)i;
    *slope = -(x - a) / (b * b);
    return bell(x - a, b);
}
/* sd from a to b, evenly on the log scale */
static inline double scales(double x, int i, double *slope) {
    double sd = a * pow(b / a, DIM > 1 ? i / (DIM - 1.0) : 0);
    *slope = -x / (sd * sd);
    return bell(x, sd);
}
/* c N(-a, 1) + (1 - c) N(a, b^2) in the first coordinate, the others standard normal; `wells`: in every one */
static inline double wells(double x, int i, double *slope) {
    (void)i;
    double left = log(c) + bell(x + a, 1), right = log(1 - c) + bell(x - a, b), top = fmax(left, right);
    double sum = exp(left - top) + exp(right - top), share = exp(left - top) / sum;
    *slope = -share * (x + a) - (1 - share) * (x - a) / (b * b);
    return top + log(sum);
}
static inline double modes(double x, int i, double *slope) {
    if (i == 0) return wells(x, i, slope);
    *slope = -x;
    return bell(x, 1);
}
/* log of a gamma variable of shape a */
static inline double loggamma(double x, int i, double *slope) {
    (void)i;
    *slope = a - exp(x);
    return a * x - exp(x) - lgamma(a);
}
static inline double laplace(double x, int i, double *slope) {
    (void)i;
    *slope = x > 0 ? -1 : 1;
    return -fabs(x) - log(2);
}
static inline double logistic(double x, int i, double *slope) {
    (void)i;
    double e = exp(-fabs(x));
    *slope = (x > 0 ? -1 : 1) * (1 - e) / (1 + e);
    return -fabs(x) - 2 * log1p(e);
}
/* independent t's of a degrees */
static inline double student(double x, int i, double *slope) {
    (void)i;
    *slope = -(a + 1) * x / (a + x * x);
    return lgamma((a + 1) / 2) - lgamma(a / 2) - 0.5 * log(a * M_PI) - 0.5 * (a + 1) * log1p(x * x / a);
}
/* x > 0: exponential */
static inline double halfline(double x, int i, double *slope) {
    (void)i;
    *slope = -1;
    return x > 0 ? -x : -INFINITY;
}
/* 0 < x < 1, rising: 2 x */
static inline double wedge(double x, int i, double *slope) {
    (void)i;
    *slope = 1 / x;
    return x > 0 && x < 1 ? log(2 * x) : -INFINITY;
}
/* a normal with a jump at 0: its right half has c of the mass */
static inline double jump(double x, int i, double *slope) {
    (void)i;
    *slope = -x;
    return bell(x, 1) + log(2 * (x > 0 ? c : 1 - c));
}

#ifdef COUPLED
/* Coupled coordinates: log density, and the gradient where it is asked for. */
/* autoregressive: N(0, 1), correlation a between neighbours */
static inline double chain(const double *x, double *g) {
    double sd = sqrt(1 - a * a), sum = bell(x[0], 1);
    for (int i = 0; g && i < DIM; i++) g[i] = 0;
    if (g) g[0] = -x[0];
    for (int i = 1; i < DIM; i++) {
        double z = x[i] - a * x[i - 1];
        sum += bell(z, sd);
        if (g) g[i] -= z / (sd * sd), g[i - 1] += a * z / (sd * sd);
    }
    return sum;
}
/* pairs x ~ N(0, a^2), y ~ N(x^2, b^2) */
static inline double banana(const double *x, double *g) {
    double sum = 0;
    for (int i = 0; i + 1 < DIM; i += 2) {
        double z = x[i + 1] - x[i] * x[i];
        sum += bell(x[i], a) + bell(z, b);
        if (g) g[i] = -x[i] / (a * a) + 2 * x[i] * z / (b * b), g[i + 1] = -z / (b * b);
    }
    return sum;
}
/* v ~ N(0, a^2), the others N(0, e^v) */
static inline double funnel(const double *x, double *g) {
    double sum = bell(x[0], a);
    if (g) g[0] = -x[0] / (a * a);
    for (int i = 1; i < DIM; i++) {
        double square = x[i] * x[i] * exp(-x[0]);
        sum += -0.5 * (square + x[0] + LOG_2PI);
        if (g) g[0] += 0.5 * (square - 1), g[i] = -x[i] * exp(-x[0]);
    }
    return sum;
}
/* radius N(a, b^2) in the plane of the first two, by area; others standard normal. The part of the radius below 0 is
 * left out: a is many b's */
static inline double ring(const double *x, double *g) {
    double r = hypot(x[0], x[1]) + 1e-300, sum = bell(r - a, b) - log(2 * M_PI * r);
    if (g) {
        double slope = -(r - a) / (b * b) - 1 / r;
        g[0] = slope * x[0] / r, g[1] = slope * x[1] / r;
    }
    for (int i = 2; i < DIM; i++) {
        sum += bell(x[i], 1);
        if (g) g[i] = -x[i];
    }
    return sum;
}
/* multivariate t of a degrees */
static inline double round_t(const double *x, double *g) {
    double square = 0;
    for (int i = 0; i < DIM; i++) square += x[i] * x[i];
    for (int i = 0; g && i < DIM; i++) g[i] = -(a + DIM) * x[i] / (a + square);
    return lgamma((a + DIM) / 2) - lgamma(a / 2) - 0.5 * DIM * log(a * M_PI) - 0.5 * (a + DIM) * log1p(square / a);
}
/* a spike on a slab: c N(0, b^2 I) + (1 - c) N(0, a^2 I) */
static inline double spike(const double *x, double *g) {
    double high = log(c), low = log(1 - c);
    for (int i = 0; i < DIM; i++) high += bell(x[i], b), low += bell(x[i], a);
    double top = fmax(high, low), sum = exp(high - top) + exp(low - top), share = exp(high - top) / sum;
    for (int i = 0; g && i < DIM; i++) g[i] = -x[i] * (share / (b * b) + (1 - share) / (a * a));
    return top + log(sum);
}
/* regression with known noise 1: y_t = sum_i x_i cos(t i) + sin(3 t), t = 1 .. 40, priors N(0, a^2). Not normalised. */
static inline double regression(const double *x, double *g) {
    double sum = 0;
    for (int i = 0; i < DIM; i++) {
        sum += bell(x[i], a);
        if (g) g[i] = -x[i] / (a * a);
    }
    for (int t = 1; t <= 40; t++) {
        double z = sin(3.0 * t);
        for (int i = 0; i < DIM; i++) z -= x[i] * cos(t * (double)i);
        sum += bell(z, 1);
        for (int i = 0; g && i < DIM; i++) g[i] += z * cos(t * (double)i);
    }
    return sum;
}
static double value(const double *x, double *g) { return FAMILY(x, g); }
#else
static double value(const double *x, double *g) {
    double sum = 0, slope;
    for (int i = 0; i < DIM; i++) {
        sum += FAMILY(x[i], i, &slope);
        if (g) g[i] = slope;
    }
    return sum;
}
#endif

static double logp(const double *x, void *data) {
    (void)data;
    return value(x, 0);
}
#ifdef GRADIENT
static double grad(const double *x, double *g, void *data) {
    (void)data;
    return value(x, g);
}
#define SLOPES .grad = grad,
#else
#define SLOPES
#endif

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, SLOPES.logp = logp};
