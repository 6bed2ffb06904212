/* Maximum likelihood on draws, judged on others. */
#include <math.h>

#include "base/streams.h"
#include "fit/flow_objective.h"
#include "trainer/empirical.h"

enum { TASKS = 16 }; /* of a judgement */

typedef struct work {
    ais_empirical_stage *stage;
    ais_learned *learned;
    const ais_sample_split *split;
    ais_flow_trainer trainer;
    ais_flow_tape *tape[TASKS];
    double *z;      /* TASKS x dim x AIS_BLOCK */
    double *energy; /* of held-out blocks */
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

void ais_sample_pick(const ais_stream *stream, size_t first, int dim, size_t n, const double *draws, double *u) {
    for (size_t c = 0; c < AIS_BLOCK; c++) {
        const double *from = draws + ais_random_below(stream, (uint32_t)(first + c), n) * (size_t)dim;
        for (size_t i = 0; i < (size_t)dim; i++) u[i * AIS_BLOCK + c] = from[i];
    }
}

size_t ais_sample_held_blocks(const ais_sample_split *split) { return (split->held_count + AIS_BLOCK - 1) / AIS_BLOCK; }

size_t ais_sample_held(const ais_sample_split *split, size_t block, double *u) {
    size_t dim = (size_t)split->dim, first = block * AIS_BLOCK, left = split->held_count - first;
    for (size_t i = 0; i < dim * AIS_BLOCK; i++)
        u[i] = split->held[(first + (i % AIS_BLOCK < left ? i % AIS_BLOCK : 0)) * dim + i / AIS_BLOCK];
    return left < AIS_BLOCK ? left : AIS_BLOCK;
}

/* Minus the sum of log q over one block of the held-out draws. */
static void judge_block(const work *this, int task, size_t b) {
    const ais_learned *learned = this->learned;
    size_t rows = (size_t)this->split->dim * AIS_BLOCK;
    double *z = this->z + (size_t)task * rows, log_det[AIS_BLOCK] = {0}, sum = 0;
    size_t lanes = ais_sample_held(this->split, b, z);
    ais_flow_map(&learned->flow, learned->weights, this->tape[task], false, z, log_det);
    for (size_t i = 0; i < rows; i++)
        if (i % AIS_BLOCK < lanes) sum += 0.5 * z[i] * z[i];
    for (size_t c = 0; c < lanes; c++) sum -= log_det[c];
    this->energy[b] = sum;
}

static void judge_task(void *data, int task) {
    const work *this = data;
    for (size_t b = (size_t)task; b < ais_sample_held_blocks(this->split); b += TASKS) judge_block(this, task, b);
}

/* Minus the mean of -log q over the held-out draws, up to a constant. */
static ais_status judge(ais_context *context, ais_loop *loop, ais_judgement *judgement) {
    (void)context;
    work *this = loop->self;
    double sum = 0;
    ais_pool_run(this->stage->pool, TASKS, judge_task, this);
    for (size_t b = 0; b < ais_sample_held_blocks(this->split); b++) sum += this->energy[b];
    judgement->score = -sum / (double)this->split->held_count;
    if (loop->step == 0) this->stage->first_loss = -judgement->score;
    return AIS_OK;
}

static ais_status step(ais_context *context, ais_loop *loop, int network, double *loss) {
    (void)context, (void)network;
    work *this = loop->self;
    ais_flow_trainer *trainer = &this->trainer;
    const ais_sample_split *split = this->split;
    ais_stream stream = ais_stream_for(AIS_USE_DATA_BATCH, this->stage->seed, (uint64_t)loop->step, 0);
    for (size_t first = 0; first < (size_t)trainer->batch.blocks * AIS_BLOCK; first += AIS_BLOCK)
        ais_sample_pick(&stream, first, split->dim, split->count, split->train,
                        trainer->u + first * (size_t)split->dim);
    *loss = ais_flow_loss(trainer, AIS_FLOW_LIKELIHOOD);
    return AIS_OK;
}

static bool prepare(work *this, ais_loop *loop) {
    const ais_learned *learned = this->learned;
    this->z = AIS_TAKE(&loop->arena, double, TASKS *(size_t)this->split->dim *AIS_BLOCK);
    this->energy = AIS_TAKE(&loop->arena, double, ais_sample_held_blocks(this->split));
    if (!this->z || !this->energy) return false;
    for (int t = 0; t < TASKS; t++)
        if (!(this->tape[t] = ais_flow_tape_new(&learned->flow, AIS_BLOCK, &loop->arena))) return false;
    return ais_flow_trainer_new(&this->trainer, learned, this->stage->pool, (loop->recipe->batch - 1) / AIS_BLOCK + 1,
                                &loop->arena) &&
           ais_loop_learn(loop, &(ais_network){.name = "map",
                                               .count = learned->weight_count,
                                               .weights = learned->weights,
                                               .gradient = this->trainer.batch.gradient,
                                               .pace = &loop->recipe->pace});
}

static ais_status begin(ais_context *context, ais_loop *loop) {
    return prepare(loop->self, loop) ? AIS_OK : ais_empirical_memory(context, loop);
}

static void exchange(ais_checkpoint *checkpoint, ais_loop *loop) {
    const work *this = loop->self;
    AIS_FIELD(checkpoint, this->stage, first_loss);
}

static const ais_method likelihood = {"likelihood", begin, NULL, step, judge, exchange, ais_empirical_end};

ais_status ais_empirical_flow(ais_context *context, ais_empirical_stage *stage) {
    work this = {.stage = stage, .learned = stage->learned, .split = stage->split};
    return ais_empirical_run(context, &likelihood, &this);
}
