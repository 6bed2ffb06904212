#include "trainer/henon_trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/adam.h"
#include "trainer/henon_judge.h"
#include "trainer/henon_objective.h"
#include "trainer/training.h"

static const double lost_acceptance = 0.005, rollback_scale = 0.5;
enum {
    MOST_ROLLBACKS = 5,
    ROUND = 16, /* turns between offers of a checkpoint */
    TOLD = 64   /* steps between two reports, which are where training can be stopped */
};
static const char *const stage_name[] = {
    [AIS_LIKELIHOOD] = "likelihood", [AIS_EXACT] = "exact", [AIS_ADVERSARIAL] = "adversarial"};

struct ais_henon_trainer {
    ais_learned *learned;
    ais_population *population;
    uint64_t seed, draws; /* batches drawn so far, over all stages */
    size_t count;         /* of theta */
    ais_real *theta;      /* the kernel's weights, then the base's */
    ais_real *best;       /* theta of the best snapshot */
    double best_ess, best_acceptance;
    ais_discriminator discriminator; /* of the last adversarial stage */
    ais_real *phi;                   /* NULL: there was none */
    ais_arena arena;
};

/* What lives as long as a stage. */
typedef struct course {
    ais_henon_trainer *trainer;
    const ais_henon_stage *stage;
    ais_henon_objective objective;
    ais_discriminator discriminator;
    ais_mixing mixing;
    ais_adam adam, discriminator_adam;
    ais_real *phi;
    double loss, discriminator_loss; /* sums since the last report */
    long losses, discriminator_losses;
    int rollbacks, offset;
    long first, turn; /* steps of the discriminator alone, then turns, that are done */
    double common;    /* scale of the population as the stage began */
    double *centre;   /* and its mean */
    ais_arena arena;
} course;

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
                                   .best_ess = -1,
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

double ais_henon_trainer_best(const ais_henon_trainer *trainer) { return trainer->best_ess; }

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

static bool open_course(course *this) {
    const ais_henon_stage *stage = this->stage;
    ais_henon_trainer *trainer = this->trainer;
    const ais_learned *learned = trainer->learned;
    int dim = learned->shape.dim, blocks = stage->batch > 0 ? (stage->batch - 1) / AIS_BLOCK + 1 : INT32_MAX;
    if (blocks > trainer->population->blocks) blocks = trainer->population->blocks;
    bool adversarial = stage->kind == AIS_ADVERSARIAL, mixing = stage->kind != AIS_LIKELIHOOD && stage->mixing > 0;
    ais_discriminator_build(&this->discriminator, stage->form, dim, stage->hidden, stage->depth, stage->tanh);
    ais_mixing_options features = {.dim = dim,
                                   .waves = stage->waves,
                                   .ripples = stage->ripples,
                                   .weight = stage->mixing_weight,
                                   .scale = this->common,
                                   .centre = this->centre,
                                   .seed = trainer->seed};
    if (mixing && !ais_mixing_new(&this->mixing, &features, &this->arena)) return false;
    this->objective = (ais_henon_objective){.henon = learned->henon,
                                            .reversal = learned->shape.reversal,
                                            .whitening = &learned->whitening,
                                            .target = trainer->population->target,
                                            .discriminator = adversarial ? &this->discriminator : NULL,
                                            .mixing = mixing ? &this->mixing : NULL,
                                            .strength = stage->mixing,
                                            .likelihood = stage->likelihood,
                                            .differences = stage->differences,
                                            .exact = stage->exact,
                                            .h = 1e-5 * this->common,
                                            .loss = stage->loss};
    ais_adam_options kernel = {.rate = stage->rate,
                               .final_share = stage->final_share,
                               .clip = stage->clip,
                               .average = stage->average,
                               .steps = stage->steps};
    ais_adam_options judge = {.rate = stage->discriminator_rate, .final_share = 1};
    this->phi = AIS_TAKE(&trainer->arena, ais_real, this->discriminator.weights);
    if (!this->phi) return false;
    ais_discriminator_draw(&this->discriminator, trainer->seed, this->phi);
    if (adversarial) {
        trainer->discriminator = this->discriminator;
        trainer->phi = this->phi;
    }
    return ais_henon_objective_new(&this->objective, trainer->population->pool, blocks, &this->arena) &&
           ais_adam_new(&this->adam, &kernel, trainer->count, trainer->theta, &this->arena) &&
           ais_adam_new(&this->discriminator_adam, &judge, this->discriminator.weights, this->phi, &this->arena);
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* The weights that move the population, are judged and kept. */
static const ais_real *kept(const course *this) {
    return this->adam.averaged ? this->adam.averaged : this->trainer->theta;
}

static void set_kernel(const ais_henon_trainer *trainer, const ais_real *theta) {
    memcpy(trainer->learned->weights, theta, trainer->learned->weight_count * sizeof *theta);
    trainer->learned->edition++;
}

/* The next blocks of the population, with fresh v. */
static void next_batch(course *this) {
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

static void discriminator_step(course *this) {
    next_batch(this);
    double loss = ais_henon_discriminate(&this->objective, this->trainer->theta, this->phi);
    ais_adam_step(&this->discriminator_adam, this->objective.discriminator_batch.gradient, this->phi);
    this->discriminator_loss += loss;
    this->discriminator_losses++;
}

/* `swap` leaves the base as it is only where both halves have the same scales. */
static void tie_scales(const course *this) {
    size_t dim = (size_t)this->trainer->learned->shape.dim;
    ais_real *scale = this->objective.batch.gradient + this->trainer->count - 2 * dim;
    for (size_t i = 0; this->objective.reversal == AIS_SWAP && i < dim; i++)
        scale[i] = scale[dim + i] = (scale[i] + scale[dim + i]) / 2;
}

/* false: the loss or its gradient is not finite. */
static bool kernel_step(course *this) {
    ais_henon_trainer *trainer = this->trainer;
    bool adversarial = this->stage->kind == AIS_ADVERSARIAL;
    next_batch(this);
    double loss = this->stage->kind == AIS_LIKELIHOOD
                      ? ais_henon_likelihood(&this->objective, trainer->theta)
                      : ais_henon_acceptance(&this->objective, trainer->theta, adversarial ? this->phi : NULL);
    tie_scales(this);
    double norm = ais_adam_step(&this->adam, this->objective.batch.gradient, trainer->theta);
    this->loss += loss;
    this->losses++;
    return isfinite(loss) && isfinite(norm);
}

static void roll_back(course *this) {
    ais_henon_trainer *trainer = this->trainer;
    size_t bytes = trainer->count * sizeof *trainer->theta;
    memcpy(trainer->theta, trainer->best, bytes);
    if (this->adam.averaged) memcpy(this->adam.averaged, trainer->best, bytes);
    memset(this->adam.m, 0, bytes);
    memset(this->adam.v, 0, bytes);
    this->adam.scale *= rollback_scale;
    this->rollbacks++;
    set_kernel(trainer, trainer->best);
}

static ais_status report(ais_context *context, course *this, const ais_fresh_result *fresh) {
    const ais_henon_stage *stage = this->stage;
    ais_henon_progress progress = {
        .stage = stage_name[stage->kind],
        .step = this->adam.step,
        .steps = stage->steps,
        .loss = this->losses ? this->loss / (double)this->losses : NAN,
        .discriminator_loss =
            this->discriminator_losses ? this->discriminator_loss / (double)this->discriminator_losses : NAN,
        .acceptance = fresh->acceptance,
        .worst_ess = fresh->worst_ess,
        .best_ess = this->trainer->best_ess,
        .rate = ais_adam_rate(&this->adam),
        .rollbacks = this->rollbacks};
    this->loss = this->discriminator_loss = 0;
    this->losses = this->discriminator_losses = 0;
    if (!stage->progress || stage->progress(stage->data, &progress)) return AIS_OK;
    return ais_fail(context, AIS_STOPPED, "training was stopped at step %ld of stage %s", progress.step,
                    progress.stage);
}

/* What is known between two judgements. */
static ais_status tell(ais_context *context, course *this) {
    ais_fresh_result moving = {.acceptance = this->trainer->population->acceptance, .worst_ess = NAN};
    return report(context, this, &moving);
}

/* Fresh chains, snapshot, and the rollback of a kernel that no longer moves. */
static ais_status judge(ais_context *context, course *this) {
    ais_henon_trainer *trainer = this->trainer;
    ais_fresh_result fresh;
    set_kernel(trainer, kept(this));
    ais_status status = ais_henon_judge(context, trainer->population, &trainer->learned->kernel, trainer->seed + 0x5EED,
                                        this->stage->check_chains, this->stage->check_draws, &fresh);
    if (status != AIS_OK) return status;
    bool lost = fresh.acceptance < lost_acceptance;
    if (fresh.worst_ess > trainer->best_ess || (this->stage->last && !lost)) {
        memcpy(trainer->best, kept(this), trainer->count * sizeof *trainer->best);
        trainer->best_ess = fresh.worst_ess;
        trainer->best_acceptance = fresh.acceptance;
    } else if (this->stage->kind != AIS_LIKELIHOOD && lost && trainer->best_acceptance > 10 * lost_acceptance) {
        roll_back(this);
    }
    return report(context, this, &fresh);
}

static void exchange_stage(ais_checkpoint *checkpoint, void *data) {
    course *this = data;
    AIS_FIELD(checkpoint, this, common);
    ais_checkpoint_bytes(checkpoint, "centre", this->centre,
                         (size_t)this->trainer->learned->shape.dim * sizeof *this->centre);
}

/* Before a turn. */
static void exchange_course(ais_checkpoint *checkpoint, void *data) {
    course *this = data;
    ais_henon_trainer *trainer = this->trainer;
    AIS_FIELD(checkpoint, this, first);
    AIS_FIELD(checkpoint, this, turn);
    AIS_FIELD(checkpoint, this, offset);
    AIS_FIELD(checkpoint, this, rollbacks);
    AIS_FIELD(checkpoint, this, loss);
    AIS_FIELD(checkpoint, this, losses);
    AIS_FIELD(checkpoint, this, discriminator_loss);
    AIS_FIELD(checkpoint, this, discriminator_losses);
    ais_adam_exchange(checkpoint, "adam", &this->adam);
    ais_adam_exchange(checkpoint, "discriminator_adam", &this->discriminator_adam);
    ais_checkpoint_bytes(checkpoint, "phi", this->phi, this->discriminator.weights * sizeof *this->phi);
    AIS_FIELD(checkpoint, trainer, draws);
    AIS_FIELD(checkpoint, trainer, best_ess);
    AIS_FIELD(checkpoint, trainer, best_acceptance);
    ais_checkpoint_bytes(checkpoint, "theta", trainer->theta, trainer->count * sizeof *trainer->theta);
    ais_checkpoint_bytes(checkpoint, "best_theta", trainer->best, trainer->count * sizeof *trainer->best);
    ais_population_exchange(checkpoint, trainer->population);
}

/* Between turns: now and then the kernel takes its lattice points from x again, as it has to in a resumed training. */
static ais_status offer(ais_context *context, course *this, long turn) {
    if (turn % ROUND != 0) return AIS_OK;
    ais_henon_trainer *trainer = this->trainer;
    ais_status status = ais_population_use(context, trainer->population, &trainer->learned->kernel);
    return status == AIS_OK ? ais_checkpoint_offer(context, this->stage->checkpoint) : status;
}

/* The population moves when it has been gone through once. */
static ais_status move_on(ais_context *context, course *this) {
    if (this->offset >= this->objective.blocks) return AIS_OK;
    return ais_population_move(context, this->trainer->population, 1, this->stage->walks);
}

static ais_status run_steps(ais_context *context, course *this) {
    const ais_henon_stage *stage = this->stage;
    ais_status status = AIS_OK;
    long check = stage->check_every > 0 ? stage->check_every : stage->steps;
    long first_steps = stage->kind == AIS_ADVERSARIAL ? stage->first_steps : 0;
    for (; status == AIS_OK && this->first < first_steps; this->first++) {
        status = offer(context, this, this->first);
        if (status == AIS_OK) status = move_on(context, this);
        discriminator_step(this);
    }
    for (; status == AIS_OK && this->adam.step < stage->steps; this->turn++) {
        status = offer(context, this, this->turn);
        if (status == AIS_OK) status = move_on(context, this);
        for (int k = 0; k < stage->discriminator_steps && stage->kind == AIS_ADVERSARIAL; k++) discriminator_step(this);
        for (int k = 0; status == AIS_OK && k < stage->kernel_steps && this->adam.step < stage->steps; k++) {
            if (!kernel_step(this)) {
                if (this->rollbacks >= MOST_ROLLBACKS) return AIS_OK; /* the best snapshot stays */
                roll_back(this);
            }
            set_kernel(this->trainer, kept(this));
            if (this->adam.step % check == 0 || this->adam.step == stage->steps)
                status = judge(context, this);
            else if (this->adam.step % TOLD == 0)
                status = tell(context, this);
        }
        if (this->rollbacks > MOST_ROLLBACKS) return AIS_OK;
    }
    return status;
}

ais_status ais_henon_train(ais_context *context, ais_henon_trainer *trainer, const ais_henon_stage *stage) {
    if (stage->steps < 1 || !(stage->rate > 0) || stage->kernel_steps < 1)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "stage %s: %ld steps at rate %g, %d kernel steps in turn: each must be above 0",
                        stage_name[stage->kind], stage->steps, stage->rate, stage->kernel_steps);
    course this = {.trainer = trainer, .stage = stage};
    size_t dim = (size_t)trainer->learned->shape.dim;
    double *sd = AIS_TAKE(&this.arena, double, dim);
    bool resumed;
    this.centre = AIS_TAKE(&this.arena, double, dim);
    if (!sd || !this.centre) {
        ais_arena_free(&this.arena);
        return ais_fail_memory(context, "a stage of training", 2 * dim * sizeof *sd);
    }
    common_moments(trainer->population, this.centre, sd, &this.common);
    ais_status status = ais_checkpoint_enter(context, stage->checkpoint, "stage", exchange_stage, &this, &resumed);
    if (status == AIS_OK && !open_course(&this)) status = ais_fail_memory(context, "a stage of training", 0);
    if (status == AIS_OK) {
        status = ais_checkpoint_enter(context, stage->checkpoint, "course", exchange_course, &this, &resumed);
        set_kernel(trainer, kept(&this));
        if (status == AIS_OK) status = run_steps(context, &this);
        size_t bytes = trainer->count * sizeof *trainer->theta;
        if (status == AIS_OK) memcpy(trainer->theta, kept(&this), bytes);
        if (status == AIS_STOPPED && trainer->best_ess < 0)
            memcpy(trainer->best, kept(&this), bytes); /* not judged yet */
        ais_checkpoint_leave(stage->checkpoint);
    }
    ais_checkpoint_leave(stage->checkpoint);
    set_kernel(trainer, trainer->best);
    ais_arena_free(&this.arena);
    return status;
}
