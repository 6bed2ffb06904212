/* The table of hot paths: each opens what it works on and is one function that does a known amount of work. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/target.h>

#include "base/block.h"
#include "bench/measure.h"
#include "learned/learned.h"
#include "simd/normal.h"
#include "target/logistic.h"

enum { BLOCK = AIS_BLOCK, MANY = 157, STEPS = 8 }; /* 157 blocks of 64 chains: 10,048 */

typedef struct work {
    const struct path *path;
    ais_target *target;
    ais_kernel *kernel;
    ais_arena arena;
    ais_proposal proposal;
    ais_flow_tape *tape; /* of a flow's gradient */
    ais_real *gradient;
    ais_state *state[MANY];
    void *own[MANY];
    int states, next;
    double *number; /* room for 64 points of up to 64 coordinates, and as many densities */
    ais_info info[BLOCK];
    ais_context context;
} work;

typedef struct path {
    const char *name, *unit, *target;
    ais_status (*classical)(ais_context *, ais_kernel **);
    void (*run)(void *);
    double units;    /* of a call; 0: chains */
    double bytes;    /* of a unit, where the copy's speed is the limit */
    ais_shape shape; /* dim 0: no learned kernel */
    int chains;      /* of steps, a whole number of blocks or one; 0: none */
    bool gradient;   /* of the density: twice its multiply-adds; of a flow's likelihood: three times its own */
} path;

static const ais_learned *learned(const work *this) { return (const ais_learned *)this->kernel; }

/* ---- what is run --------------------------------------------------------------------------------- */

static void run_words(void *data) {
    const work *this = data;
    ais_stream stream = {.seed = 1, .purpose = AIS_FOR_TEST};
    ais_uniforms_lanes(&stream, 0, BLOCK, this->number);
}

static void run_normals(void *data) {
    const work *this = data;
    ais_stream stream = {.seed = 1, .purpose = AIS_FOR_MOMENTUM};
    ais_normals_lanes(&stream, 2, BLOCK, this->number);
}

/* The map on the lattice alone, from where it left off: never a fixed point, and bounded by wrapping. */
static void run_lattice(void *data) {
    work *this = data;
    ais_learned_lattice_involution(learned(this), &this->proposal, this->proposal.z);
}

static void run_propose(void *data) {
    work *this = data;
    learned(this)->propose(learned(this), &this->proposal);
}

/* What a training step does with 64 points: -log q and its gradient by the weights. */
static void run_likelihood(void *data) {
    const work *this = data;
    const ais_learned *kernel = learned(this);
    size_t rows = (size_t)kernel->shape.dim * BLOCK;
    double *z = this->number + rows, *log_det = z + rows, *by_det = log_det + BLOCK;
    memcpy(z, this->number, rows * sizeof *z);
    for (int c = 0; c < BLOCK; c++) {
        log_det[c] = 0;
        by_det[c] = -1;
    }
    memset(this->gradient, 0, kernel->weight_count * sizeof *this->gradient);
    ais_flow_map(&kernel->flow, kernel->weights, this->tape, false, z, log_det);
    ais_flow_backward(&kernel->flow, kernel->weights, this->tape, false, z, by_det, this->gradient);
}

static void run_density(void *data) {
    const work *this = data;
    this->target->batch(BLOCK, this->number, this->number + (size_t)64 * BLOCK, this->target->data);
}

static void run_gradient(void *data) {
    const work *this = data;
    this->number[(size_t)64 * BLOCK] =
        this->target->grad(this->number, this->number + (size_t)65 * BLOCK, this->target->data);
}

/* Several steps of one block in a row, as the sampler does; the next call takes the next block. */
static void run_steps(void *data) {
    work *this = data;
    int b = this->next++ % this->states;
    for (int s = 0; s < STEPS; s++, this->state[b]->step++)
        this->kernel->type->step(&this->context, this->kernel, this->state[b], this->own[b], this->info);
}

/* ---- the table ----------------------------------------------------------------------------------- */

static ais_status new_rwm(ais_context *context, ais_kernel **kernel) { return ais_kernel_rwm(context, NULL, kernel); }
static ais_status new_nuts(ais_context *context, ais_kernel **kernel) { return ais_kernel_nuts(context, NULL, kernel); }

#define HENON(d, act)                                                                                                  \
    { .map = AIS_HENON, .dim = (d), .activation = (act) }
#define FLOW(m, d)                                                                                                     \
    { .map = (m), .reversal = AIS_SWAP, .dim = (d), .activation = AIS_TANH }
/* The large map of the plane (trainer/map_plans.c). */
#define LARGE                                                                                                          \
    {                                                                                                                  \
        .map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 2, .layers = 2, .hidden = 64, .depth = 2, .bins = 48,          \
        .activation = AIS_TANH                                                                                         \
    }

static const path paths[] = {
    {"philox", "32-bit words", NULL, .run = run_words, .units = 2 * BLOCK, .bytes = 4},
    {"normals", "numbers", NULL, .run = run_normals, .units = 2 * BLOCK, .bytes = 8},
    {"henon map 2d relu", "proposals", NULL, .shape = HENON(2, AIS_RELU), .run = run_lattice, .units = BLOCK},
    {"henon map 2d tanh", "proposals", NULL, .shape = HENON(2, AIS_TANH), .run = run_lattice, .units = BLOCK},
    {"henon map 15d relu", "proposals", NULL, .shape = HENON(15, AIS_RELU), .run = run_lattice, .units = BLOCK},
    {"henon map 25d relu", "proposals", NULL, .shape = HENON(25, AIS_RELU), .run = run_lattice, .units = BLOCK},
    {"henon proposal 2d relu", "proposals", NULL, .shape = HENON(2, AIS_RELU), .run = run_propose, .units = BLOCK},
    {"spline proposal 2d", "proposals", NULL, .shape = FLOW(AIS_SPLINE, 2), .run = run_propose, .units = BLOCK},
    {"spline likelihood 2d", "gradients", NULL, .shape = LARGE, .run = run_likelihood, .units = BLOCK,
     .gradient = true},
    {"realnvp proposal 15d", "proposals", NULL, .shape = FLOW(AIS_REALNVP, 15), .run = run_propose, .units = BLOCK},
    {"realnvp proposal 25d", "proposals", NULL, .shape = FLOW(AIS_REALNVP, 25), .run = run_propose, .units = BLOCK},
    {"density mog6", "densities", "mog6", .run = run_density, .units = BLOCK, .bytes = 24},
    {"density heart", "densities", "heart", .run = run_density, .units = BLOCK},
    {"density german", "densities", "german", .run = run_density, .units = BLOCK},
    {"density australian", "densities", "australian", .run = run_density, .units = BLOCK},
    {"gradient heart", "gradients", "heart", .run = run_gradient, .units = 1, .gradient = true},
    {"gradient german", "gradients", "german", .run = run_gradient, .units = 1, .gradient = true},
    {"gradient australian", "gradients", "australian", .run = run_gradient, .units = 1, .gradient = true},
    {"step henon mog6", "steps", "mog6", .shape = HENON(2, AIS_RELU), .run = run_steps, .chains = MANY * BLOCK},
    {"step henon mog6 tanh", "steps", "mog6", .shape = HENON(2, AIS_TANH), .run = run_steps, .chains = MANY * BLOCK},
    {"step henon mog6, one chain", "steps", "mog6", .shape = HENON(2, AIS_RELU), .run = run_steps, .chains = 1},
    {"step spline mog6", "steps", "mog6", .shape = FLOW(AIS_SPLINE, 2), .run = run_steps, .chains = MANY * BLOCK},
    {"step rwm mog6", "steps", "mog6", .classical = new_rwm, .run = run_steps, .chains = MANY * BLOCK},
    {"step nuts heart, one chain", "steps", "heart", .classical = new_nuts, .run = run_steps, .chains = 1},
};
enum { PATHS = sizeof paths / sizeof *paths };
_Static_assert((int)PATHS <= (int)AIS_BENCH_MOST, "entries do not fit");

/* ---- how much work it is ------------------------------------------------------------------------- */

/* Multiply-adds of a network, biases and activations not counted. */
static double net_work(const ais_perceptron *net) {
    double hidden = net->hidden;
    if (net->depth == 0) return (double)net->inputs * net->outputs;
    return hidden * (net->inputs + net->outputs) + (net->depth - 1) * hidden * hidden;
}

/* Float operations of a unit that are the method's own: the networks' as often as they are evaluated, the rows of a
 * regression. 0: there are none that matter. */
static double own_work(const work *this) {
    const path *row = this->path;
    if (row->shape.dim) {
        const ais_learned *kernel = learned(this);
        /* With flip the middle layer is evaluated once for both directions. */
        if (kernel->shape.map == AIS_HENON)
            return 2 * net_work(&kernel->henon.net) *
                   (2 * kernel->henon.layers - (kernel->shape.reversal == AIS_FLIP ? 1 : 0));
        double sum = 0; /* an independent proposal maps back and forth; a gradient is worth two more evaluations */
        for (int l = 0; l < kernel->flow.layers; l++)
            if (!kernel->flow.layer[l].marginal && !kernel->flow.layer[l].neck)
                sum += 2 * net_work(&kernel->flow.layer[l].net);
        return (row->gradient ? 3 : 2) * sum;
    }
    if (!row->target || row->chains || row->bytes > 0) return 0;
    const ais_regression *regression = &((const ais_logistic *)this->target->data)->lanes;
    return (row->gradient ? 4.0 : 2.0) * (double)regression->rows * regression->dim;
}

static double units_of(const path *row) {
    return row->chains ? (double)STEPS * (row->chains < BLOCK ? row->chains : BLOCK) : row->units;
}

/* ---- one path ------------------------------------------------------------------------------------ */

static ais_status open_states(work *this) {
    int chains = this->path->chains, each = this->path->classical == new_nuts ? 1 : BLOCK;
    for (int first = 0; first < chains; first += each) {
        int count = chains - first < each ? chains - first : each;
        ais_status status =
            ais_state_new(&this->context, this->target, 1, (uint32_t)first, count, 0, NULL, &this->state[this->states]);
        if (status != AIS_OK) return status;
        int b = this->states++;
        this->state[b]->single = chains == 1;
        status = this->kernel->type->init(&this->context, this->kernel, this->state[b], &this->own[b]);
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

static ais_status open_likelihood(work *this) {
    const ais_learned *kernel = learned(this);
    this->tape = ais_flow_tape_new(&kernel->flow, BLOCK, &this->arena);
    this->gradient = AIS_TAKE(&this->arena, ais_real, kernel->weight_count);
    if (this->tape && this->gradient) return AIS_OK;
    return ais_fail_memory(&this->context, "a benchmark's gradient", kernel->weight_count * sizeof(ais_real));
}

static ais_status open_work(work *this) {
    const path *row = this->path;
    ais_context *context = &this->context;
    ais_status status = AIS_OK;
    this->number = AIS_TAKE(&this->arena, double, (size_t)66 * BLOCK);
    if (!this->number) return ais_fail_memory(context, "a benchmark", sizeof(double) * 66 * BLOCK);
    ais_stream stream = {.seed = 1};
    ais_normals_lanes(&stream, 64, BLOCK, this->number);
    if (row->target) status = ais_target_open(context, row->target, &this->target);
    if (status == AIS_OK && row->classical) status = row->classical(context, &this->kernel);
    if (status == AIS_OK && row->shape.dim) {
        status = ais_kernel_learned(context, &row->shape, 1, &this->kernel);
        if (status == AIS_OK && !ais_proposal_new(learned(this), BLOCK, &this->arena, &this->proposal))
            status = ais_fail_memory(context, "a benchmark's proposal", sizeof(double) * BLOCK);
        for (size_t i = 0; status == AIS_OK && i < (size_t)row->shape.dim * BLOCK; i++) {
            this->proposal.v[i] = this->number[i];
            this->proposal.u[i] = this->proposal.z[i] =
                floor(this->number[i] * 0x1p31) * 0x1p-32; /* on henon's lattice */
        }
    }
    if (status == AIS_OK && row->chains) status = open_states(this);
    if (status == AIS_OK && row->run == run_likelihood) status = open_likelihood(this);
    return status;
}

static void close_work(work *this) {
    for (int b = 0; b < this->states; b++) ais_state_free(this->state[b]);
    ais_kernel_free(this->kernel);
    ais_target_close(this->target);
    ais_arena_free(&this->arena);
}

/* The rate with the instruction set in use; work becomes the float operations of a unit. */
static ais_status measure(ais_context *context, const path *row, double seconds, double *rate, double *operations) {
    work *this = ais_allocate(sizeof *this);
    if (!this) return ais_fail_memory(context, "a benchmark", sizeof *this);
    this->path = row;
    ais_status status = open_work(this);
    if (status == AIS_OK) {
        *rate = units_of(row) / ais_best_time(row->run, this, seconds);
        *operations = own_work(this);
    } else {
        *context = this->context;
    }
    close_work(this);
    free(this);
    return status;
}

static void judge(const path *row, double operations, const ais_bench_limits *limits, ais_bench_entry *entry) {
    if (operations > 0) {
        entry->peak = "fma";
        entry->peak_ratio = entry->rate * operations / limits->fma_per_second;
    } else if (row->bytes > 0) {
        entry->peak = "copy";
        entry->peak_ratio = entry->rate * row->bytes / limits->bytes_per_second;
    }
}

ais_status ais_bench_hot_paths(ais_context *context, const char *only, double seconds, ais_bench_limits *limits,
                               ais_bench_entry *entry, int *count) {
    double each = seconds > 0 ? seconds : 0.2, operations[PATHS] = {0}, base = 0, ignored;
    int row[PATHS] = {0};
    ais_isa best = ais_isa_now();
    *limits = (ais_bench_limits){0};
    *count = 0;
    ais_status status = ais_bench_measure_limits(context, each, limits);
    for (int p = 0; p < PATHS && status == AIS_OK; p++) {
        if (only && !strstr(paths[p].name, only)) continue;
        ais_bench_entry *to = &entry[*count];
        *to = (ais_bench_entry){.name = paths[p].name, .unit = paths[p].unit, .peak_ratio = NAN, .scalar_ratio = 1};
        status = measure(context, &paths[p], each, &to->rate, &operations[*count]);
        if (status == AIS_OK && best != AIS_BASE) {
            ais_isa_take(AIS_BASE);
            status = measure(context, &paths[p], each, &base, &ignored);
            ais_isa_take(best);
            to->scalar_ratio = to->rate / base;
        }
        row[(*count)++] = p;
    }
    if (status == AIS_OK) status = ais_bench_measure_limits(context, each, limits);
    for (int k = 0; k < *count; k++) judge(&paths[row[k]], operations[k], limits, &entry[k]);
    return status;
}
