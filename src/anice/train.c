/* ais_train_anice: options, the run of the loop, the record. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "anice/method.h"
#include "base/clock.h"
#include "base/memory_file.h"
#include "trainer/identity.h"
#include "trainer/training.h"

enum { KEPT_POINTS = 2048 };

/* ---- options ------------------------------------------------------------------------------------- */

static ais_anice_options filled(const ais_anice_options *wish, int dim) {
    const ais_recipe *usual = &ais_recipe_table[AIS_ANICE_RECIPE];
    ais_anice_options options = *wish;
    bool plane = dim <= 2;
    if (options.iterations == 0) options.iterations = usual->steps;
    if (options.critic == 0) options.critic = plane ? 400 : 800;
    if (options.burn_in_steps == 0) options.burn_in_steps = plane ? 8 : 16;
    if (options.pair_steps == 0) options.pair_steps = 2;
    if (options.velocity_weight == 0) options.velocity_weight = 1;
    if (options.rate == 0) options.rate = usual->pace.rate;
    if (options.epoch == 0) options.epoch = (int)usual->judge_every;
    if (options.draws == 0) options.draws = 5000;
    if (options.discard == 0) options.discard = 0.5;
    return options;
}

static ais_status check(ais_context *context, const ais_anice_options *options) {
    const struct {
        const char *what;
        double value, low, high;
    } range[] = {{"iterations", (double)options->iterations, 1, 1e9},
                 {"critic", options->critic, 16, 8192},
                 {"burn_in_steps", options->burn_in_steps, 1, 1000},
                 {"pair_steps", options->pair_steps, 1, 1000},
                 {"velocity_weight", options->velocity_weight, 0, 1e6},
                 {"rate", options->rate, 0, 1},
                 {"epoch", options->epoch, 1, 1e9},
                 {"draws", options->draws, 20, 1e6},
                 {"discard", options->discard, 0, 1}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (!(range[i].value >= range[i].low && range[i].value <= range[i].high))
            return ais_fail(context, AIS_BAD_ARGUMENT, "anice: %s is %g, but must be %g to %g", range[i].what,
                            range[i].value, range[i].low, range[i].high);
    if (options->critic % 16)
        return ais_fail(context, AIS_BAD_ARGUMENT, "anice: critic is %d, but must be a multiple of 16",
                        options->critic);
    return AIS_OK;
}

/* The number of iterations is not in it: the rate is constant, and a training that is resumed may become longer. */
static ais_status open_checkpoint(ais_context *context, const ais_target *target, const ais_anice_options *options,
                                  ais_checkpoint **checkpoint) {
    ais_memory_file text;
    *checkpoint = NULL;
    if (!options->checkpoint) return AIS_OK;
    const ais_anice_shape *shape = options->shape ? options->shape : &(ais_anice_shape){0};
    if (ais_memory_open(&text)) {
        text.failed = !ais_identity_begin(text.file, target, options->seed);
        fprintf(text.file,
                "kernel anice velocities %d hidden %d depth %d\nrate %.17g\ncritic %d\nburn-in %d\n"
                "pair %d\nvelocity weight %.17g\nepoch %d\ndraws %d\ndiscard %.17g\nby the mean %d\n",
                shape->velocities, shape->hidden, shape->depth, options->rate, options->critic, options->burn_in_steps,
                options->pair_steps, options->velocity_weight, options->epoch, options->draws, options->discard,
                options->mean_only);
    }
    return ais_training_open(context, options->checkpoint, ais_memory_close(&text, NULL), options->resume,
                             options->checkpoint_seconds, true, checkpoint);
}

/* ---- progress ------------------------------------------------------------------------------------ */

static void tell(void *data, const ais_loop_progress *p) {
    const ais_anice_fit *this = data;
    const ais_train_progress progress = {.stage = p->stage,
                                         .share = (double)p->step / (double)p->steps,
                                         .loss = p->loss,
                                         .discriminator_loss = p->other_loss,
                                         .acceptance = p->acceptance,
                                         .worst_ess = p->score,
                                         .best_ess = p->best_score,
                                         .rollbacks = p->rollbacks,
                                         .other_ess = this->options.mean_only ? this->worst : this->mean};
    ais_training_tell(this->training, this->began, this->began + this->training->start_seconds, progress, p->judged,
                      this->options.progress, this->options.progress_data);
}

/* ---- begin and end ----------------------------------------------------------------------------- */

static ais_status begin(ais_context *context, ais_anice_fit *this) {
    ais_anice_shape shape = this->options.shape ? *this->options.shape : (ais_anice_shape){.dim = this->target->dim};
    ais_kernel *kernel;
    ais_training *training = this->training;
    ais_status status = ais_kernel_anice(context, &shape, this->options.seed, &kernel);
    if (status != AIS_OK) return status;
    this->kernel = (ais_nice_kernel *)kernel;
    training->dim = this->target->dim;
    training->x = calloc((size_t)KEPT_POINTS * (size_t)this->target->dim, sizeof(double));
    training->point = malloc(AIS_MOST_POINTS * sizeof *training->point);
    if (training->x && training->point) return AIS_OK;
    return ais_fail_memory(context, "a training", KEPT_POINTS * sizeof(double));
}

static ais_status train(ais_context *context, ais_anice_fit *this, ais_checkpoint *checkpoint, ais_loop *loop) {
    const ais_anice_options *options = &this->options;
    ais_recipe recipe = ais_recipe_table[AIS_ANICE_RECIPE];
    recipe.steps = options->iterations;
    recipe.judge_every = options->epoch;
    recipe.pace.rate = recipe.helper.rate = options->rate;
    *loop = (ais_loop){.method = &ais_anice_method,
                       .self = this,
                       .recipe = &recipe,
                       .watch = {.progress = tell, .data = this, .stop = options->stop, .checkpoint = checkpoint}};
    ais_status status = ais_loop_run(context, loop);
    loop->recipe = NULL; /* it ends here */
    return status;
}

static void finish(const ais_anice_fit *this, const ais_loop *loop) {
    ais_training *training = this->training;
    size_t dim = (size_t)this->target->dim;
    ais_stream stream = ais_anice_stream(this, 5, AIS_FOR_BATCH);
    training->count = KEPT_POINTS;
    for (size_t c = 0; c < KEPT_POINTS; c++)
        memcpy(training->x + c * dim, ais_reservoir_pick(&this->reservoir, &stream, c), dim * sizeof(double));
    training->log_z = training->log_z_error = NAN;
    training->attempts = 1;
    training->rollbacks = loop->rollbacks;
    training->worst_ess = loop->best.score;
    training->acceptance = loop->best.acceptance;
    training->train_seconds = ais_now() - this->began - training->start_seconds;
    snprintf(training->sentence, sizeof training->sentence,
             "the first draws came from %s that started in N(0, %g^2): modes that they lack may never be found",
             this->target->grad ? "HMC" : "random walks",
             this->target->start_scale > 0 ? this->target->start_scale : 1);
    if (loop->ended == AIS_LOOP_DIVERGED)
        snprintf(training->warning, sizeof training->warning,
                 "training diverged after %ld iterations and ended there: try a smaller rate", loop->step);
}

ais_status ais_train_anice(ais_context *context, const ais_target *target, const ais_anice_options *options,
                           ais_kernel **kernel, ais_training **training) {
    *kernel = NULL;
    *training = NULL;
    if (target->draws)
        return ais_fail(context, AIS_BAD_ARGUMENT, "anice: %s is a set of draws; it needs a density", target->name);
    if (options->shape && options->shape->dim != target->dim)
        return ais_fail(context, AIS_BAD_ARGUMENT, "anice: the shape has dimension %d, but %s has %d",
                        options->shape->dim, target->name, target->dim);
    ais_anice_fit this = {.target = target,
                          .options = filled(options, target->dim),
                          .reservoir = {.dim = (size_t)target->dim},
                          .began = ais_now(),
                          .worst = NAN,
                          .mean = NAN};
    ais_loop loop = {0};
    ais_checkpoint *checkpoint = NULL;
    ais_status status = check(context, &this.options);
    if (status != AIS_OK) return status;
    this.training = calloc(1, sizeof *this.training);
    if (!this.training) return ais_fail_memory(context, "a training", sizeof *this.training);
    status = open_checkpoint(context, target, &this.options, &checkpoint);
    if (status == AIS_OK) status = ais_pool_new(context, options->threads, &this.pool);
    if (status == AIS_OK) status = begin(context, &this);
    if (status == AIS_OK) status = train(context, &this, checkpoint, &loop);
    if (status == AIS_OK || (status == AIS_STOPPED && loop.step > 0)) {
        finish(&this, &loop);
        *kernel = &this.kernel->kernel;
        *training = this.training;
    } else {
        if (this.kernel) ais_kernel_free(&this.kernel->kernel);
        ais_training_free(this.training);
    }
    ais_reservoir_free(&this.reservoir);
    ais_pool_free(this.pool);
    ais_checkpoint_close(checkpoint);
    return status;
}
