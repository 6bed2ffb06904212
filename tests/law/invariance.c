/* Exact draws stay exact: many chains start from exact draws of a target, make 50 steps of a learned
 * kernel with random weights, and all moments and mode weights are still right within 4 standard
 * errors. The same test catches kernels that are broken on purpose. */
#include "support.h"

#include <aisampler/aisampler.h>

#include "base/fixed.h"
#include "kernel/lattice_lanes.h"
#include "kernel/learned.h"

enum { STEPS = 50, BATCH = 50000 };

/* AIS_INVARIANCE_DRAWS exact draws per target and kernel; 10^6 is the full form. */
static int draws_wanted(void) {
    const char *text = getenv("AIS_INVARIANCE_DRAWS");
    return text ? atoi(text) : 100000;
}

static const char *const targets[] = {"mog2", "mog6", "ring", "ring5", "triangle", "gaussian:dim=2,cond=9", "banana"};
enum { TARGETS = sizeof targets / sizeof *targets };

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

static void unequal_eta(const ais_learned *learned, ais_proposal *proposal);

typedef struct sums {
    double n, x[2], square[2], acceptance;
    double *mode;
} sums;

static void add_batch(sums *sum, const ais_target *target, const ais_kernel *kernel, int chains, uint64_t seed) {
    /* a broken proposal may change weights that threads share */
    bool broken = ((const ais_learned *)kernel)->propose == unequal_eta;
    ais_context context = {0};
    ais_sink *memory;
    ais_sample_result result;
    const ais_reference *truth = target->reference;
    double *start = malloc((size_t)chains * 2 * sizeof *start);
    for (int c = 0; c < chains; c++) truth->draw(seed, (uint64_t)c, start + 2 * (size_t)c, target->data);
    ais_sample_options options = {
        .seed = seed, .chains = chains, .draws = 1, .thin = STEPS, .start = start, .threads = broken ? 1 : 0};
    assert_ok(context, ais_sink_memory(&context, &memory));
    assert_ok(context, ais_sample(&context, target, kernel, &options, &memory, 1, &result));
    ais_draws *draws = ais_sink_memory_take(memory);
    for (int c = 0; c < chains; c++) {
        double x[2] = {draws->value[c], draws->value[chains + c]};
        for (int i = 0; i < 2; i++) sum->x[i] += x[i], sum->square[i] += x[i] * x[i];
        if (truth->modes) sum->mode[truth->mode(x, target->data)]++;
    }
    sum->n += chains;
    sum->acceptance += result.acceptance * chains;
    ais_draws_free(draws);
    ais_sink_free(memory);
    free(start);
}

/* The largest deviation of any moment or mode weight, in standard errors. */
static double worst_z(const ais_target *target, const ais_kernel *kernel, double *acceptance) {
    const ais_reference *truth = target->reference;
    double mode[32] = {0}, worst = 0;
    sums sum = {.mode = mode};
    int wanted = draws_wanted();
    for (int b = 0; b * BATCH < wanted; b++) {
        int left = wanted - b * BATCH;
        add_batch(&sum, target, kernel, left < BATCH ? left : BATCH, (uint64_t)b + 2385);
    }
    for (int i = 0; i < 2; i++) {
        double z = (sum.x[i] / sum.n - truth->mean[i]) / sqrt(truth->variance[i] / sum.n);
        double z_square = (sum.square[i] / sum.n - truth->square_mean[i]) / sqrt(truth->square_variance[i] / sum.n);
        worst = fmax(worst, fmax(fabs(z), fabs(z_square)));
    }
    for (int m = 0; m < truth->modes; m++) {
        double w = truth->mode_weight[m];
        worst = fmax(worst, fabs(mode[m] / sum.n - w) / sqrt(w * (1 - w) / sum.n));
    }
    *acceptance = sum.acceptance / sum.n;
    return worst;
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
            double z = worst_z(target, kernel, &acceptance);
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
    memcpy(proposal->image, proposal->lattice, rows * sizeof(int64_t));
    AIS_CHOOSE(ais_lattice_from_double)(rows, proposal->v, proposal->image + rows);
    ais_henon_lattice(&learned->henon, learned->weights, &proposal->henon_work, AIS_HENON_FORWARD, proposal->chains,
                      proposal->image);
    for (size_t i = 0; i < rows; i++) proposal->image[rows + i] = -proposal->image[rows + i];
    ais_real *eta = learned->weights + learned->henon.layer_weights - 2;
    for (int i = 0; i < 2; i++) eta[i] += 0.5F;
    ais_henon_lattice(&learned->henon, learned->weights, &proposal->henon_work, AIS_HENON_INVERSE, proposal->chains,
                      proposal->image);
    for (int i = 0; i < 2; i++) eta[i] -= 0.5F;
    AIS_CHOOSE(ais_lattice_to_double)(2 * rows, proposal->image, proposal->z);
    for (size_t c = 0; c < proposal->lanes; c++) {
        proposal->kinetic[c] = 0;
        for (size_t i = c; i < rows; i += proposal->lanes)
            proposal->kinetic[c] +=
                0.5 * (proposal->v[i] * proposal->v[i] - proposal->z[rows + i] * proposal->z[rows + i]);
    }
    ais_unwhiten(&learned->whitening, proposal->lanes, proposal->z, proposal->x);
}

static void broken_kernels_are_caught(void **state) {
    (void)state;
    const struct {
        const char *name;
        int kernel;
        void (*propose)(const ais_learned *, ais_proposal *);
    } broken[] = {{"missing Jacobian, realnvp", 2, without_jacobian},
                  {"missing Jacobian, spline", 4, without_jacobian},
                  {"wrong sign of v, henon", 0, wrong_sign_of_v},
                  {"wrong sign of v, realnvp", 2, wrong_sign_of_v},
                  {"unequal eta, henon", 0, unequal_eta}};
    for (size_t b = 0; b < sizeof broken / sizeof *broken; b++) {
        int caught = 0;
        for (int t = 0; t < TARGETS; t++) {
            ais_context context = {0};
            ais_target *target;
            assert_ok(context, ais_target_open(&context, targets[t], &target));
            ais_kernel *kernel = make_kernel(broken[b].kernel, target);
            ((ais_learned *)kernel)->propose = broken[b].propose;
            double acceptance, z = worst_z(target, kernel, &acceptance);
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
