/* Every forward/backward pair against central differences, in double. */
#include "support.h"

#include "base/arena.h"
#include "map/flow.h"
#include "map/henon.h"
#include "map/neck.h"

enum { LANES = 16 };
static const double h = 1e-5, tolerance = 2e-7;

/* A map under test: z (rows x LANES) in place, log_det added, and its backward pass. */
typedef struct subject {
    const ais_flow *flow;
    ais_flow_tape *flow_tape;
    const ais_henon *henon;
    ais_henon_tape *henon_tape;
    bool inverse;
    int rows;
    size_t count, fixed; /* fixed: the first ones, which have no gradient */
    ais_real *weights;
} subject;

static void apply(const subject *s, double *z, double *log_det) {
    memset(log_det, 0, LANES * sizeof *log_det);
    if (s->flow)
        ais_flow_map(s->flow, s->weights, s->flow_tape, s->inverse, z, log_det);
    else
        ais_henon_map(s->henon, s->weights, s->henon_tape, s->inverse, z);
}

/* L = sum of r z'^2/2 + q log_det with odd coefficients: its gradient by the result is r z', q. */
static double loss(const subject *s, const double *z, double *gradient, double *gradient_det) {
    double *image = malloc((size_t)s->rows * LANES * sizeof *image), log_det[LANES], sum = 0;
    memcpy(image, z, (size_t)s->rows * LANES * sizeof *image);
    apply(s, image, log_det);
    for (int i = 0; i < s->rows * LANES; i++) {
        double r = odd(5, (uint64_t)i, -1, 1.5);
        sum += 0.5 * r * image[i] * image[i];
        if (gradient) gradient[i] = r * image[i];
    }
    for (int c = 0; c < LANES; c++) {
        double q = odd(6, (uint64_t)c, -2, 2);
        sum += q * log_det[c];
        if (gradient) gradient_det[c] = q;
    }
    free(image);
    return sum;
}

static double difference(const subject *s, double *z, double *at) {
    double keep = *at;
    *at = keep + h;
    double up = loss(s, z, NULL, NULL);
    *at = keep - h;
    double down = loss(s, z, NULL, NULL);
    *at = keep;
    return (up - down) / (2 * h);
}

static void check(const subject *s, double *z, bool spoil, double *worst) {
    double *gradient = malloc((size_t)s->rows * LANES * sizeof *gradient), gradient_det[LANES];
    ais_real *gradient_weights = calloc(s->count, sizeof *gradient_weights);
    loss(s, z, gradient, gradient_det);
    if (s->flow)
        ais_flow_backward(s->flow, s->weights, s->flow_tape, s->inverse, gradient, gradient_det, gradient_weights);
    else
        ais_henon_backward(s->henon, s->weights, s->henon_tape, s->inverse, gradient, gradient_weights);
    size_t spoilt = s->fixed + (s->count - s->fixed) / 3;
    if (spoil) gradient_weights[spoilt] *= 1.001, gradient_weights[spoilt] += 1e-3;
    for (size_t i = 0; i < s->fixed; i++) assert_true(gradient_weights[i] == 0);
    *worst = 0;
    for (int i = 0; i < s->rows * LANES; i++) {
        double wanted = difference(s, z, &z[i]), miss = fabs(gradient[i] - wanted) / (1 + fabs(wanted));
        *worst = miss > *worst ? miss : *worst;
    }
    for (size_t i = s->fixed; i < s->count; i++) {
        double wanted = difference(s, z, &s->weights[i]),
               miss = fabs(gradient_weights[i] - wanted) / (1 + fabs(wanted));
        *worst = miss > *worst ? miss : *worst;
    }
    free(gradient);
    free(gradient_weights);
}

static void both_directions(subject *s, const char *name) {
    double *z = malloc((size_t)s->rows * LANES * sizeof *z), worst;
    for (size_t i = 0; i < s->count; i++) s->weights[i] = odd(1, i, -0.6, 0.6);
    for (size_t i = 0; i < s->fixed; i++)
        s->weights[i] += i ? 1 : 0.3; /* bins no narrower than others', a small rate */
    for (int inverse = 0; inverse < 2; inverse++) {
        s->inverse = inverse;
        /* some points beyond the splines' bound of 2.2 */
        for (int i = 0; i < s->rows * LANES; i++) z[i] = odd(2, (uint64_t)i, -2.6, 2.6);
        check(s, z, false, &worst);
        if (!(worst < tolerance)) fail_msg("%s, inverse %d: gradient misses by %.3g", name, inverse, worst);
        check(s, z, true, &worst);
        if (worst < 100 * tolerance) fail_msg("%s: a spoilt gradient was not noticed", name);
    }
    free(z);
}

static void flow_case(const char *name, ais_flow_shape shape) {
    ais_arena arena = {0};
    ais_flow flow;
    assert_true(ais_flow_build(&flow, &shape, &arena));
    subject s = {.flow = &flow,
                 .flow_tape = ais_flow_tape_new(&flow, LANES, &arena),
                 .rows = shape.dim,
                 .count = flow.weights,
                 .fixed = shape.neck ? ais_neck_weights(shape.dim, shape.neck) : 0,
                 .weights = AIS_TAKE(&arena, ais_real, flow.weights)};
    both_directions(&s, name);
    ais_arena_free(&arena);
}

static void flows(void **state) {
    (void)state;
    const ais_flow_shape plain = {
        .dim = 2, .layers = 2, .hidden = 5, .depth = 1, .bins = 5, .bound = 2.2, .tanh = true};
    ais_flow_shape shape = plain;
    flow_case("affine", shape);
    shape.element = &ais_spline_element;
    flow_case("spline", shape);
    shape.depth = 2;
    shape.dim = 3;
    flow_case("spline, two hidden layers, dim 3", shape);
    shape.marginal_bins = 4;
    shape.layers = 3;
    shape.dim = 5;
    flow_case("spline with marginals, dim 5", shape);
    shape.pivot = 1;
    flow_case("spline with a pivot", shape);
    shape.quadratic = true;
    flow_case("quadratic spline", shape);
    shape.element = NULL;
    flow_case("quadratic affine with marginals", shape);
    shape = plain;
    shape.dim = 4;
    shape.neck = 6;
    flow_case("a neck", shape);
    shape = plain;
    shape.dim = 1;
    shape.element = &ais_spline_element;
    flow_case("spline, dim 1", shape);
}

static void henons(void **state) {
    (void)state;
    for (int dim = 1; dim <= 3; dim++)
        for (int layers = 1; layers <= 4; layers++) {
            ais_arena arena = {0};
            ais_henon henon;
            ais_henon_build(&henon, dim, layers, 5, 1 + layers % 2, true);
            subject s = {.henon = &henon,
                         .henon_tape = ais_henon_tape_new(&henon, LANES, &arena),
                         .rows = 2 * dim,
                         .count = henon.weights,
                         .weights = AIS_TAKE(&arena, ais_real, henon.weights)};
            both_directions(&s, "henon");
            ais_arena_free(&arena);
        }
}

/* relu has kinks, where differences mean nothing; away from them its pair is exact. */
static void relu(void **state) {
    (void)state;
    ais_perceptron net = {.inputs = 3, .hidden = 7, .depth = 2, .outputs = 4, .tanh = false};
    size_t count = ais_perceptron_weights(&net);
    ais_arena arena = {0};
    ais_real *weights = AIS_TAKE(&arena, ais_real, count), *in = AIS_TAKE(&arena, ais_real, 3 * LANES);
    ais_real *tape = AIS_TAKE(&arena, ais_real, 14 * LANES), *out = AIS_TAKE(&arena, ais_real, 4 * LANES);
    ais_real *work = AIS_TAKE(&arena, ais_real, 14 * LANES), *up = AIS_TAKE(&arena, ais_real, 4 * LANES);
    ais_real *down = AIS_TAKE(&arena, ais_real, 3 * LANES), *gradient = AIS_TAKE(&arena, ais_real, count);
    for (size_t i = 0; i < count; i++) weights[i] = odd(7, i, -1, 1);
    for (size_t i = 0; i < 3 * LANES; i++) in[i] = odd(8, i, -2, 2);
    for (size_t i = 0; i < 4 * LANES; i++) up[i] = odd(9, i, -1, 1);
    ais_perceptron_forward(&net, weights, LANES, in, tape, out);
    ais_perceptron_backward(&net, weights, LANES, in, tape, up, work, down, gradient);
    for (size_t i = 0; i < count + 3 * LANES; i++) {
        ais_real *at = i < count ? &weights[i] : &in[i - count], keep = *at;
        double side[2], step = 1e-7;
        for (int k = 0; k < 2; k++) {
            *at = keep + (k ? step : -step);
            ais_perceptron_forward(&net, weights, LANES, in, tape, out);
            side[k] = 0;
            for (int j = 0; j < 4 * LANES; j++) side[k] += up[j] * out[j];
        }
        *at = keep;
        assert_near(i < count ? gradient[i] : down[i - count], (side[1] - side[0]) / (2 * step), 1e-5);
    }
    ais_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(relu), cmocka_unit_test(flows), cmocka_unit_test(henons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
