/* parameters.h: priors, bounds and constraints.
 *
 *     static const ais_parameter parameters[] = {
 *         {"mass", AIS_UNIFORM(0, 10)},
 *         {"slope", AIS_NORMAL(0, 2.5), .count = 3},    slope.1, slope.2, slope.3
 *         {"angle", AIS_PERIODIC(0, 360)},              uniform on a circle: 359 lies beside 1
 *         {"share", AIS_DIRICHLET(1), .count = 4},      four numbers that sum to 1
 *         {"rate", AIS_LOWER(0)},                       no prior here: it is in the density
 *     };
 *     ais_target density = {.name = "mine", .dim = 10, .logp = my_logp}, *target;
 *     ais_target_with(&context, &density, parameters, 5, &target);
 *
 * The density is only evaluated inside the bounds, and all output is on the parameters' own scale. For a parameter with
 * a prior, the density is the likelihood and must not include the prior. For one with bounds alone, it is the density
 * of the parameter itself and must not include a Jacobian. With priors for all parameters, log Z is the log evidence.
 *
 * In a C file (density.h) the same array is .parameters; in Python the same kinds are strings, "uniform(0, 10)".
 *
 * How it works: a parameter with a prior is the prior's quantile at Phi(x), with x standard normal before the data.
 * Bounds are removed as in Stan: log(theta - low), log-odds, stick breaking, logs of differences. A circle is unrolled:
 * x may go around it more than once, and the density of theta is divided smoothly among its images, so there is no cut
 * where the circle closes.
 */
#ifndef AISAMPLER_PARAMETERS_H
#define AISAMPLER_PARAMETERS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ais_kind {
    AIS_KIND_REAL,
    AIS_KIND_LOWER,
    AIS_KIND_UPPER,
    AIS_KIND_BETWEEN,
    AIS_KIND_SIMPLEX,
    AIS_KIND_ORDERED,
    AIS_KIND_UNIFORM,
    AIS_KIND_NORMAL,
    AIS_KIND_LOGNORMAL,
    AIS_KIND_HALF_NORMAL,
    AIS_KIND_HALF_CAUCHY,
    AIS_KIND_CAUCHY,
    AIS_KIND_STUDENT,
    AIS_KIND_EXPONENTIAL,
    AIS_KIND_GAMMA,
    AIS_KIND_BETA,
    AIS_KIND_DIRICHLET,
    AIS_KIND_CUBE,
    AIS_KIND_PERIODIC,
    AIS_KIND_COUNT
} ais_kind;

/* Writes theta[0..count) for u[0..count), independent and uniform between 0 and 1 before the data. It gets the
 * density's data, and is called from several threads at once. */
typedef void ais_cube(const double *u, double *theta, void *data);

typedef struct ais_parameter {
    const char *name;
    /* Set both with one of the macros below. */
    ais_kind kind;
    double argument[3];
    int count;      /* elements, named name.1, name.2, ...; 0: one, named name */
    ais_cube *cube; /* of AIS_CUBE */
} ais_parameter;

/* Without a prior. */
#define AIS_REAL               .kind = AIS_KIND_REAL
#define AIS_LOWER(low)         .kind = AIS_KIND_LOWER, .argument = {(low)}
#define AIS_UPPER(high)        .kind = AIS_KIND_UPPER, .argument = {(high)}
#define AIS_BETWEEN(low, high) .kind = AIS_KIND_BETWEEN, .argument = {(low), (high)}
#define AIS_POSITIVE           AIS_LOWER(0)
#define AIS_SIMPLEX            .kind = AIS_KIND_SIMPLEX /* count values above 0 whose sum is 1 */
#define AIS_ORDERED            .kind = AIS_KIND_ORDERED /* count values, each above the one before */

/* Priors. Elements are independent, except for the Dirichlet's. */
#define AIS_UNIFORM(low, high)           .kind = AIS_KIND_UNIFORM, .argument = {(low), (high)}
#define AIS_PERIODIC(low, high)          .kind = AIS_KIND_PERIODIC, .argument = {(low), (high)} /* on a circle */
#define AIS_NORMAL(mean, sd)             .kind = AIS_KIND_NORMAL, .argument = {(mean), (sd)}
#define AIS_LOGNORMAL(mean, sd)          .kind = AIS_KIND_LOGNORMAL, .argument = {(mean), (sd)} /* of the logarithm */
#define AIS_HALF_NORMAL(scale)           .kind = AIS_KIND_HALF_NORMAL, .argument = {(scale)}
#define AIS_HALF_CAUCHY(scale)           .kind = AIS_KIND_HALF_CAUCHY, .argument = {(scale)}
#define AIS_CAUCHY(location, scale)      .kind = AIS_KIND_CAUCHY, .argument = {(location), (scale)}
#define AIS_STUDENT(df, location, scale) .kind = AIS_KIND_STUDENT, .argument = {(df), (location), (scale)}
#define AIS_EXPONENTIAL(rate)            .kind = AIS_KIND_EXPONENTIAL, .argument = {(rate)}
#define AIS_GAMMA(shape, rate)           .kind = AIS_KIND_GAMMA, .argument = {(shape), (rate)}
#define AIS_BETA(a, b)                   .kind = AIS_KIND_BETA, .argument = {(a), (b)}
#define AIS_DIRICHLET(concentration)                                                                                   \
    .kind = AIS_KIND_DIRICHLET, .argument = {(concentration)}          /* the same for all elements */
#define AIS_CUBE(transform) .kind = AIS_KIND_CUBE, .cube = (transform) /* a prior of your own; has no gradient */

#ifdef __cplusplus
}
#endif
#endif
