/* Maximum likelihood on draws, judged on others. */
#include <math.h>
#include <string.h>

#include "nn/adam.h"
#include "trainer/empirical.h"
#include "trainer/flow_objective.h"
#include "trainer/training.h"

enum { TASKS = 16 }; /* of a judgement */

typedef struct work {
    ais_learned *learned;
    const ais_sample_split *split;
    ais_empirical_stage *stage;
    ais_flow_trainer trainer;
    ais_adam adam;
    ais_arena arena;
    ais_real *present, *best;
    ais_flow_tape *tape[TASKS];
    double *z;      /* TASKS x dim x AIS_BLOCK */
    double *energy; /* of held-out blocks */
    long step, since;
    double sum; /* of losses, since the last judgement */
} work;

bool ais_sample_split_new(const ais_draws *draws, const ais_whitening *whitening, ais_arena *arena,
                          ais_sample_split *split) {
    size_t dim = (size_t)draws->dim, n = (size_t)draws->chains * (size_t)draws->draws;
    size_t run = n / 200 < 1 ? 1 : n / 200 > 50 ? 50 : n / 200;
    double *x = AIS_TAKE(arena, double, dim *AIS_BLOCK), *u = AIS_TAKE(arena, double, dim *AIS_BLOCK);
    *split = (ais_sample_split){.dim = draws->dim};
    for (size_t k = 0; k < n; k++) split->held_count += k / run % 10 == 9;
    split->train = AIS_TAKE(arena, double, (n - split->held_count) * dim);
    split->held = AIS_TAKE(arena, double, split->held_count *dim);
    if (!x || !u || !split->train || !split->held) return false;
    size_t held = 0;
    for (size_t first = 0; first < n; first += AIS_BLOCK) {
        for (size_t i = 0; i < dim * AIS_BLOCK; i++) {
            size_t k = first + i % AIS_BLOCK;
            x[i] = draws->value[i / AIS_BLOCK * n + (k < n ? k : n - 1)];
        }
        ais_whiten(whitening, AIS_BLOCK, x, u);
        for (size_t c = 0; c < AIS_BLOCK && first + c < n; c++) {
            bool out = (first + c) / run % 10 == 9;
            double *to = out ? split->held + held++ * dim : split->train + split->count++ * dim;
            for (size_t i = 0; i < dim; i++) to[i] = u[i * AIS_BLOCK + c];
        }
    }
    return true;
}

static void draw_batch(work *this, long step) {
    ais_flow_trainer *trainer = &this->trainer;
    size_t dim = (size_t)this->split->dim;
    ais_stream stream = {.seed = this->stage->seed, .step = (uint64_t)step, .purpose = AIS_FOR_BATCH};
    for (size_t k = 0; k < (size_t)trainer->batch.blocks * AIS_BLOCK; k++) {
        size_t member = (size_t)ais_random_below(&stream, (uint32_t)k, this->split->count);
        double *to = trainer->u + k / AIS_BLOCK * dim * AIS_BLOCK + k % AIS_BLOCK;
        for (size_t i = 0; i < dim; i++) to[i * AIS_BLOCK] = this->split->train[member * dim + i];
    }
}

static size_t held_blocks(const ais_sample_split *split) { return (split->held_count + AIS_BLOCK - 1) / AIS_BLOCK; }

/* Minus the sum of log q over one block of the held-out draws. */
static void judge_block(const work *this, int task, size_t b) {
    const ais_learned *learned = this->learned;
    const ais_sample_split *split = this->split;
    size_t dim = (size_t)split->dim, first = b * AIS_BLOCK;
    double *z = this->z + (size_t)task * dim * AIS_BLOCK, log_det[AIS_BLOCK] = {0}, sum = 0;
    for (size_t i = 0; i < dim * AIS_BLOCK; i++) {
        size_t k = first + i % AIS_BLOCK;
        z[i] = split->held[(k < split->held_count ? k : first) * dim + i / AIS_BLOCK];
    }
    ais_flow_map(&learned->flow, learned->weights, this->tape[task], false, z, log_det);
    for (size_t i = 0; i < dim * AIS_BLOCK; i++)
        if (first + i % AIS_BLOCK < split->held_count) sum += 0.5 * z[i] * z[i];
    for (size_t c = 0; c < AIS_BLOCK && first + c < split->held_count; c++) sum -= log_det[c];
    this->energy[b] = sum;
}

static void judge_task(void *data, int task) {
    const work *this = data;
    for (size_t b = (size_t)task; b < held_blocks(this->split); b += TASKS) judge_block(this, task, b);
}

/* Mean of -log q over the held-out draws, up to a constant; keeps the best weights. */
static double judge(work *this) {
    ais_learned *learned = this->learned;
    ais_empirical_stage *stage = this->stage;
    size_t bytes = learned->weight_count * sizeof(ais_real), blocks = held_blocks(this->split);
    memcpy(this->present, learned->weights, bytes);
    if (this->adam.step) memcpy(learned->weights, this->adam.averaged, bytes);
    ais_pool_run(stage->pool, TASKS, judge_task, this);
    double sum = 0;
    for (size_t b = 0; b < blocks; b++) sum += this->energy[b];
    stage->last_loss = sum / (double)this->split->held_count;
    if (stage->last_loss < stage->best_loss) {
        stage->best_loss = stage->last_loss;
        memcpy(this->best, learned->weights, bytes);
    }
    memcpy(learned->weights, this->present, bytes);
    return stage->last_loss;
}

static bool prepare(work *this) {
    const ais_learned *learned = this->learned;
    const ais_empirical_stage *stage = this->stage;
    ais_adam_options options = {.rate = stage->rate, .warmup = 0.1, .clip = 5, .average = 0.99, .steps = stage->steps};
    this->present = AIS_TAKE(&this->arena, ais_real, learned->weight_count);
    this->best = AIS_TAKE(&this->arena, ais_real, learned->weight_count);
    this->z = AIS_TAKE(&this->arena, double, TASKS *(size_t)this->split->dim *AIS_BLOCK);
    this->energy = AIS_TAKE(&this->arena, double, held_blocks(this->split));
    if (!this->present || !this->best || !this->z || !this->energy) return false;
    for (int t = 0; t < TASKS; t++)
        if (!(this->tape[t] = ais_flow_tape_new(&learned->flow, AIS_BLOCK, &this->arena))) return false;
    return ais_flow_trainer_new(&this->trainer, learned, NULL, stage->pool, (stage->batch - 1) / AIS_BLOCK + 1,
                                &this->arena) &&
           ais_adam_new(&this->adam, &options, learned->weight_count, learned->weights, &this->arena);
}

static void exchange(ais_checkpoint *checkpoint, void *data) {
    work *this = data;
    size_t bytes = this->learned->weight_count * sizeof(ais_real);
    AIS_FIELD(checkpoint, this, step);
    AIS_FIELD(checkpoint, this, since);
    AIS_FIELD(checkpoint, this, sum);
    ais_checkpoint_bytes(checkpoint, "weights", this->learned->weights, bytes);
    ais_checkpoint_bytes(checkpoint, "best", this->best, bytes);
    ais_adam_exchange(checkpoint, "adam", &this->adam);
    ais_empirical_stage_exchange(checkpoint, this->stage);
}

static ais_status loop(ais_context *context, work *this) {
    ais_empirical_stage *stage = this->stage;
    bool resumed;
    ais_status status = ais_checkpoint_enter(context, stage->checkpoint, "likelihood", exchange, this, &resumed);
    if (status != AIS_OK) return status;
    if (!resumed) {
        stage->best_loss = INFINITY;
        stage->first_loss = judge(this);
    }
    for (; this->step < stage->steps; this->step++) {
        double loss, norm = NAN;
        long step = this->step;
        status = ais_empirical_stage_go_on(context, stage, step);
        if (status != AIS_OK) return status;
        draw_batch(this, step);
        status = ais_flow_loss(context, &this->trainer, AIS_FLOW_LIKELIHOOD, &loss);
        if (status != AIS_OK) return status;
        if (isfinite(loss)) norm = ais_adam_step(&this->adam, this->trainer.batch.gradient, this->learned->weights);
        if (!isfinite(norm)) { /* back to the best snapshot, slower */
            memcpy(this->learned->weights, this->best, this->learned->weight_count * sizeof(ais_real));
            this->adam.scale *= 0.5;
            if (++stage->rollbacks > 8) return AIS_OK;
            continue;
        }
        this->sum += loss;
        this->since++;
        if ((step + 1) * stage->checks / stage->steps == step * stage->checks / stage->steps) continue;
        double held = judge(this);
        if (!stage->progress(stage->data, "likelihood", (double)(step + 1) / (double)stage->steps,
                             this->sum / (double)this->since, held))
            return ais_fail(context, AIS_STOPPED, "training stopped after %ld of %ld steps", step + 1, stage->steps);
        this->sum = 0;
        this->since = 0;
    }
    return AIS_OK;
}

ais_status ais_empirical_flow(ais_context *context, ais_learned *learned, const ais_sample_split *split,
                              ais_empirical_stage *stage) {
    work this = {.learned = learned, .split = split, .stage = stage};
    ais_status status =
        prepare(&this) ? loop(context, &this) : ais_fail_memory(context, "training", split->count * sizeof(double));
    if (stage->best_loss < INFINITY && this.best)
        memcpy(learned->weights, this.best, learned->weight_count * sizeof(ais_real));
    ais_arena_free(&this.arena);
    return status;
}
