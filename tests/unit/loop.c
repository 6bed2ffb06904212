/* The training loop with a toy: a quadratic loss, so that everything that should come out is known. */
#include "support.h"

#include <unistd.h>

#include "base/clock.h"
#include "fit/loop.h"

enum { COUNT = 5, NEVER = -1000 };

/* loss = sum (w - goal)^2 / 2 with a helper that learns w's sum. */
typedef struct toy {
    ais_real weights[COUNT], gradient[COUNT], helper[1], helper_gradient[1];
    bool critic;       /* with the helper */
    long bad_loss;     /* step whose loss is NAN */
    long bad_gradient; /* step whose gradient is infinite */
    long worse_after;  /* step from which judgements get worse */
    long lost_at, end_at, over_at;
    long prepared, rounds, kernel_steps, helper_steps, alone, judgements;
    ais_real at_round[COUNT], kept[COUNT];
    double noise; /* of an own state that the checkpoint has to keep */
    volatile sig_atomic_t stop;
    long stop_at;
    double best_score;
    ais_loop_end ended;
    int rollbacks, reports, judged_reports;
    double last_loss, last_rate;
} toy;

static toy new_toy(void) {
    toy this = {.bad_loss = NEVER,
                .bad_gradient = NEVER,
                .worse_after = 1000000,
                .lost_at = NEVER,
                .end_at = NEVER,
                .over_at = NEVER,
                .stop_at = NEVER};
    for (int i = 0; i < COUNT; i++) this.weights[i] = (ais_real)(i - 2.385);
    return this;
}

static ais_status begin(ais_context *context, ais_loop *loop) {
    toy *this = loop->self;
    const ais_recipe *recipe = loop->recipe;
    bool room = !this->critic || ais_loop_learn(loop, &(ais_network){.name = "helper",
                                                                     .count = 1,
                                                                     .weights = this->helper,
                                                                     .gradient = this->helper_gradient,
                                                                     .pace = &recipe->helper,
                                                                     .turns = recipe->helper_turns,
                                                                     .first = recipe->helper_first,
                                                                     .helper = true});
    room = room && ais_loop_learn(loop, &(ais_network){.name = "kernel",
                                                       .count = COUNT,
                                                       .weights = this->weights,
                                                       .gradient = this->gradient,
                                                       .pace = &recipe->pace});
    return room ? AIS_OK : ais_fail_memory(context, "a toy", sizeof *this);
}

static ais_status prepare(ais_context *context, ais_loop *loop) {
    (void)context;
    toy *this = loop->self;
    this->prepared++;
    this->rounds += loop->round;
    if (loop->round) memcpy(this->at_round, this->weights, sizeof this->weights);
    if (loop->step == this->over_at) loop->over = true;
    if (loop->step == this->stop_at) this->stop = 1;
    this->noise = 0.9 * this->noise + 0.01 * odd(7, (uint64_t)(loop->step + 1000), -1, 1);
    return AIS_OK;
}

static ais_status step(ais_context *context, ais_loop *loop, int network, double *loss) {
    (void)context;
    toy *this = loop->self;
    *loss = 0;
    if (network == 0 && this->critic) {
        double sum = 0;
        for (int i = 0; i < COUNT; i++) sum += (double)this->weights[i];
        this->helper_gradient[0] = (ais_real)((double)this->helper[0] - sum);
        *loss = 0.5 * (double)(this->helper_gradient[0] * this->helper_gradient[0]);
        this->helper_steps++;
        this->alone += loop->step < 0;
        return AIS_OK;
    }
    this->kernel_steps++;
    for (int i = 0; i < COUNT; i++) {
        this->gradient[i] = this->weights[i] - (ais_real)(i + this->noise);
        *loss += 0.5 * (double)(this->gradient[i] * this->gradient[i]);
    }
    if (loop->step == this->bad_loss) *loss = NAN;
    if (loop->step == this->bad_gradient) this->gradient[3] = (ais_real)INFINITY;
    return AIS_OK;
}

/* Better with every judgement, and worse from some step on. */
static ais_status judge(ais_context *context, ais_loop *loop, ais_judgement *judgement) {
    (void)context;
    toy *this = loop->self;
    this->judgements++;
    judgement->score = loop->step <= this->worse_after ? (double)loop->step : -(double)loop->step;
    judgement->acceptance = 0.5;
    judgement->lost = loop->step == this->lost_at;
    judgement->end = loop->step == this->end_at;
    if (loop->step == this->worse_after) memcpy(this->kept, this->weights, sizeof this->kept);
    return AIS_OK;
}

static void exchange(ais_checkpoint *checkpoint, ais_loop *loop) {
    toy *this = loop->self;
    AIS_FIELD(checkpoint, this, noise);
}

static void end(ais_loop *loop) {
    toy *this = loop->self;
    this->best_score = loop->best.score;
    this->ended = loop->ended;
    this->rollbacks = loop->rollbacks;
    ais_loop_take_best(loop);
}

static void note(void *data, const ais_loop_progress *progress) {
    toy *this = data;
    this->reports++;
    this->judged_reports += progress->judged;
    this->last_loss = progress->loss;
    this->last_rate = progress->rate;
    assert_string_equal(progress->stage, "toy stage");
}

static const ais_method method = {"toy", begin, prepare, step, judge, exchange, end};
static const ais_recipe recipe = {.name = "toy stage",
                                  .steps = 120,
                                  .pace = {.rate = 0.1, .warmup = 0.1, .average = 0.9, .clip = 5},
                                  .helper = {.rate = 0.05, .final_share = 1},
                                  .helper_turns = 3,
                                  .helper_first = 10,
                                  .round = 8,
                                  .judgements = 6,
                                  .report_every = 7};

static ais_status run(toy *this, const ais_method *how, const ais_recipe *plan, ais_checkpoint *checkpoint) {
    ais_context context = {0};
    ais_loop loop = {.method = how,
                     .self = this,
                     .recipe = plan,
                     .watch = {.progress = note, .data = this, .stop = &this->stop, .checkpoint = checkpoint}};
    ais_status status = ais_loop_run(&context, &loop);
    if (status != AIS_OK) print_message("%s\n", context.message);
    return status;
}

/* ---- what it does ------------------------------------------------------------------------------- */

static void learns_and_counts(void **state) {
    (void)state;
    toy this = new_toy();
    this.critic = true;
    assert_int_equal(run(&this, &method, &recipe, NULL), AIS_OK);
    for (int i = 0; i < COUNT; i++) assert_true(fabs((double)this.weights[i] - i) < 0.1);
    assert_int_equal(this.kernel_steps, 120);
    assert_int_equal(this.helper_steps, 10 + 3 * 120);
    assert_int_equal(this.alone, 10);
    assert_int_equal(this.prepared, 130);
    assert_int_equal(this.rounds, 2 + 15); /* of 8 steps: 10 before, 120 after */
    assert_int_equal(this.judgements, 6);
    assert_int_equal(this.judged_reports, 6);
    assert_int_equal(this.reports, 17 + 6); /* none is due for both */
    assert_true(isfinite(this.last_loss) && this.last_rate < 0.001);
    assert_int_equal(this.ended, AIS_LOOP_DONE);
    assert_true(this.best_score == 120);
}

static void keeps_the_best(void **state) {
    (void)state;
    toy this = new_toy();
    this.worse_after = 60;
    assert_int_equal(run(&this, &method, &recipe, NULL), AIS_OK);
    assert_true(this.best_score == 60);
    assert_memory_equal(this.weights, this.kept, sizeof this.kept);
    /* The snapshot is the running average, which trails behind the weights. */
    ais_recipe plain = recipe;
    plain.pace.average = 0;
    toy other = new_toy();
    other.worse_after = 60;
    assert_int_equal(run(&other, &method, &plain, NULL), AIS_OK);
    assert_memory_not_equal(other.weights, this.weights, sizeof this.weights);
    /* Nobody judges: the last weights stay. */
    ais_method blind = method;
    blind.judge = NULL;
    toy last = new_toy();
    assert_int_equal(run(&last, &blind, &plain, NULL), AIS_OK);
    assert_true(isnan(last.best_score) && last.judgements == 0);
    for (int i = 0; i < COUNT; i++) assert_true(fabs((double)last.weights[i] - i) < 0.1);
}

static void rolls_back(void **state) {
    (void)state;
    ais_recipe plan = recipe;
    plan.steps = 30;
    plan.judgements = 1;
    for (int k = 0; k < 2; k++) {
        toy this = new_toy(), watched = new_toy();
        if (k)
            this.bad_gradient = 29;
        else
            this.bad_loss = 29;
        ais_method blind = method;
        blind.judge = NULL;
        assert_int_equal(run(&this, &blind, &plan, NULL), AIS_OK);
        assert_int_equal(this.rollbacks, 1);
        assert_int_equal(this.ended, AIS_LOOP_DONE);
        assert_memory_equal(this.weights, this.at_round, sizeof this.weights); /* of step 24 */
        assert_int_equal(run(&watched, &blind, &plan, NULL), AIS_OK);
        assert_memory_not_equal(this.weights, watched.weights, sizeof this.weights);
        assert_memory_equal(this.at_round, watched.at_round, sizeof this.weights);
    }
    /* Half the rate from there on. */
    toy this = new_toy(), other = new_toy();
    plan.judge_every = 30;
    this.bad_loss = 3;
    plan.pace.final_share = 1;
    assert_int_equal(run(&this, &method, &plan, NULL), AIS_OK);
    assert_int_equal(run(&other, &method, &plan, NULL), AIS_OK);
    assert_true(fabs(this.last_rate - 0.05) < 1e-12 && fabs(other.last_rate - 0.1) < 1e-12);
}

static ais_status never_sound(ais_context *context, ais_loop *loop, int network, double *loss) {
    ais_status status = step(context, loop, network, loss);
    *loss = NAN;
    return status;
}

static void gives_up(void **state) {
    (void)state;
    toy this = new_toy(), first = new_toy();
    ais_method bad = method;
    bad.step = never_sound;
    assert_int_equal(run(&this, &bad, &recipe, NULL), AIS_OK);
    assert_int_equal(this.ended, AIS_LOOP_DIVERGED);
    assert_int_equal(this.rollbacks, 9);
    assert_int_equal(this.kernel_steps, 9);
    assert_memory_equal(this.weights, first.weights, sizeof this.weights);
    /* A judge calls the weights lost: the best come back, and training goes on. */
    toy lost = new_toy();
    lost.worse_after = 60;
    lost.lost_at = 120;
    assert_int_equal(run(&lost, &method, &recipe, NULL), AIS_OK);
    assert_int_equal(lost.rollbacks, 1);
    assert_memory_equal(lost.weights, lost.kept, sizeof lost.kept);
}

static void ends_early(void **state) {
    (void)state;
    toy this = new_toy();
    this.end_at = 40;
    assert_int_equal(run(&this, &method, &recipe, NULL), AIS_OK);
    assert_int_equal(this.kernel_steps, 40);
    assert_int_equal(this.ended, AIS_LOOP_ENOUGH);
    ais_recipe patient = recipe;
    patient.patience = 2;
    this = new_toy();
    this.worse_after = 40;
    assert_int_equal(run(&this, &method, &patient, NULL), AIS_OK);
    assert_int_equal(this.kernel_steps, 80);
    assert_true(this.best_score == 40);
    this = new_toy();
    this.over_at = 33;
    assert_int_equal(run(&this, &method, &recipe, NULL), AIS_OK);
    assert_int_equal(this.kernel_steps, 33);
    assert_int_equal(this.ended, AIS_LOOP_ENOUGH);
    /* A stop is noticed at the beginning of the next round, and the best so far is there. */
    this = new_toy();
    this.stop_at = 50;
    assert_int_equal(run(&this, &method, &recipe, NULL), AIS_STOPPED);
    assert_int_equal(this.kernel_steps, 56);
    assert_true(this.best_score == 40);
    ais_context context = {0};
    this = new_toy();
    ais_loop late = {.method = &method, .self = &this, .recipe = &recipe, .watch.deadline = ais_now() - 1};
    assert_ok(context, ais_loop_run(&context, &late));
    assert_int_equal(late.ended, AIS_LOOP_LATE);
    assert_int_equal(this.kernel_steps, 0);
    ais_recipe wrong = recipe;
    wrong.steps = 0;
    assert_int_equal(run(&this, &method, &wrong, NULL), AIS_BAD_ARGUMENT);
}

/* ---- checkpoint --------------------------------------------------------------------------------- */

static char path[] = "/tmp/aisampler-loop-XXXXXX";

static ais_checkpoint *open_checkpoint(bool resume) {
    ais_context context = {0};
    ais_checkpoint *checkpoint;
    assert_ok(context, ais_checkpoint_open(&context, "training", path, "toy\n", resume, 1e-9, &checkpoint));
    return checkpoint;
}

/* Stopped after so many steps and gone on with: the same bytes as without, rollbacks and judgements included. */
static void resumes_to_the_same_bytes(void **state) {
    (void)state;
    toy whole = new_toy();
    whole.critic = true;
    whole.bad_loss = 20;
    whole.worse_after = 100;
    assert_int_equal(run(&whole, &method, &recipe, NULL), AIS_OK);
    for (long at = -9; at < 119; at += 16) {
        toy killed = new_toy(), resumed = new_toy();
        killed.critic = resumed.critic = true;
        killed.bad_loss = resumed.bad_loss = 20;
        killed.worse_after = resumed.worse_after = 100;
        killed.stop_at = at;
        ais_checkpoint *checkpoint = open_checkpoint(false);
        assert_int_equal(run(&killed, &method, &recipe, checkpoint), AIS_STOPPED);
        ais_checkpoint_close(checkpoint);
        checkpoint = open_checkpoint(true);
        assert_int_equal(run(&resumed, &method, &recipe, checkpoint), AIS_OK);
        ais_checkpoint_close(checkpoint);
        assert_true(resumed.prepared < 130);
        assert_memory_equal(resumed.weights, whole.weights, sizeof whole.weights);
        assert_memory_equal(resumed.helper, whole.helper, sizeof whole.helper);
        assert_int_equal(resumed.rollbacks, whole.rollbacks);
        assert_true(resumed.best_score == whole.best_score && resumed.last_loss == whole.last_loss);
    }
    /* The test would see it: without the method's own field the result is another. */
    ais_method forgetful = method;
    forgetful.exchange = NULL;
    toy killed = new_toy(), resumed = new_toy();
    killed.stop_at = 30;
    ais_checkpoint *checkpoint = open_checkpoint(false);
    assert_int_equal(run(&killed, &forgetful, &recipe, checkpoint), AIS_STOPPED);
    ais_checkpoint_close(checkpoint);
    checkpoint = open_checkpoint(true);
    assert_int_equal(run(&resumed, &forgetful, &recipe, checkpoint), AIS_OK);
    ais_checkpoint_close(checkpoint);
    toy right = new_toy();
    assert_int_equal(run(&right, &method, &recipe, NULL), AIS_OK);
    assert_memory_not_equal(resumed.weights, right.weights, sizeof right.weights);
}

int main(void) {
    int file = mkstemp(path);
    if (file < 0) return 1;
    close(file);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_and_counts), cmocka_unit_test(keeps_the_best),
        cmocka_unit_test(rolls_back),        cmocka_unit_test(gives_up),
        cmocka_unit_test(ends_early),        cmocka_unit_test(resumes_to_the_same_bytes)};
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failures;
}
