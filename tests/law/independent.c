/* Independent proposals (swap, T on x alone): the map T^-1 that makes them is the inverse of T, its determinant is T's,
 * and a chain is the same whatever chains share its block, also in a cycle that makes it compute T(x) again. */
#include "support.h"

#include <aisampler/kernel.h>
#include <aisampler/target.h>

#include "learned/learned.h"
#include "simd/normal.h"

enum { LANES = 64 };

static const ais_shape shapes[] = {
    {.map = AIS_REALNVP, .dim = 14, .reversal = AIS_SWAP, .layers = 8, .marginal_bins = 8, .depth = -1, .bound = 5},
    {.map = AIS_REALNVP, .dim = 5, .reversal = AIS_SWAP, .layers = 3, .pivot = 1, .depth = -1},
    {.map = AIS_REALNVP, .dim = 40, .reversal = AIS_SWAP, .layers = 2, .marginal_bins = 3, .activation = AIS_TANH},
    {.map = AIS_SPLINE, .dim = 2, .reversal = AIS_SWAP, .bins = 24, .activation = AIS_TANH},
    {.map = AIS_SPLINE, .dim = 19, .reversal = AIS_SWAP, .bins = 5, .marginal_bins = 64, .activation = AIS_TANH},
    {.map = AIS_REALNVP, .dim = 5, .reversal = AIS_SWAP, .layers = 3, .pivot = 3, .depth = -1},
    {.map = AIS_REALNVP, .dim = 5, .reversal = AIS_SWAP, .layers = 3, .neck = 9, .depth = -1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static ais_kernel *make(const ais_shape *shape, double scale) {
    ais_context context = {0};
    ais_kernel *kernel;
    assert_ok(context, ais_kernel_learned(&context, shape, 7, &kernel));
    size_t count;
    float *weights = ais_kernel_weights(kernel, &count);
    for (size_t i = 0; i < count; i++) weights[i] = (float)(scale * odd(7, i, -1, 1));
    return kernel;
}

static void proposals_are_the_inverse(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        ais_kernel *kernel = make(&shapes[s], shapes[s].depth < 0 ? 0.1 : 0.3);
        const ais_learned *learned = ais_as_learned(kernel);
        ais_arena arena = {0};
        ais_proposal proposal;
        assert_true(ais_proposal_new(learned, LANES, &arena, &proposal));
        size_t rows = (size_t)shapes[s].dim * LANES;
        double *mapped = AIS_TAKE(&arena, double, rows), *det = AIS_TAKE(&arena, double, LANES), worst = 0, off = 0;
        for (uint32_t b = 0; b < 50; b++) {
            ais_stream stream = {.seed = 3, .chain = b * LANES, .purpose = AIS_FOR_USER};
            ais_normals_lanes(&stream, (size_t)shapes[s].dim, LANES, proposal.v);
            if (b == 0)
                for (size_t c = 0; c < LANES; c++) proposal.v[c] = 3 + (double)c / 16; /* some beyond the splines */
            ais_propose_independent(learned, &proposal);
            ais_map_forward(learned, &proposal, proposal.z, mapped, det);
            for (size_t c = 0; c < LANES; c++) {
                worst = fmax(worst, proposal.round_trip[c]);
                off = fmax(off, fabs(det[c] - proposal.next_det[c]));
            }
        }
        print_message("shape %d: round trip %.2g, log determinant within %.2g\n", s, worst, off);
        assert_true(worst < 1e-6 && off < 1e-5);
        proposal.measure = false;
        ais_propose_independent(learned, &proposal);
        for (size_t c = 0; c < LANES; c++) assert_true(proposal.round_trip[c] == 0);
        proposal.measure = true; /* a coordinate that is not a number must show */
        proposal.v[5] = NAN;
        ais_propose_independent(learned, &proposal);
        assert_true(!(proposal.round_trip[5] <= 1e-6));
        assert_true(proposal.round_trip[6] <= 1e-6);
        ais_arena_free(&arena);
        ais_kernel_free(kernel);
    }
}

/* A lane's numbers do not depend on its place: the same point in all lanes gives the same bits. */
static void lanes_are_alike(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        ais_kernel *kernel = make(&shapes[s], shapes[s].depth < 0 ? 0.1 : 0.3);
        const ais_learned *learned = ais_as_learned(kernel);
        ais_arena arena = {0};
        size_t dim = (size_t)shapes[s].dim;
        ais_flow_tape *tape = ais_flow_tape_new(&learned->flow, LANES, &arena);
        double *z = AIS_TAKE(&arena, double, dim *LANES), det[LANES];
        for (uint64_t n = 0; n < 400; n++) {
            for (size_t i = 0; i < dim * LANES; i++) z[i] = odd(n, i / LANES, -2.6, 2.6);
            memset(det, 0, sizeof det);
            ais_flow_map(&learned->flow, learned->weights, tape, n % 2, z, det);
            for (size_t c = 1; c < LANES; c++) {
                if (det[c] != det[0])
                    fail_msg("shape %d: log determinant %.17g, in lane %zu %.17g", s, det[0], c, det[c]);
                for (size_t i = 0; i < dim; i++) assert_true(z[i * LANES + c] == z[i * LANES]);
            }
        }
        ais_arena_free(&arena);
        ais_kernel_free(kernel);
    }
}

/* The last points of chains first..first + chains - 1 after some steps, each with the weight of its last proposal. */
static void run(const ais_kernel *kernel, const ais_target *target, uint32_t first, int chains, double *x) {
    ais_context context = {0};
    ais_state *state;
    void *own;
    ais_info info[LANES] = {0};
    int row = target->dim + 1;
    assert_ok(context, ais_state_new(&context, target, 5, first, chains, 0, NULL, &state));
    assert_ok(context, kernel->type->init(&context, kernel, state, &own));
    for (; state->step < 100; state->step++) assert_ok(context, kernel->type->step(&context, kernel, state, own, info));
    for (int c = 0; c < chains; c++) {
        for (int i = 0; i < target->dim; i++) x[c * row + i] = state->x[i * state->lanes + c];
        x[c * row + target->dim] = info[c].log_weight;
    }
    ais_state_free(state);
}

static void blocks_change_nothing(void **state) {
    (void)state;
    enum { CHAINS = 20 };
    ais_context context = {0};
    ais_target *target;
    assert_ok(context, ais_target_open(&context, "gaussian:dim=5", &target));
    for (int k = 0; k < 4; k++) {
        bool cycled = k % 2, reflected = k / 2;
        const double degrees[3] = {90, 20, 60};
        ais_shape shape = {.map = AIS_SPLINE, .dim = 5, .reversal = AIS_SWAP, .bins = 5, .marginal_bins = 8};
        ais_kernel *parts[2] = {make(&shape, 0.2)}, *kernel = parts[0];
        if (reflected) assert_ok(context, ais_kernel_set_angles(&context, kernel, 3, degrees));
        assert_ok(context, ais_kernel_rwm(&context, &(ais_rwm_options){.scale = 0.7}, &parts[1]));
        if (cycled)
            assert_ok(context, ais_kernel_cycle(&context, parts, 2, &kernel));
        else
            ais_kernel_free(parts[1]);
        double together[CHAINS * 6], alone[6], moved = 0, weighed = 0;
        run(kernel, target, 0, CHAINS, together);
        for (uint32_t c = 0; c < CHAINS; c++) {
            run(kernel, target, c, 1, alone);
            assert_memory_equal(alone, together + c * 6, sizeof alone);
            moved += fabs(alone[0] - together[0]);
            weighed += fabs(alone[5] - together[5]);
        }
        assert_true((weighed > 0) == !reflected); /* reflections depend on the chain */
        assert_true(moved > 1);                   /* the chains are not all one */
        ais_kernel_free(kernel);
    }
    ais_target_close(target);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(proposals_are_the_inverse), cmocka_unit_test(lanes_are_alike),
                                       cmocka_unit_test(blocks_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
