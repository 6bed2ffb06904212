/* Map and discriminator against each other, from draws alone. */
#include <math.h>
#include <string.h>

#include "nn/adam.h"
#include "simd/normal.h"
#include "trainer/batch.h"
#include "trainer/empirical.h"

enum { TURNS = 5 }; /* steps of the discriminator for one of the map */

/* Lanes of pairs (x, x'). */
typedef struct pairs {
    ais_ratio_tape draw_tape, proposal_tape;
    ais_flow_tape *flow;
    double *draw, *proposal, *gradient; /* dim x AIS_BLOCK */
    ais_real *unused;                   /* gradient by weights of D that the map's step does not need */
} pairs;

typedef struct work {
    ais_learned *learned;
    const ais_sample_split *split;
    ais_empirical_stage *stage;
    ais_batch map_batch, ratio_batch;
    ais_adam map_adam, ratio_adam;
    ais_arena arena;
    pairs *block;
    uint64_t turn; /* of random numbers */
    bool held;     /* pairs of held-out draws */
} work;

static void make_pairs(const work *this, int b, double *d) {
    const ais_learned *learned = this->learned;
    pairs *mine = &this->block[b];
    size_t dim = (size_t)this->split->dim, count = this->held ? this->split->held_count : this->split->count;
    const double *from = this->held ? this->split->held : this->split->train;
    double log_det[AIS_BLOCK] = {0}, value[AIS_BLOCK];
    ais_stream pick = {
        .seed = this->stage->seed, .step = this->turn, .chain = 1 + (uint32_t)b, .purpose = AIS_FOR_BATCH};
    ais_stream noise = {
        .seed = this->stage->seed, .step = this->turn, .chain = (uint32_t)b * AIS_BLOCK, .purpose = AIS_FOR_MIXTURE};
    for (size_t c = 0; c < AIS_BLOCK; c++) {
        size_t member = (size_t)ais_random_below(&pick, (uint32_t)c, count);
        for (size_t i = 0; i < dim; i++) mine->draw[i * AIS_BLOCK + c] = from[member * dim + i];
    }
    ais_normals_lanes(&noise, dim, AIS_BLOCK, mine->proposal);
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

static bool prepare(work *this, double ratio_rate) {
    const ais_learned *learned = this->learned;
    const ais_empirical_stage *stage = this->stage;
    int blocks = (stage->batch - 1) / AIS_BLOCK + 1;
    size_t rows = (size_t)this->split->dim * AIS_BLOCK;
    ais_adam_options options = {.rate = stage->rate, .warmup = 0.1, .clip = 5, .average = 0.99, .steps = stage->steps};
    this->block = AIS_TAKE(&this->arena, pairs, blocks);
    for (int b = 0; this->block && b < blocks; b++) {
        pairs *mine = &this->block[b];
        mine->draw = AIS_TAKE(&this->arena, double, rows);
        mine->proposal = AIS_TAKE(&this->arena, double, rows);
        mine->gradient = AIS_TAKE(&this->arena, double, rows);
        mine->unused = AIS_TAKE(&this->arena, ais_real, learned->ratio.count);
        mine->flow = ais_flow_tape_new(&learned->flow, AIS_BLOCK, &this->arena);
        if (!mine->draw || !mine->proposal || !mine->gradient || !mine->unused || !mine->flow ||
            !ais_ratio_tape_new(&learned->ratio, AIS_BLOCK, &this->arena, &mine->draw_tape) ||
            !ais_ratio_tape_new(&learned->ratio, AIS_BLOCK, &this->arena, &mine->proposal_tape))
            return false;
    }
    bool room = this->block &&
                ais_batch_new(&this->map_batch, stage->pool, blocks, learned->weight_count, &this->arena) &&
                ais_adam_new(&this->map_adam, &options, learned->weight_count, learned->weights, &this->arena);
    options.rate = ratio_rate;
    options.steps = TURNS * stage->steps;
    return room && ais_batch_new(&this->ratio_batch, stage->pool, blocks, learned->ratio.count, &this->arena) &&
           ais_adam_new(&this->ratio_adam, &options, learned->ratio.count, learned->ratio.weights, &this->arena);
}

/* One turn of each; false when a number was not finite, and then nothing has changed in that one. */
static bool turn(work *this, double *loss) {
    ais_learned *learned = this->learned;
    bool good = true;
    for (int k = 0; k < TURNS; k++, this->turn++) {
        *loss = ais_batch_run(&this->ratio_batch, ratio_block, this);
        good &= isfinite(ais_adam_step(&this->ratio_adam, this->ratio_batch.gradient, learned->ratio.weights));
    }
    ais_batch_run(&this->map_batch, map_block, this);
    good &= isfinite(ais_adam_step(&this->map_adam, this->map_batch.gradient, learned->weights));
    this->turn++;
    return good;
}

static ais_status loop(ais_context *context, work *this) {
    ais_empirical_stage *stage = this->stage;
    for (long step = 0; step < stage->steps; step++) {
        double loss;
        if (!turn(this, &loss)) {
            this->map_adam.scale *= 0.5;
            this->ratio_adam.scale *= 0.5;
            if (++stage->rollbacks > 8) return AIS_OK;
        }
        if ((step + 1) * stage->checks / stage->steps == step * stage->checks / stage->steps) continue;
        if (!stage->progress(stage->data, "joint", (double)(step + 1) / (double)stage->steps, loss, 2 * loss))
            return ais_fail(context, AIS_STOPPED, "training stopped after %ld of %ld steps", step + 1, stage->steps);
    }
    return AIS_OK;
}

/* The loss of fresh pairs with held-out draws, in the units of ais_empirical_ratio: twice that of a pair. */
static void judge(work *this) {
    enum { ROUNDS = 16 };
    double sum = 0;
    this->held = true;
    for (int k = 0; k < ROUNDS; k++, this->turn++) sum += ais_batch_run(&this->ratio_batch, ratio_block, this);
    this->stage->best_loss = this->stage->last_loss = 2 * sum / ROUNDS;
}

ais_status ais_empirical_joint(ais_context *context, ais_learned *learned, const ais_sample_split *split,
                               ais_empirical_stage *stage, double ratio_rate) {
    work this = {.learned = learned, .split = split, .stage = stage, .turn = (uint64_t)1 << 32};
    ais_empirical_spread(&learned->ratio, stage->seed);
    stage->first_loss = stage->best_loss = stage->last_loss = 2 * log(2); /* of D = 0 */
    if (!prepare(&this, ratio_rate)) {
        ais_arena_free(&this.arena);
        return ais_fail_memory(context, "training", split->count * sizeof(double));
    }
    ais_status status = loop(context, &this);
    memcpy(learned->weights, this.map_adam.averaged, learned->weight_count * sizeof(ais_real));
    memcpy(learned->ratio.weights, this.ratio_adam.averaged, learned->ratio.count * sizeof(ais_real));
    if (status == AIS_OK) judge(&this);
    ais_arena_free(&this.arena);
    return status;
}
