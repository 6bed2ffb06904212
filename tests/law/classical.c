/* What every classical kernel must obey: exact draws stay exact, randomness does not depend on how
 * chains are blocked, leapfrog steps can be undone, warm-up finds scales. And the first of these tests
 * must catch kernels that are broken on purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "classical/tuning.h"
#include "exact_draws.h"

/* ---- invariance ------------------------------------------------------------------------------------ */

static void exact_draws_stay_exact(void **unused) {
    (void)unused;
    law_kernel law;
    for (int k = 0; (law = law_kernel_at(k)).name; k++)
        for (int t = 0; t < LAW_TARGETS; t++) {
            ais_kernel *kernel = law_make(&law);
            double z = largest_z(&law_targets[t], &law_targets[t].target, kernel, law.warmup, 11);
            if (!(z < most_z()))
                fail_msg("%s on %s: a moment is %.1f errors off", law.name, law_targets[t].target.name, z);
            ais_kernel_free(kernel);
        }
}

/* A random walk that gets the accept test wrong (power of the ratio), or forgets to say that it moved. */
typedef struct broken {
    ais_kernel kernel;
    double power;
    bool silent;
} broken;

static ais_status broken_init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **own) {
    (void)context, (void)kernel, (void)state;
    *own = NULL;
    return AIS_OK;
}

static ais_status broken_step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own,
                              ais_info *info) {
    (void)context, (void)own;
    const broken *b = (const broken *)kernel;
    for (int c = 0; c < state->chains; c++) {
        ais_stream walk = ais_state_stream(state, c, AIS_FOR_WALK), test = ais_state_stream(state, c, AIS_FOR_TEST);
        double normal[MAX_DIM], point[MAX_DIM];
        ais_normals(&walk, (size_t)state->target->dim, normal);
        for (int i = 0; i < state->target->dim; i++) point[i] = state->x[i * state->lanes + c] + 0.8 * normal[i];
        double logp = state->target->logp(point, NULL);
        double acceptance = fmin(1, exp(b->power * (logp - state->logp[c])));
        info[c] = (ais_info){.accept_stat = acceptance};
        if (logp == -INFINITY || ais_random_uniform(&test, 0) >= acceptance) continue;
        for (int i = 0; i < state->target->dim; i++) state->x[i * state->lanes + c] = point[i];
        state->logp[c] = logp;
        state->version[c] += !b->silent;
    }
    return AIS_OK;
}

static void broken_free(ais_kernel *kernel) { free(kernel); }
static const ais_kernel_type broken_type = {
    .name = "broken", .info = 1, .init = broken_init, .step = broken_step, .free = broken_free};

static ais_kernel *make_broken(double power, bool silent) {
    broken *kernel = calloc(1, sizeof *kernel);
    *kernel = (broken){{.type = &broken_type}, power, silent};
    return &kernel->kernel;
}

static double wrong_logp_grad(const double *x, double *gradient, void *data) {
    return 0.8 * banana_grad(x, gradient, data);
}

static void broken_kernels_are_caught(void **unused) {
    (void)unused;
    if (law_chains() < CHAINS) skip(); /* too few to tell */
    const law_target *law = &law_targets[1];
    struct {
        const char *what;
        ais_kernel *kernel;
        bool wrong_density, right;
    } cases[] = {
        {"nothing wrong", make_broken(1, false), false, true},
        {"nothing wrong in a cycle", make_cycle(make_broken(1, false), fixed_hmc(), NULL), false, true},
        {"wrong sign in the ratio", make_broken(-1, false), false, false},
        {"ratio to the power 0.8", make_broken(0.8, false), false, false},
        {"moves without a new version", make_cycle(make_broken(1, true), fixed_hmc(), NULL), false, false},
        {"wrong density in hmc", fixed_hmc(), true, false},
        {"wrong density in nuts", fixed_nuts(), true, false},
        {"wrong density in dense nuts", fixed_nuts_dense(), true, false},
        {"wrong density in a cycle", fixed_cycle(), true, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ais_target target = law->target;
        if (cases[k].wrong_density) target.grad = wrong_logp_grad;
        double z = largest_z(law, &target, cases[k].kernel, 0, 11);
        if ((z < 4) != cases[k].right) fail_msg("%s: largest z %.1f", cases[k].what, z);
        ais_kernel_free(cases[k].kernel);
    }
}

/* ---- determinism ----------------------------------------------------------------------------------- */

static void blocks_do_not_matter(void **unused) {
    (void)unused;
    law_kernel law;
    for (int k = 0; (law = law_kernel_at(k)).name; k++)
        for (int t = 0; t < LAW_TARGETS; t++) {
            const ais_target *target = &law_targets[t].target;
            ais_kernel *kernel = law_make(&law);
            double whole[20 * MAX_DIM], parts[20 * MAX_DIM], other[20 * MAX_DIM];
            size_t bytes = 20 * (size_t)target->dim * sizeof(double);
            run_block(target, kernel, 3, 0, 20, whole);
            run_block(target, kernel, 3, 0, 5, parts);
            run_block(target, kernel, 3, 5, 15, parts + 5 * target->dim);
            run_block(target, kernel, 4, 0, 20, other);
            if (memcmp(whole, parts, bytes) != 0) fail_msg("%s depends on its block", law.name);
            assert_true(memcmp(whole, other, bytes) != 0);
            ais_kernel_free(kernel);
        }
}

/* The parts of a cycle take different random numbers: two equal parts do not repeat each other. */
static void parts_draw_their_own_numbers(void **unused) {
    (void)unused;
    const ais_target *target = &law_targets[0].target;
    ais_context context = {0};
    ais_kernel *cycle = make_cycle(make_rwm(1e-6), make_rwm(1e-6), NULL), *single = make_rwm(1e-6);
    double once[3], twice[3], start[3] = {0.3, -0.1, 0.2};
    for (int k = 0; k < 2; k++) {
        const ais_kernel *kernel = k ? cycle : single;
        ais_state *state;
        ais_info info[1];
        void *own;
        check(&context, ais_state_new(&context, target, 9, 0, 1, 0, start, &state));
        check(&context, kernel->type->init(&context, kernel, state, &own));
        check(&context, kernel->type->step(&context, kernel, state, own, info));
        assert_int_equal(state->version[0], k + 1);
        assert_int_equal(state->part, 0);
        for (int i = 0; i < 3; i++) (k ? twice : once)[i] = state->x[i * state->lanes] - start[i];
        ais_state_free(state);
    }
    for (int i = 0; i < 3; i++) assert_true(fabs(twice[i] - 2 * once[i]) > 1e-8);
    ais_kernel_free(cycle);
    ais_kernel_free(single);
}

/* hmc and nuts compute their gradient again exactly when the version says that the chain was moved. */
static void versions_tell_of_moves(void **unused) {
    (void)unused;
    const ais_target *target = &law_targets[1].target;
    ais_context context = {0};
    ais_kernel *kernels[] = {fixed_hmc(), fixed_nuts()};
    for (int k = 0; k < 2; k++) {
        ais_state *state;
        ais_phase phase;
        void *own;
        const double start[2] = {0.3, -0.1}, moved[2] = {1.7, 0.4};
        double old_gradient[2], new_gradient[2];
        double old_logp = target->grad(start, old_gradient, NULL), new_logp = target->grad(moved, new_gradient, NULL);
        check(&context, ais_state_new(&context, target, 9, 0, 1, 0, start, &state));
        check(&context, kernels[k]->type->init(&context, kernels[k], state, &own));
        assert_true(ais_phase_take(&phase, &state->arena, 2));
        ais_tuned_chain *chain = *(ais_tuned_chain **)own;
        for (int i = 0; i < 2; i++) state->x[i * state->lanes] = moved[i];
        check(&context, ais_tuned_chain_load(&context, state, chain, 0, &phase));
        assert_true(phase.logp == old_logp && phase.gradient[0] == old_gradient[0]);
        state->version[0]++;
        check(&context, ais_tuned_chain_load(&context, state, chain, 0, &phase));
        assert_true(phase.logp == new_logp && memcmp(phase.gradient, new_gradient, sizeof new_gradient) == 0);
        ais_state_free(state);
        ais_kernel_free(kernels[k]);
    }
}

/* ---- dynamics -------------------------------------------------------------------------------------- */

static void leapfrog_can_be_undone(void **unused) {
    (void)unused;
    const ais_target *target = &law_targets[1].target;
    for (int dense = 0; dense < 2; dense++) {
        ais_context context = {0};
        ais_arena arena = {0};
        ais_metric metric;
        ais_welford welford;
        ais_phase start, point;
        assert_true(ais_metric_take(&metric, &arena, 2, dense) && ais_welford_take(&welford, &arena, 2, dense) &&
                    ais_phase_take(&start, &arena, 2) && ais_phase_take(&point, &arena, 2));
        for (uint32_t k = 0; k < 50; k++) {
            double draw[2];
            law_exact(&law_targets[1], 1, k, draw);
            ais_welford_add(&welford, draw);
        }
        assert_true(ais_metric_learn(&metric, &welford));
        start.x[0] = 0.4;
        start.x[1] = -0.3;
        check(&context, ais_phase_evaluate(&context, target, &start));
        ais_phase_kick(&metric, &(ais_stream){.seed = 2, .purpose = AIS_FOR_USER}, &start);
        double error[2]; /* of the energy after time 1: second order in the step size */
        for (int fine = 0; fine < 2; fine++) {
            int steps = fine ? 320 : 160;
            ais_phase_copy(&point, &start, 2);
            for (int k = 0; k < steps; k++)
                check(&context, ais_leapfrog(&context, target, &metric, 1.0 / steps, &point));
            error[fine] = ais_phase_energy(&point, 2) - ais_phase_energy(&start, 2);
            assert_true(fabs(point.x[0] - start.x[0]) > 0.01);
            for (int k = 0; k < steps; k++)
                check(&context, ais_leapfrog(&context, target, &metric, -1.0 / steps, &point));
            for (int i = 0; i < 2; i++) {
                assert_true(fabs(point.x[i] - start.x[i]) < 1e-13);
                assert_true(fabs(point.p[i] - start.p[i]) < 1e-13);
            }
        }
        assert_true(error[0] != 0 && fabs(error[0] / error[1] - 4) < 0.1);
        ais_arena_free(&arena);
    }
}

/* ---- warm-up ------------------------------------------------------------------------------------------ */

enum { SCALES = 10 };
static double scale_of(int i) { return 0.01 * pow(1e4, i / (SCALES - 1.0)); }

static double scales_grad(const double *x, double *gradient, void *data) {
    const double *scale = data;
    double logp = 0;
    for (int i = 0; i < SCALES; i++) {
        gradient[i] = -x[i] / (scale[i] * scale[i]);
        logp += 0.5 * x[i] * gradient[i];
    }
    return logp;
}
static double scales_logp(const double *x, void *data) {
    double gradient[SCALES];
    return scales_grad(x, gradient, data);
}

enum { RUN = 16, WARMUP = 1000, LAST_WINDOW = 500, LAST_WINDOW_END = 950, DRAWS = 500 };

/* Mean acceptance in the last window of warm-up and after warm-up; the metrics of hmc and nuts. */
static void warm_up(const ais_target *target, const ais_kernel *kernel, bool dense, double acceptance[2]) {
    ais_context context = {0};
    ais_state *state;
    ais_info info[RUN];
    void *own;
    check(&context, ais_state_new(&context, target, 21, 0, RUN, WARMUP, NULL, &state));
    check(&context, kernel->type->init(&context, kernel, state, &own));
    acceptance[0] = acceptance[1] = 0;
    for (; state->step < WARMUP + DRAWS; state->step++) {
        check(&context, kernel->type->step(&context, kernel, state, own, info));
        bool window = state->step >= LAST_WINDOW && state->step < LAST_WINDOW_END;
        for (int c = 0; c < RUN; c++) {
            if (window) acceptance[0] += info[c].accept_stat / (RUN * (LAST_WINDOW_END - LAST_WINDOW));
            if (state->step >= WARMUP) acceptance[1] += info[c].accept_stat / (RUN * DRAWS);
        }
    }
    const double *scale = target->data;
    const ais_tuned_chain *chain = kernel->type->needs_gradient ? *(ais_tuned_chain **)own : NULL;
    for (int c = 0; chain && c < RUN; c++)
        for (int i = 0; i < SCALES; i++) {
            double learned = sqrt(chain[c].metric.inverse[dense ? i * (SCALES + 1) : i]);
            if (!(learned > scale[i] / 2 && learned < scale[i] * 2))
                fail_msg("%s learned the scale %g where it is %g", kernel->type->name, learned, scale[i]);
        }
    ais_state_free(state);
}

/* Dual averaging makes its iterates meet the target; the step size that it keeps of them accepts more
 * (dual_averaging.h). Stan's NUTS on this density, 16 chains: 0.882 diagonal, 0.885 dense. */
static void warmup_learns_scales(void **unused) {
    (void)unused;
    double scale[SCALES];
    for (int i = 0; i < SCALES; i++) scale[i] = scale_of(i);
    ais_target target = {.name = "scales", .dim = SCALES, .logp = scales_logp, .grad = scales_grad, .data = scale};
    const struct {
        ais_kernel *kernel;
        bool dense;
        double aim, kept;
    } cases[] = {
        {make_nuts(0, false, 0), false, 0.8, 0.88},
        {make_nuts(0, true, 0), true, 0.8, 0.88},
        {make_hmc(0, 0.1), false, 0.8, 0.88},
        {make_rwm(0), false, 0.234, 0.234},
    };
    for (int k = 0; k < 4; k++) {
        double acceptance[2];
        warm_up(&target, cases[k].kernel, cases[k].dense, acceptance);
        if (!(fabs(acceptance[0] - cases[k].aim) < 0.05 && fabs(acceptance[1] - cases[k].kept) < 0.05))
            fail_msg("%s accepts %.3f in and %.3f after warm-up", cases[k].kernel->type->name, acceptance[0],
                     acceptance[1]);
        ais_kernel_free(cases[k].kernel);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_draws_stay_exact), cmocka_unit_test(broken_kernels_are_caught),
        cmocka_unit_test(blocks_do_not_matter),   cmocka_unit_test(parts_draw_their_own_numbers),
        cmocka_unit_test(versions_tell_of_moves), cmocka_unit_test(leapfrog_can_be_undone),
        cmocka_unit_test(warmup_learns_scales),
    };
    return cmocka_run_group_tests_name("classical", tests, NULL, NULL);
}
