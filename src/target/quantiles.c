#include "target/quantiles.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/constants.h"
#include "base/special.h"

double ais_log_normal_cdf(double x) { return log(0.5 * erfc(-x * 0.70710678118654752440)); }

/* A distribution on the line, by a coordinate t that runs over all of it. */
typedef struct distribution {
    double a, b, log_scale; /* its parameters, and the logarithm of its constant */
    /* The log of the probability of a tail, below or above the value at t, and *slope: d log tail / dt, with its sign.
     */
    double (*log_tail)(const struct distribution *this, double t, bool above, double *slope);
} distribution;

/* Newton on the logarithm of the tail that is the smaller one, inside a bracket that shrinks. A logarithm of a tail is
 * nearly straight far out, where a probability is flat. */
static double solve(const distribution *this, double x, double t) {
    bool above = x > 0;
    double wanted = ais_log_normal_cdf(-fabs(x)), low = -INFINITY, high = INFINITY;
    for (int i = 0; i < 200; i++) {
        double slope, error = this->log_tail(this, t, above, &slope) - wanted;
        if ((error > 0) == above)
            low = t;
        else
            high = t;
        double next = t - error / slope;
        if (!(next > low && next < high))
            next = isinf(low) ? high - 2 - fabs(high) : isinf(high) ? low + 2 + fabs(low) : 0.5 * (low + high);
        if (fabs(next - t) <= 4 * DBL_EPSILON * (1 + fabs(t))) return next;
        t = next;
    }
    return t;
}

static double within(double x) { return fmin(fmax(x, -AIS_MOST_SCORE), AIS_MOST_SCORE); }

/* d log tail / dt from log density, log tail and log d value / dt. */
static double tail_slope(double log_density, double log_jacobian, double log_tail, bool above) {
    double size = exp(log_density + log_jacobian - log_tail);
    return above ? -size : size;
}

/* ---- gamma: t = log value ------------------------------------------------------------------------ */

static double gamma_density(const distribution *this, double t) { return (this->a - 1) * t - exp(t) - this->log_scale; }

static double gamma_tail(const distribution *this, double t, bool above, double *slope) {
    double below_above[2];
    ais_gamma_tails(exp(t), this->a, &below_above[0], &below_above[1]);
    *slope = tail_slope(gamma_density(this, t), t, below_above[above], above);
    return below_above[above];
}

double ais_gamma_at(double x, double shape, double *log_density) {
    const distribution this = {.a = shape, .log_scale = ais_log_gamma(shape), .log_tail = gamma_tail};
    /* Wilson and Hilferty's cube, and far below the mean the leading term of the series */
    double cube = 1 - 1 / (9 * shape) + within(x) / (3 * sqrt(shape));
    double leading = (ais_log_normal_cdf(within(x)) + ais_log_gamma(shape + 1)) / shape;
    double t = solve(&this, within(x), cube > 0.3 ? log(shape) + 3 * log(cube) : leading);
    *log_density = gamma_density(&this, t);
    return exp(t);
}

/* ---- beta: t = log-odds of the value -------------------------------------------------------------- */

static double logistic(double t) { return t < 0 ? exp(t) / (1 + exp(t)) : 1 / (1 + exp(-t)); }
static double log_logistic(double t) { return t < 0 ? t - log1p(exp(t)) : -log1p(exp(-t)); }

static double beta_density(const distribution *this, double t) {
    return (this->a - 1) * log_logistic(t) + (this->b - 1) * log_logistic(-t) - this->log_scale;
}

static double beta_tail(const distribution *this, double t, bool above, double *slope) {
    /* Each tail from its own end, where it is small. */
    double tail =
        log(above ? ais_beta_cdf(logistic(-t), this->b, this->a) : ais_beta_cdf(logistic(t), this->a, this->b));
    *slope = tail_slope(beta_density(this, t), log_logistic(t) + log_logistic(-t), tail, above);
    return tail;
}

double ais_beta_at(double x, double a, double b, double *log_density) {
    const distribution this = {
        .a = a, .b = b, .log_scale = ais_log_gamma(a) + ais_log_gamma(b) - ais_log_gamma(a + b), .log_tail = beta_tail};
    double t = solve(&this, within(x), log(a / b) + within(x) * sqrt(1 / a + 1 / b));
    *log_density = beta_density(&this, t);
    return logistic(t);
}

/* ---- Student's t: t = asinh of the value ---------------------------------------------------------- */

static double student_density(const distribution *this, double t) {
    double value = sinh(t);
    return -0.5 * (this->a + 1) * log1p(value * value / this->a) - this->log_scale;
}

static double student_tail(const distribution *this, double t, bool above, double *slope) {
    double value = sinh(t), outer = above ? value : -value, df = this->a;
    double square = value * value, both; /* P(|T| > |value|), from the end at which it has digits */
    if (square < df)
        both = 1 - ais_beta_cdf(square / (df + square), 0.5, 0.5 * df);
    else
        both = ais_beta_cdf(df / (df + square), 0.5 * df, 0.5);
    double tail = log(outer > 0 ? 0.5 * both : 1 - 0.5 * both);
    *slope = tail_slope(student_density(this, t), log(cosh(t)), tail, above);
    return tail;
}

double ais_student_at(double x, double df, double *log_density) {
    const distribution this = {.a = df,
                               .log_scale =
                                   ais_log_gamma(0.5 * df) - ais_log_gamma(0.5 * (df + 1)) + 0.5 * log(df * AIS_PI),
                               .log_tail = student_tail};
    double t = solve(&this, within(x), asinh(within(x)));
    *log_density = student_density(&this, t);
    return sinh(t);
}
