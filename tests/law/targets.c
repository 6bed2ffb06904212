/* Laws that every built-in target obeys, one driver over one table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/target.h>

#include "base/random.h"
#include "simd/normal.h"

enum { MOST = 64 }; /* dimensions of any target here */

static const char *const specs[] = {
    "mog2",
    "mog2:sd=0.7071",
    "mog6",
    "mog6:sd=2.385",
    "triangle",
    "triangle:sd=2.385",
    "ring",
    "ring5",
    "twomodes",
    "twomodes:dim=3,distance=1.1,sd1=0.5,sd2=1.25,weight1=0.7",
    "gaussian",
    "gaussian:dim=1",
    "gaussian:dim=7,cond=1e4",
    "gaussian:dim=3,cond=50,rotate=0",
    "gaussian:dim=50,cond=100",
    "funnel",
    "funnel:dim=2",
    "banana",
    "banana:dim=5,b=0.03",
    "heart",
    "german",
    "australian",
    "heart:rows=all,prior=2.5",
};
enum { SPECS = sizeof specs / sizeof *specs };

static ais_target *open_target(const char *spec) {
    ais_context context = {0};
    ais_target *target;
    if (ais_target_open(&context, spec, &target) != AIS_OK) fail_msg("%s: %s", spec, context.message);
    assert_true(target->dim <= MOST);
    return target;
}

/* Point k: normal with a spread of 0.5, 1, 2 or 4. */
static void odd_point(const ais_target *target, uint64_t k, double *x) {
    ais_stream stream = {.seed = 41, .step = k, .purpose = AIS_FOR_USER};
    ais_normals(&stream, (size_t)target->dim, x);
    for (int i = 0; i < target->dim; i++) x[i] *= ldexp(0.5, (int)(k % 4));
}

static void every_builtin_is_in_the_table(void **state) {
    (void)state;
    for (int i = 0; ais_target_builtin(i); i++) {
        const ais_target_entry *entry = ais_target_builtin(i);
        bool found = false;
        for (int k = 0; k < SPECS; k++)
            found |= strncmp(specs[k], entry->name, strlen(entry->name)) == 0 &&
                     (specs[k][strlen(entry->name)] == '\0' || specs[k][strlen(entry->name)] == ':');
        if (!found) fail_msg("%s is not tested here", entry->name);
    }
}

/* The options column gives the defaults: writing them out changes nothing. */
static void options_are_the_defaults(void **state) {
    (void)state;
    for (int i = 0; ais_target_builtin(i); i++) {
        const ais_target_entry *entry = ais_target_builtin(i);
        char spec[200];
        snprintf(spec, sizeof spec, "%s:%s", entry->name, entry->options);
        if (!entry->options[0]) continue;
        ais_target *plain = open_target(entry->name), *written = open_target(spec);
        assert_string_equal(plain->name, entry->name);
        assert_string_equal(written->name, spec); /* the whole of it: it goes into files */
        assert_int_equal(plain->dim, written->dim);
        double x[MOST];
        odd_point(plain, 5, x);
        assert_true(plain->logp(x, plain->data) == written->logp(x, written->data));
        ais_target_close(plain);
        ais_target_close(written);
    }
}

static void check_passes(void **state) {
    (void)state;
    for (int k = 0; k < SPECS; k++) {
        ais_target *target = open_target(specs[k]);
        for (uint64_t seed = 0; seed < (target->dim > 10 ? 4 : 40); seed++) {
            ais_context context = {0};
            if (ais_target_check(&context, target, seed, NULL) != AIS_OK) fail_msg("%s: %s", specs[k], context.message);
        }
        ais_target_close(target);
    }
}

static void gradient_is_the_slope(void **state) {
    (void)state;
    for (int k = 0; k < SPECS; k++) {
        ais_target *target = open_target(specs[k]);
        for (uint64_t p = 0; p < 40; p++) {
            double x[MOST], g[MOST];
            odd_point(target, p, x);
            double r = hypot(x[0], target->dim > 1 ? x[1] : 0), from_kink = fabs(r - 0.5 - floor(r));
            if (strncmp(specs[k], "ring5", 5) == 0 && from_kink < 0.01) continue;
            assert_true(fabs(target->grad(x, g, target->data) - target->logp(x, target->data)) <=
                        1e-10 * fmax(1, fabs(target->logp(x, target->data))));
            for (int i = 0; i < target->dim; i++) {
                double h = 1e-3, at = x[i], f[4], scale = 1;
                for (int s = 0; s < 4; s++) {
                    x[i] = at + h * (double[]){-2, -1, 1, 2}[s];
                    f[s] = target->logp(x, target->data);
                    scale = fmax(scale, fabs(f[s]));
                }
                x[i] = at;
                double slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
                if (!(fabs(slope - g[i]) <= 1e-6 * fmax(1, fabs(g[i])) + 1e-11 * scale / h))
                    fail_msg("%s: coordinate %d: %.12g, slope %.12g", specs[k], i, g[i], slope);
            }
        }
        ais_target_close(target);
    }
}

static void batch_is_logp(void **state) {
    (void)state;
    const size_t sizes[] = {1, 7, 16, 33, 48};
    for (int k = 0; k < SPECS; k++) {
        ais_target *target = open_target(specs[k]);
        double *x = malloc(48 * MOST * sizeof *x), first[48], logp[49];
        for (size_t s = 5; s-- > 0;) {
            size_t n = sizes[s];
            for (size_t c = 0; c < n; c++) {
                double point[MOST];
                odd_point(target, c, point);
                for (int i = 0; i < target->dim; i++) x[(size_t)i * n + c] = point[i] * (c == 3 ? 1e3 : 1);
            }
            logp[n] = 77.25;
            target->batch(n, x, logp, target->data);
            assert_true(logp[n] == 77.25);
            for (size_t c = 0; c < n; c++) {
                double point[MOST];
                for (int i = 0; i < target->dim; i++) point[i] = x[(size_t)i * n + c];
                double single = target->logp(point, target->data);
                if (!(fabs(logp[c] - single) <= 1e-11 * fmax(1, fabs(single))))
                    fail_msg("%s: n %zu point %zu: %.17g and %.17g", specs[k], n, c, logp[c], single);
                if (n == 48) first[c] = logp[c];
                assert_true(logp[c] == first[c]); /* to the bit, whatever n is */
            }
        }
        free(x);
        ais_target_close(target);
    }
}

/* Each coordinate far out alone, all together, and with every other one at 0. */
static void far_away_is_no_error(void **state) {
    (void)state;
    const double far[] = {30, 1e3, 1e5, 1e10, 1e100, 1e155, 1e200, 1e300, 1.7e308, INFINITY};
    for (int k = 0; k < SPECS; k++) {
        ais_target *target = open_target(specs[k]);
        int dim = target->dim;
        for (size_t f = 0; f < 2 * sizeof far / sizeof *far; f++)
            for (int which = 0; which <= dim + 1; which++) {
                double x[MOST], value = f % 2 ? -far[f / 2] : far[f / 2], many;
                for (int i = 0; i < dim; i++)
                    x[i] = which == dim ? value : which == dim + 1 ? (i % 2 ? -value : value) : i == which ? value : 0;
                double single = target->logp(x, target->data);
                target->batch(1, x, &many, target->data);
                if (!(single < INFINITY) || !(many < INFINITY))
                    fail_msg("%s at %g (%d): %g %g", specs[k], value, which, single, many);
            }
        double x[MOST] = {0}, many;
        x[dim - 1] = NAN;
        target->batch(1, x, &many, target->data);
        assert_true(isnan(target->logp(x, target->data)));
        assert_true(isnan(many));
        ais_target_close(target);
    }
}

static void reference_is_consistent(void **state) {
    (void)state;
    for (int k = 0; k < SPECS; k++) {
        ais_target *target = open_target(specs[k]);
        const ais_reference *reference = target->reference;
        if (strcmp(specs[k], "heart:rows=all,prior=2.5") == 0) {
            assert_null(reference); /* the stored numbers are of another posterior */
            ais_target_close(target);
            continue;
        }
        assert_non_null(reference);
        assert_non_null(reference->source);
        assert_true(isfinite(reference->log_z));
        for (int i = 0; i < target->dim; i++) {
            double m = reference->mean[i], gap = reference->square_mean[i] - m * m - reference->variance[i];
            assert_true(fabs(gap) <= (reference->draw ? 1e-12 : 1e-8) * reference->square_mean[i]);
            assert_true(reference->square_variance[i] > 0);
        }
        double total = 0;
        for (int m = 0; m < reference->modes; m++) total += reference->mode_weight[m];
        if (reference->modes) assert_true(fabs(total - 1) < 1e-12);
        ais_target_close(target);
    }
}

typedef struct sums {
    double x[MOST], square[MOST], spread[MOST], spread_square[MOST], mode[8];
} sums;

static void near_truth(const char *spec, const char *what, int i, double estimate, double truth, double error) {
    if (!(fabs(estimate - truth) <= 5 * error))
        fail_msg("%s: %s %d is %.10g, reference %.10g, standard error %.3g", spec, what, i, estimate, truth, error);
}

static void exact_draws_have_the_reference_moments(void **state) {
    (void)state;
    for (int k = 0; k < SPECS; k++) {
        ais_target *target = open_target(specs[k]);
        const ais_reference *reference = target->reference;
        int dim = target->dim, n = dim > 10 ? 50000 : 200000;
        sums sum = {0};
        for (int d = 0; d < n && reference && reference->draw; d++) {
            double x[MOST];
            reference->draw(97, (uint64_t)d, x, target->data);
            for (int i = 0; i < dim; i++) {
                double s = x[i] * x[i], away = (s - reference->square_mean[i]) * (s - reference->square_mean[i]);
                sum.x[i] += x[i] / n;
                sum.square[i] += s / n;
                sum.spread[i] += away / n;
                sum.spread_square[i] += away * away / n;
            }
            if (reference->modes) sum.mode[reference->mode(x, target->data)] += 1.0 / n;
        }
        for (int i = 0; i < dim && reference && reference->draw; i++) {
            near_truth(specs[k], "mean", i, sum.x[i], reference->mean[i], sqrt(reference->variance[i] / n));
            near_truth(specs[k], "square", i, sum.square[i], reference->square_mean[i],
                       sqrt(reference->square_variance[i] / n));
            /* The eighth moment of the funnel's x is out of reach of any number of draws. */
            if (strncmp(specs[k], "funnel", 6) == 0 && i > 0) continue;
            near_truth(specs[k], "variance of the square", i, sum.spread[i], reference->square_variance[i],
                       sqrt((sum.spread_square[i] - sum.spread[i] * sum.spread[i]) / n));
        }
        for (int m = 0; reference && m < reference->modes; m++) {
            double w = reference->mode_weight[m];
            near_truth(specs[k], "weight of mode", m, sum.mode[m], w, sqrt(w * (1 - w) / n) + 1e-9);
        }
        ais_target_close(target);
    }
}

static void draws_are_functions_of_seed_and_index(void **state) {
    (void)state;
    for (int k = 0; k < SPECS; k++) {
        ais_target *target = open_target(specs[k]);
        if (target->reference && target->reference->draw) {
            double a[MOST], b[MOST];
            size_t bytes = (size_t)target->dim * sizeof *a;
            for (uint64_t index = 0; index < 50; index++) {
                target->reference->draw(3, index, a, target->data);
                target->reference->draw(3, index, b, target->data);
                assert_memory_equal(a, b, bytes);
                target->reference->draw(4, index, b, target->data);
                assert_true(memcmp(a, b, bytes) != 0);
                target->reference->draw(3, index + 1, b, target->data);
                assert_true(memcmp(a, b, bytes) != 0);
            }
        }
        ais_target_close(target);
    }
}

/* Integrals of 1, x^2, x^4, y^2 and the mass of each mode in polar coordinates, by 5-point Gauss on
 * small panels whose edges lie on the kinks and on the borders between modes. */
typedef struct polar {
    double one, mean, square, fourth, mode[8];
} polar;

static polar integrate(const ais_target *target, double from_angle, int wedges, double radius, double panel) {
    const double node[5] = {0, 0.53846931010568309, -0.53846931010568309, 0.90617984593866399, -0.90617984593866399};
    const double weight[5] = {0.56888888888888889, 0.47862867049936647, 0.47862867049936647, 0.23692688505618909,
                              0.23692688505618909};
    int panels = 144 / wedges; /* of the angle, a wedge */
    polar sum = {0};
    double wedge = 2 * acos(-1) / wedges, step = wedge / panels;
    for (int a = 0; a < wedges * panels * 5; a++) {
        double angle = from_angle + (a / 5 + 0.5 + 0.5 * node[a % 5]) * step;
        for (int b = 0; b < (int)(radius / panel) * 5; b++) {
            double r = (b / 5 + 0.5 + 0.5 * node[b % 5]) * panel, x[2] = {r * cos(angle), r * sin(angle)};
            double mass = r * exp(target->logp(x, target->data)) * weight[a % 5] * weight[b % 5] * step * panel / 4;
            sum.one += mass;
            sum.mean += mass * x[1];
            sum.square += mass * x[1] * x[1];
            sum.fourth += mass * pow(x[1], 4);
            if (target->reference->modes) sum.mode[target->reference->mode(x, target->data)] += mass;
        }
    }
    return sum;
}

static void quadrature_agrees(void **state) {
    (void)state;
    const double pi = acos(-1);
    const struct {
        const char *spec;
        double from;
        int wedges;
        double radius, panel;
    } plan[] = {
        {"mog2", -pi / 2, 2, 12, 0.125},
        {"mog6", -pi / 6, 6, 12, 0.25},
        {"mog6:sd=2.385", -pi / 6, 6, 30, 0.5},
        {"triangle", pi / 6, 3, 12, 0.125},
        {"triangle:sd=2.385", pi / 6, 3, 30, 0.5},
        {"ring", 0, 2, 8, 0.0625},
        {"ring5", 0, 2, 7, 0.0625},
        {"twomodes:dim=2,distance=2.2,sd1=0.5,sd2=1.25,weight1=0.7", pi / 2, 2, 20, 0.25},
        {"gaussian:dim=2,cond=9", 0, 4, 40, 0.25},
    };
    for (size_t k = 0; k < sizeof plan / sizeof *plan; k++) {
        ais_target *target = open_target(plan[k].spec);
        const ais_reference *reference = target->reference;
        polar sum = integrate(target, plan[k].from, plan[k].wedges, plan[k].radius, plan[k].panel);
        double square = sum.square / sum.one, spread = sum.fourth / sum.one - square * square;
        if (!(fabs(log(sum.one) - reference->log_z) < 1e-8 && fabs(sum.mean / sum.one - reference->mean[1]) < 1e-8 &&
              fabs(square / reference->square_mean[1] - 1) < 1e-8 &&
              fabs(spread / reference->square_variance[1] - 1) < 1e-8))
            fail_msg("%s: log_z %.12g mean %.12g square %.12g (%.12g) spread %.12g (%.12g)", plan[k].spec, log(sum.one),
                     sum.mean / sum.one, square, reference->square_mean[1], spread, reference->square_variance[1]);
        for (int m = 0; m < reference->modes; m++)
            if (!(fabs(sum.mode[m] / sum.one - reference->mode_weight[m]) < 1e-8))
                fail_msg("%s: mode %d: %.12g (%.12g)", plan[k].spec, m, sum.mode[m] / sum.one,
                         reference->mode_weight[m]);
        ais_target_close(target);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_builtin_is_in_the_table),
        cmocka_unit_test(options_are_the_defaults),
        cmocka_unit_test(check_passes),
        cmocka_unit_test(gradient_is_the_slope),
        cmocka_unit_test(batch_is_logp),
        cmocka_unit_test(far_away_is_no_error),
        cmocka_unit_test(reference_is_consistent),
        cmocka_unit_test(exact_draws_have_the_reference_moments),
        cmocka_unit_test(draws_are_functions_of_seed_and_index),
        cmocka_unit_test(quadrature_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
