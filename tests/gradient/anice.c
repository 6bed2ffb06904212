/* A-NICE-MC's losses against central differences: the critic with its gradient penalty (a double backward pass), and
 * the kernel through chains of several steps, the critic and the velocities. */
#include "support.h"

#include "anice/objective.h"
#include "brief.h"

enum { DIM = 3, VELOCITIES = 5, BATCH = 32, MOST_BURN = 4, MOST_PAIR = 2 };

/* Units have kinks, at which the penalty jumps: a step so small that none is crossed. */
static const double h = 1e-8, tolerance = 2e-6, share = 0.385;

typedef struct subject {
    ais_anice_objective objective;
    ais_real *kernel, *critic, *kernel_gradient, *critic_gradient;
    int burn, pair;
    ais_arena arena;
} subject;

static subject *make(int depth, int burn, int pair) {
    subject *s = calloc(1, sizeof *s);
    ais_anice_shape shape = {.dim = DIM, .velocities = VELOCITIES, .hidden = 7, .depth = depth};
    ais_anice_objective *objective = &s->objective;
    *objective = (ais_anice_objective){
        .nice = ais_nice_build(&shape), .critic = ais_critic_shape(DIM, 16, 3), .batch = BATCH, .velocity_weight = 1.7};
    assert_true(ais_anice_objective_new(objective, MOST_BURN, MOST_PAIR, &s->arena));
    s->kernel = AIS_TAKE(&s->arena, ais_real, objective->nice.weights);
    s->kernel_gradient = AIS_TAKE(&s->arena, ais_real, objective->nice.weights);
    s->critic = AIS_TAKE(&s->arena, ais_real, objective->critic.weights);
    s->critic_gradient = AIS_TAKE(&s->arena, ais_real, objective->critic.weights);
    for (size_t i = 0; i < objective->nice.weights; i++) s->kernel[i] = odd(1, i, -0.6, 0.6);
    for (size_t i = 0; i < objective->critic.weights; i++) s->critic[i] = odd(2, i, -0.7, 0.7);
    s->burn = burn;
    s->pair = pair;
    return s;
}

static void drop(subject *s) {
    ais_arena_free(&s->arena);
    free(s);
}

/* The same noise and draws every time: the forward pass uses v up. */
static void chains(subject *s) {
    ais_anice_objective *objective = &s->objective;
    for (size_t i = 0; i < DIM * BATCH; i++) objective->from_noise.x[i] = odd(3, i, -2, 2);
    for (size_t i = 0; i < (size_t)VELOCITIES * BATCH * MOST_BURN; i++) objective->from_noise.v[i] = odd(4, i, -2, 2);
    for (size_t i = 0; i < (size_t)DIM * 2 * BATCH; i++) objective->pairs.x[i] = odd(5, i, -2, 2);
    for (size_t i = 0; i < (size_t)VELOCITIES * 2 * BATCH * MOST_PAIR; i++) objective->pairs.v[i] = odd(6, i, -2, 2);
    ais_anice_chains(objective, s->kernel, s->burn, s->pair);
}

static double critic_loss(subject *s) {
    const ais_critic_tape *tape = &s->objective.tape;
    chains(s);
    for (size_t i = 0; i < 2 * DIM * tape->lanes; i++) tape->in[i] = odd(7, i, -2, 2);
    return ais_anice_critic_step(&s->objective, s->critic, s->pair, share, s->critic_gradient);
}

static double kernel_loss(subject *s) {
    chains(s);
    return ais_anice_kernel_step(&s->objective, s->kernel, s->critic, s->burn, s->pair, s->kernel_gradient);
}

/* The largest relative miss over the weights; the gradient is taken first, as differences overwrite it. */
static double worst(subject *s, double (*loss)(subject *), ais_real *weights, const ais_real *gradient, size_t count,
                    double spoil) {
    double result = 0, *analytic = malloc(count * sizeof *analytic);
    loss(s);
    for (size_t i = 0; i < count; i++) analytic[i] = gradient[i] * (i % 11 == 3 ? 1 + spoil : 1);
    for (size_t i = 0; i < count; i += brief() ? 5 : 1) { /* in brief every fifth weight */
        double keep = weights[i];
        weights[i] = keep + h;
        double up = loss(s);
        weights[i] = keep - h;
        double down = loss(s);
        weights[i] = keep;
        result = fmax(result, fabs((up - down) / (2 * h) - analytic[i]) / (1 + fabs(analytic[i])));
    }
    free(analytic);
    return result;
}

static void critic_and_penalty(void **state) {
    (void)state;
    subject *s = make(1, 2, 1);
    size_t count = s->objective.critic.weights;
    double miss = worst(s, critic_loss, s->critic, s->critic_gradient, count, 0);
    print_message("critic: largest miss %.2e\n", miss);
    assert_true(miss < tolerance);
    assert_true(worst(s, critic_loss, s->critic, s->critic_gradient, count, 0.01) > 100 * tolerance);
    drop(s);
}

/* Without its penalty, and with nothing but it: each part is right by itself, and the penalty is a part. */
static void parts_of_the_critic(void **state) {
    (void)state;
    subject *s = make(1, 1, 1);
    size_t count = s->objective.critic.weights;
    s->objective.critic.penalty = 0;
    double without = critic_loss(s);
    assert_true(worst(s, critic_loss, s->critic, s->critic_gradient, count, 0) < tolerance);
    s->objective.critic.penalty = 1000;
    assert_true(critic_loss(s) > without + 1);
    assert_true(worst(s, critic_loss, s->critic, s->critic_gradient, count, 0) < 100 * tolerance);
    drop(s);
}

/* The loss whose gradient the kernel step claims: x1 does not move with the weights where it starts x3. So x3 - with
 * x1 as drawn - and x1 itself are differentiated apart, and must sum to the claim. */
static double parted_loss(subject *s) {
    ais_anice_objective *objective = &s->objective;
    double at_start[DIM * BATCH];
    ais_real *own = s->kernel, *plain = malloc(objective->nice.weights * sizeof *plain);
    for (size_t i = 0; i < objective->nice.weights; i++) plain[i] = odd(1, i, -0.6, 0.6);
    /* x1 of the unchanged kernel */
    s->kernel = plain;
    chains(s);
    const ais_real *x1 = ais_nice_state(&objective->nice, &objective->from_noise, s->burn);
    for (size_t i = 0; i < DIM * BATCH; i++) at_start[i] = x1[i];
    s->kernel = own;
    chains(s); /* from_noise is as wanted: x1 moves with the weights */
    const ais_real *moved = ais_nice_state(&objective->nice, &objective->from_noise, s->burn);
    for (size_t i = 0; i < (size_t)VELOCITIES * 2 * BATCH * MOST_PAIR; i++) objective->pairs.v[i] = odd(6, i, -2, 2);
    for (size_t i = 0; i < DIM; i++)
        for (size_t c = 0; c < BATCH; c++) objective->pairs.x[(2 * i + 1) * BATCH + c] = at_start[i * BATCH + c];
    ais_nice_forward(&objective->nice, s->kernel, &objective->pairs, s->pair);
    for (size_t i = 0; i < DIM; i++)
        for (size_t c = 0; c < BATCH; c++) objective->pairs.x[(2 * i + 1) * BATCH + c] = moved[i * BATCH + c];
    double loss = ais_anice_kernel_step(objective, s->kernel, s->critic, s->burn, s->pair, s->kernel_gradient);
    free(plain);
    return loss;
}

static void kernel_through_chains(void **state) {
    (void)state;
    const int steps[][2] = {{1, 1}, {4, 2}, {2, 1}};
    for (int depth = 1; depth <= 2; depth++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            subject *s = make(depth, steps[k][0], steps[k][1]);
            size_t count = s->objective.nice.weights;
            double miss = worst(s, parted_loss, s->kernel, s->kernel_gradient, count, 0);
            print_message("kernel, %d and %d steps: largest miss %.2e\n", steps[k][0], steps[k][1], miss);
            assert_true(miss < tolerance);
            assert_true(worst(s, parted_loss, s->kernel, s->kernel_gradient, count, 0.05) > 100 * tolerance);
            assert_near(parted_loss(s), kernel_loss(s), 1e-12);
            drop(s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(critic_and_penalty), cmocka_unit_test(parts_of_the_critic),
                                       cmocka_unit_test(kernel_through_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
