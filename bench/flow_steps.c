/* Where a step of a trained flow spends its time: nanoseconds of this thread's processor time per
 * chain-step, by part, on one core. Best of several short repetitions, because the
 * machine is shared. The kernel is one that `aisampler train TARGET -o FILE` wrote.
 *     flow_steps target=heart kernel=heart.ais [chains=64] [repeats=200] [steps=20]
 * or, to see the cost against the dimension, kernels that were never trained:
 *     flow_steps scaling=1 [hidden=64] */
#include <stdio.h>

#include <aisampler/aisampler.h>

#include "arguments.h"
#include "learned/learned.h"
#include "simd/normal.h"

typedef struct bench {
    const ais_kernel *kernel;
    const ais_learned *learned;
    const ais_target *target;
    ais_state *state;
    void *own;
    ais_info *info;
    ais_arena arena;
    ais_proposal proposal;
    double *logp;
    ais_context context;
    double accepted;
    long counted;
} bench;

static double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- parts ------------------------------------------------------------------------------------- */

static void whole_step(bench *b) {
    if (b->kernel->type->step(&b->context, b->kernel, b->state, b->own, b->info) != AIS_OK) {
        fprintf(stderr, "flow_steps: %s\n", b->context.message);
        exit(1);
    }
    b->state->step++;
    for (int c = 0; c < b->state->chains; c++) b->accepted += b->info[c].accept_stat;
    b->counted += b->state->chains;
}

static void normals(bench *b) {
    ais_stream stream = ais_state_stream(b->state, 0, AIS_FOR_MOMENTUM);
    ais_normals_lanes(&stream, (size_t)b->proposal.dim, b->proposal.lanes, b->proposal.v);
    b->state->step++;
}

static void map(bench *b, bool inverse) {
    const ais_proposal *p = &b->proposal;
    memcpy(p->z, inverse ? p->v : p->u, (size_t)p->dim * p->lanes * sizeof(double));
    ais_flow_map(&b->learned->flow, b->learned->weights, p->flow_tape, inverse, p->z, p->log_det);
}

static void inverse_map(bench *b) { map(b, true); }
static void forward_map(bench *b) { map(b, false); }
static void unwhiten(bench *b) {
    ais_unwhiten(&b->learned->whitening, b->proposal.lanes, b->proposal.u, b->proposal.x);
}
static void density(bench *b) { b->target->batch(b->proposal.lanes, b->proposal.x, b->logp, b->target->data); }
static void proposal(bench *b) {
    b->proposal.measure = false;
    b->learned->propose(b->learned, &b->proposal);
}

static const struct {
    const char *name;
    void (*run)(bench *);
} part[] = {{"normals", normals},   {"T^-1", inverse_map},  {"T", forward_map},
            {"unwhiten", unwhiten}, {"proposal", proposal}, {"density", density}};
enum { PARTS = sizeof part / sizeof *part };

static double nanoseconds(bench *b, void (*run)(bench *), int repeats, int steps) {
    double best = 1e300;
    for (int r = 0; r < repeats; r++) {
        double start = processor_seconds();
        for (int s = 0; s < steps; s++) run(b);
        double taken = 1e9 * (processor_seconds() - start) / ((double)b->state->chains * steps);
        best = taken < best ? taken : best;
    }
    return best;
}

/* ---- programs ---------------------------------------------------------------------------------- */

static bool begin(bench *b, int chains) {
    b->learned = ais_as_learned(b->kernel);
    if (!b->learned || b->learned->shape.map == AIS_HENON || !b->target->batch) {
        fprintf(stderr, "flow_steps: a spline or realnvp kernel and a density with a batch form are needed\n");
        return false;
    }
    int dim = b->learned->shape.dim;
    size_t lanes = ais_padded((size_t)chains);
    double *start = AIS_TAKE(&b->arena, double, (size_t)dim *(size_t)chains);
    if (!start || !ais_proposal_new(b->learned, lanes, &b->arena, &b->proposal)) return false;
    ais_stream stream = {.seed = 1, .purpose = AIS_FOR_START};
    ais_normals_lanes(&stream, (size_t)dim, lanes, b->proposal.v);
    proposal(b); /* chains start where it lands */
    for (int c = 0; c < chains; c++)
        for (int i = 0; i < dim; i++) start[c * dim + i] = b->proposal.x[(size_t)i * lanes + (size_t)c];
    ais_status status = ais_state_new(&b->context, b->target, 1, 0, chains, 0, start, &b->state);
    if (status == AIS_OK) status = b->kernel->type->init(&b->context, b->kernel, b->state, &b->own);
    if (status != AIS_OK) {
        fprintf(stderr, "flow_steps: %s\n", b->context.message);
        return false;
    }
    b->info = AIS_TAKE(&b->arena, ais_info, chains);
    b->logp = AIS_TAKE(&b->arena, double, b->state->lanes);
    if (!b->info || !b->logp) return false;
    for (int s = 0; s < 200; s++) whole_step(b);
    b->accepted = 0;
    b->counted = 0;
    normals(b);
    memcpy(b->proposal.x, b->state->x, (size_t)b->proposal.dim * b->proposal.lanes * sizeof(double));
    ais_whiten(&b->learned->whitening, b->proposal.lanes, b->state->x, b->proposal.u);
    proposal(b);
    return true;
}

static void end(bench *b) {
    ais_state_free(b->state);
    ais_arena_free(&b->arena);
}

static void parts_of_a_step(bench *b, const char *name) {
    int repeats = (int)number("repeats", 200), steps = (int)number("steps", 20);
    double whole = nanoseconds(b, whole_step, repeats, steps);
    printf("%s, d = %d, %d chains, acceptance %.3f: ns per chain-step\n", name, b->learned->shape.dim, b->state->chains,
           b->accepted / (double)b->counted);
    printf("    %-10s %9.1f\n", "step", whole);
    for (int i = 0; i < PARTS; i++)
        printf("    %-10s %9.1f\n", part[i].name, nanoseconds(b, part[i].run, repeats, steps));
}

/* Untrained splines on a normal target, d = 2..256: the proposal should be linear in d x hidden. */
static int scaling(void) {
    int hidden = (int)number("hidden", 64);
    printf("%5s %12s %22s\n", "d", "proposal, ns", "per d and hidden unit");
    for (int dim = 2; dim <= 256; dim *= 2) {
        bench b = {0};
        char name[64];
        ais_target *target;
        ais_kernel *kernel;
        ais_shape shape = {.map = AIS_SPLINE,
                           .reversal = AIS_SWAP,
                           .dim = dim,
                           .layers = 2,
                           .hidden = hidden,
                           .bins = 8,
                           .activation = AIS_TANH};
        snprintf(name, sizeof name, "gaussian:dim=%d", dim);
        if (ais_target_open(&b.context, name, &target) != AIS_OK) return 1;
        if (ais_kernel_learned(&b.context, &shape, 1, &kernel) != AIS_OK) return 1;
        b.target = target;
        b.kernel = kernel;
        if (!begin(&b, 64)) return 1;
        double taken = nanoseconds(&b, proposal, 20, dim < 64 ? 10 : 2);
        printf("%5d %12.1f %22.4f\n", dim, taken, taken / dim / hidden);
        end(&b);
        ais_kernel_free(kernel);
        ais_target_close(target);
    }
    return 0;
}

int main(int count, char **arguments) {
    words = count;
    word = arguments;
    if (number("scaling", 0) > 0) return scaling();
    bench b = {0};
    ais_target *target;
    ais_kernel *kernel;
    const char *name = text("target", "heart");
    if (ais_target_open(&b.context, name, &target) != AIS_OK ||
        ais_kernel_load(&b.context, text("kernel", "kernel.ais"), target, &kernel) != AIS_OK) {
        fprintf(stderr, "flow_steps: %s\n", b.context.message);
        return 1;
    }
    b.target = target;
    b.kernel = kernel;
    bool begun = begin(&b, (int)number("chains", 64));
    if (begun) parts_of_a_step(&b, name);
    if (begun) end(&b);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return begun ? 0 : 1;
}
