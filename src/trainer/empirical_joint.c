/* Map and discriminator against each other, from draws alone. */
#include <math.h>

#include "base/streams.h"
#include "nn/batch.h"
#include "simd/normal.h"
#include "trainer/empirical.h"

enum { DISCRIMINATOR, MAP }; /* networks, in the order of their turns */

/* Lanes of pairs (x, x'). */
typedef struct pairs {
    ais_ratio_tape draw_tape, proposal_tape;
    ais_flow_tape *flow;
    double *draw, *proposal, *gradient; /* dim x AIS_BLOCK */
    ais_real *unused;                   /* gradient by weights of D that the map's step does not need */
} pairs;

typedef struct work {
    ais_empirical_stage *stage;
    ais_learned *learned;
    const ais_sample_split *split;
    ais_batch map_batch, ratio_batch;
    pairs *block;
    uint64_t turn; /* of random numbers */
    bool held;     /* pairs of held-out draws */
} work;

static void make_pairs(const work *this, int b, double *d) {
    const ais_learned *learned = this->learned;
    pairs *mine = &this->block[b];
    size_t count = this->held ? this->split->held_count : this->split->count;
    const double *from = this->held ? this->split->held : this->split->train;
    double log_det[AIS_BLOCK] = {0}, value[AIS_BLOCK];
    ais_stream pick = ais_stream_for(AIS_USE_RATIO_BATCH, this->stage->seed, this->turn, (uint64_t)b);
    ais_stream noise = ais_stream_for(AIS_USE_RATIO_PROPOSALS, this->stage->seed, this->turn, (uint64_t)b * AIS_BLOCK);
    ais_sample_pick(&pick, 0, this->split->dim, count, from, mine->draw);
    ais_normals_lanes(&noise, (size_t)this->split->dim, AIS_BLOCK, mine->proposal);
    ais_flow_map(&learned->flow, learned->weights, mine->flow, true, mine->proposal, log_det);
    ais_ratio_forward(&learned->ratio, &mine->draw_tape, mine->draw, value);
    ais_ratio_forward(&learned->ratio, &mine->proposal_tape, mine->proposal, d);
    for (int c = 0; c < AIS_BLOCK; c++) d[c] -= value[c];
}

/* Mean of log(1 + e^d), math.md (14), by the weights of D. */
static void ratio_block(void *data, int b, ais_real *gradient, double *loss) {
    const work *this = data;
    pairs *mine = &this->block[b];
    double d[AIS_BLOCK], minus[AIS_BLOCK], share = 1.0 / ((double)this->ratio_batch.blocks * AIS_BLOCK);
    make_pairs(this, b, d);
    for (int c = 0; c < AIS_BLOCK; c++) {
        *loss += share * (fmax(d[c], 0) + log1p(exp(-fabs(d[c]))));
        d[c] = share / (1 + exp(-d[c]));
        minus[c] = -d[c];
    }
    ais_ratio_backward(&this->learned->ratio, &mine->proposal_tape, d, NULL, gradient);
    ais_ratio_backward(&this->learned->ratio, &mine->draw_tape, minus, NULL, gradient);
}

/* Minus the mean of r(d), math.md (13), by the weights of T. */
static void map_block(void *data, int b, ais_real *gradient, double *loss) {
    const work *this = data;
    const ais_learned *learned = this->learned;
    pairs *mine = &this->block[b];
    double d[AIS_BLOCK], no_det[AIS_BLOCK] = {0}, share = 1.0 / ((double)this->map_batch.blocks * AIS_BLOCK);
    make_pairs(this, b, d);
    for (int c = 0; c < AIS_BLOCK; c++) {
        double r = 1 / (1 + exp(-d[c]));
        *loss -= share * r;
        d[c] = -share * r * (1 - r);
    }
    ais_ratio_backward(&learned->ratio, &mine->proposal_tape, d, mine->gradient, mine->unused);
    ais_flow_backward(&learned->flow, learned->weights, mine->flow, true, mine->gradient, no_det, gradient);
}

static bool new_pairs(const ais_learned *learned, ais_arena *arena, pairs *mine) {
    size_t rows = (size_t)learned->shape.dim * AIS_BLOCK;
    mine->draw = AIS_TAKE(arena, double, rows);
    mine->proposal = AIS_TAKE(arena, double, rows);
    mine->gradient = AIS_TAKE(arena, double, rows);
    mine->unused = AIS_TAKE(arena, ais_real, learned->ratio.count);
    mine->flow = ais_flow_tape_new(&learned->flow, AIS_BLOCK, arena);
    return mine->draw && mine->proposal && mine->gradient && mine->unused && mine->flow &&
           ais_ratio_tape_new(&learned->ratio, AIS_BLOCK, arena, &mine->draw_tape) &&
           ais_ratio_tape_new(&learned->ratio, AIS_BLOCK, arena, &mine->proposal_tape);
}

static bool prepare(work *this, ais_loop *loop) {
    const ais_learned *learned = this->learned;
    const ais_recipe *recipe = loop->recipe;
    ais_pool *pool = this->stage->pool;
    int blocks = (recipe->batch - 1) / AIS_BLOCK + 1;
    this->block = AIS_TAKE(&loop->arena, pairs, blocks);
    for (int b = 0; b < blocks; b++)
        if (!this->block || !new_pairs(learned, &loop->arena, &this->block[b])) return false;
    ais_empirical_spread(&learned->ratio, this->stage->seed);
    return ais_batch_new(&this->map_batch, pool, blocks, learned->weight_count, &loop->arena) &&
           ais_batch_new(&this->ratio_batch, pool, blocks, learned->ratio.count, &loop->arena) &&
           ais_loop_learn(loop, &(ais_network){.name = "discriminator",
                                               .count = learned->ratio.count,
                                               .weights = learned->ratio.weights,
                                               .gradient = this->ratio_batch.gradient,
                                               .pace = &recipe->helper,
                                               .turns = recipe->helper_turns}) &&
           ais_loop_learn(loop, &(ais_network){.name = "map",
                                               .count = learned->weight_count,
                                               .weights = learned->weights,
                                               .gradient = this->map_batch.gradient,
                                               .pace = &recipe->pace});
}

static ais_status begin(ais_context *context, ais_loop *loop) {
    return prepare(loop->self, loop) ? AIS_OK : ais_empirical_memory(context, loop);
}

static ais_status step(ais_context *context, ais_loop *loop, int network, double *loss) {
    (void)context;
    work *this = loop->self;
    *loss = network == DISCRIMINATOR ? ais_batch_run(&this->ratio_batch, ratio_block, this)
                                     : ais_batch_run(&this->map_batch, map_block, this);
    this->turn++;
    return AIS_OK;
}

/* The loss of fresh pairs with held-out draws, in the units of ais_empirical_ratio: twice that of a pair. */
static ais_status judge(ais_context *context, ais_loop *loop, ais_judgement *judgement) {
    (void)context;
    enum { ROUNDS = 16 };
    work *this = loop->self;
    double sum = 0;
    this->held = true;
    for (int k = 0; k < ROUNDS; k++, this->turn++) sum += ais_batch_run(&this->ratio_batch, ratio_block, this);
    this->held = false;
    judgement->score = -2 * sum / ROUNDS;
    return AIS_OK;
}

static void exchange(ais_checkpoint *checkpoint, ais_loop *loop) {
    work *this = loop->self;
    AIS_FIELD(checkpoint, this, turn);
}

static const ais_method joint = {"joint", begin, NULL, step, judge, exchange, ais_empirical_end};

ais_status ais_empirical_joint(ais_context *context, ais_empirical_stage *stage) {
    work this = {.stage = stage, .learned = stage->learned, .split = stage->split, .turn = (uint64_t)1 << 32};
    return ais_empirical_run(context, &joint, &this);
}
