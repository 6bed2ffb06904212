#include "fit/henon_base.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/special.h"
#include "simd/isa.h"

/* Keeps (|w|^2)^b differentiable at 0 for b < 1. */
static const double floor_of_square = 1e-6;

/* The derivative of lgamma: recurrence up to 6, then the asymptotic series (12 digits). */
static double digamma(double x) {
    double sum = 0;
    for (; x < 6; x += 1) sum -= 1 / x;
    double r = 1 / (x * x);
    return sum + log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

/* One part of the mixture, with what does not depend on z. */
typedef struct part {
    double power, twice_variance, log_weight, log_z, weight, power_log_z; /* the last: d log_z / d log b */
} part;

static void prepare(int coordinates, const ais_real *base, part parts[AIS_BASE_PARTS]) {
    double half = 0.5 * coordinates, most = -INFINITY, sum = 0;
    const ais_real *logit = base + 2 * AIS_BASE_PARTS;
    for (int k = 0; k < AIS_BASE_PARTS; k++) most = fmax(most, (double)logit[k]);
    for (int k = 0; k < AIS_BASE_PARTS; k++) sum += exp((double)logit[k] - most);
    for (int k = 0; k < AIS_BASE_PARTS; k++) {
        double b = exp((double)base[k]), log_s = (double)base[AIS_BASE_PARTS + k];
        parts[k] = (part){.power = b,
                          .twice_variance = 2 * exp(2 * log_s),
                          .log_weight = (double)logit[k] - most - log(sum),
                          .log_z = half * log(2 * AIS_PI) - ais_log_gamma(half) + coordinates * log_s - log(b) +
                                   ais_log_gamma(half / b),
                          .power_log_z = -1 - half / b * digamma(half / b)};
        parts[k].weight = exp(parts[k].log_weight);
    }
}

void ais_henon_base_init(int coordinates, ais_real *base) {
    for (size_t i = 0; i < ais_henon_base_weights(coordinates); i++) base[i] = 0;
    base[AIS_BASE_PARTS + 1] = (ais_real)0.3; /* the two parts must differ, or they stay equal */
}

/* Of one lane with |w|^2 = square: log q, its derivative by square, and those by the parts' parameters
 * added to total. */
static double log_density(int coordinates, const part parts[AIS_BASE_PARTS], double square, double *by_square,
                          double total[3 * AIS_BASE_PARTS]) {
    double q[AIS_BASE_PARTS], raised[AIS_BASE_PARTS], term[AIS_BASE_PARTS], most = -INFINITY, sum = 0;
    for (int k = 0; k < AIS_BASE_PARTS; k++) {
        q[k] = square / parts[k].twice_variance + floor_of_square;
        raised[k] = pow(q[k], parts[k].power);
        term[k] = parts[k].log_weight - raised[k] - parts[k].log_z;
        most = fmax(most, term[k]);
    }
    for (int k = 0; k < AIS_BASE_PARTS; k++) sum += exp(term[k] - most);
    *by_square = 0;
    for (int k = 0; k < AIS_BASE_PARTS; k++) {
        const part *p = &parts[k];
        double share = exp(term[k] - most) / sum, bend = p->power * raised[k] / q[k];
        *by_square -= share * bend / p->twice_variance;
        total[k] += share * (-raised[k] * p->power * log(q[k]) - p->power_log_z);
        total[AIS_BASE_PARTS + k] += share * (2 * bend * (q[k] - floor_of_square) - coordinates);
        total[2 * AIS_BASE_PARTS + k] += share - p->weight;
    }
    return most + log(sum);
}

double ais_henon_base_loss(int coordinates, const ais_real *base, size_t lanes, const double *z, double scale,
                           double *gradient_z, ais_real *gradient_base) {
    const ais_real *log_scale = base + 3 * AIS_BASE_PARTS;
    part parts[AIS_BASE_PARTS];
    double loss = 0, total[3 * AIS_BASE_PARTS] = {0}, square[AIS_LANES], by_square[AIS_LANES];
    prepare(coordinates, base, parts);
    for (size_t first = 0; first < lanes; first += AIS_LANES) {
        memset(square, 0, sizeof square);
        for (int i = 0; i < coordinates; i++) {
            double shrink = exp(-2 * (double)log_scale[i]);
            const double *row = z + (size_t)i * lanes + first;
            for (int c = 0; c < AIS_LANES; c++) square[c] += row[c] * row[c] * shrink;
        }
        for (int c = 0; c < AIS_LANES; c++) loss -= log_density(coordinates, parts, square[c], &by_square[c], total);
        for (int i = 0; i < coordinates; i++) {
            double shrink = exp(-2 * (double)log_scale[i]), sum = 0;
            size_t row = (size_t)i * lanes + first;
            for (size_t c = 0; c < AIS_LANES; c++) {
                double slope = 2 * z[row + c] * shrink * by_square[c];
                if (gradient_z) gradient_z[row + c] -= scale * slope;
                sum += z[row + c] * slope + 1;
            }
            if (gradient_base) gradient_base[3 * AIS_BASE_PARTS + i] += (ais_real)(scale * sum);
        }
    }
    for (int i = 0; i < coordinates; i++) loss += (double)lanes * (double)log_scale[i];
    for (int k = 0; gradient_base && k < 3 * AIS_BASE_PARTS; k++) gradient_base[k] -= (ais_real)(scale * total[k]);
    return scale * loss;
}
