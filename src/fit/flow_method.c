#include "fit/flow_method.h"

#include "base/streams.h"

#include <math.h>

static const char *const stage_names[] = {
    [AIS_FLOW_LIKELIHOOD] = "likelihood", [AIS_FLOW_PAIR] = "exact", [AIS_FLOW_FISHER] = "fisher"};

static ais_flow_objective objective_of(const ais_loop *loop) {
    const ais_flow_fit *this = loop->self;
    long first = (long)(this->likelihood_share * (double)loop->steps);
    return loop->step < first ? AIS_FLOW_LIKELIHOOD : this->second;
}

/* Of the rate, per weight: first and last layers of conditioners may learn faster or slower than those between. */
static bool share_rate(const ais_flow_fit *this, ais_arena *arena, ais_real **out) {
    const ais_learned *learned = this->learned;
    double first = this->first_rate, last = this->last_rate;
    *out = NULL;
    if (first <= 0 && last <= 0) return true;
    ais_real *share = *out = AIS_TAKE(arena, ais_real, learned->weight_count);
    for (size_t i = 0; share && i < learned->weight_count; i++) share[i] = 1;
    for (int l = 0; share && l < learned->flow.layers; l++) {
        const ais_flow_layer *layer = &learned->flow.layer[l];
        const ais_perceptron *net = &layer->net;
        if (layer->marginal || layer->neck || net->depth < 1) continue;
        ais_real *own = share + layer->offset, *end = own + ais_perceptron_weights(net);
        for (int i = 0; i < (net->inputs + 1) * net->hidden && first > 0; i++) own[i] = (ais_real)first;
        for (int i = 1; i <= (net->hidden + 1) * net->outputs && last > 0; i++) end[-i] = (ais_real)last;
    }
    return share != NULL;
}

static ais_status begin(ais_context *context, ais_loop *loop) {
    ais_flow_fit *this = loop->self;
    int blocks = (loop->recipe->batch + AIS_BLOCK - 1) / AIS_BLOCK;
    ais_real *share;
    const ais_learned *learned = this->learned;
    if (this->second == AIS_FLOW_FISHER && ais_flow_bends(learned)) { /* as the data are (flow_data.h) */
        this->behind = *learned;
        this->behind.flow.layer++;
        this->behind.flow.layers--;
        learned = &this->behind;
    }
    if (!ais_flow_trainer_new(&this->trainer, learned, this->pool, blocks, &loop->arena) ||
        !share_rate(this, &loop->arena, &share))
        return ais_fail_memory(context, "training", this->learned->weight_count * sizeof(ais_real));
    const ais_network network = {.name = "flow",
                                 .count = this->learned->weight_count,
                                 .weights = this->learned->weights,
                                 .gradient = this->trainer.batch.gradient,
                                 .pace = &loop->recipe->pace,
                                 .share = share};
    return ais_loop_learn(loop, &network) ? AIS_OK : ais_fail_memory(context, "training", 0);
}

static ais_status step(ais_context *context, ais_loop *loop, int network, double *loss) {
    ais_flow_fit *this = loop->self;
    ais_flow_objective objective = objective_of(loop);
    ais_stream stream = ais_stream_for(AIS_USE_FLOW_BATCH, this->seed, this->batches + (uint64_t)loop->step, 0);
    (void)context, (void)network;
    loop->stage = stage_names[objective];
    ais_flow_data_batch(this->data, &stream, &this->trainer);
    *loss = ais_flow_loss(&this->trainer, objective);
    return AIS_OK;
}

static ais_status judge(ais_context *context, ais_loop *loop, ais_judgement *judgement) {
    ais_flow_fit *this = loop->self;
    (void)context;
    bool held = this->second == AIS_FLOW_FISHER && this->data->held;
    *judgement = (ais_judgement){
        .score = held ? -ais_flow_data_held_loss(this->data, &this->trainer) : NAN, .acceptance = NAN, .keep = !held};
    return AIS_OK;
}

const ais_method ais_flow_method = {
    .name = "flow", .begin = begin, .step = step, .judge = judge, .end = ais_loop_take_best};
