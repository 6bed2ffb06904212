#include "fit/henon_trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/henon_judge.h"

static const double lost_acceptance = 0.005;

struct ais_henon_trainer {
    ais_learned *learned;
    ais_population *population;
    uint64_t seed, draws;            /* batches drawn so far, over all stages */
    size_t count;                    /* of theta */
    ais_real *theta;                 /* the kernel's weights, then the base's */
    ais_real *best;                  /* theta of the best snapshot */
    ais_judgement judged;            /* and what was said of it; score NAN before the first judgement */
    ais_discriminator discriminator; /* of the last adversarial stage */
    ais_real *phi;                   /* NULL: there was none */
    ais_arena arena;
};

/* What lives as long as a stage. */
typedef struct stage_fit {
    ais_henon_trainer *trainer;
    const ais_henon_stage *stage;
    ais_henon_objective objective;
    ais_mixing mixing;
    int offset;     /* of the next batch in the population, in blocks */
    double common;  /* scale of the population as the stage began */
    double *centre; /* and its mean */
} stage_fit;

/* ---- making ------------------------------------------------------------------------------------ */

ais_status ais_henon_trainer_new(ais_context *context, ais_kernel *kernel, ais_population *population, uint64_t seed,
                                 ais_henon_trainer **out) {
    *out = NULL;
    const ais_learned *learned = ais_as_learned(kernel);
    if (!learned || learned->shape.map != AIS_HENON)
        return ais_fail(context, AIS_BAD_ARGUMENT, "the henon trainer was given a %s kernel", kernel->type->name);
    if (learned->shape.dim != population->target->dim)
        return ais_fail(context, AIS_BAD_ARGUMENT, "the kernel was made for dimension %d, but %s has %d",
                        learned->shape.dim, population->target->name, population->target->dim);
    ais_henon_trainer *trainer = ais_allocate(sizeof *trainer);
    if (!trainer) return ais_fail_memory(context, "a trainer", sizeof *trainer);
    size_t count = ais_henon_theta(&learned->henon);
    *trainer = (ais_henon_trainer){.learned = (ais_learned *)kernel,
                                   .population = population,
                                   .seed = seed,
                                   .count = count,
                                   .theta = AIS_TAKE(&trainer->arena, ais_real, count),
                                   .best = AIS_TAKE(&trainer->arena, ais_real, count),
                                   .judged = {.score = NAN, .acceptance = NAN},
                                   .arena = trainer->arena};
    ais_status status = trainer->theta && trainer->best
                            ? ais_population_use(context, population, kernel)
                            : ais_fail_memory(context, "a trainer", 2 * count * sizeof(ais_real));
    if (status != AIS_OK) {
        ais_henon_trainer_free(trainer);
        return status;
    }
    memcpy(trainer->theta, learned->weights, learned->weight_count * sizeof(ais_real));
    ais_henon_base_init(2 * learned->shape.dim, trainer->theta + learned->weight_count);
    memcpy(trainer->best, trainer->theta, count * sizeof(ais_real));
    *out = trainer;
    return AIS_OK;
}

void ais_henon_trainer_free(ais_henon_trainer *trainer) {
    if (!trainer) return;
    ais_arena_free(&trainer->arena);
    free(trainer);
}

double ais_henon_trainer_best(const ais_henon_trainer *trainer) {
    return isnan(trainer->judged.score) ? -1 : trainer->judged.score;
}

const ais_real *ais_henon_trainer_discriminator(const ais_henon_trainer *trainer, ais_discriminator *discriminator) {
    *discriminator = trainer->discriminator;
    return trainer->phi;
}

static void common_moments(const ais_population *population, double *mean, double *sd, double *common) {
    double sum = 0;
    ais_population_moments(population, mean, sd);
    for (int i = 0; i < population->target->dim; i++) sum += sd[i] * sd[i];
    *common = sqrt(sum / population->target->dim);
}

static bool make_objective(stage_fit *this, ais_arena *arena) {
    const ais_henon_stage *stage = this->stage;
    const ais_henon_trainer *trainer = this->trainer;
    const ais_learned *learned = trainer->learned;
    int batch = stage->recipe.batch, blocks = batch > 0 ? (batch - 1) / AIS_BLOCK + 1 : INT32_MAX;
    if (blocks > trainer->population->blocks) blocks = trainer->population->blocks;
    bool mixing = stage->kind != AIS_LIKELIHOOD && stage->mixing > 0;
    ais_mixing_options features = {.dim = learned->shape.dim,
                                   .waves = stage->waves,
                                   .ripples = stage->ripples,
                                   .weight = stage->mixing_weight,
                                   .scale = this->common,
                                   .centre = this->centre,
                                   .seed = trainer->seed};
    this->objective =
        (ais_henon_objective){.henon = learned->henon,
                              .reversal = learned->shape.reversal,
                              .whitening = &learned->whitening,
                              .target = trainer->population->target,
                              .discriminator = stage->kind == AIS_ADVERSARIAL ? &trainer->discriminator : NULL,
                              .mixing = mixing ? &this->mixing : NULL,
                              .strength = stage->mixing,
                              .likelihood = stage->likelihood,
                              .differences = stage->differences,
                              .exact = stage->exact,
                              .h = 1e-5 * this->common,
                              .loss = stage->loss};
    return (!mixing || ais_mixing_new(&this->mixing, &features, arena)) &&
           ais_henon_objective_new(&this->objective, trainer->population->pool, blocks, arena);
}

static bool learn_discriminator(stage_fit *this, ais_loop *loop) {
    ais_henon_trainer *trainer = this->trainer;
    const ais_recipe *recipe = loop->recipe;
    trainer->phi = AIS_TAKE(&trainer->arena, ais_real, trainer->discriminator.weights);
    if (!trainer->phi) return false;
    ais_discriminator_draw(&trainer->discriminator, trainer->seed, trainer->phi);
    return ais_loop_learn(loop, &(ais_network){.name = "discriminator",
                                               .count = trainer->discriminator.weights,
                                               .weights = trainer->phi,
                                               .gradient = this->objective.discriminator_batch.gradient,
                                               .pace = &recipe->helper,
                                               .turns = recipe->helper_turns,
                                               .first = recipe->helper_first,
                                               .helper = true});
}

static ais_status begin(ais_context *context, ais_loop *loop) {
    stage_fit *this = loop->self;
    ais_henon_trainer *trainer = this->trainer;
    const ais_henon_stage *stage = this->stage;
    bool adversarial = stage->kind == AIS_ADVERSARIAL;
    loop->best = trainer->judged;
    if (adversarial)
        ais_discriminator_build(&trainer->discriminator, stage->form, trainer->learned->shape.dim, stage->hidden,
                                stage->depth, stage->tanh);
    bool room = make_objective(this, &loop->arena) && (!adversarial || learn_discriminator(this, loop)) &&
                ais_loop_learn(loop, &(ais_network){.name = "kernel",
                                                    .count = trainer->count,
                                                    .weights = trainer->theta,
                                                    .best = trainer->best,
                                                    .gradient = this->objective.batch.gradient,
                                                    .pace = &loop->recipe->pace});
    return room ? AIS_OK : ais_fail_memory(context, "a stage of training", trainer->count * sizeof(ais_real));
}

/* ---- steps ------------------------------------------------------------------------------------- */

static void set_kernel(const ais_henon_trainer *trainer, const ais_real *theta) {
    memcpy(trainer->learned->weights, theta, trainer->learned->weight_count * sizeof *theta);
    trainer->learned->edition++;
}

/* The population moves when it has been gone through once. In every round the kernel takes its lattice points from x
 * again, as it has to in a resumed training. */
static ais_status prepare(ais_context *context, ais_loop *loop) {
    const stage_fit *this = loop->self;
    const ais_henon_trainer *trainer = this->trainer;
    ais_population *population = trainer->population;
    ais_status status = AIS_OK;
    if (loop->round) status = ais_population_use(context, population, &trainer->learned->kernel);
    if (status != AIS_OK || this->offset >= this->objective.blocks) return status;
    set_kernel(trainer, ais_network_kept(&loop->network[loop->networks - 1]));
    status = ais_population_move(context, population, 1, this->stage->walks);
    loop->acceptance = population->acceptance;
    return status;
}

/* The next blocks of the population, with fresh v. */
static void next_batch(stage_fit *this) {
    const ais_population *population = this->trainer->population;
    size_t rows = (size_t)population->target->dim * AIS_BLOCK;
    for (int b = 0; b < this->objective.blocks; b++) {
        const ais_state *state = population->state[(this->offset + b) % population->blocks];
        memcpy(this->objective.block[b].x, state->x, rows * sizeof *state->x);
        memcpy(this->objective.block[b].logp, state->logp, AIS_BLOCK * sizeof *state->logp);
    }
    this->offset = (this->offset + this->objective.blocks) % population->blocks;
    ais_henon_objective_draw(&this->objective, this->trainer->seed, this->trainer->draws++);
}

/* `swap` leaves the base unchanged only if both halves have the same scales. */
static void tie_scales(const stage_fit *this) {
    size_t dim = (size_t)this->trainer->learned->shape.dim;
    ais_real *scale = this->objective.batch.gradient + this->trainer->count - 2 * dim;
    for (size_t i = 0; this->objective.reversal == AIS_SWAP && i < dim; i++)
        scale[i] = scale[dim + i] = (scale[i] + scale[dim + i]) / 2;
}

static ais_status step(ais_context *context, ais_loop *loop, int network, double *loss) {
    (void)context;
    stage_fit *this = loop->self;
    const ais_henon_trainer *trainer = this->trainer;
    bool adversarial = this->stage->kind == AIS_ADVERSARIAL;
    next_batch(this);
    if (network < loop->networks - 1) {
        *loss = ais_henon_discriminate(&this->objective, trainer->theta, trainer->phi);
        return AIS_OK;
    }
    *loss = this->stage->kind == AIS_LIKELIHOOD
                ? ais_henon_likelihood(&this->objective, trainer->theta)
                : ais_henon_acceptance(&this->objective, trainer->theta, adversarial ? trainer->phi : NULL);
    tie_scales(this);
    return AIS_OK;
}

/* A kernel that no longer moves is lost, unless it has never moved. */
static ais_status judge(ais_context *context, ais_loop *loop, ais_judgement *judgement) {
    const stage_fit *this = loop->self;
    const ais_henon_trainer *trainer = this->trainer;
    const ais_recipe *recipe = loop->recipe;
    ais_fresh_result fresh;
    set_kernel(trainer, trainer->theta);
    ais_status status = ais_henon_judge(context, trainer->population, &trainer->learned->kernel, trainer->seed + 0x5EED,
                                        recipe->judge_chains, recipe->judge_draws, &fresh);
    if (status != AIS_OK) return status;
    bool moves = fresh.acceptance >= lost_acceptance;
    judgement->score = fresh.worst_ess;
    judgement->acceptance = fresh.acceptance;
    judgement->keep = this->stage->last && moves;
    judgement->lost = this->stage->kind != AIS_LIKELIHOOD && !moves && loop->best.acceptance > 10 * lost_acceptance;
    return AIS_OK;
}

static void exchange(ais_checkpoint *checkpoint, ais_loop *loop) {
    stage_fit *this = loop->self;
    AIS_FIELD(checkpoint, this, offset);
    AIS_FIELD(checkpoint, this->trainer, draws);
    ais_population_exchange(checkpoint, this->trainer->population);
}

/* The next stage continues from the last weights; the kernel gets the best. */
static void end(ais_loop *loop) {
    const stage_fit *this = loop->self;
    ais_henon_trainer *trainer = this->trainer;
    trainer->judged = loop->best;
    if (isnan(loop->best.score)) memcpy(trainer->best, trainer->theta, trainer->count * sizeof *trainer->best);
    set_kernel(trainer, trainer->best);
}

static const ais_method henon = {"henon", begin, prepare, step, judge, exchange, end};

static void exchange_stage(ais_checkpoint *checkpoint, void *data) {
    stage_fit *this = data;
    AIS_FIELD(checkpoint, this, common);
    ais_checkpoint_bytes(checkpoint, "centre", this->centre,
                         (size_t)this->trainer->learned->shape.dim * sizeof *this->centre);
}

ais_status ais_henon_train(ais_context *context, ais_henon_trainer *trainer, const ais_henon_stage *stage,
                           const ais_watch *watch) {
    ais_arena arena = {0};
    size_t dim = (size_t)trainer->learned->shape.dim;
    double *sd = AIS_TAKE(&arena, double, dim);
    stage_fit this = {.trainer = trainer, .stage = stage, .centre = AIS_TAKE(&arena, double, dim)};
    ais_loop loop = {.method = &henon, .self = &this, .recipe = &stage->recipe, .watch = *watch};
    ais_status status = AIS_OK;
    bool resumed;
    if (sd && this.centre)
        common_moments(trainer->population, this.centre, sd, &this.common);
    else
        status = ais_fail_memory(context, "a stage of training", 2 * dim * sizeof *sd);
    /* A section of its own: features and differences are made by these numbers, before the loop's section is read. */
    if (status == AIS_OK)
        status = ais_checkpoint_enter(context, watch->checkpoint, "stage", exchange_stage, &this, &resumed);
    if (status == AIS_OK) status = ais_loop_run(context, &loop);
    ais_checkpoint_leave(watch->checkpoint);
    ais_arena_free(&arena);
    return status;
}
