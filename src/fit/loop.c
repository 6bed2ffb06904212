#include "fit/loop.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/ranks.h"
#include "base/stop.h"
#include "checkpoint/adam.h"

static const double slower = 0.5; /* of the rate, after a rollback */
enum { USUAL_ROLLBACKS = 8 };

static size_t bytes_of(const ais_network *network) { return network->count * sizeof *network->weights; }

/* ---- for methods -------------------------------------------------------------------------------- */

bool ais_loop_learn(ais_loop *loop, const ais_network *given) {
    if (loop->networks == AIS_MOST_NETWORKS) return false;
    ais_network *network = &loop->network[loop->networks++];
    *network = *given;
    if (network->turns == 0) network->turns = 1;
    ais_adam_options options = *network->pace;
    options.steps = loop->steps * network->turns;
    network->sound = AIS_TAKE(&loop->arena, ais_real, network->count);
    if (!network->helper && !network->best) {
        network->best = AIS_TAKE(&loop->arena, ais_real, network->count);
        if (network->best) memcpy(network->best, network->weights, bytes_of(network));
    }
    if (network->first > loop->first) loop->first = network->first;
    bool room = network->sound && (network->helper || network->best) &&
                ais_adam_new(&network->adam, &options, network->count, network->weights, &loop->arena);
    network->adam.share = network->share;
    return room;
}

const ais_real *ais_network_kept(const ais_network *network) {
    return network->adam.averaged ? network->adam.averaged : network->weights;
}

void ais_loop_take_best(ais_loop *loop) {
    for (ais_network *n = loop->network; n < loop->network + loop->networks; n++)
        if (!n->helper && (loop->best.keep || !isnan(loop->best.score))) memcpy(n->weights, n->best, bytes_of(n));
}

/* ---- going back --------------------------------------------------------------------------------- */

/* Adam's moments, which led astray, are cleared. */
static void set_weights(ais_network *network, const ais_real *weights) {
    memcpy(network->weights, weights, bytes_of(network));
    if (network->adam.averaged) memcpy(network->adam.averaged, weights, bytes_of(network));
    memset(network->adam.m, 0, bytes_of(network));
    memset(network->adam.v, 0, bytes_of(network));
}

static void go_back(ais_loop *loop, bool to_best) {
    for (ais_network *n = loop->network; n < loop->network + loop->networks; n++) {
        if (!to_best || !n->helper) set_weights(n, to_best ? n->best : n->sound);
        n->adam.scale *= slower;
    }
    int most = loop->recipe->rollbacks > 0 ? loop->recipe->rollbacks : USUAL_ROLLBACKS;
    if (++loop->rollbacks <= most) return;
    loop->over = true;
    loop->ended = AIS_LOOP_DIVERGED;
}

/* ---- judging and telling ------------------------------------------------------------------------ */

/* Twice: as before. */
static void swap_averages(ais_loop *loop) {
    for (ais_network *n = loop->network; n < loop->network + loop->networks; n++)
        for (size_t i = 0; n->adam.averaged && i < n->count; i++) {
            ais_real weight = n->weights[i];
            n->weights[i] = n->adam.averaged[i];
            n->adam.averaged[i] = weight;
        }
}

static ais_status judge(ais_context *context, ais_loop *loop) {
    ais_judgement *last = &loop->last;
    *last = (ais_judgement){.score = NAN, .acceptance = NAN};
    swap_averages(loop);
    ais_status status = loop->method->judge(context, loop, last);
    bool first = isnan(loop->best.score), better = last->score > loop->best.score || (first && !isnan(last->score));
    loop->since++;
    if (status == AIS_OK && (better || last->keep)) {
        for (ais_network *n = loop->network; n < loop->network + loop->networks; n++)
            if (!n->helper) memcpy(n->best, n->weights, bytes_of(n));
        loop->best = *last;
        loop->since = 0;
    }
    swap_averages(loop);
    if (status != AIS_OK) return status;
    if (loop->since && last->lost) go_back(loop, true);
    bool enough = last->end || (loop->recipe->patience > 0 && loop->since >= loop->recipe->patience);
    if (enough && !loop->over) {
        loop->over = true;
        loop->ended = AIS_LOOP_ENOUGH;
    }
    return AIS_OK;
}

static double mean_loss(const ais_network *network) {
    return network->losses ? network->loss / (double)network->losses : NAN;
}

static void report(ais_loop *loop, bool judged) {
    ais_network *shown = &loop->network[loop->networks - 1];
    ais_loop_progress progress = {.stage = loop->stage,
                                  .step = loop->step,
                                  .steps = loop->steps,
                                  .loss = mean_loss(shown),
                                  .other_loss = loop->networks > 1 ? mean_loss(loop->network) : NAN,
                                  .acceptance = judged ? loop->last.acceptance : loop->acceptance,
                                  .judged = judged,
                                  .score = loop->last.score,
                                  .best_score = loop->best.score,
                                  .rate = ais_adam_rate(&shown->adam),
                                  .rollbacks = loop->rollbacks};
    for (ais_network *n = loop->network; n < loop->network + loop->networks; n++) {
        n->loss = 0;
        n->losses = 0;
    }
    if (loop->watch.progress) loop->watch.progress(loop->watch.data, &progress);
}

/* ---- the loop ----------------------------------------------------------------------------------- */

static void exchange_network(ais_checkpoint *checkpoint, ais_network *network) {
    const struct {
        const char *name;
        void *data;
        size_t bytes;
    } field[] = {{"weights", network->weights, bytes_of(network)},
                 {"best", network->best, network->best ? bytes_of(network) : 0},
                 {"loss", &network->loss, sizeof network->loss},
                 {"losses", &network->losses, sizeof network->losses}};
    char name[64];
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        snprintf(name, sizeof name, "%s.%s", network->name, field[i].name);
        if (field[i].bytes) ais_checkpoint_bytes(checkpoint, name, field[i].data, field[i].bytes);
    }
    ais_adam_exchange(checkpoint, network->name, &network->adam);
}

static bool is_flag(const bool *value) {
    unsigned char byte;
    memcpy(&byte, value, 1); /* a file may say 2 */
    return byte <= 1;
}

static void exchange_judgement(ais_checkpoint *checkpoint, const char *field, ais_judgement *judgement) {
    ais_judgement there = *judgement;
    if (!ais_checkpoint_bytes(checkpoint, field, &there, sizeof there)) return;
    if (is_flag(&there.keep) && is_flag(&there.lost) && is_flag(&there.end))
        *judgement = there;
    else
        ais_checkpoint_refuse(checkpoint, field);
}

/* Where the loop was, from -first on. */
static void exchange_step(ais_checkpoint *checkpoint, ais_loop *loop) {
    long step = loop->step;
    if (!ais_checkpoint_bytes(checkpoint, "step", &step, sizeof step)) return;
    if (step < -loop->first || step > loop->steps)
        ais_checkpoint_refuse(checkpoint, "step");
    else
        loop->step = step;
}

/* At the beginning of a round, before the sound weights are replaced. */
static void exchange(ais_checkpoint *checkpoint, void *data) {
    ais_loop *loop = data;
    exchange_step(checkpoint, loop);
    ais_checkpoint_count(checkpoint, "since", &loop->since, INT_MAX);
    ais_checkpoint_integer(checkpoint, "rollbacks", &loop->rollbacks, 0, INT_MAX / 2);
    AIS_FIELD(checkpoint, loop, acceptance);
    exchange_judgement(checkpoint, "last", &loop->last);
    exchange_judgement(checkpoint, "best", &loop->best);
    for (int k = 0; k < loop->networks; k++) exchange_network(checkpoint, &loop->network[k]);
    if (loop->method->exchange) loop->method->exchange(checkpoint, loop);
}

static ais_status begin_round(ais_context *context, ais_loop *loop) {
    double asked[2] = {ais_asked_to_stop(loop->watch.stop),
                       loop->watch.deadline > 0 && ais_now() > loop->watch.deadline};
    ais_status status = ais_checkpoint_offer(context, loop->watch.checkpoint);
    if (status == AIS_OK) status = ais_ranks_largest(context, loop->watch.ranks, asked, 2); /* all stop, or none */
    if (status != AIS_OK) return status;
    if (asked[0] != 0) {
        loop->ended = AIS_LOOP_STOPPED;
        return ais_fail(context, AIS_STOPPED, "training was stopped after %ld of %ld steps of stage %s",
                        loop->step > 0 ? loop->step : 0, loop->steps, loop->stage);
    }
    if (asked[1] != 0) {
        loop->over = true;
        loop->ended = AIS_LOOP_LATE;
        return AIS_OK;
    }
    for (ais_network *n = loop->network; n < loop->network + loop->networks; n++)
        memcpy(n->sound, n->weights, bytes_of(n));
    return AIS_OK;
}

/* One step of every network whose turn it is. *sound: all losses and gradients were finite. */
static ais_status take_turns(ais_context *context, ais_loop *loop, bool *sound) {
    for (int k = 0; k < loop->networks; k++) {
        ais_network *network = &loop->network[k];
        int turns = loop->step >= 0 ? network->turns : -loop->step <= network->first;
        for (int t = 0; t < turns; t++) {
            double loss = NAN, norm = NAN;
            ais_status status = loop->method->step(context, loop, k, &loss);
            if (status != AIS_OK) return status;
            if (isfinite(loss)) norm = ais_adam_step(&network->adam, network->gradient, network->weights);
            *sound = isfinite(norm);
            if (!*sound) return AIS_OK;
            network->loss += loss;
            network->losses++;
        }
    }
    return AIS_OK;
}

static ais_status one_step(ais_context *context, ais_loop *loop) {
    bool sound = true;
    long round = loop->recipe->round > 0 ? loop->recipe->round : 1;
    loop->round = (loop->step < 0 ? loop->step + loop->first : loop->step) % round == 0;
    ais_status status = loop->round ? begin_round(context, loop) : AIS_OK;
    if (status != AIS_OK || loop->over) return status;
    if (loop->method->prepare) status = loop->method->prepare(context, loop);
    if (loop->over) loop->ended = AIS_LOOP_ENOUGH;
    if (status != AIS_OK || loop->over) return status;
    status = take_turns(context, loop, &sound);
    if (status == AIS_OK && !sound) go_back(loop, false);
    loop->step++;
    return status;
}

/* After a step: is it time to judge? */
static bool judged_now(const ais_loop *loop) {
    const ais_recipe *recipe = loop->recipe;
    long done = loop->step, all = loop->steps;
    if (!loop->method->judge || done <= 0) return false;
    if (done == all) return true;
    if (recipe->judge_every > 0) return done % recipe->judge_every == 0;
    return done * recipe->judgements / all > (done - 1) * recipe->judgements / all;
}

static ais_status run_steps(ais_context *context, ais_loop *loop) {
    ais_status status = AIS_OK;
    while (status == AIS_OK && !loop->over && loop->step < loop->steps) {
        status = one_step(context, loop);
        if (status != AIS_OK || loop->over) break;
        bool judged = judged_now(loop), due = loop->step == loop->steps;
        if (loop->recipe->report_every > 0 && loop->step > 0) due |= loop->step % loop->recipe->report_every == 0;
        if (judged) status = judge(context, loop);
        if (status == AIS_OK && (judged || due)) report(loop, judged);
    }
    return status;
}

static ais_status start(ais_context *context, ais_loop *loop) {
    const ais_recipe *recipe = loop->recipe;
    loop->steps = recipe->steps;
    loop->stage = recipe->name;
    loop->best.score = loop->best.acceptance = loop->last.score = loop->last.acceptance = loop->acceptance = NAN;
    if (recipe->steps < 1 || !(recipe->pace.rate > 0))
        return ais_fail(context, AIS_BAD_ARGUMENT, "stage %s: %ld steps at rate %g, but both must be above 0",
                        recipe->name, recipe->steps, recipe->pace.rate);
    return loop->method->begin(context, loop);
}

static ais_status run_section(ais_context *context, ais_loop *loop) {
    bool resumed;
    loop->step = -loop->first;
    ais_status status =
        ais_checkpoint_enter(context, loop->watch.checkpoint, loop->method->name, exchange, loop, &resumed);
    if (status == AIS_OK && !resumed && loop->recipe->judge_first) {
        status = judge(context, loop);
        loop->since = 0;
    }
    if (status == AIS_OK) status = run_steps(context, loop);
    ais_checkpoint_leave(loop->watch.checkpoint);
    return status;
}

ais_status ais_loop_run(ais_context *context, ais_loop *loop) {
    ais_status status = start(context, loop);
    if (status == AIS_OK) status = run_section(context, loop);
    if (status != AIS_OK && status != AIS_STOPPED) loop->ended = AIS_LOOP_FAILED;
    for (ais_network *n = loop->network; n < loop->network + loop->networks; n++)
        if (n->adam.averaged) memcpy(n->weights, n->adam.averaged, bytes_of(n));
    if (loop->method->end) loop->method->end(loop);
    ais_arena_free(&loop->arena);
    return status;
}
