/* Reflections R_a of latent space in place of swap: exact draws stay exact at any angle and with several of them,
 * whatever the map, and reflections that are broken on purpose are caught. */
#include "support.h"

#include "exact_draws.h"
#include "learned/learned.h"
#include "random_map.h"

static const struct {
    ais_shape shape;
    double scale; /* of the random weights */
} maps[] = {
    {{.map = AIS_AFFINE, .reversal = AIS_SWAP}, 0},
    {{.map = AIS_REALNVP, .reversal = AIS_SWAP, .hidden = 8, .activation = AIS_TANH}, 0.4},
    {{.map = AIS_SPLINE, .reversal = AIS_SWAP, .hidden = 8, .bins = 6, .marginal_bins = 5, .activation = AIS_TANH},
     0.4},
};
enum { MAPS = sizeof maps / sizeof *maps };

static const struct {
    int count;
    double degree[3];
    ais_test test;
} sets[] = {{1, {35, 0, 0}, AIS_METROPOLIS}, {3, {20, 90, 180}, AIS_METROPOLIS}, {2, {15, 70, 0}, AIS_BARKER}};
enum { SETS = sizeof sets / sizeof *sets };

static ais_kernel *make(int m, int s, int dim) {
    ais_context context = {0};
    ais_kernel *kernel = random_map(maps[m].shape, maps[m].scale, dim);
    assert_ok(context, ais_kernel_set_angles(&context, kernel, sets[s].count, sets[s].degree));
    ais_kernel_set_test(kernel, sets[s].test);
    return kernel;
}

static void exact_draws_stay_exact(void **unused) {
    (void)unused;
    for (int m = 0; m < MAPS; m++)
        for (int t = 0; t < LAW_TARGETS; t++)
            for (int s = 0; s < SETS; s++) {
                const law_target *law = &law_targets[t];
                ais_kernel *kernel = make(m, s, law->target.dim);
                double z = largest_z(law, &law->target, kernel, 0, 11);
                print_message("%-8s %-10s %d angles: %.1f standard errors\n", ais_kernel_name(kernel), law->target.name,
                              sets[s].count, z);
                if (!(z < most_z()))
                    fail_msg("%s on %s: a moment is %.1f errors off", ais_kernel_name(kernel), law->target.name, z);
                ais_kernel_free(kernel);
            }
}

/* A smaller angle is accepted more often, and moves: a kernel that never moves would prove nothing. */
static void smaller_angles_are_accepted(void **unused) {
    (void)unused;
    enum { SOME = 64, LAST = 100 };
    const double degrees[] = {90, 30, 8};
    double before = 0;
    for (int a = 0; a < 3; a++) {
        ais_context context = {0};
        ais_kernel *kernel = make(0, 0, 2);
        ais_state *state;
        ais_info info[SOME] = {{0}};
        void *own;
        double acceptance = 0, moves = 0;
        assert_ok(context, ais_kernel_set_angles(&context, kernel, 1, &degrees[a]));
        assert_ok(context, ais_state_new(&context, &law_targets[1].target, 5, 0, SOME, 0, NULL, &state));
        assert_ok(context, kernel->type->init(&context, kernel, state, &own));
        for (; state->step < LAST; state->step++) {
            assert_ok(context, kernel->type->step(&context, kernel, state, own, info));
            for (int c = 0; c < SOME; c++) acceptance += info[c].accept_stat / (SOME * LAST);
        }
        for (int c = 0; c < SOME; c++) moves += state->version[c] / (double)(SOME * LAST);
        print_message("%g degrees: acceptance %.3f\n", degrees[a], acceptance);
        assert_true(acceptance > before + 0.05);
        assert_near(moves, acceptance, 0.03);
        before = acceptance;
        ais_state_free(state);
        ais_kernel_free(kernel);
    }
}

/* ---- broken on purpose ------------------------------------------------------------------------------ */

/* z' = z cos a + v sin b with b not a: R no longer preserves N(z) N(v). */
static void unequal_angles(const ais_learned *learned, ais_proposal *proposal) {
    for (size_t c = 0; c < proposal->lanes; c++) proposal->sine[c] *= 1.25;
    ais_propose_reflected(learned, proposal);
    for (size_t c = 0; c < proposal->lanes; c++) proposal->sine[c] /= 1.25;
}

/* N(z) left out of the weight. */
static void without_latent_density(const ais_learned *learned, ais_proposal *proposal) {
    ais_propose_reflected(learned, proposal);
    memset(proposal->kinetic, 0, proposal->lanes * sizeof(double));
}

/* An angle that the state chooses. */
static void angle_by_state(const ais_learned *learned, ais_proposal *proposal) {
    for (size_t c = 0; c < proposal->lanes; c++) {
        int k = proposal->mapped[c] > 0;
        proposal->cosine[c] = learned->angles.cosine[k];
        proposal->sine[c] = learned->angles.sine[k];
    }
    ais_propose_reflected(learned, proposal);
}

static void broken_reflections_are_caught(void **unused) {
    (void)unused;
    if (law_chains() < CHAINS) skip(); /* too few to tell */
    const struct {
        const char *what;
        int set;
        void (*propose)(const ais_learned *, ais_proposal *);
    } broken[] = {{"unequal angles", 0, unequal_angles},
                  {"N(z) left out", 0, without_latent_density},
                  {"an angle by the state", 2, angle_by_state}};
    const law_target *law = &law_targets[1];
    for (size_t b = 0; b < sizeof broken / sizeof *broken; b++)
        for (int m = 0; m < MAPS; m++) {
            ais_kernel *kernel = make(m, broken[b].set, law->target.dim);
            ((ais_learned *)kernel)->propose = broken[b].propose;
            double z = largest_z(law, &law->target, kernel, 0, 11);
            print_message("%-8s %-22s %.1f standard errors\n", ais_kernel_name(kernel), broken[b].what, z);
            if (z < 4) fail_msg("%s, %s: %.1f errors off only", ais_kernel_name(kernel), broken[b].what, z);
            ais_kernel_free(kernel);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_draws_stay_exact),
                                       cmocka_unit_test(smaller_angles_are_accepted),
                                       cmocka_unit_test(broken_reflections_are_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
