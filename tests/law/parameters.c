/* Priors and bounds: what is drawn for x follows the prior, Jacobians and gradients are what they say, evidence is
 * right. Each law is shown to catch a kind that is broken. */
#include <aisampler/aisampler.h>

#include "support.h"

#include "target/parameter_kinds.h"

#define PI 3.14159265358979323846

/* ---- densities of the priors, written down once more ------------------------------------------------ */

static double lg(double z) { return lgamma(z); }
static double density_of(const ais_parameter *p, double t) {
    const double *a = p->argument;
    switch (p->kind) {
    case AIS_KIND_UNIFORM:
        return -log(a[1] - a[0]);
    case AIS_KIND_NORMAL:
        return -0.5 * pow((t - a[0]) / a[1], 2) - log(a[1] * sqrt(2 * PI));
    case AIS_KIND_LOGNORMAL:
        return -0.5 * pow((log(t) - a[0]) / a[1], 2) - log(t * a[1] * sqrt(2 * PI));
    case AIS_KIND_HALF_NORMAL:
        return -0.5 * pow(t / a[0], 2) + log(2 / (a[0] * sqrt(2 * PI)));
    case AIS_KIND_HALF_CAUCHY:
        return log(2 / (PI * a[0])) - log1p(pow(t / a[0], 2));
    case AIS_KIND_CAUCHY:
        return -log(PI * a[1]) - log1p(pow((t - a[0]) / a[1], 2));
    case AIS_KIND_STUDENT:
        return lg((a[0] + 1) / 2) - lg(a[0] / 2) - 0.5 * log(a[0] * PI) - log(a[2]) -
               (a[0] + 1) / 2 * log1p(pow((t - a[1]) / a[2], 2) / a[0]);
    case AIS_KIND_EXPONENTIAL:
        return log(a[0]) - a[0] * t;
    case AIS_KIND_GAMMA:
        return a[0] * log(a[1]) - lg(a[0]) + (a[0] - 1) * log(t) - a[1] * t;
    case AIS_KIND_BETA:
        return (a[0] - 1) * log(t) + (a[1] - 1) * log1p(-t) - lg(a[0]) - lg(a[1]) + lg(a[0] + a[1]);
    default:
        return NAN;
    }
}

static const ais_parameter priors[] = {
    {"u", AIS_UNIFORM(-3, 7)},    {"n", AIS_NORMAL(2, 0.3)},      {"ln", AIS_LOGNORMAL(-1, 1.5)},
    {"hn", AIS_HALF_NORMAL(2.5)}, {"hc", AIS_HALF_CAUCHY(5)},     {"c", AIS_CAUCHY(1, 2)},
    {"t3", AIS_STUDENT(3, 1, 2)}, {"t30", AIS_STUDENT(30, 0, 1)}, {"t1", AIS_STUDENT(1, 0, 1)},
    {"e", AIS_EXPONENTIAL(0.5)},  {"g2", AIS_GAMMA(2, 3)},        {"g01", AIS_GAMMA(0.1, 1)},
    {"g500", AIS_GAMMA(500, 10)}, {"b", AIS_BETA(2, 5)},          {"bh", AIS_BETA(0.5, 0.5)},
    {"b300", AIS_BETA(300, 40)},  {"b1", AIS_BETA(0.2, 8)}};
enum { PRIORS = sizeof priors / sizeof *priors };

static double log_phi(double x) { return -0.5 * x * x - 0.5 * log(2 * PI); }

/* The largest |log slope - (log phi(x) - log density(theta))| over scores, and of slopes against differences of theta.
 */
static double worst_slope(const ais_parameter *p, double wrong) {
    double worst = 0;
    for (double x = -6; x <= 6; x += 0.37) {
        ais_element e = {0}, left = {0}, right = {0};
        const ais_kind_type *type = &ais_kind_types[p->kind];
        double h = 1e-5;
        type->element(p->argument, x, &e);
        type->element(p->argument, x - h, &left);
        type->element(p->argument, x + h, &right);
        if (p->kind == AIS_KIND_BETA && e.theta > 1 - 1e-8) continue; /* 1 - theta has no digits left */
        worst = fmax(worst, fabs(e.log_slope + wrong - (log_phi(x) - density_of(p, e.theta))));
        /* Where theta itself has digits left: not for 1 - 1e-16. */
        double difference = (right.theta - left.theta) / (2 * h), floor = 1e-9 * fabs(e.theta) / h;
        if (exp(e.log_slope) > 1e3 * floor) worst = fmax(worst, fabs(difference / exp(e.log_slope + wrong) - 1) - 1e-4);
    }
    return worst;
}

static void priors_are_what_they_say(void **state) {
    (void)state;
    for (int k = 0; k < PRIORS; k++) {
        double off = worst_slope(&priors[k], 0);
        if (!(off < 1e-6)) fail_msg("prior %s: slope off by %g", priors[k].name, off);
        assert_true(worst_slope(&priors[k], 1e-3) > 5e-4);
    }
}

/* Medians: theta(0), known in closed form; with the slopes above that fixes the whole map. */
static void medians_are_right(void **state) {
    (void)state;
    static const struct {
        ais_parameter p;
        double median;
    } known[] = {{{"u", AIS_UNIFORM(-3, 7)}, 2},
                 {{"ln", AIS_LOGNORMAL(-1, 1.5)}, 0.36787944117144233},
                 {{"hn", AIS_HALF_NORMAL(2)}, 2 * 0.67448975019608171},
                 {{"hc", AIS_HALF_CAUCHY(5)}, 5},
                 {{"c", AIS_CAUCHY(1, 2)}, 1},
                 {{"t", AIS_STUDENT(3, 1, 2)}, 1},
                 {{"e", AIS_EXPONENTIAL(0.5)}, 2 * 0.69314718055994531},
                 {{"g", AIS_GAMMA(2, 1)}, 1.6783469900166606},
                 {{"gs", AIS_GAMMA(0.1, 1)}, 0.00059339110446022},
                 {{"b", AIS_BETA(2, 2)}, 0.5},
                 {{"bs", AIS_BETA(1, 3)}, 0.20629947401590032}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        ais_element e = {0};
        ais_kind_types[known[k].p.kind].element(known[k].p.argument, 0, &e);
        if (!(fabs(e.theta - known[k].median) <= 1e-9 * (1 + fabs(known[k].median))))
            fail_msg("median of %s: %.15g, not %.15g", known[k].p.name, e.theta, known[k].median);
    }
}

/* ---- whole targets ----------------------------------------------------------------------------------- */

enum { ELEMENTS = 15 };
static const ais_parameter mixed[] = {{"low", AIS_LOWER(2)},
                                      {"high", AIS_UPPER(-1)},
                                      {"two", AIS_BETWEEN(0, 5)},
                                      {"share", AIS_SIMPLEX, .count = 3},
                                      {"cut", AIS_ORDERED, .count = 3},
                                      {"w", AIS_DIRICHLET(2), .count = 4},
                                      {"g", AIS_GAMMA(3, 2)},
                                      {"free", AIS_REAL}};

/* Any smooth function of theta; refuses what is not inside of the bounds. */
static double own_grad(const double *t, double *gradient, void *data) {
    (void)data;
    if (!(t[0] > 2 && t[1] < -1 && t[2] > 0 && t[2] < 5)) return NAN;
    if (fabs(t[3] + t[4] + t[5] - 1) > 1e-9 || !(t[6] < t[7] && t[7] < t[8])) return NAN;
    double sum = 0;
    for (int i = 0; i < ELEMENTS; i++) {
        double c = 0.3 * (i + 1) - 1;
        sum += -0.5 * t[i] * t[i] + c * sin(t[i]);
        if (gradient) gradient[i] = -t[i] + c * cos(t[i]);
    }
    return sum;
}
static double own_logp(const double *t, void *data) { return own_grad(t, NULL, data); }
static double wrong_grad(const double *t, double *gradient, void *data) {
    double logp = own_grad(t, gradient, data);
    gradient[4] += 0.3;
    return logp;
}
static void own_batch(size_t n, const double *t, double *logp, void *data) {
    for (size_t c = 0; c < n; c++) {
        double point[ELEMENTS];
        for (size_t i = 0; i < ELEMENTS; i++) point[i] = t[i * n + c];
        logp[c] = own_logp(point, data);
    }
}

static void gradients_hold_for_every_constraint(void **state) {
    (void)state;
    ais_context context = {0};
    for (int broken = 0; broken < 2; broken++) {
        const ais_target density = {.name = "mixed",
                                    .dim = ELEMENTS,
                                    .logp = own_logp,
                                    .batch = own_batch,
                                    .grad = broken ? wrong_grad : own_grad};
        ais_target *target;
        assert_ok(context, ais_target_with(&context, &density, mixed, 8, &target));
        assert_int_equal(target->dim, ELEMENTS - 2);
        assert_int_equal(ais_target_shown(target), ELEMENTS);
        assert_string_equal(target->view->names[5], "share.3");
        assert_non_null(strstr(target->about, "w[4] ~ dirichlet(2)\ng ~ gamma(3, 2)\nfree: real"));
        ais_check check = {0};
        assert_int_equal(ais_target_check(&context, target, 7, &check), broken ? AIS_BAD_DENSITY : AIS_OK);
        ais_target_close(target);
    }
}

/* The logarithm of the determinant of d theta / dx, theta without the last element of a simplex, by differences. */
static double log_determinant(const ais_target *target, const double *x, const int *kept) {
    enum { N = ELEMENTS - 2 };
    double m[N][N], h = 1e-5, log_det = 0, slope;
    for (int j = 0; j < N; j++) {
        double at[N], up[ELEMENTS], down[ELEMENTS];
        memcpy(at, x, sizeof at);
        at[j] = x[j] + h;
        target->view->show(1, at, 0, up, &slope, target->data);
        at[j] = x[j] - h;
        target->view->show(1, at, 0, down, &slope, target->data);
        for (int i = 0; i < N; i++) m[i][j] = (up[kept[i]] - down[kept[i]]) / (2 * h);
    }
    for (int k = 0; k < N; k++) { /* lower triangular but for rounding: no pivots are needed */
        log_det += log(fabs(m[k][k]));
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; j < N; j++) m[i][j] -= m[i][k] / m[k][k] * m[k][j];
    }
    return log_det;
}

static void jacobians_are_determinants(void **state) {
    (void)state;
    ais_context context = {0};
    const int kept[] = {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 13, 14};
    const ais_target density = {.name = "mixed", .dim = ELEMENTS, .logp = own_logp};
    ais_target *target;
    assert_ok(context, ais_target_with(&context, &density, mixed, 8, &target));
    for (int trial = 0; trial < 20; trial++) {
        double x[ELEMENTS], theta[ELEMENTS], slope;
        for (int i = 0; i < target->dim; i++) x[i] = sin(1.0 + 7.3 * i + 2.9 * trial);
        target->view->show(1, x, 0, theta, &slope, target->data);
        double determinant = log_determinant(target, x, kept);
        assert_true(fabs(slope - determinant) < 1e-6);
        assert_false(fabs(slope + 1e-4 - determinant) < 1e-6);
    }
    ais_target_close(target);
}

/* ---- evidence ------------------------------------------------------------------------------------------ */

/* 7 of 10 in a binomial with a Beta(2, 3) prior; counts 3, 5, 4 of a Poisson with a Gamma(2, 0.5) rate; a measurement
 * of 1.3 +- 0.5 of a mean with a N(0, 1) prior. All independent: the posterior and the evidence are known. */
static double conjugate(const double *t, void *data) {
    (void)data;
    double z = (1.3 - t[2]) / 0.5;
    return 7 * log(t[0]) + 3 * log1p(-t[0]) + 12 * log(t[1]) - 3 * t[1] - 0.5 * z * z;
}

static void evidence_and_moments_of_conjugate_models(void **state) {
    (void)state;
    ais_context context = {0};
    static const ais_parameter parameters[] = {
        {"p", AIS_BETA(2, 3)}, {"rate", AIS_GAMMA(2, 0.5)}, {"m", AIS_NORMAL(0, 1)}};
    const ais_target density = {.name = "conjugate", .dim = 3, .logp = conjugate};
    ais_target *target;
    assert_ok(context, ais_target_with(&context, &density, parameters, 3, &target));
    ais_run_result *result;
    const ais_run_options options = {AIS_RUN_HEAD, .seed = 5};
    assert_ok(context, ais_run(&context, target, &options, &result));
    double beta = lg(9) + lg(6) - lg(15) - (lg(2) + lg(3) - lg(5));
    double gamma_part = 2 * log(0.5) - lg(2) + lg(14) - 14 * log(3.5);
    double normal = 0.5 * log(0.25 / 1.25) - 0.5 * 1.3 * 1.3 / 1.25;
    assert_true(result->trust);
    assert_true(fabs(result->log_z - (beta + gamma_part + normal)) < 5 * result->log_z_error + 1e-3);
    const double mean[] = {9.0 / 15, 14 / 3.5, 1.3 / 1.25};
    for (int i = 0; i < 3; i++) {
        const ais_parameter_summary *p = &result->diagnosis->parameter[i];
        assert_string_equal(p->name, parameters[i].name);
        assert_true(fabs(p->mean - mean[i]) < 4.5 * p->mcse);
    }
    /* The density that is shown is that of the parameters, with the prior in it. */
    const ais_draws *draws = result->draws;
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    double t[] = {draws->value[0], draws->value[n], draws->value[2 * n]}, expected = conjugate(t, NULL);
    for (int i = 0; i < 3; i++) expected += density_of(&parameters[i], t[i]);
    assert_true(fabs(draws->logp[0] - expected) < 1e-8);
    assert_int_equal(result->unconstrained->dim, 3);
    ais_run_free(result);
    ais_target_close(target);
}

/* ---- circles ------------------------------------------------------------------------------------------- */

/* The most by which the shares of a theta's images miss 1, when every log slope is off by `wrong`. */
static double worst_sum_of_images(double wrong) {
    const double argument[3] = {-10, 350}, h = 0.1;
    const ais_kind_type *type = &ais_kind_types[AIS_KIND_PERIODIC];
    ais_element left = {0}, right = {0}, e = {0};
    type->element(argument, -h, &left);
    type->element(argument, h, &right);
    double slope = (right.theta - left.theta) / (2 * h), turn = 360 / slope, worst = 0;
    for (double x = -0.499 * turn; x < 0.499 * turn; x += 0.0173) {
        double sum = 0, theta = NAN;
        for (int k = -4; k <= 4; k++) {
            type->element(argument, x + k * turn, &e);
            sum += exp(e.log_slope + wrong);
            if (k > -4) assert_true(fabs(e.theta - theta) < 1e-9);
            theta = e.theta;
        }
        worst = fmax(worst, fabs(sum / slope - 1));
    }
    return worst;
}

static void images_on_a_circle_share_one_density(void **state) {
    (void)state;
    assert_true(worst_sum_of_images(0) < 1e-12);
    assert_true(worst_sum_of_images(1e-4) > 5e-5);
    ais_element e = {0}, near = {0};
    const double argument[3] = {0, 1};
    for (double x = -60; x <= 60; x += 0.71) { /* far out, too, where shares are no doubles any more */
        double h = 1e-6;
        ais_kind_types[AIS_KIND_PERIODIC].element(argument, x - h, &near);
        ais_kind_types[AIS_KIND_PERIODIC].element(argument, x + h, &e);
        double by_differences = (e.log_slope - near.log_slope) / (2 * h);
        ais_kind_types[AIS_KIND_PERIODIC].element(argument, x, &e);
        if (!(fabs(e.bend - by_differences) < 1e-3 * (1 + fabs(e.bend))))
            fail_msg("x = %g: the share's slope is %g, not %g", x, e.bend, by_differences);
    }
}

/* Concentration 2 around 0, which is where the circle closes; *data: how far the gradient is off. */
static double von_mises_grad(const double *t, double *gradient, void *data) {
    gradient[0] = -2 * sin(t[0]) + *(const double *)data;
    return 2 * cos(t[0]);
}
static double von_mises(const double *t, void *data) {
    (void)data;
    return 2 * cos(t[0]);
}
static double nothing(const double *t, void *data) {
    (void)t, (void)data;
    return 0;
}

static void circles_have_no_cut(void **state) {
    (void)state;
    static const ais_parameter parameters[] = {{"angle", AIS_PERIODIC(0, 2 * PI)}};
    double exact = 0, off = 0.2;
    const ais_target around = {.name = "von Mises",
                               .dim = 1,
                               .logp = von_mises,
                               .grad = von_mises_grad,
                               .data = &exact},
                     wrong = {.name = "wrong", .dim = 1, .logp = von_mises, .grad = von_mises_grad, .data = &off},
                     empty = {.name = "no data", .dim = 1, .logp = nothing};
    const struct {
        const ais_target *density;
        double log_z, cosine[2]; /* I1(2) / I0(2), I2(2) / I0(2) */
    } known[] = {{&around, 0.82399353, {0.69777466, 0.30222534}}, {&empty, 0, {0, 0}}};
    ais_context context = {0};
    ais_target *target;
    for (int k = 0; k < 2; k++) {
        assert_ok(context, ais_target_with(&context, known[k].density, parameters, 1, &target));
        ais_check check = {0};
        assert_ok(context, ais_target_check(&context, target, 7, &check));
        ais_run_result *result;
        const ais_run_options options = {AIS_RUN_HEAD, .seed = 9};
        assert_ok(context, ais_run(&context, target, &options, &result));
        assert_true(result->trust);
        if (!(fabs(result->log_z - known[k].log_z) < 5 * result->log_z_error + 1e-3))
            fail_msg("log Z is %g +- %g, not %g", result->log_z, result->log_z_error, known[k].log_z);
        const ais_draws *draws = result->draws;
        size_t n = (size_t)draws->chains * (size_t)draws->draws;
        double noise = 6 / sqrt(fmin(result->diagnosis->parameter[0].ess_bulk, (double)n));
        for (int wave = 1; wave <= 2; wave++) {
            double c = 0, s = 0;
            for (size_t i = 0; i < n; i++) {
                c += cos(wave * draws->value[i]) / (double)n;
                s += sin(wave * draws->value[i]) / (double)n;
            }
            if (!(fabs(c - known[k].cosine[wave - 1]) < noise && fabs(s) < noise))
                fail_msg("wave %d: mean cosine %g, not %g; mean sine %g", wave, c, known[k].cosine[wave - 1], s);
        }
        /* What is shown is the density of the angle: that of an image alone would be too low. */
        assert_true(fabs(draws->logp[5] - known[k].density->logp(&draws->value[5], NULL) + log(2 * PI)) < 1e-8);
        ais_run_free(result);
        ais_target_close(target);
    }
    assert_ok(context, ais_target_with(&context, &wrong, parameters, 1, &target));
    ais_check check = {0};
    assert_int_equal(ais_target_check(&context, target, 7, &check), AIS_BAD_DENSITY);
    ais_target_close(target);
}

/* ---- a prior of one's own, words, and what is refused -------------------------------------------------- */

static void triangle(const double *u, double *theta, void *data) {
    (void)data;
    theta[0] = sqrt(u[0]);
    theta[1] = theta[0] * u[1]; /* below the first */
}
static double flat(const double *t, void *data) {
    (void)data;
    return t[1] > t[0] ? NAN : 0;
}
static void own_transforms_are_priors(void **state) {
    (void)state;
    ais_context context = {0};
    static const ais_parameter parameters[] = {{"t", AIS_CUBE(triangle), .count = 2}};
    const ais_target density = {.name = "triangle", .dim = 2, .logp = flat};
    ais_target *target;
    assert_ok(context, ais_target_with(&context, &density, parameters, 1, &target));
    ais_run_result *result;
    const ais_run_options options = {AIS_RUN_HEAD, .seed = 3};
    assert_ok(context, ais_run(&context, target, &options, &result));
    if (!(fabs(result->log_z) < 5 * result->log_z_error + 1e-3))
        fail_msg("log Z %g +- %g", result->log_z, result->log_z_error);
    assert_true(fabs(result->diagnosis->parameter[0].mean - 2.0 / 3) < 5 * result->diagnosis->parameter[0].mcse);
    assert_true(fabs(result->diagnosis->parameter[1].mean - 1.0 / 3) < 5 * result->diagnosis->parameter[1].mcse);
    ais_run_free(result);
    ais_target_close(target);
}

static void text_goes_both_ways(void **state) {
    (void)state;
    ais_context context = {0};
    static const char *const good[] = {"uniform(0, 10)", "student(3, -1, 2.5)", "simplex",
                                       "lower(0)",       "dirichlet(0.5)",      "periodic(-180, 180)"};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        ais_parameter p = {.name = "a"};
        char text[80];
        assert_ok(context, ais_parameter_parse(&context, good[k], &p));
        ais_parameter_text(&p, text, sizeof text);
        assert_string_equal(text, good[k]);
    }
    ais_parameter p = {.name = "mass"};
    assert_ok(context, ais_parameter_parse(&context, " positive ", &p));
    assert_true(p.kind == AIS_KIND_LOWER && p.argument[0] == 0);
    static const struct {
        const char *text, *message;
    } bad[] = {{"normall(0, 1)", "parameter mass: there is no prior or bound 'normall' (did you mean 'normal'?)"},
               {"normal(0)", "parameter mass: 'normal(0)' must be normal(mean, sd) with numbers"},
               {"normal(0, x)", "must be normal(mean, sd) with numbers"},
               {"normal(0, 1) + 1", "must be normal(mean, sd) with numbers"},
               {"cube", "there is no prior or bound 'cube'"},
               {"simplex(3)", "parameter mass: 'simplex(3)' must be simplex"},
               {"", "there is no prior or bound ''"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(ais_parameter_parse(&context, bad[k].text, &p), AIS_BAD_ARGUMENT);
        assert_non_null(strstr(context.message, bad[k].message));
    }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    ais_context context = {0};
    static const struct {
        ais_parameter p;
        const char *message;
    } bad[] = {{{"a", AIS_UNIFORM(3, 1)}, "parameter a: uniform(3, 1): low must be below high"},
               {{"a", AIS_PERIODIC(360, 0)}, "parameter a: periodic(360, 0): low must be below high"},
               {{"a", AIS_PERIODIC(-1e308, 1e308)}, "they are too far apart"},
               {{"a", AIS_NORMAL(0, -1)}, "parameter a: normal(0, -1): the second must be above 0"},
               {{"a", AIS_BETWEEN(1, 1)}, "low must be below high"},
               {{"a", AIS_LOWER(INFINITY)}, "must be a number"},
               {{"a", AIS_SIMPLEX}, "it needs a count of 2 or more"},
               {{"a", AIS_STUDENT(0, 0, 1)}, "df and scale must be above 0"},
               {{"a", AIS_STUDENT(1e11, 0, 1)}, "df must not be above 1e10: take a normal"},
               {{"a", AIS_GAMMA(1e11, 1)}, "the shape must not be above 1e10: take a normal"},
               {{"a", AIS_GAMMA(1e-308, 3)}, "the shape must not be below 1e-100"},
               {{"a", AIS_GAMMA(1, 0)}, "both must be above 0"},
               {{"a", AIS_BETA(2, 33e306)}, "neither may be above 1e10"},
               {{"a", AIS_DIRICHLET(6e9), .count = 2}, "concentration times count must not be above 1e10"},
               {{"", AIS_REAL}, "a parameter has no name"},
               {{"a", AIS_REAL, .count = 2}, "dim is 1, but its parameters have 2 elements"}};
    const ais_target density = {.name = "one", .dim = 1, .logp = flat};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        ais_target *target;
        assert_int_equal(ais_target_with(&context, &density, &bad[k].p, 1, &target), AIS_BAD_DENSITY);
        assert_null(target);
        if (!strstr(context.message, bad[k].message)) fail_msg("'%s'", context.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priors_are_what_they_say),
        cmocka_unit_test(medians_are_right),
        cmocka_unit_test(gradients_hold_for_every_constraint),
        cmocka_unit_test(jacobians_are_determinants),
        cmocka_unit_test(evidence_and_moments_of_conjugate_models),
        cmocka_unit_test(images_on_a_circle_share_one_density),
        cmocka_unit_test(circles_have_no_cut),
        cmocka_unit_test(own_transforms_are_priors),
        cmocka_unit_test(text_goes_both_ways),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
