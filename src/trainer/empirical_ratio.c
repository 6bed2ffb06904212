/* The discriminator between draws and proposals: mean of log(1 + e^-D) over draws plus that of log(1 + e^D) over
 * proposals, as many of either. */
#include <math.h>
#include <string.h>

#include "nn/adam.h"
#include "simd/normal.h"
#include "trainer/batch.h"
#include "trainer/empirical.h"
#include "trainer/training.h"

enum { HELD_PROPOSALS = 4 }; /* for every held-out draw: they cost little and lower the noise of the judgement */
static const double first_layer = 2, centre = 2.5, last_layer = 0.01;

/* Two blocks of lanes each: draws and proposals. */
typedef struct side {
    ais_ratio_tape tape;
    ais_flow_tape *flow;
    double *u; /* dim x AIS_BLOCK */
} side;

typedef struct work {
    ais_learned *learned;
    const ais_sample_split *split;
    ais_empirical_stage *stage;
    ais_batch batch;
    ais_adam adam;
    ais_arena arena;
    side *side; /* blocks of the batch, or of a judgement */
    int sides;
    long step, since;
    double sum; /* of losses, since the last judgement */
    ais_real *present, *best;
    double *held_q; /* held-out proposals, blocks x dim x AIS_BLOCK */
    double *loss;   /* of held-out blocks */
} work;

/* log(1 + e^x) and its slope. */
static double softplus(double x, double *slope) {
    double e = exp(-fabs(x));
    *slope = x > 0 ? 1 / (1 + e) : e / (1 + e);
    return fmax(x, 0) + log1p(e);
}

/* Block `chain` of proposals u = T^-1(v). One that is not finite is put at 0, where it does no harm. */
static void propose(const work *this, ais_flow_tape *tape, uint64_t step, uint32_t chain, double *u) {
    const ais_learned *learned = this->learned;
    size_t dim = (size_t)this->split->dim;
    double log_det[AIS_BLOCK] = {0};
    ais_stream stream = {
        .seed = this->stage->seed, .step = step, .chain = chain * AIS_BLOCK, .purpose = AIS_FOR_MIXTURE};
    ais_normals_lanes(&stream, dim, AIS_BLOCK, u);
    ais_flow_map(&learned->flow, learned->weights, tape, true, u, log_det);
    for (size_t i = 0; i < dim * AIS_BLOCK; i++)
        if (!isfinite(u[i])) u[i] = 0;
}

/* Even blocks are of draws, odd ones of proposals. */
static void train_block(void *data, int b, ais_real *gradient, double *loss) {
    const work *this = data;
    const side *mine = &this->side[b];
    const ais_ratio *ratio = &this->learned->ratio;
    size_t dim = (size_t)this->split->dim;
    double value[AIS_BLOCK], share = 2.0 / ((double)this->batch.blocks * AIS_BLOCK);
    bool draws = b % 2 == 0;
    if (draws) {
        ais_stream stream = {.seed = this->stage->seed,
                             .step = (uint64_t)this->step,
                             .chain = 1 + (uint32_t)b,
                             .purpose = AIS_FOR_BATCH};
        for (size_t c = 0; c < AIS_BLOCK; c++) {
            size_t member = (size_t)ais_random_below(&stream, (uint32_t)c, this->split->count);
            for (size_t i = 0; i < dim; i++) mine->u[i * AIS_BLOCK + c] = this->split->train[member * dim + i];
        }
    } else {
        propose(this, mine->flow, 2 + (uint64_t)this->step, (uint32_t)b, mine->u);
    }
    ais_ratio_forward(ratio, &mine->tape, mine->u, value);
    for (int c = 0; c < AIS_BLOCK; c++) {
        double slope;
        *loss += share * softplus(draws ? -value[c] : value[c], &slope);
        value[c] = share * (draws ? -slope : slope);
    }
    ais_ratio_backward(ratio, &mine->tape, value, NULL, gradient);
}

/* ---- judging ------------------------------------------------------------------------------------- */

static size_t held_blocks(const work *this) { return (this->split->held_count + AIS_BLOCK - 1) / AIS_BLOCK; }

/* Task t works on every sides-th block, so that no more tapes are needed than a batch has. */
static void propose_held(void *data, int t) {
    const work *this = data;
    size_t rows = (size_t)this->split->dim * AIS_BLOCK;
    for (size_t b = (size_t)t; b < held_blocks(this) * HELD_PROPOSALS; b += (size_t)this->sides)
        propose(this, this->side[t].flow, 1, (uint32_t)b, this->held_q + b * rows);
}

static void judge_task(void *data, int t) {
    const work *this = data;
    const side *mine = &this->side[t];
    const ais_sample_split *split = this->split;
    size_t dim = (size_t)split->dim, of_draws = held_blocks(this), all = of_draws * (1 + HELD_PROPOSALS);
    for (size_t b = (size_t)t; b < all; b += (size_t)this->sides) {
        double value[AIS_BLOCK], ignored, sum = 0;
        bool draws = b < of_draws;
        size_t first = b * AIS_BLOCK, lanes = AIS_BLOCK;
        for (size_t i = 0; i < dim * AIS_BLOCK && draws; i++) {
            size_t k = first + i % AIS_BLOCK;
            mine->u[i] = split->held[(k < split->held_count ? k : first) * dim + i / AIS_BLOCK];
        }
        if (draws && split->held_count - first < lanes) lanes = split->held_count - first;
        const double *u = draws ? mine->u : this->held_q + (b - of_draws) * dim * AIS_BLOCK;
        ais_ratio_forward(&this->learned->ratio, &mine->tape, u, value);
        for (size_t c = 0; c < lanes; c++) sum += softplus(draws ? -value[c] : value[c], &ignored);
        double points = draws ? (double)split->held_count : (double)(of_draws * HELD_PROPOSALS * AIS_BLOCK);
        this->loss[b] = sum / points;
    }
}

/* The held-out loss of the averaged weights, which are kept when they are the best so far. */
static double judge(work *this) {
    ais_ratio *ratio = &this->learned->ratio;
    ais_empirical_stage *stage = this->stage;
    size_t bytes = ratio->count * sizeof(ais_real), blocks = held_blocks(this) * (1 + HELD_PROPOSALS);
    memcpy(this->present, ratio->weights, bytes);
    memcpy(ratio->weights, this->adam.averaged, bytes);
    ais_pool_run(stage->pool, this->sides, judge_task, this);
    double sum = 0;
    for (size_t b = 0; b < blocks; b++) sum += this->loss[b];
    stage->last_loss = sum;
    if (sum < stage->best_loss) {
        stage->best_loss = sum;
        memcpy(this->best, ratio->weights, bytes);
    }
    memcpy(ratio->weights, this->present, bytes);
    return sum;
}

/* ---- training ------------------------------------------------------------------------------------ */

static double normal_at(uint64_t seed, size_t i) {
    double value;
    ais_stream stream = {.seed = seed, .step = i, .chain = 7, .purpose = AIS_FOR_WEIGHTS};
    ais_normals(&stream, 1, &value);
    return value;
}

void ais_empirical_spread(const ais_ratio *ratio, uint64_t seed) {
    const ais_perceptron *net = &ratio->net;
    ais_real *w = ratio->weights;
    size_t at = 0;
    for (int l = 0; l <= net->depth; l++) {
        size_t inputs = (size_t)(l ? net->hidden : net->inputs), outputs = l < net->depth ? (size_t)net->hidden : 1;
        ais_real *bias = w + inputs * outputs;
        double scale = l == 0 ? first_layer / sqrt((double)inputs) : sqrt(1.0 / (double)inputs);
        if (l == net->depth) scale *= last_layer;
        for (size_t o = 0; o < outputs; o++) {
            bias[o] = 0;
            for (size_t i = 0; i < inputs; i++, at++) {
                ais_stream stream = {.seed = seed, .step = at, .chain = 8, .purpose = AIS_FOR_WEIGHTS};
                double weight = scale * normal_at(seed, at), u = ais_random_uniform(&stream, 0);
                w[o * inputs + i] = (ais_real)weight;
                if (l == 0) bias[o] -= (ais_real)(weight * centre * (2 * u - 1));
            }
        }
        w = bias + outputs;
    }
}

static bool prepare(work *this) {
    const ais_ratio *ratio = &this->learned->ratio;
    const ais_empirical_stage *stage = this->stage;
    size_t rows = (size_t)this->split->dim * AIS_BLOCK, blocks = held_blocks(this);
    this->sides = 2 * ((stage->batch - 1) / AIS_BLOCK + 1);
    ais_adam_options options = {.rate = stage->rate, .warmup = 0.1, .clip = 5, .average = 0.99, .steps = stage->steps};
    this->side = AIS_TAKE(&this->arena, side, this->sides);
    this->present = AIS_TAKE(&this->arena, ais_real, ratio->count);
    this->best = AIS_TAKE(&this->arena, ais_real, ratio->count); /* zeros: D = 0 */
    this->held_q = AIS_TAKE(&this->arena, double, blocks *HELD_PROPOSALS *rows);
    this->loss = AIS_TAKE(&this->arena, double, blocks *(1 + HELD_PROPOSALS));
    if (!this->side || !this->present || !this->best || !this->held_q || !this->loss) return false;
    for (int b = 0; b < this->sides; b++) {
        side *mine = &this->side[b];
        mine->u = AIS_TAKE(&this->arena, double, rows);
        mine->flow = ais_flow_tape_new(&this->learned->flow, AIS_BLOCK, &this->arena);
        if (!mine->u || !mine->flow || !ais_ratio_tape_new(ratio, AIS_BLOCK, &this->arena, &mine->tape)) return false;
    }
    ais_empirical_spread(ratio, stage->seed);
    return ais_batch_new(&this->batch, stage->pool, this->sides, ratio->count, &this->arena) &&
           ais_adam_new(&this->adam, &options, ratio->count, ratio->weights, &this->arena);
}

static void exchange(ais_checkpoint *checkpoint, void *data) {
    work *this = data;
    const ais_ratio *ratio = &this->learned->ratio;
    AIS_FIELD(checkpoint, this, step);
    AIS_FIELD(checkpoint, this, since);
    AIS_FIELD(checkpoint, this, sum);
    ais_checkpoint_bytes(checkpoint, "weights", ratio->weights, ratio->count * sizeof(ais_real));
    ais_checkpoint_bytes(checkpoint, "best", this->best, ratio->count * sizeof(ais_real));
    ais_adam_exchange(checkpoint, "adam", &this->adam);
    ais_empirical_stage_exchange(checkpoint, this->stage);
}

static ais_status loop(ais_context *context, work *this) {
    ais_empirical_stage *stage = this->stage;
    ais_ratio *ratio = &this->learned->ratio;
    bool resumed;
    ais_status status = ais_checkpoint_enter(context, stage->checkpoint, "ratio", exchange, this, &resumed);
    ais_pool_run(stage->pool, this->sides, propose_held, this);
    for (; status == AIS_OK && this->step < stage->steps; this->step++) {
        status = ais_empirical_stage_go_on(context, stage, this->step);
        if (status != AIS_OK) return status;
        double loss = ais_batch_run(&this->batch, train_block, this), norm = NAN;
        if (isfinite(loss)) norm = ais_adam_step(&this->adam, this->batch.gradient, ratio->weights);
        if (!isfinite(norm)) {
            memcpy(ratio->weights, this->best, ratio->count * sizeof(ais_real));
            this->adam.scale *= 0.5;
            if (++stage->rollbacks > 8) return AIS_OK;
            continue;
        }
        this->sum += loss;
        this->since++;
        if ((this->step + 1) * stage->checks / stage->steps == this->step * stage->checks / stage->steps) continue;
        double held = judge(this), share = (double)(this->step + 1) / (double)stage->steps;
        if (!stage->progress(stage->data, "ratio", share, this->sum / (double)this->since, held))
            return ais_fail(context, AIS_STOPPED, "training stopped after %ld of %ld steps of the discriminator",
                            this->step + 1, stage->steps);
        this->sum = 0;
        this->since = 0;
    }
    return status;
}

ais_status ais_empirical_ratio(ais_context *context, ais_learned *learned, const ais_sample_split *split,
                               ais_empirical_stage *stage) {
    work this = {.learned = learned, .split = split, .stage = stage};
    stage->first_loss = stage->best_loss = stage->last_loss = 2 * log(2); /* of D = 0 */
    ais_status status =
        prepare(&this) ? loop(context, &this) : ais_fail_memory(context, "training", split->count * sizeof(double));
    if (this.best)
        memcpy(learned->ratio.weights, this.best, learned->ratio.count * sizeof(ais_real));
    else
        memset(learned->ratio.weights, 0, learned->ratio.count * sizeof(ais_real));
    ais_arena_free(&this.arena);
    return status;
}
