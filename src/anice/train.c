/* The loop of A-NICE-MC: every epoch a bootstrap, every iteration five steps of the critic and one of the kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/diagnostics.h>

#include "anice/bootstrap.h"
#include "anice/objective.h"
#include "anice/reservoir.h"
#include "base/clock.h"
#include "nn/adam.h"
#include "simd/normal.h"
#include "trainer/short_run.h"

enum { BATCH = 32, CHAINS = 32, CRITIC_DEPTH = 3, CRITIC_STEPS = 5, KEPT_POINTS = 2048, SHOW_EVERY = 50 };
enum { OWN_CHAINS = 1 << 24 }; /* random numbers of the batches lie apart from those of chains */

typedef struct lesson {
    const ais_target *target;
    ais_anice_options options; /* no field 0 that means a default */
    ais_nice_kernel *kernel;
    ais_anice_objective objective;
    ais_real *critic, *critic_gradient, *gradient;
    ais_real *best; /* the kernel's weights with the best worst ESS so far */
    ais_adam critic_adam, kernel_adam;
    ais_reservoir reservoir;
    ais_pool *pool;
    ais_training *training;
    double *normals, *draws; /* of one step of a batch; dim x CHAINS x draws of a bootstrap */
    uint64_t step;           /* of either network */
    long iteration;
    double loss, critic_loss, acceptance, worst_ess, best_ess, best_acceptance, began;
    ais_arena arena;
} lesson;

/* ---- batches ----------------------------------------------------------------------------------- */

static ais_stream stream_of(const lesson *this, uint32_t part, uint32_t purpose) {
    return (ais_stream){.seed = this->options.seed, .step = this->step, .chain = OWN_CHAINS + part, .purpose = purpose};
}

static void fill_normals(const lesson *this, uint32_t part, double scale, size_t count, ais_real *to) {
    ais_stream stream = stream_of(this, part, AIS_FOR_MOMENTUM);
    ais_normals(&stream, count, this->normals);
    for (size_t i = 0; i < count; i++) to[i] = (ais_real)(scale * this->normals[i]);
}

/* Draws into lanes first .. first + count - 1 of rows of `lanes`, dim rows from `to` on. */
static void fill_draws(const lesson *this, uint32_t part, size_t count, size_t lanes, ais_real *to) {
    ais_stream stream = stream_of(this, part, AIS_FOR_BATCH);
    for (size_t c = 0; c < count; c++) {
        const double *x = ais_reservoir_pick(&this->reservoir, &stream, c);
        for (size_t i = 0; i < this->reservoir.dim; i++) to[i * lanes + c] = (ais_real)x[i];
    }
}

/* z, x and every v; the numbers of steps. */
static void fill_chains(lesson *this, int *burn, int *pair) {
    ais_anice_objective *objective = &this->objective;
    size_t dim = (size_t)objective->nice.dim, velocities = (size_t)objective->nice.velocities;
    double scale = this->target->start_scale > 0 ? this->target->start_scale : 1;
    ais_stream stream = stream_of(this, 0, AIS_FOR_DIRECTION);
    *burn = 1 + (int)ais_random_below(&stream, 0, (uint64_t)this->options.burn_in_steps);
    *pair = 1 + (int)ais_random_below(&stream, 1, (uint64_t)this->options.pair_steps);
    fill_normals(this, 0, scale, dim * BATCH, objective->from_noise.x);
    for (int s = 0; s < *burn; s++)
        fill_normals(this, (uint32_t)(1 + s), 1, velocities * BATCH,
                     objective->from_noise.v + (size_t)s * velocities * BATCH);
    for (int s = 0; s < *pair; s++)
        fill_normals(this, (uint32_t)(1001 + s), 1, velocities * 2 * BATCH,
                     objective->pairs.v + (size_t)s * velocities * 2 * BATCH);
    fill_draws(this, 0, BATCH, 2 * BATCH, objective->pairs.x);
    ais_anice_chains(objective, this->kernel->weights, *burn, *pair);
}

/* ---- steps ------------------------------------------------------------------------------------- */

static void step_critic(lesson *this) {
    ais_anice_objective *objective = &this->objective;
    const ais_critic_tape *tape = &objective->tape;
    size_t dim = (size_t)objective->nice.dim;
    int burn, pair;
    this->step++;
    fill_chains(this, &burn, &pair);
    for (uint32_t half = 0; half < 2; half++) {
        ais_real *rows = tape->in + half * dim * tape->lanes;
        fill_draws(this, 1 + half, tape->real, tape->lanes, rows + tape->chain);
        fill_draws(this, 3 + half, tape->chain, tape->lanes, rows + tape->chain + tape->real);
    }
    ais_stream stream = stream_of(this, 0, AIS_FOR_RESAMPLE);
    this->critic_loss =
        ais_anice_critic_step(objective, this->critic, pair, ais_random_uniform(&stream, 0), this->critic_gradient);
    ais_adam_step(&this->critic_adam, this->critic_gradient, this->critic);
}

static void step_kernel(lesson *this) {
    int burn, pair;
    this->step++;
    fill_chains(this, &burn, &pair);
    this->loss =
        ais_anice_kernel_step(&this->objective, this->kernel->weights, this->critic, burn, pair, this->gradient);
    ais_adam_step(&this->kernel_adam, this->gradient, this->kernel->weights);
}

/* ---- bootstrap --------------------------------------------------------------------------------- */

static void show(const lesson *this, const char *stage) {
    if (!this->options.progress) return;
    double seconds = ais_now() - this->began, share = (double)this->iteration / (double)this->options.iterations;
    double spent = seconds - this->training->start_seconds;
    ais_train_progress progress = {.stage = stage,
                                   .share = share,
                                   .loss = this->loss,
                                   .discriminator_loss = this->critic_loss,
                                   .acceptance = this->acceptance,
                                   .worst_ess = this->worst_ess,
                                   .best_ess = this->best_ess,
                                   .seconds = seconds,
                                   .seconds_left = share > 0 ? spent * (1 - share) / share : NAN};
    this->options.progress(&progress, this->options.progress_data);
}

static ais_status record(ais_context *context, lesson *this) {
    ais_training *training = this->training;
    ais_train_point *larger = realloc(training->point, (size_t)(training->points + 1) * sizeof *larger);
    if (!larger) return ais_fail_memory(context, "a training curve", sizeof *larger);
    training->point = larger;
    training->point[training->points++] = (ais_train_point){.stage = "anice",
                                                            .seconds = ais_now() - this->began,
                                                            .loss = this->loss,
                                                            .discriminator_loss = this->critic_loss,
                                                            .acceptance = this->acceptance,
                                                            .worst_ess = this->worst_ess};
    return AIS_OK;
}

/* Of the bootstrap's draws, which are used up: the smallest ESS over x_i, and over x_i^2 unless the mean is all that
 * counts, as a share of the draws. */
static double judge(const lesson *this) {
    int dim = this->target->dim, draws = this->options.draws;
    if (!this->options.mean_only) return ais_worst_share(dim, CHAINS, draws, this->draws);
    double least = INFINITY, count = (double)CHAINS * draws;
    for (int i = 0; i < dim; i++) {
        double share = ais_ess_mean(this->draws + (size_t)i * CHAINS * (size_t)draws, CHAINS, draws) / count;
        if (!(share >= least)) least = isfinite(share) ? share : 0; /* a chain that never moves has none */
    }
    return least;
}

/* New draws, of HMC or of the kernel, which they judge. */
static ais_status bootstrap(ais_context *context, lesson *this) {
    bool own = this->iteration > 0;
    int draws = this->options.draws;
    size_t count = (size_t)CHAINS * (size_t)draws;
    ais_stream stream = stream_of(this, 1, AIS_FOR_RESAMPLE);
    ais_bootstrap run = {.chains = CHAINS,
                         .burn_in = draws / 5,
                         .draws = draws,
                         .seed = this->options.seed + 0x9E3779B97F4A7C15 * (uint64_t)(this->iteration + 1),
                         .x = this->draws};
    ais_status status = own ? ais_bootstrap_own(context, this->target, &this->kernel->kernel, &run)
                            : ais_bootstrap_first(context, this->target, this->pool, &run);
    if (status != AIS_OK) return status;
    if (own) ais_reservoir_discard(&this->reservoir, this->options.discard, &stream);
    status = ais_reservoir_insert(context, &this->reservoir, count, this->draws);
    if (status != AIS_OK || !own) return status;
    this->acceptance = run.acceptance;
    this->worst_ess = judge(this);
    if (this->worst_ess > this->best_ess) {
        this->best_ess = this->worst_ess;
        this->best_acceptance = this->acceptance;
        memcpy(this->best, this->kernel->weights, this->objective.nice.weights * sizeof *this->best);
    }
    return record(context, this);
}

static ais_status train(ais_context *context, lesson *this) {
    ais_status status = bootstrap(context, this);
    this->training->start_seconds = ais_now() - this->began;
    while (status == AIS_OK && this->iteration < this->options.iterations) {
        if (this->options.stop && *this->options.stop)
            return ais_fail(context, AIS_STOPPED, "training was stopped after %ld of %ld iterations", this->iteration,
                            this->options.iterations);
        for (int k = 0; k < CRITIC_STEPS; k++) step_critic(this);
        step_kernel(this);
        this->iteration++;
        if (!isfinite(this->loss) || !isfinite(this->critic_loss)) {
            snprintf(this->training->warning, sizeof this->training->warning,
                     "training diverged after %ld iterations and ended there: try a smaller rate", this->iteration);
            return AIS_OK;
        }
        bool last = this->iteration == this->options.iterations;
        if (last || this->iteration % this->options.epoch == 0) status = bootstrap(context, this);
        if (last || this->iteration % SHOW_EVERY == 0) show(this, "anice");
    }
    return status;
}

/* ---- begin and end ----------------------------------------------------------------------------- */

static ais_anice_options filled(const ais_anice_options *wish, int dim) {
    ais_anice_options options = *wish;
    bool plane = dim <= 2;
    if (options.iterations == 0) options.iterations = 5000;
    if (options.critic == 0) options.critic = plane ? 400 : 800;
    if (options.burn_in_steps == 0) options.burn_in_steps = plane ? 8 : 16;
    if (options.pair_steps == 0) options.pair_steps = 2;
    if (options.velocity_weight == 0) options.velocity_weight = 1;
    if (options.rate == 0) options.rate = 5e-4;
    if (options.epoch == 0) options.epoch = 500;
    if (options.draws == 0) options.draws = 5000;
    if (options.discard == 0) options.discard = 0.5;
    return options;
}

static ais_status check(ais_context *context, const ais_anice_options *options) {
    const struct {
        const char *what;
        double value, low, high;
    } range[] = {{"iterations", (double)options->iterations, 1, 1e9},
                 {"critic", options->critic, 16, 8192},
                 {"burn_in_steps", options->burn_in_steps, 1, 1000},
                 {"pair_steps", options->pair_steps, 1, 1000},
                 {"velocity_weight", options->velocity_weight, 0, 1e6},
                 {"rate", options->rate, 0, 1},
                 {"epoch", options->epoch, 1, 1e9},
                 {"draws", options->draws, 20, 1e6},
                 {"discard", options->discard, 0, 1}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (!(range[i].value >= range[i].low && range[i].value <= range[i].high))
            return ais_fail(context, AIS_BAD_ARGUMENT, "anice: %s is %g, but must be %g to %g", range[i].what,
                            range[i].value, range[i].low, range[i].high);
    if (options->critic % 16)
        return ais_fail(context, AIS_BAD_ARGUMENT, "anice: critic is %d, but must be a multiple of 16",
                        options->critic);
    return AIS_OK;
}

static ais_status begin(ais_context *context, lesson *this) {
    ais_anice_shape shape = this->options.shape ? *this->options.shape : (ais_anice_shape){.dim = this->target->dim};
    ais_kernel *kernel;
    ais_status status = ais_kernel_anice(context, &shape, this->options.seed, &kernel);
    if (status != AIS_OK) return status;
    this->kernel = (ais_nice_kernel *)kernel;
    ais_anice_objective *objective = &this->objective;
    *objective = (ais_anice_objective){.nice = this->kernel->nice,
                                       .critic = ais_critic_shape(shape.dim, this->options.critic, CRITIC_DEPTH),
                                       .batch = BATCH,
                                       .velocity_weight = this->options.velocity_weight};
    size_t weights = objective->nice.weights, dim = (size_t)shape.dim, velocities = (size_t)objective->nice.velocities;
    this->critic = AIS_TAKE(&this->arena, ais_real, objective->critic.weights);
    this->critic_gradient = AIS_TAKE(&this->arena, ais_real, objective->critic.weights);
    this->gradient = AIS_TAKE(&this->arena, ais_real, weights);
    this->best = AIS_TAKE(&this->arena, ais_real, weights);
    this->normals = AIS_TAKE(&this->arena, double, 2 * BATCH * (dim > velocities ? dim : velocities));
    this->draws = AIS_TAKE(&this->arena, double, dim *CHAINS *(size_t)this->options.draws);
    this->training->x = calloc(KEPT_POINTS * dim, sizeof(double));
    ais_adam_options adam = {
        .rate = this->options.rate, .beta1 = 0.5, .beta2 = 0.9, .final_share = 1, .steps = this->options.iterations};
    if (!this->critic || !this->critic_gradient || !this->gradient || !this->best || !this->normals || !this->draws ||
        !this->training->x ||
        !ais_anice_objective_new(objective, this->options.burn_in_steps, this->options.pair_steps, &this->arena) ||
        !ais_adam_new(&this->critic_adam, &adam, objective->critic.weights, this->critic, &this->arena) ||
        !ais_adam_new(&this->kernel_adam, &adam, weights, this->kernel->weights, &this->arena))
        return ais_fail_memory(context, "the training of anice", objective->critic.weights * sizeof(ais_real));
    ais_perceptron_draw(&objective->critic.net, this->options.seed, 3, this->critic);
    memcpy(this->best, this->kernel->weights, weights * sizeof *this->best);
    return AIS_OK;
}

static void finish(lesson *this) {
    ais_training *training = this->training;
    size_t dim = (size_t)this->target->dim;
    ais_stream stream = stream_of(this, 5, AIS_FOR_BATCH);
    training->dim = this->target->dim;
    training->count = KEPT_POINTS;
    for (size_t c = 0; c < KEPT_POINTS; c++)
        memcpy(training->x + c * dim, ais_reservoir_pick(&this->reservoir, &stream, c), dim * sizeof(double));
    training->log_z = training->log_z_error = NAN;
    training->attempts = 1;
    training->worst_ess = this->best_ess > 0 ? this->best_ess : 0;
    training->acceptance = this->best_acceptance;
    training->train_seconds = ais_now() - this->began - training->start_seconds;
    snprintf(training->sentence, sizeof training->sentence,
             "the first draws came from %s that started in N(0, %g^2): modes that they miss may never be seen",
             this->target->grad ? "HMC" : "random walks",
             this->target->start_scale > 0 ? this->target->start_scale : 1);
    if (this->best_ess >= 0 || training->warning[0])
        memcpy(this->kernel->weights, this->best, this->objective.nice.weights * sizeof *this->best);
}

ais_status ais_train_anice(ais_context *context, const ais_target *target, const ais_anice_options *options,
                           ais_kernel **kernel, ais_training **training) {
    *kernel = NULL;
    *training = NULL;
    if (target->draws)
        return ais_fail(context, AIS_BAD_ARGUMENT, "anice: %s is a set of draws; it needs a density", target->name);
    if (options->shape && options->shape->dim != target->dim)
        return ais_fail(context, AIS_BAD_ARGUMENT, "anice: the shape has dimension %d, but %s has %d",
                        options->shape->dim, target->name, target->dim);
    lesson this = {.target = target,
                   .options = filled(options, target->dim),
                   .reservoir = {.dim = (size_t)target->dim},
                   .loss = NAN,
                   .critic_loss = NAN,
                   .acceptance = NAN,
                   .worst_ess = NAN,
                   .best_ess = -1,
                   .began = ais_now()};
    ais_status status = check(context, &this.options);
    if (status != AIS_OK) return status;
    this.training = calloc(1, sizeof *this.training);
    if (!this.training) return ais_fail_memory(context, "a training", sizeof *this.training);
    status = ais_pool_new(context, options->threads, &this.pool);
    if (status == AIS_OK) status = begin(context, &this);
    if (status == AIS_OK) status = train(context, &this);
    if (status == AIS_OK || (status == AIS_STOPPED && this.iteration > 0)) {
        finish(&this);
        *kernel = &this.kernel->kernel;
        *training = this.training;
    } else {
        if (this.kernel) ais_kernel_free(&this.kernel->kernel);
        ais_training_free(this.training);
    }
    ais_reservoir_free(&this.reservoir);
    ais_pool_free(this.pool);
    ais_arena_free(&this.arena);
    return status;
}
