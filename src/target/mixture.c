/* Mixtures of isotropic normals: mog2, mog6 and triangle of the paper, and two modes in any
 * dimension. log p is normalised. Moments are closed forms. A point's mode is the nearest centre, and
 * a mode's weight is the mass nearest to its centre (not the component's weight, from which it
 * differs when the components overlap). */
#include <math.h>

#include "base/constants.h"
#include "simd/normal.h"
#include "target/builtin.h"
#include "target/mixture_lanes.h"
#include "target/quadrature.h"

static void batch(size_t n, const double *x, double *logp, void *data) {
    const ais_mixture *mixture = data;
    if (n == 1 && mixture->dim == 2)
        logp[0] = ais_settle(AIS_CHOOSE(ais_mixture_plane)(mixture, x), x, 2);
    else
        ais_batch_by_blocks(AIS_CHOOSE(ais_mixture_block), AIS_HALF, mixture, n, mixture->dim, x, logp);
}

/* The log density; term[k] gets the logarithm of component k's part of it. */
static double log_sum(const ais_mixture *mixture, const double *x, double *term) {
    double top = -INFINITY, sum = 0;
    for (int k = 0; k < mixture->components; k++) {
        const double *centre = mixture->centre + (size_t)k * (size_t)mixture->dim;
        double square = 0;
        for (int i = 0; i < mixture->dim; i++) square += (x[i] - centre[i]) * (x[i] - centre[i]);
        term[k] = mixture->constant[k] - mixture->half_precision[k] * square;
        if (!(term[k] <= top)) top = term[k];
    }
    if (top == -INFINITY) return top;
    for (int k = 0; k < mixture->components; k++) sum += exp(term[k] - top);
    return top + log(sum);
}

static double logp(const double *x, void *data) {
    double term[AIS_MIXTURE_MOST];
    return log_sum(data, x, term);
}

static double grad(const double *x, double *gradient, void *data) {
    const ais_mixture *mixture = data;
    double term[AIS_MIXTURE_MOST], value = log_sum(mixture, x, term);
    for (int i = 0; i < mixture->dim; i++) gradient[i] = 0;
    if (value == -INFINITY) return value;
    for (int k = 0; k < mixture->components; k++) {
        const double *centre = mixture->centre + (size_t)k * (size_t)mixture->dim;
        double share = 2 * mixture->half_precision[k] * exp(term[k] - value);
        for (int i = 0; i < mixture->dim; i++) gradient[i] -= share * (x[i] - centre[i]);
    }
    return value;
}

static int mode(const double *x, void *data) {
    const ais_mixture *mixture = data;
    int nearest = 0;
    double least = INFINITY;
    for (int k = 0; k < mixture->components; k++) {
        const double *centre = mixture->centre + (size_t)k * (size_t)mixture->dim;
        double square = 0;
        for (int i = 0; i < mixture->dim; i++) square += (x[i] - centre[i]) * (x[i] - centre[i]);
        if (square < least) {
            least = square;
            nearest = k;
        }
    }
    return nearest;
}

static void draw(uint64_t seed, uint64_t index, double *x, void *data) {
    const ais_mixture *mixture = data;
    ais_stream stream = ais_draw_stream(seed, index);
    double u = ais_random_uniform(&stream, AIS_DRAW_UNIFORM);
    int k = 0;
    while (k + 1 < mixture->components && u >= mixture->weight[k]) u -= mixture->weight[k++];
    const double *centre = mixture->centre + (size_t)k * (size_t)mixture->dim;
    ais_normals(&stream, (size_t)mixture->dim, x);
    for (int i = 0; i < mixture->dim; i++) x[i] = centre[i] + mixture->sd[k] * x[i];
}

static void set_moments(const ais_mixture *mixture, const ais_moments *moments) {
    for (int i = 0; i < mixture->dim; i++) {
        double first = 0, second = 0, fourth = 0;
        for (int k = 0; k < mixture->components; k++) {
            double m = mixture->centre[k * mixture->dim + i], v = mixture->sd[k] * mixture->sd[k];
            first += mixture->weight[k] * m;
            second += mixture->weight[k] * (m * m + v);
            fourth += mixture->weight[k] * (m * m * m * m + 6 * m * m * v + 3 * v * v);
        }
        ais_moments_set(moments, i, first, second - first * first, second, fourth);
    }
}

/* The data with weight, sd and centres still to be set. */
static ais_status begin(ais_context *context, ais_home *home, int dim, int components, ais_mixture **mixture,
                        double **centre) {
    *mixture = AIS_TAKE(&home->arena, ais_mixture, 1);
    *centre = AIS_TAKE(&home->arena, double, (size_t)components *(size_t)dim);
    if (!*mixture || !*centre) return ais_fail_memory(context, "a mixture", (size_t)dim * sizeof(double));
    (*mixture)->dim = dim;
    (*mixture)->components = components;
    (*mixture)->centre = *centre;
    return AIS_OK;
}

static ais_status finish(ais_context *context, ais_home *home, ais_mixture *mixture) {
    mixture->direct = true;
    for (int k = 0; k < mixture->components; k++) {
        double sd = mixture->sd[k];
        mixture->constant[k] = log(mixture->weight[k]) - mixture->dim * log(sd * sqrt(2 * AIS_PI));
        mixture->half_precision[k] = 0.5 / (sd * sd);
        mixture->power[k] = mixture->constant[k] / log(2);
        mixture->direct &= mixture->power[k] <= 900;
        mixture->factor[k] = -mixture->half_precision[k] / log(2);
        for (int i = 0; i < 2 && mixture->dim == 2; i++) mixture->plane[i][k] = mixture->centre[2 * k + i];
    }
    for (int k = mixture->components; k < AIS_MIXTURE_MOST; k++) mixture->power[k] = -INFINITY;
    ais_moments moments;
    if (!ais_moments_take(home, mixture->dim, &moments))
        return ais_fail_memory(context, "a reference", (size_t)mixture->dim * 4 * sizeof(double));
    set_moments(mixture, &moments);
    home->reference.modes = mixture->components;
    home->reference.mode_weight = mixture->mode_weight;
    home->reference.mode = mode;
    home->reference.draw = draw;
    ais_home_functions(home, mixture->dim, logp, batch, grad, mixture);
    return AIS_OK;
}

/* Components at angles turn + 360 k / components on a circle: the points nearest to a centre are a
 * wedge from the origin, so that masses are integrals over the angle seen from there. A normal at
 * (m, 0) with sd 1 has the angular density
 *     exp(-m^2/2) / (2 pi) + a Phi(a) exp(-m^2 sin^2(angle)/2) / sqrt(2 pi),  a = m cos(angle). */
typedef struct circle {
    const ais_mixture *mixture;
    double turn, m;
} circle;

static double angular(double angle, const void *data) {
    const circle *on = data;
    double sum = 0, m = on->m;
    for (int k = 0; k < on->mixture->components; k++) {
        double away = angle - on->turn - 2 * AIS_PI * k / on->mixture->components;
        double a = m * cos(away), b = m * sin(away);
        sum += on->mixture->weight[k] *
               (exp(-0.5 * m * m) / (2 * AIS_PI) + a * 0.5 * erfc(-a / sqrt(2)) * exp(-0.5 * b * b) / sqrt(2 * AIS_PI));
    }
    return sum;
}

static ais_status open_circle(ais_context *context, ais_home *home, int components, double turn, const double *weight,
                              double sd) {
    const double radius = 5;
    ais_mixture *mixture;
    double *centre;
    ais_status status = begin(context, home, 2, components, &mixture, &centre);
    if (status != AIS_OK) return status;
    circle on = {mixture, turn, radius / sd};
    for (int k = 0; k < components; k++) {
        mixture->weight[k] = weight ? weight[k] : 1.0 / components;
        mixture->sd[k] = sd;
        centre[2 * k] = radius * cos(turn + 2 * AIS_PI * k / components);
        centre[2 * k + 1] = radius * sin(turn + 2 * AIS_PI * k / components);
    }
    for (int k = 0; k < components; k++) {
        double middle = turn + 2 * AIS_PI * k / components, half = AIS_PI / components;
        /* Beyond 80 the mass outside of its own wedge is below exp(-800). */
        mixture->mode_weight[k] = on.m > 80 || !weight
                                      ? mixture->weight[k]
                                      : ais_integrate(angular, &on, middle - half, middle + half, 16 + (int)(2 * on.m));
    }
    home->reference.source = "closed forms; mode weights: mass nearest to each centre";
    return finish(context, home, mixture);
}

static const ais_option sd_option[] = {{.name = "sd", .value = 0.5, .low = 1e-3, .high = 1e3}, {.name = NULL}};

static ais_status open_mog2(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    (void)file;
    return open_circle(context, home, 2, 0, NULL, value[0].number);
}

static ais_status open_mog6(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    (void)file;
    return open_circle(context, home, 6, 0, NULL, value[0].number);
}

static ais_status open_triangle(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    (void)file;
    const double weight[3] = {1.0 / 6, 1.0 / 6, 2.0 / 3};
    return open_circle(context, home, 3, AIS_PI / 2, weight, value[0].number);
}

const ais_target_type ais_target_mog2 = {
    {"mog2", "2 equal normals at (5, 0) and (-5, 0)", "sd=0.5"}, sd_option, open_mog2};
const ais_target_type ais_target_mog6 = {
    {"mog6", "6 equal normals on a circle of radius 5", "sd=0.5"}, sd_option, open_mog6};
const ais_target_type ais_target_triangle = {
    {"triangle", "3 normals on a circle of radius 5, weights 1/6, 1/6, 2/3", "sd=0.5"}, sd_option, open_triangle};

enum { DIM, DISTANCE, SD1, SD2, WEIGHT1 };
static const ais_option two_options[] = {{.name = "dim", .value = 8, .low = 1, .high = 10000, .whole = true},
                                         {.name = "distance", .value = 10, .low = 0, .high = 1e6},
                                         {.name = "sd1", .value = 0.5, .low = 1e-3, .high = 1e3},
                                         {.name = "sd2", .value = 0.5, .low = 1e-3, .high = 1e3},
                                         {.name = "weight1", .value = 0.3, .low = 1e-9, .high = 1 - 1e-9},
                                         {.name = NULL}};

static ais_status open_two(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    (void)file;
    ais_mixture *mixture;
    double *centre, distance = value[DISTANCE].number, sd1 = value[SD1].number, sd2 = value[SD2].number;
    int dim = (int)value[DIM].number;
    ais_status status = begin(context, home, dim, 2, &mixture, &centre);
    if (status != AIS_OK) return status;
    centre[0] = -distance;
    centre[dim] = distance;
    mixture->sd[0] = sd1;
    mixture->sd[1] = sd2;
    double w = mixture->weight[0] = value[WEIGHT1].number;
    mixture->weight[1] = 1 - w;
    double left = 0.5 * (w * erfc(-distance / sd1 / sqrt(2)) + (1 - w) * erfc(distance / sd2 / sqrt(2)));
    mixture->mode_weight[0] = distance > 0 ? left : 1;
    mixture->mode_weight[1] = 1 - mixture->mode_weight[0];
    home->reference.source = "closed forms; mode weights: mass nearest to each centre";
    return finish(context, home, mixture);
}

const ais_target_type ais_target_twomodes = {
    {"twomodes", "2 normals at -distance e1 (sd1, weight1) and +distance e1 (sd2) in any dimension",
     "dim=8,distance=10,sd1=0.5,sd2=0.5,weight1=0.3"},
    two_options,
    open_two};
