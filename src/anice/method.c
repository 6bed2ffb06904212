#include "anice/method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/diagnostics.h>

#include "anice/bootstrap.h"
#include "base/clock.h"
#include "base/streams.h"
#include "diagnostics/worst.h"
#include "judge/short_run.h"
#include "simd/normal.h"
#include "trainer/training.h"

enum { CHAINS = 32, CRITIC_DEPTH = 3, CRITIC = 0 /* the network whose turn is first */ };

/* ---- batches ----------------------------------------------------------------------------------- */

ais_stream ais_anice_stream(const ais_anice_fit *this, uint32_t part, uint32_t purpose) {
    ais_stream stream = ais_stream_for(AIS_USE_ANICE, this->options.seed, this->step, part);
    stream.purpose = purpose;
    return stream;
}

static void fill_normals(const ais_anice_fit *this, uint32_t part, double scale, size_t count, ais_real *to) {
    ais_stream stream = ais_anice_stream(this, part, AIS_FOR_MOMENTUM);
    ais_normals(&stream, count, this->normals);
    for (size_t i = 0; i < count; i++) to[i] = (ais_real)(scale * this->normals[i]);
}

/* Draws into lanes first .. first + count - 1 of rows of `lanes`, dim rows from `to` on. */
static void fill_draws(const ais_anice_fit *this, uint32_t part, size_t count, size_t lanes, ais_real *to) {
    ais_stream stream = ais_anice_stream(this, part, AIS_FOR_BATCH);
    for (size_t c = 0; c < count; c++) {
        const double *x = ais_reservoir_pick(&this->reservoir, &stream, c);
        for (size_t i = 0; i < this->reservoir.dim; i++) to[i * lanes + c] = (ais_real)x[i];
    }
}

/* z, x and every v; the numbers of steps. */
static void fill_chains(ais_anice_fit *this, int *burn, int *pair) {
    ais_anice_objective *objective = &this->objective;
    size_t dim = (size_t)objective->nice.dim, velocities = (size_t)objective->nice.velocities;
    size_t batch = objective->batch;
    double scale = this->target->start_scale > 0 ? this->target->start_scale : 1;
    ais_stream stream = ais_anice_stream(this, 0, AIS_FOR_DIRECTION);
    *burn = 1 + (int)ais_random_below(&stream, 0, (uint64_t)this->options.burn_in_steps);
    *pair = 1 + (int)ais_random_below(&stream, 1, (uint64_t)this->options.pair_steps);
    fill_normals(this, 0, scale, dim * batch, objective->from_noise.x);
    for (int s = 0; s < *burn; s++)
        fill_normals(this, (uint32_t)(1 + s), 1, velocities * batch,
                     objective->from_noise.v + (size_t)s * velocities * batch);
    for (int s = 0; s < *pair; s++)
        fill_normals(this, (uint32_t)(1001 + s), 1, velocities * 2 * batch,
                     objective->pairs.v + (size_t)s * velocities * 2 * batch);
    fill_draws(this, 0, batch, 2 * batch, objective->pairs.x);
    ais_anice_chains(objective, this->kernel->weights, *burn, *pair);
}

/* ---- steps ------------------------------------------------------------------------------------- */

static double step_critic(ais_anice_fit *this) {
    ais_anice_objective *objective = &this->objective;
    const ais_critic_tape *tape = &objective->tape;
    size_t dim = (size_t)objective->nice.dim;
    int burn, pair;
    fill_chains(this, &burn, &pair);
    for (uint32_t half = 0; half < 2; half++) {
        ais_real *rows = tape->in + half * dim * tape->lanes;
        fill_draws(this, 1 + half, tape->real, tape->lanes, rows + tape->chain);
        fill_draws(this, 3 + half, tape->chain, tape->lanes, rows + tape->chain + tape->real);
    }
    ais_stream stream = ais_anice_stream(this, 0, AIS_FOR_RESAMPLE);
    return ais_anice_critic_step(objective, this->critic, pair, ais_random_uniform(&stream, 0), this->critic_gradient);
}

static double step_kernel(ais_anice_fit *this) {
    int burn, pair;
    fill_chains(this, &burn, &pair);
    return ais_anice_kernel_step(&this->objective, this->kernel->weights, this->critic, burn, pair, this->gradient);
}

static ais_status step(ais_context *context, ais_loop *loop, int network, double *loss) {
    (void)context;
    ais_anice_fit *this = loop->self;
    this->step++;
    *loss = network == CRITIC ? step_critic(this) : step_kernel(this);
    return AIS_OK;
}

/* ---- bootstrap --------------------------------------------------------------------------------- */

/* Of the bootstrap's draws, which are used up: the smallest ESS, as a share of the draws, over x_i and x_i^2, and over
 * x_i alone. */
static ais_status find_shares(ais_context *context, ais_anice_fit *this) {
    int dim = this->target->dim, draws = this->options.draws;
    double count = (double)CHAINS * draws;
    this->mean = INFINITY;
    for (int i = 0; i < dim; i++) {
        double share = ais_ess_mean(this->draws + (size_t)i * CHAINS * (size_t)draws, CHAINS, draws) / count;
        if (!(share >= this->mean)) this->mean = isfinite(share) ? share : 0; /* a chain that never moves has none */
    }
    ais_status status = ais_find_worst_ess(context, dim, CHAINS, draws, this->draws, &this->worst);
    this->worst /= count;
    return status;
}

/* New draws: of HMC before the first step, of the kernel later. */
static ais_status bootstrap(ais_context *context, ais_anice_fit *this, long iteration, double *acceptance) {
    int draws = this->options.draws;
    ais_stream stream = ais_anice_stream(this, 1, AIS_FOR_RESAMPLE);
    ais_bootstrap run = {.chains = CHAINS,
                         .burn_in = draws / 5,
                         .draws = draws,
                         .seed = this->options.seed + 0x9E3779B97F4A7C15 * (uint64_t)(iteration + 1),
                         .x = this->draws};
    ais_status status = iteration > 0 ? ais_bootstrap_own(context, this->target, &this->kernel->kernel, &run)
                                      : ais_bootstrap_first(context, this->target, this->pool, &run);
    if (status != AIS_OK) return status;
    *acceptance = run.acceptance;
    ais_reservoir_discard(&this->reservoir, this->options.discard, &stream);
    return ais_reservoir_insert(context, &this->reservoir, (size_t)CHAINS * (size_t)draws, this->draws);
}

static ais_status prepare(ais_context *context, ais_loop *loop) {
    ais_anice_fit *this = loop->self;
    double ignored;
    if (this->reservoir.count > 0) return AIS_OK;
    ais_status status = bootstrap(context, this, 0, &ignored);
    this->training->start_seconds = ais_now() - this->began;
    return status;
}

/* The chains of a bootstrap judge the kernel. */
static ais_status judge(ais_context *context, ais_loop *loop, ais_judgement *judgement) {
    ais_anice_fit *this = loop->self;
    ais_status status = bootstrap(context, this, loop->step, &judgement->acceptance);
    if (status != AIS_OK) return status;
    loop->acceptance = judgement->acceptance;
    status = find_shares(context, this);
    judgement->score = this->options.mean_only ? this->mean : this->worst;
    return status;
}

/* ---- begin and end ----------------------------------------------------------------------------- */

static bool take_memory(ais_anice_fit *this, ais_loop *loop) {
    ais_arena *arena = &loop->arena;
    ais_anice_objective *objective = &this->objective;
    const ais_anice_options *options = &this->options;
    *objective = (ais_anice_objective){.nice = this->kernel->nice,
                                       .critic = ais_critic_shape(this->target->dim, options->critic, CRITIC_DEPTH),
                                       .batch = (size_t)loop->recipe->batch,
                                       .velocity_weight = options->velocity_weight};
    size_t dim = (size_t)this->target->dim, velocities = (size_t)objective->nice.velocities;
    this->critic = AIS_TAKE(arena, ais_real, objective->critic.weights);
    this->critic_gradient = AIS_TAKE(arena, ais_real, objective->critic.weights);
    this->gradient = AIS_TAKE(arena, ais_real, objective->nice.weights);
    this->normals = AIS_TAKE(arena, double, 2 * objective->batch * (dim > velocities ? dim : velocities));
    this->draws = AIS_TAKE(arena, double, dim *CHAINS *(size_t)options->draws);
    return this->critic && this->critic_gradient && this->gradient && this->normals && this->draws &&
           ais_anice_objective_new(objective, options->burn_in_steps, options->pair_steps, arena);
}

static ais_status begin(ais_context *context, ais_loop *loop) {
    ais_anice_fit *this = loop->self;
    const ais_recipe *recipe = loop->recipe;
    const ais_anice_objective *objective = &this->objective;
    bool room = take_memory(this, loop);
    if (room) ais_perceptron_draw(&objective->critic.net, this->options.seed, 3, this->critic);
    room = room && ais_loop_learn(loop, &(ais_network){.name = "critic",
                                                       .count = objective->critic.weights,
                                                       .weights = this->critic,
                                                       .gradient = this->critic_gradient,
                                                       .pace = &recipe->helper,
                                                       .turns = recipe->helper_turns,
                                                       .helper = true});
    room = room && ais_loop_learn(loop, &(ais_network){.name = "kernel",
                                                       .count = objective->nice.weights,
                                                       .weights = this->kernel->weights,
                                                       .gradient = this->gradient,
                                                       .pace = &recipe->pace});
    return room ? AIS_OK
                : ais_fail_memory(context, "the training of anice", objective->critic.weights * sizeof(ais_real));
}

static void exchange(ais_checkpoint *checkpoint, ais_loop *loop) {
    ais_anice_fit *this = loop->self;
    ais_began_exchange(checkpoint, &this->began);
    ais_training_exchange(checkpoint, this->training);
    AIS_FIELD(checkpoint, this, step);
    ais_reservoir_exchange(checkpoint, &this->reservoir);
}

const ais_method ais_anice_method = {"anice", begin, prepare, step, judge, exchange, ais_loop_take_best};
