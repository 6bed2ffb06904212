#include "target/parameter_kinds.h"

#include <math.h>

#include "base/constants.h"
#include "base/special.h"
#include "base/status.h"
#include "target/quantiles.h"

enum { MOST_CUBE = 1024 };
static const double most = 300; /* of x where exp(x) is taken: far beyond any mass, with room for a product */

static double clip(double x, double size) { return fmin(fmax(x, -size), size); }
static double log_phi(double x) { return -0.5 * x * x - AIS_LOG_ROOT_2PI; }
static double cdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }

/* Rounding may reach a bound, where a density need not be defined. */
static double inside(double theta, double low, double high) {
    return fmin(fmax(theta, nextafter(low, INFINITY)), nextafter(high, -INFINITY));
}

/* ---- without a prior ----------------------------------------------------------------------------- */

static void real(const double *a, double x, ais_element *e) {
    (void)a;
    *e = (ais_element){.theta = x};
}

static void lower(const double *a, double x, ais_element *e) {
    double t = clip(x, most);
    *e = (ais_element){.theta = inside(a[0] + exp(t), a[0], INFINITY), .log_slope = t, .bend = 1};
}

static void upper(const double *a, double x, ais_element *e) {
    double t = clip(x, most);
    *e = (ais_element){.theta = inside(a[0] - exp(-t), -INFINITY, a[0]), .log_slope = -t, .bend = -1};
}

static void between(const double *a, double x, ais_element *e) {
    double t = clip(x, most), share = 1 / (1 + exp(-t));
    *e = (ais_element){.theta = inside(a[0] + (a[1] - a[0]) * share, a[0], a[1]),
                       .log_slope = log(a[1] - a[0]) - fabs(t) - 2 * log1p(exp(-fabs(t))),
                       .bend = -tanh(0.5 * t)};
}

/* ---- priors: the quantile at Phi(x), whose slope is phi(x) / density --------------------------------- */

static void uniform(const double *a, double x, ais_element *e) {
    double width = a[1] - a[0];
    e->theta = inside(x < 0 ? a[0] + width * cdf(x) : a[1] - width * cdf(-x), a[0], a[1]);
    e->log_slope = log(width) + log_phi(x);
}

static void normal(const double *a, double x, ais_element *e) {
    e->theta = a[0] + a[1] * x;
    e->log_slope = log(a[1]);
}

static void lognormal(const double *a, double x, ais_element *e) {
    double t = clip(a[0] + a[1] * x, 700);
    e->theta = exp(t);
    e->log_slope = t + log(a[1]);
}

static void half_normal(const double *a, double x, ais_element *e) {
    double s = clip(x, AIS_MOST_SCORE), p = cdf(s);
    /* For small p the quantile of (1 + p) / 2 by its series: 1 + p would lose the digits of p. */
    double z = p < 1e-5 ? p * sqrt(AIS_PI / 2) * (1 + AIS_PI / 12 * p * p) : -ais_normal_quantile(0.5 * cdf(-s));
    e->theta = a[0] * z;
    e->log_slope = log_phi(s) - (log(2 / a[0]) + log_phi(z));
}

/* tan(pi p / 2), p = Phi(x), precise at both ends. */
static void half_cauchy(const double *a, double x, ais_element *e) {
    double s = clip(x, AIS_MOST_SCORE), z = s < 0 ? tan(0.5 * AIS_PI * cdf(s)) : 1 / tan(0.5 * AIS_PI * cdf(-s));
    e->theta = a[0] * z;
    e->log_slope = log_phi(s) - (log(2 / (AIS_PI * a[0])) - log1p(z * z));
}

static void cauchy(const double *a, double x, ais_element *e) {
    double s = clip(x, AIS_MOST_SCORE), z = s == 0 ? 0 : s < 0 ? -1 / tan(AIS_PI * cdf(s)) : 1 / tan(AIS_PI * cdf(-s));
    e->theta = a[0] + a[1] * z;
    e->log_slope = log_phi(s) - (-log(AIS_PI * a[1]) - log1p(z * z));
}

static void student(const double *a, double x, ais_element *e) {
    double log_density, z = ais_student_at(x, a[0], &log_density);
    e->theta = a[1] + a[2] * z;
    e->log_slope = log_phi(clip(x, AIS_MOST_SCORE)) - log_density + log(a[2]);
}

static void exponential(const double *a, double x, ais_element *e) {
    double s = clip(x, AIS_MOST_SCORE), log_above = s < -5 ? log1p(-cdf(s)) : ais_log_normal_cdf(-s);
    e->theta = -log_above / a[0];
    e->log_slope = log_phi(s) - log(a[0]) - log_above;
}

static void gamma_prior(const double *a, double x, ais_element *e) {
    double log_density, z = ais_gamma_at(x, a[0], &log_density);
    e->theta = z / a[1];
    e->log_slope = log_phi(clip(x, AIS_MOST_SCORE)) - log_density - log(a[1]);
}

static void beta(const double *a, double x, ais_element *e) {
    double log_density;
    e->theta = inside(ais_beta_at(x, a[0], a[1], &log_density), 0, 1);
    e->log_slope = log_phi(clip(x, AIS_MOST_SCORE)) - log_density;
}

/* ---- periodic -------------------------------------------------------------------------------------- */

/* x may go around the circle more than once, a turn each, and theta is where it is then. Before the data x is uniform
 * on the turn around 0 with normal noise of the size `soft` added: the shares that the images x, x + turn, ... of one
 * theta get of its density sum to 1. So there is no cut, and log Z stays as it is. The variance is 1. */
static const double turn = 3.2503, soft = 0.3459;

/* The logarithm of the share of the image x, and its slope by x. */
static double log_share(double x, double *slope) {
    double z = fabs(x), a = (0.5 * turn - z) / soft, b = (-0.5 * turn - z) / soft;
    double log_a, ratio; /* log Phi(a), Phi(b) / Phi(a) */
    if (a > -30) {
        log_a = ais_log_normal_cdf(a);
        ratio = exp(ais_log_normal_cdf(b) - log_a);
    } else { /* of a tail that a double may not hold: the first terms of its series */
        log_a = log_phi(a) - log(-a) + log1p(-1 / (a * a));
        ratio = 0;
    }
    double both = log_a + log1p(-ratio);
    double by_z = (exp(log_phi(b) - both) - exp(log_phi(a) - both)) / soft;
    *slope = x < 0 ? -by_z : by_z;
    return both;
}

static void periodic(const double *a, double x, ais_element *e) {
    double u = x / turn + 0.5, width = a[1] - a[0];
    e->theta = inside(a[0] + width * (u - floor(u)), a[0], a[1]);
    e->log_slope = log(width / turn) + log_share(x, &e->bend);
}

/* ---- what makes no sense ------------------------------------------------------------------------- */

static bool number(double value) { return isfinite(value); }
static bool positive(double value) { return isfinite(value) && value > 0; }

static const char *any_number(const ais_parameter *p) { return number(p->argument[0]) ? NULL : "must be a number"; }
static const char *a_scale(const ais_parameter *p) { return positive(p->argument[0]) ? NULL : "must be above 0"; }
static const char *two_bounds(const ais_parameter *p) {
    const double *a = p->argument;
    return !number(a[0]) || !number(a[1]) ? "both must be numbers"
           : !(a[0] < a[1])               ? "low must be below high"
           : !number(a[1] - a[0])         ? "they are too far apart"
                                          : NULL;
}
static const char *place_and_scale(const ais_parameter *p) {
    return !number(p->argument[0])    ? "the first must be a number"
           : positive(p->argument[1]) ? NULL
                                      : "the second must be above 0";
}
static const char *two_scales(const ais_parameter *p) {
    return positive(p->argument[0]) && positive(p->argument[1]) ? NULL : "both must be above 0";
}
/* Beyond them the incomplete gamma and beta functions do not converge, and take long to end. */
static const double least_shape = 1e-100, most_shape = 1e10;
static const char *gamma_shape(const ais_parameter *p) {
    double shape = p->argument[0];
    if (shape > most_shape) return "the shape must not be above 1e10: take a normal";
    return shape > 0 && shape < least_shape ? "the shape must not be below 1e-100" : two_scales(p);
}
static const char *beta_shapes(const ais_parameter *p) {
    const double *a = p->argument;
    return a[0] <= most_shape && a[1] <= most_shape ? two_scales(p) : "neither may be above 1e10";
}
static const char *three(const ais_parameter *p) {
    if (p->argument[0] > most_shape) return "df must not be above 1e10: take a normal";
    return positive(p->argument[0]) && number(p->argument[1]) && positive(p->argument[2])
               ? NULL
               : "df and scale must be above 0, location a number";
}
static const char *several(const ais_parameter *p) { return p->count >= 2 ? NULL : "it needs a count of 2 or more"; }
static const char *several_and_scale(const ais_parameter *p) {
    if (p->argument[0] * p->count > most_shape) return "concentration times count must not be above 1e10";
    return p->count < 2 ? several(p) : a_scale(p);
}
static const char *a_function(const ais_parameter *p) {
    return !p->cube ? "the transform is missing" : p->count > MOST_CUBE ? "it has more than 1024 elements" : NULL;
}

const ais_kind_type ais_kind_types[AIS_KIND_COUNT] = {
    [AIS_KIND_REAL] = {"real", "", false, real, NULL},
    [AIS_KIND_LOWER] = {"lower", "low", false, lower, any_number},
    [AIS_KIND_UPPER] = {"upper", "high", false, upper, any_number},
    [AIS_KIND_BETWEEN] = {"between", "low, high", false, between, two_bounds},
    [AIS_KIND_SIMPLEX] = {"simplex", "", false, NULL, several},
    [AIS_KIND_ORDERED] = {"ordered", "", false, NULL, several},
    [AIS_KIND_UNIFORM] = {"uniform", "low, high", true, uniform, two_bounds},
    [AIS_KIND_NORMAL] = {"normal", "mean, sd", true, normal, place_and_scale},
    [AIS_KIND_LOGNORMAL] = {"lognormal", "mean, sd", true, lognormal, place_and_scale},
    [AIS_KIND_HALF_NORMAL] = {"half_normal", "scale", true, half_normal, a_scale},
    [AIS_KIND_HALF_CAUCHY] = {"half_cauchy", "scale", true, half_cauchy, a_scale},
    [AIS_KIND_CAUCHY] = {"cauchy", "location, scale", true, cauchy, place_and_scale},
    [AIS_KIND_STUDENT] = {"student", "df, location, scale", true, student, three},
    [AIS_KIND_EXPONENTIAL] = {"exponential", "rate", true, exponential, a_scale},
    [AIS_KIND_GAMMA] = {"gamma", "shape, rate", true, gamma_prior, gamma_shape},
    [AIS_KIND_BETA] = {"beta", "a, b", true, beta, beta_shapes},
    [AIS_KIND_DIRICHLET] = {"dirichlet", "concentration", true, NULL, several_and_scale},
    [AIS_KIND_PERIODIC] = {"periodic", "low, high", true, periodic, two_bounds},
    [AIS_KIND_CUBE] = {"cube", "", true, NULL, a_function},
};

int ais_kind_arguments(ais_kind kind) {
    const char *text = ais_kind_types[kind].arguments;
    int count = *text != '\0';
    for (; *text; text++) count += *text == ',';
    return count;
}

static bool on_simplex(ais_kind kind) { return kind == AIS_KIND_SIMPLEX || kind == AIS_KIND_DIRICHLET; }

int ais_kind_free(ais_kind kind, int count) { return on_simplex(kind) ? count - 1 : count; }

ais_status ais_parameter_check(ais_context *context, const ais_parameter *parameter) {
    const char *name = parameter->name;
    if (!name || !*name) return ais_fail(context, AIS_BAD_DENSITY, "a parameter has no name");
    if ((int)parameter->kind < 0 || parameter->kind >= AIS_KIND_COUNT)
        return ais_fail(context, AIS_BAD_DENSITY, "parameter %.60s: there is no kind %d", name, (int)parameter->kind);
    if (parameter->count < 0)
        return ais_fail(context, AIS_BAD_DENSITY, "parameter %.60s: count is %d, but must not be negative", name,
                        parameter->count);
    const ais_kind_type *type = &ais_kind_types[parameter->kind];
    const char *wrong = type->wrong ? type->wrong(parameter) : NULL;
    if (!wrong) return AIS_OK;
    char text[120];
    ais_parameter_text(parameter, text, sizeof text);
    return ais_fail(context, AIS_BAD_DENSITY, "parameter %.60s: %s: %s", name, text, wrong);
}

/* ---- several elements at once -------------------------------------------------------------------- */

/* Sticks broken off 1: the share z of what is left goes to an element, rest = 1 - z to those after it. log_slope: of
 * dz / dx. */
typedef struct stick {
    double z, rest, log_slope;
} stick;

static stick break_off(const ais_parameter *parameter, int k, double x) {
    int left = parameter->count - 1 - k; /* elements after this one */
    if (parameter->kind == AIS_KIND_SIMPLEX) {
        double t = clip(x - log(left), most);
        stick s = {.z = 1 / (1 + exp(-t)), .rest = 1 / (1 + exp(t))};
        s.log_slope = -fabs(t) - 2 * log1p(exp(-fabs(t)));
        return s;
    }
    ais_element e;
    const double a[2] = {parameter->argument[0], parameter->argument[0] * left};
    beta(a, x, &e);
    return (stick){.z = e.theta, .rest = 1 - e.theta, .log_slope = e.log_slope};
}

static double log_normal(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += log_phi(x[i]);
    return sum;
}

static double simplex_forward(const ais_parameter *parameter, const double *x, double *theta) {
    double rest = 1, log_slope = 0;
    for (int k = 0; k < parameter->count - 1; k++) {
        stick s = break_off(parameter, k, x[k]);
        theta[k] = rest * s.z;
        log_slope += s.log_slope + log(rest);
        rest *= s.rest;
    }
    theta[parameter->count - 1] = rest;
    return log_slope;
}

static void simplex_backward(const ais_parameter *parameter, const double *x, const double *theta,
                             const double *by_theta, double *by_x) {
    int count = parameter->count;
    double after = by_theta[count - 1] * theta[count - 1]; /* sum of by_theta theta over later elements */
    for (int k = count - 2; k >= 0; k--) {
        stick s = break_off(parameter, k, x[k]);
        double slope = exp(s.log_slope);
        by_x[k] = slope * (by_theta[k] * theta[k] / s.z - after / s.rest);
        /* log slope of the sigmoid, and log(rest) of every later stick */
        by_x[k] += parameter->kind == AIS_KIND_SIMPLEX ? 1 - 2 * s.z - s.z * (count - 2 - k) : -x[k];
        after += by_theta[k] * theta[k];
    }
}

static double ordered_forward(const ais_parameter *parameter, const double *x, double *theta) {
    double log_slope = 0;
    theta[0] = x[0];
    for (int k = 1; k < parameter->count; k++) {
        double t = clip(x[k], most);
        theta[k] = inside(theta[k - 1] + exp(t), theta[k - 1], INFINITY);
        log_slope += t;
    }
    return log_slope;
}

static void ordered_backward(const ais_parameter *parameter, const double *x, const double *by_theta, double *by_x) {
    double sum = 0;
    for (int k = parameter->count - 1; k > 0; k--) {
        sum += by_theta[k];
        by_x[k] = sum * exp(clip(x[k], most)) + 1;
    }
    by_x[0] = sum + by_theta[0];
}

/* The density of a user's own prior is not known: what is shown is then without it. */
static double cube_forward(const ais_parameter *parameter, int n, const double *x, double *theta, void *data) {
    double u[MOST_CUBE] = {0};
    for (int i = 0; i < n; i++) u[i] = inside(cdf(x[i]), 0, 1);
    parameter->cube(u, theta, data);
    return log_normal(n, x);
}

/* ---- all kinds ------------------------------------------------------------------------------------ */

static double log_width(const ais_parameter *parameter) { return log(parameter->argument[1] - parameter->argument[0]); }

void ais_parameter_forward(const ais_parameter *parameter, const double *x, double *theta, double *log_term,
                           double *log_slope, void *data) {
    const ais_kind_type *type = &ais_kind_types[parameter->kind];
    int count = parameter->count, n = ais_kind_free(parameter->kind, count);
    double slope = 0;
    if (type->element)
        for (int i = 0; i < count; i++) {
            ais_element e = {0};
            type->element(parameter->argument, x[i], &e);
            theta[i] = e.theta;
            slope += e.log_slope;
        }
    else if (on_simplex(parameter->kind))
        slope = simplex_forward(parameter, x, theta);
    else if (parameter->kind == AIS_KIND_ORDERED)
        slope = ordered_forward(parameter, x, theta);
    else
        slope = cube_forward(parameter, n, x, theta, data);
    *log_term += parameter->kind == AIS_KIND_PERIODIC ? slope - count * log_width(parameter)
                 : type->prior                        ? log_normal(n, x)
                                                      : slope;
    *log_slope += slope;
}

void ais_parameter_backward(const ais_parameter *parameter, const double *x, const double *theta,
                            const double *by_theta, double *by_x) {
    const ais_kind_type *type = &ais_kind_types[parameter->kind];
    if (on_simplex(parameter->kind)) {
        simplex_backward(parameter, x, theta, by_theta, by_x);
    } else if (parameter->kind == AIS_KIND_ORDERED) {
        ordered_backward(parameter, x, by_theta, by_x);
    } else {
        for (int i = 0; i < parameter->count; i++) {
            ais_element e = {0};
            type->element(parameter->argument, x[i], &e);
            if (parameter->kind == AIS_KIND_PERIODIC)
                by_x[i] = by_theta[i] * exp(log_width(parameter)) / turn + e.bend;
            else
                by_x[i] = by_theta[i] * exp(e.log_slope) + (type->prior ? -x[i] : e.bend);
        }
    }
}
