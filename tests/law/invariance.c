/* Exact draws stay exact: many chains start from exact draws of a target, make 50 steps of a learned
 * kernel with random weights, and all moments and mode weights are still right within 4 standard
 * errors. The same test catches kernels that are broken on purpose. */
#include "support.h"

#include "invariance.h"

#include "learned/learned.h"
#include "map/lattice_lanes.h"

static const struct {
    const char *name;
    ais_shape shape;
    ais_test test;
    float scale; /* of the random weights */
} kernels[] = {
    {"henon flip", {.map = AIS_HENON, .dim = 2, .hidden = 16, .layers = 6}, AIS_METROPOLIS, 0.3F},
    {"henon swap barker",
     {.map = AIS_HENON, .dim = 2, .hidden = 16, .layers = 4, .reversal = AIS_SWAP, .activation = AIS_TANH},
     AIS_BARKER,
     0.5F},
    {"realnvp flip",
     {.map = AIS_REALNVP, .dim = 2, .hidden = 16, .joint = true, .activation = AIS_TANH},
     AIS_METROPOLIS,
     0.4F},
    {"realnvp swap", {.map = AIS_REALNVP, .dim = 2, .hidden = 16, .reversal = AIS_SWAP}, AIS_METROPOLIS, 0.3F},
    {"spline swap",
     {.map = AIS_SPLINE, .dim = 2, .hidden = 16, .bins = 6, .reversal = AIS_SWAP, .activation = AIS_TANH},
     AIS_METROPOLIS,
     0.5F},
    {"spline swap barker",
     {.map = AIS_SPLINE, .dim = 2, .hidden = 16, .bins = 6, .marginal_bins = 5, .reversal = AIS_SWAP},
     AIS_BARKER,
     0.4F},
    {"affine", {.map = AIS_AFFINE, .dim = 2, .reversal = AIS_SWAP}, AIS_METROPOLIS, 0},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static ais_kernel *make_kernel(int k, const ais_target *target) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_learned(&context, &kernels[k].shape, 1, &kernel));
    size_t count;
    float *weights = ais_kernel_weights(kernel, &count);
    for (size_t i = 0; i < count; i++) weights[i] = kernels[k].scale * (float)odd((uint64_t)k, i, -1, 1);
    const ais_reference *truth = target->reference;
    /* a whitening that is not quite right, and not diagonal */
    double factor[4] = {1.1 * sqrt(truth->variance[0]), 0.1, -0.2, 0.9 * sqrt(truth->variance[1])};
    assert_ok(context, ais_kernel_whiten(&context, kernel, truth->mean, factor));
    ais_kernel_set_test(kernel, kernels[k].test);
    return kernel;
}

static void exact_draws_stay_exact(void **state) {
    (void)state;
    for (int t = 0; t < TARGETS; t++) {
        ais_context context = {0};
        ais_target *target;
        assert_ok(context, ais_target_open(&context, targets[t], &target));
        for (int k = 0; k < KERNELS; k++) {
            double acceptance;
            ais_kernel *kernel = make_kernel(k, target);
            double z = worst_z(target, kernel, 0, &acceptance);
            print_message("%-22s %-18s acceptance %.3f, largest deviation %.2f standard errors\n", targets[t],
                          kernels[k].name, acceptance, z);
            if (!(z < 4)) fail_msg("%s, %s: %.2f standard errors off", targets[t], kernels[k].name, z);
            assert_true(acceptance > 0.005); /* a kernel that never moves would prove nothing */
            ais_kernel_free(kernel);
        }
        ais_target_close(target);
    }
}

/* ---- broken on purpose --------------------------------------------------------------------------- */

static void without_jacobian(const ais_learned *learned, ais_proposal *proposal) {
    ais_propose_flow(learned, proposal);
    memset(proposal->log_det, 0, proposal->lanes * sizeof(double));
}

static void wrong_sign_of_v(const ais_learned *learned, ais_proposal *proposal) {
    (learned->shape.map == AIS_HENON ? ais_propose_henon : ais_propose_flow)(learned, proposal);
    for (size_t c = 0; c < proposal->lanes; c++) proposal->kinetic[c] = -proposal->kinetic[c];
}

/* The authors' slip: the inverse uses another eta than the forward pass. */
static void unequal_eta(const ais_learned *learned, ais_proposal *proposal) {
    size_t rows = (size_t)proposal->dim * proposal->lanes;
    ais_propose_henon(learned, proposal); /* for kinetic of v and the rest */
    double *z = proposal->z;
    ais_henon_lattice(&learned->henon, &proposal->henon_work, AIS_HENON_FORWARD, proposal->u, proposal->v, z);
    for (size_t i = 0; i < rows; i++) z[rows + i] = -z[rows + i];
    ais_real *eta = learned->weights + learned->henon.layer_weights - 2;
    for (int i = 0; i < 2; i++) eta[i] += 0.5F;
    ais_henon_work_set(&learned->henon, &proposal->henon_work);
    ais_henon_lattice(&learned->henon, &proposal->henon_work, AIS_HENON_INVERSE, z, z + rows, z);
    for (int i = 0; i < 2; i++) eta[i] -= 0.5F;
    ais_henon_work_set(&learned->henon, &proposal->henon_work);
    for (size_t c = 0; c < proposal->lanes; c++) {
        proposal->kinetic[c] = 0;
        for (size_t i = c; i < rows; i += proposal->lanes)
            proposal->kinetic[c] += 0.5 * (proposal->v[i] * proposal->v[i] - z[rows + i] * z[rows + i]);
    }
    ais_unwhiten(&learned->whitening, proposal->lanes, z, proposal->x);
}

static void broken_kernels_are_caught(void **state) {
    (void)state;
    if (draws_wanted() < 100000) skip(); /* too few to tell */
    const struct {
        const char *name;
        int kernel;
        void (*propose)(const ais_learned *, ais_proposal *);
    } broken[] = {{"missing Jacobian, realnvp", 2, without_jacobian}, {"missing Jacobian, spline", 4, without_jacobian},
                  {"wrong sign of v, henon", 0, wrong_sign_of_v},     {"wrong sign of v, realnvp", 2, wrong_sign_of_v},
                  {"wrong sign of v, affine", 6, wrong_sign_of_v},    {"unequal eta, henon", 0, unequal_eta}};
    for (size_t b = 0; b < sizeof broken / sizeof *broken; b++) {
        int caught = 0;
        for (int t = 0; t < TARGETS; t++) {
            ais_context context = {0};
            ais_target *target;
            assert_ok(context, ais_target_open(&context, targets[t], &target));
            ais_kernel *kernel = make_kernel(broken[b].kernel, target);
            ((ais_learned *)kernel)->propose = broken[b].propose;
            /* a broken proposal may change weights that threads share */
            int threads = broken[b].propose == unequal_eta ? 1 : 0;
            double acceptance, z = worst_z(target, kernel, threads, &acceptance);
            print_message("%-22s %-26s largest deviation %.1f standard errors\n", targets[t], broken[b].name, z);
            caught += !(z < 4);
            ais_kernel_free(kernel);
            ais_target_close(target);
        }
        if (caught < TARGETS) fail_msg("%s: caught on %d of %d targets only", broken[b].name, caught, TARGETS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_draws_stay_exact),
                                       cmocka_unit_test(broken_kernels_are_caught)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
