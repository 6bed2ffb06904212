/* The discriminator between draws and proposals: mean of log(1 + e^-D) over draws plus that of log(1 + e^D) over
 * proposals, as many of either. */
#include <math.h>

#include "base/streams.h"
#include "nn/batch.h"
#include "simd/normal.h"
#include "trainer/empirical.h"

enum { HELD_PROPOSALS = 4 }; /* for every held-out draw: they cost little and lower the noise of the judgement */
static const double first_layer = 2, centre = 2.5, last_layer = 0.01;

/* Two blocks of lanes each: draws and proposals. */
typedef struct side {
    ais_ratio_tape tape;
    ais_flow_tape *flow;
    double *u; /* dim x AIS_BLOCK */
} side;

typedef struct work {
    ais_empirical_stage *stage;
    ais_learned *learned;
    const ais_sample_split *split;
    ais_batch batch;
    side *side; /* blocks of the batch, or of a judgement */
    int sides;
    uint64_t step;
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
    ais_stream stream = ais_stream_for(AIS_USE_RATIO_PROPOSALS, this->stage->seed, step, chain * AIS_BLOCK);
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
    double value[AIS_BLOCK], share = 2.0 / ((double)this->batch.blocks * AIS_BLOCK);
    bool draws = b % 2 == 0;
    if (draws) {
        ais_stream stream = ais_stream_for(AIS_USE_RATIO_BATCH, this->stage->seed, this->step, (uint64_t)b);
        ais_sample_pick(&stream, 0, this->split->dim, this->split->count, this->split->train, mine->u);
    } else {
        propose(this, mine->flow, 2 + this->step, (uint32_t)b, mine->u);
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

/* Task t works on every sides-th block, so that no more tapes are needed than a batch has. */
static void propose_held(void *data, int t) {
    const work *this = data;
    size_t rows = (size_t)this->split->dim * AIS_BLOCK;
    for (size_t b = (size_t)t; b < ais_sample_held_blocks(this->split) * HELD_PROPOSALS; b += (size_t)this->sides)
        propose(this, this->side[t].flow, 1, (uint32_t)b, this->held_q + b * rows);
}

static void judge_task(void *data, int t) {
    const work *this = data;
    const side *mine = &this->side[t];
    const ais_sample_split *split = this->split;
    size_t dim = (size_t)split->dim, of_draws = ais_sample_held_blocks(this->split),
           all = of_draws * (1 + HELD_PROPOSALS);
    for (size_t b = (size_t)t; b < all; b += (size_t)this->sides) {
        double value[AIS_BLOCK], ignored, sum = 0;
        bool draws = b < of_draws;
        size_t lanes = draws ? ais_sample_held(split, b, mine->u) : AIS_BLOCK;
        const double *u = draws ? mine->u : this->held_q + (b - of_draws) * dim * AIS_BLOCK;
        ais_ratio_forward(&this->learned->ratio, &mine->tape, u, value);
        for (size_t c = 0; c < lanes; c++) sum += softplus(draws ? -value[c] : value[c], &ignored);
        double points = draws ? (double)split->held_count : (double)(of_draws * HELD_PROPOSALS * AIS_BLOCK);
        this->loss[b] = sum / points;
    }
}

static ais_status judge(ais_context *context, ais_loop *loop, ais_judgement *judgement) {
    (void)context;
    work *this = loop->self;
    double sum = 0;
    ais_pool_run(this->stage->pool, this->sides, judge_task, this);
    for (size_t b = 0; b < ais_sample_held_blocks(this->split) * (1 + HELD_PROPOSALS); b++) sum += this->loss[b];
    judgement->score = -sum;
    return AIS_OK;
}

/* ---- training ------------------------------------------------------------------------------------ */

static double normal_at(uint64_t seed, size_t i) {
    double value;
    ais_stream stream = ais_stream_for(AIS_USE_RATIO, seed, i, 0);
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
                ais_stream stream = ais_stream_for(AIS_USE_RATIO, seed, at, 1);
                double weight = scale * normal_at(seed, at), u = ais_random_uniform(&stream, 0);
                w[o * inputs + i] = (ais_real)weight;
                if (l == 0) bias[o] -= (ais_real)(weight * centre * (2 * u - 1));
            }
        }
        w = bias + outputs;
    }
}

static bool prepare(work *this, ais_loop *loop) {
    const ais_ratio *ratio = &this->learned->ratio;
    ais_arena *arena = &loop->arena;
    size_t rows = (size_t)this->split->dim * AIS_BLOCK, blocks = ais_sample_held_blocks(this->split);
    this->sides = 2 * ((loop->recipe->batch - 1) / AIS_BLOCK + 1);
    this->side = AIS_TAKE(arena, side, this->sides);
    this->held_q = AIS_TAKE(arena, double, blocks *HELD_PROPOSALS *rows);
    this->loss = AIS_TAKE(arena, double, blocks *(1 + HELD_PROPOSALS));
    ais_real *blind = AIS_TAKE(arena, ais_real, ratio->count); /* zeros: D = 0 */
    if (!this->side || !this->held_q || !this->loss || !blind) return false;
    for (int b = 0; b < this->sides; b++) {
        side *mine = &this->side[b];
        mine->u = AIS_TAKE(arena, double, rows);
        mine->flow = ais_flow_tape_new(&this->learned->flow, AIS_BLOCK, arena);
        if (!mine->u || !mine->flow || !ais_ratio_tape_new(ratio, AIS_BLOCK, arena, &mine->tape)) return false;
    }
    ais_empirical_spread(ratio, this->stage->seed);
    loop->best.score = -this->stage->first_loss;
    return ais_batch_new(&this->batch, this->stage->pool, this->sides, ratio->count, arena) &&
           ais_loop_learn(loop, &(ais_network){.name = "discriminator",
                                               .count = ratio->count,
                                               .weights = ratio->weights,
                                               .best = blind,
                                               .gradient = this->batch.gradient,
                                               .pace = &loop->recipe->pace});
}

static ais_status begin(ais_context *context, ais_loop *loop) {
    work *this = loop->self;
    if (!prepare(this, loop)) return ais_empirical_memory(context, loop);
    ais_pool_run(this->stage->pool, this->sides, propose_held, this);
    return AIS_OK;
}

static ais_status step(ais_context *context, ais_loop *loop, int network, double *loss) {
    (void)context;
    (void)network;
    work *this = loop->self;
    this->step = (uint64_t)loop->step;
    *loss = ais_batch_run(&this->batch, train_block, this);
    return AIS_OK;
}

static const ais_method ratio_method = {"ratio", begin, NULL, step, judge, NULL, ais_empirical_end};

ais_status ais_empirical_ratio(ais_context *context, ais_empirical_stage *stage) {
    work this = {.stage = stage, .learned = stage->learned, .split = stage->split};
    return ais_empirical_run(context, &ratio_method, &this);
}
