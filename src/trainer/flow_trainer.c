#include "trainer/flow_trainer.h"

#include <math.h>
#include <string.h>

#include "nn/adam.h"
#include "simd/normal.h"
#include "trainer/training.h"

/* What a training needs beside the plan. */
typedef struct work {
    ais_learned *learned;
    ais_population *population;
    const ais_flow_plan *plan;
    uint64_t seed;
    ais_flow_trainer trainer;
    ais_adam adam;
    ais_arena arena;
    size_t stored;    /* points of the present round */
    double *u, *logp; /* stored x dim, row-major, whitened; stored */
    ais_real *good;   /* the last weights known to be sound */
    ais_real *best;   /* of the best snapshot */
    ais_fresh_result best_result, last_result;
    long step;
    double highest_acceptance; /* of the population's moves */
    bool given_up;
    double loss_sum;
    long loss_count;
    int rollbacks;
} work;

/* ---- batches ------------------------------------------------------------------------------------- */

/* The population's present points, whitened, behind those stored before. */
static void store(work *this, double *row) {
    const ais_population *population = this->population;
    int dim = population->target->dim;
    for (int b = 0; b < population->blocks; b++) {
        const ais_state *state = population->state[b];
        ais_whiten(&this->learned->whitening, AIS_BLOCK, state->x, row);
        for (int c = 0; c < AIS_BLOCK; c++) {
            for (int i = 0; i < dim; i++) this->u[this->stored * (size_t)dim + (size_t)i] = row[i * AIS_BLOCK + c];
            this->logp[this->stored++] = state->logp[c];
        }
    }
}

static ais_status new_round(ais_context *context, work *this, double *row) {
    this->stored = 0;
    ais_status status =
        ais_population_use(context, this->population, &this->learned->kernel); /* weights have changed */
    for (int s = 0; status == AIS_OK && s < this->plan->sweeps; s++) {
        status = ais_population_move(context, this->population, 1, this->plan->walks > 0);
        if (status == AIS_OK) store(this, row);
        for (int w = 1; status == AIS_OK && w < this->plan->walks; w++) {
            status = ais_population_walk(context, this->population);
            if (status == AIS_OK) store(this, row);
        }
        this->highest_acceptance = fmax(this->highest_acceptance, this->population->acceptance);
    }
    return status;
}

/* Members of the round's points, at random, as the trainer wants them: blocks of lanes. */
static void draw_batch(work *this, long step) {
    ais_flow_trainer *trainer = &this->trainer;
    int dim = this->learned->shape.dim;
    ais_stream stream = {.seed = this->seed, .step = (uint64_t)step, .purpose = AIS_FOR_BATCH};
    for (int k = 0; k < trainer->batch.blocks * AIS_BLOCK; k++) {
        size_t member = (size_t)ais_random_below(&stream, (uint32_t)k, this->stored);
        double *to = trainer->u + (size_t)(k / AIS_BLOCK) * (size_t)dim * AIS_BLOCK + k % AIS_BLOCK;
        for (int i = 0; i < dim; i++) to[i * AIS_BLOCK] = this->u[member * (size_t)dim + (size_t)i];
        trainer->logp[k] = this->logp[member];
    }
}

/* Normals, in pairs v and -v: odd moments of the batch are exact. */
static void draw_normals(work *this, long step) {
    ais_flow_trainer *trainer = &this->trainer;
    size_t rows = (size_t)this->learned->shape.dim * AIS_BLOCK;
    ais_stream stream = {.seed = this->seed, .step = (uint64_t)step, .purpose = AIS_FOR_BATCH};
    for (int b = 0; b < trainer->batch.blocks; b++) {
        double *v = trainer->u + (size_t)b * rows;
        stream.chain = (uint32_t)b * AIS_BLOCK;
        ais_normals_lanes(&stream, (size_t)this->learned->shape.dim, AIS_BLOCK, v);
        for (size_t i = 0; i < rows; i++)
            if (i % AIS_BLOCK >= AIS_BLOCK / 2) v[i] = -v[i - AIS_BLOCK / 2];
    }
}

/* ---- judging ------------------------------------------------------------------------------------- */

static void swap_in(work *this, const ais_real *weights) {
    memcpy(this->learned->weights, weights, this->learned->weight_count * sizeof *weights);
}

/* Judges the weights (their running average, where there is one) on fresh chains; keeps the best. */
static ais_status judge(ais_context *context, work *this, long step) {
    size_t bytes = this->learned->weight_count * sizeof(ais_real);
    ais_real *present = this->good; /* this->good is renewed below in any case */
    memcpy(present, this->learned->weights, bytes);
    if (this->adam.averaged) swap_in(this, this->adam.averaged);
    ais_status status = ais_fresh_chains(context, this->population, &this->learned->kernel,
                                         this->seed ^ (uint64_t)(step + 1) * 0x9e3779b97f4a7c15,
                                         this->plan->check_chains, this->plan->check_draws, &this->last_result);
    if (status == AIS_OK && this->last_result.worst_ess >= this->best_result.worst_ess) {
        this->best_result = this->last_result;
        memcpy(this->best, this->learned->weights, bytes);
    }
    swap_in(this, present);
    return status;
}

static const char *const stage_names[] = {
    [AIS_FLOW_LIKELIHOOD] = "likelihood", [AIS_FLOW_PAIR] = "exact", [AIS_FLOW_PATH] = "path"};

static ais_status report(ais_context *context, work *this, ais_flow_objective objective, long step) {
    const ais_flow_plan *plan = this->plan;
    if (!plan->progress) return AIS_OK;
    ais_flow_progress progress = {.stage = stage_names[objective],
                                  .step = step,
                                  .steps = plan->steps,
                                  .loss = this->loss_count ? this->loss_sum / (double)this->loss_count : NAN,
                                  .acceptance = this->last_result.acceptance,
                                  .worst_ess = this->last_result.worst_ess,
                                  .best_ess = this->best_result.worst_ess,
                                  .rollbacks = this->rollbacks};
    if (objective != AIS_FLOW_PATH) progress.acceptance = this->population->acceptance;
    this->loss_sum = 0;
    this->loss_count = 0;
    if (plan->progress(plan->data, &progress)) return AIS_OK;
    return ais_fail(context, AIS_STOPPED, "training stopped after %ld of %ld steps", step, plan->steps);
}

/* ---- the loop ------------------------------------------------------------------------------------ */

/* Before a round: its points are yet to be drawn and `good` is about to be renewed. */
static void exchange(ais_checkpoint *checkpoint, void *data) {
    work *this = data;
    AIS_FIELD(checkpoint, this, step);
    ais_adam_exchange(checkpoint, "adam", &this->adam);
    ais_checkpoint_bytes(checkpoint, "best", this->best, this->learned->weight_count * sizeof *this->best);
    AIS_FIELD(checkpoint, this, best_result);
    AIS_FIELD(checkpoint, this, last_result);
    AIS_FIELD(checkpoint, this, highest_acceptance);
    AIS_FIELD(checkpoint, this, loss_sum);
    AIS_FIELD(checkpoint, this, loss_count);
    AIS_FIELD(checkpoint, this, rollbacks);
    ais_population_exchange(checkpoint, this->population);
}

static ais_status one_step(ais_context *context, work *this, ais_flow_objective objective, long step) {
    double loss;
    if (objective == AIS_FLOW_PATH)
        draw_normals(this, step);
    else
        draw_batch(this, step);
    ais_status status = ais_flow_loss(context, &this->trainer, objective, &loss);
    if (status != AIS_OK) return status;
    double norm =
        isfinite(loss) ? ais_adam_step(&this->adam, this->trainer.batch.gradient, this->learned->weights) : NAN;
    if (isfinite(norm)) {
        this->loss_sum += loss;
        this->loss_count++;
        return AIS_OK;
    }
    if (++this->rollbacks > 8)
        return ais_fail(context, AIS_BAD_DENSITY, "training diverged %d times; the last good kernel was kept",
                        this->rollbacks);
    swap_in(this, this->good);
    this->adam.scale *= 0.5;
    return AIS_OK;
}

/* A map that is accepted often but mixes badly half-way is mostly one whose tails are still to come; one that is also
 * seldom accepted is too small. At half the rate of the beginning the weights still tremble: the population, which is
 * moved by earlier ones (with the path objective not at all), must have seen the same. */
static bool hopeless(const work *this, ais_flow_objective objective) {
    static const double often = 0.7;
    double acceptance = this->last_result.acceptance;
    if (objective != AIS_FLOW_PATH) acceptance = fmax(acceptance, this->population->acceptance);
    return this->last_result.worst_ess < this->plan->give_up && acceptance < often;
}

/* After an eighth of the steps a map that is large enough has for once been accepted as often as the plan hopes. */
static bool without_hope(const work *this, long done) {
    return done == this->plan->steps / 8 && this->highest_acceptance < this->plan->hope;
}

static ais_status loop(ais_context *context, work *this, double *row) {
    const ais_flow_plan *plan = this->plan;
    long first_half = (long)(plan->likelihood_share * (double)plan->steps);
    bool resumed;
    ais_status status = ais_checkpoint_enter(context, plan->checkpoint, "flow", exchange, this, &resumed);
    if (status == AIS_OK && !resumed && plan->skip_above > 0) {
        status = judge(context, this, -1);
        if (this->best_result.worst_ess > plan->skip_above) return status;
    }
    for (; status == AIS_OK && this->step < plan->steps; this->step++) {
        long step = this->step;
        ais_flow_objective objective = step < first_half ? AIS_FLOW_LIKELIHOOD : plan->second;
        if (step % plan->steps_per_round == 0) {
            status = ais_checkpoint_offer(context, plan->checkpoint);
            if (status != AIS_OK) break;
            memcpy(this->good, this->learned->weights, this->learned->weight_count * sizeof(ais_real));
            if (objective != AIS_FLOW_PATH) status = new_round(context, this, row);
            if (status == AIS_OK && step) status = report(context, this, objective, step);
            if (status != AIS_OK) break;
        }
        status = one_step(context, this, objective, step);
        int check = (int)((step + 1) * plan->checks / plan->steps);
        bool early = without_hope(this, step + 1);
        if (status == AIS_OK && (early || check > step * plan->checks / plan->steps)) {
            status = judge(context, this, step);
            if (status == AIS_OK) status = report(context, this, objective, step + 1);
            this->given_up = early || hopeless(this, objective);
            if (this->given_up) break;
        }
    }
    return status;
}

/* Of the rate, per weight: first and last layers of conditioners may learn faster or slower than those between. */
static bool share_rate(work *this) {
    const ais_learned *learned = this->learned;
    double first = this->plan->first_rate, last = this->plan->last_rate;
    if (first <= 0 && last <= 0) return true;
    ais_real *share = this->adam.share = AIS_TAKE(&this->arena, ais_real, learned->weight_count);
    for (size_t i = 0; share && i < learned->weight_count; i++) share[i] = 1;
    for (int l = 0; share && l < learned->flow.layers; l++) {
        const ais_flow_layer *layer = &learned->flow.layer[l];
        const ais_perceptron *net = &layer->net;
        if (layer->marginal || net->depth < 1) continue;
        ais_real *own = share + layer->offset, *end = own + ais_perceptron_weights(net);
        for (int i = 0; i < (net->inputs + 1) * net->hidden && first > 0; i++) own[i] = (ais_real)first;
        for (int i = 1; i <= (net->hidden + 1) * net->outputs && last > 0; i++) end[-i] = (ais_real)last;
    }
    return share != NULL;
}

static bool prepare(work *this, size_t points) {
    const ais_learned *learned = this->learned;
    const ais_flow_plan *plan = this->plan;
    size_t dim = (size_t)learned->shape.dim;
    int blocks = (plan->batch + AIS_BLOCK - 1) / AIS_BLOCK;
    this->u = AIS_TAKE(&this->arena, double, points *dim);
    this->logp = AIS_TAKE(&this->arena, double, points);
    this->good = AIS_TAKE(&this->arena, ais_real, learned->weight_count);
    this->best = AIS_TAKE(&this->arena, ais_real, learned->weight_count);
    ais_adam_options options = {.rate = plan->rate,
                                .warmup = 0.1,
                                .beta2 = plan->beta2,
                                .clip = plan->clip,
                                .average = plan->average,
                                .steps = plan->steps};
    return this->u && this->logp && this->good && this->best &&
           ais_flow_trainer_new(&this->trainer, learned, this->population->target, this->population->pool, blocks,
                                &this->arena) &&
           ais_adam_new(&this->adam, &options, learned->weight_count, learned->weights, &this->arena) &&
           share_rate(this);
}

ais_status ais_flow_train(ais_context *context, ais_kernel *kernel, ais_population *population, uint64_t seed,
                          const ais_flow_plan *plan, ais_flow_result *result) {
    work this = {.learned = (ais_learned *)kernel, .population = population, .plan = plan, .seed = seed};
    this.best_result.worst_ess = -1;
    this.last_result = (ais_fresh_result){.worst_ess = NAN, .acceptance = NAN};
    size_t points = (size_t)population->chains * (size_t)plan->sweeps * (size_t)(plan->walks > 1 ? plan->walks : 1);
    double *row = AIS_TAKE(&this.arena, double, (size_t)this.learned->shape.dim *AIS_BLOCK);
    ais_status status = AIS_OK;
    if (!row || !prepare(&this, points)) status = ais_fail_memory(context, "training", points * sizeof(double));
    if (status == AIS_OK) status = ais_population_use(context, population, kernel);
    if (status == AIS_OK) {
        status = loop(context, &this, row);
        ais_checkpoint_leave(plan->checkpoint);
    }
    if (this.best_result.worst_ess >= 0) swap_in(&this, this.best);
    if (result)
        *result = (ais_flow_result){.worst_ess = this.best_result.worst_ess,
                                    .acceptance = this.best_result.acceptance,
                                    .steps = this.adam.step,
                                    .rollbacks = this.rollbacks,
                                    .given_up = this.given_up};
    ais_arena_free(&this.arena);
    return status;
}
