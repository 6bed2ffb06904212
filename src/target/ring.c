/* ring and ring5: log p falls with the squared distance from the nearest circle. Moments come from
 * integrals over the radius, ring by ring because log p has kinks half-way between them. The rings of
 * ring5 are its modes. */
#include <math.h>

#include "base/constants.h"
#include "target/builtin.h"
#include "target/quadrature.h"
#include "target/ring_lanes.h"

static int nearest(const ais_rings *rings, double r) {
    double k = floor(r - rings->first + 0.5);
    return k >= rings->rings ? rings->rings - 1 : k > 0 ? (int)k : 0;
}

static double logp(const double *x, void *data) {
    const ais_rings *rings = data;
    double r = sqrt(x[0] * x[0] + x[1] * x[1]);
    double away = r - (rings->first + nearest(rings, r));
    return -away * away / rings->width;
}

static double grad(const double *x, double *gradient, void *data) {
    const ais_rings *rings = data;
    double r = sqrt(x[0] * x[0] + x[1] * x[1]);
    double away = r - (rings->first + nearest(rings, r));
    /* At the tip of the cone in the middle every direction is as good as the other. */
    double slope = r > 0 && r < INFINITY ? -2 * away / rings->width / r : 0;
    gradient[0] = slope * x[0];
    gradient[1] = slope * x[1];
    return -away * away / rings->width;
}

static void batch(size_t n, const double *x, double *logp_, void *data) {
    ais_batch_by_blocks(AIS_CHOOSE(ais_rings_block), AIS_HALF, data, n, 2, x, logp_);
}

static int mode(const double *x, void *data) { return nearest(data, sqrt(x[0] * x[0] + x[1] * x[1])); }

/* Ring k's share of the radii is [low, high); the last one ends where nothing is left (exp(-72)). */
static double low(const ais_rings *rings, int k) { return k == 0 ? 0 : rings->first + k - 0.5; }
static double high(const ais_rings *rings, int k) {
    return k + 1 < rings->rings ? rings->first + k + 0.5 : rings->first + k + 12 * sqrt(0.5 * rings->width);
}

/* The integral of r exp(log p) from ring k's own radius to r:
 * s^2 (1 - exp(-u^2/(2 s^2))) + radius s sqrt(pi/2) erf(u/(s sqrt 2)), u = r - radius, 2 s^2 = width. */
static double mass_to(const ais_rings *rings, int k, double r) {
    double radius = rings->first + k, u = r - radius;
    return -0.5 * rings->width * expm1(-u * u / rings->width) +
           0.5 * radius * sqrt(AIS_PI * rings->width) * erf(u / sqrt(rings->width));
}

/* Newton's method inside a shrinking bracket, to the last bits. */
static double radius_of(const ais_rings *rings, int k, double mass) {
    double a = low(rings, k), b = high(rings, k), base = mass_to(rings, k, a), r = 0.5 * (a + b);
    for (int iteration = 0; iteration < 200 && b - a > 1e-14 * b; iteration++) {
        double miss = mass_to(rings, k, r) - base - mass, u = r - (rings->first + k);
        if (miss > 0)
            b = r;
        else
            a = r;
        double next = r - miss / (r * exp(-u * u / rings->width));
        if (!(next > a && next < b)) next = 0.5 * (a + b);
        if (fabs(next - r) < 1e-15 * r) break;
        r = next;
    }
    return r;
}

static void draw(uint64_t seed, uint64_t index, double *x, void *data) {
    const ais_rings *rings = data;
    ais_stream stream = ais_draw_stream(seed, index);
    double total = 0;
    for (int k = 0; k < rings->rings; k++) total += rings->mass[k];
    double mass = total * ais_random_uniform(&stream, 0);
    int k = 0;
    while (k + 1 < rings->rings && mass >= rings->mass[k]) mass -= rings->mass[k++];
    double r = radius_of(rings, k, mass), angle = 2 * AIS_PI * ais_random_uniform(&stream, 1);
    x[0] = r * cos(angle);
    x[1] = r * sin(angle);
}

/* r^(power + 1) exp(log p) near ring k */
typedef struct radial {
    const ais_rings *rings;
    int k, power;
} radial;

static double integrand(double r, const void *data) {
    const radial *at = data;
    double u = r - (at->rings->first + at->k), value = r * exp(-u * u / at->rings->width);
    for (int i = 0; i < at->power; i++) value *= r;
    return value;
}

static ais_status open_rings(ais_context *context, ais_home *home, const ais_rings *shape) {
    ais_rings *rings = AIS_TAKE(&home->arena, ais_rings, 1);
    ais_moments moments;
    if (!rings || !ais_moments_take(home, 2, &moments)) return ais_fail_memory(context, "rings", sizeof *rings);
    *rings = *shape;
    double power[3] = {0}; /* the integrals of 1, r^2 and r^4 */
    for (int k = 0; k < rings->rings; k++)
        for (int p = 0; p < 3; p++) {
            radial at = {rings, k, 2 * p};
            double part = ais_integrate(integrand, &at, low(rings, k), high(rings, k), 32);
            power[p] += part;
            if (p == 0) rings->mass[k] = part;
        }
    for (int k = 0; k < rings->rings; k++) rings->weight[k] = rings->mass[k] / power[0];
    double square = 0.5 * power[1] / power[0], fourth = 0.375 * power[2] / power[0];
    for (int i = 0; i < 2; i++) ais_moments_set(&moments, i, 0, square, square, fourth);
    home->reference.log_z = log(2 * AIS_PI * power[0]);
    home->reference.draw = draw;
    home->reference.source = rings->rings > 1 ? "quadrature over the radius; mode weights: mass nearest to each ring"
                                              : "quadrature over the radius";
    if (rings->rings > 1) {
        home->reference.modes = rings->rings;
        home->reference.mode_weight = rings->weight;
        home->reference.mode = mode;
    }
    ais_home_functions(home, 2, logp, batch, grad, rings);
    return AIS_OK;
}

static ais_status open_ring(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    (void)value;
    (void)file;
    return open_rings(context, home, &(ais_rings){.rings = 1, .first = 2, .width = 0.32});
}

static ais_status open_ring5(ais_context *context, const ais_value *value, const char *file, ais_home *home) {
    (void)value;
    (void)file;
    return open_rings(context, home, &(ais_rings){.rings = 5, .first = 1, .width = 0.04});
}

static const ais_option none[] = {{.name = NULL}};
const ais_target_type ais_target_ring = {{"ring", "a ring of radius 2", ""}, none, open_ring};
const ais_target_type ais_target_ring5 = {{"ring5", "5 rings of radius 1 to 5", ""}, none, open_ring5};
