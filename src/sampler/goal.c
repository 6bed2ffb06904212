/* When a run has enough: effective draws, and a budget of evaluations.
 *
 * Both are checked between legs of the run. At the beginning of a leg the chains get equal parts of the evaluations
 * that are left; a leg is as long as half of them last, judging by what the dearest chain has needed. So chains with
 * long trajectories can use what those with short ones leave, no chain has to wait for another, and no more is ever
 * asked for than there is. */
#include <limits.h>
#include <math.h>

#include <aisampler/diagnostics.h>

#include "sampler/sample.h"

enum { FIRST_LOOK = 50 };           /* draws: an ESS of fewer means nothing */
static const double reserve = 1.01; /* an ESS is an estimate */

/* ---- checks -------------------------------------------------------------------------------------- */

static ais_status check_effective(ais_context *context, const ais_sampling *run) {
    double effective = run->options->effective, draws = (double)run->chains * run->draws;
    if (!(effective >= 0) || isinf(effective))
        return ais_fail(context, AIS_BAD_ARGUMENT, "effective is %g, but must be a number, 0 or more", effective);
    if (run->options->least < 0 || run->options->least > run->draws)
        return ais_fail(context, AIS_BAD_ARGUMENT, "least is %d, but must be from 0 to draws, %d", run->options->least,
                        run->draws);
    if (effective > draws && run->options->draws)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "effective is %g, but %d chains of at most %d draws are only %g: allow more draws, or ask for "
                        "fewer effective ones",
                        effective, run->chains, run->draws, draws);
    if (effective > draws)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "effective is %g, but no more than %g draws of %d parameters are kept in memory to be judged",
                        effective, draws, run->target->dim);
    return AIS_OK;
}

static ais_status check_evaluations(ais_context *context, const ais_sampling *run) {
    long evaluations = run->options->evaluations;
    double least = (double)run->chains * (run->warmup + 2.0); /* a start, warm-up and one draw of every chain */
    if (evaluations < 0)
        return ais_fail(context, AIS_BAD_ARGUMENT, "evaluations is %ld, but must not be negative", evaluations);
    if (evaluations > 0 && run->target->draws)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s is a set of draws: there is no density whose evaluations could "
                        "be limited",
                        run->target->name);
    if (evaluations > 0 && (double)evaluations < least)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%ld evaluations are too few to start with: %d chains with %d steps of warm-up take at least "
                        "%.0f; allow more, or take fewer chains or less warm-up",
                        evaluations, run->chains, run->warmup, least);
    return AIS_OK;
}

ais_status ais_goal_check(ais_context *context, const ais_sampling *run) {
    double seconds = run->options->seconds;
    ais_status status = check_effective(context, run);
    if (status == AIS_OK) status = check_evaluations(context, run);
    if (status == AIS_OK && !(seconds >= 0 && seconds < INFINITY))
        return ais_fail(context, AIS_BAD_ARGUMENT, "seconds is %g, but must be a number, 0 or more", seconds);
    return status;
}

/* ---- evaluations --------------------------------------------------------------------------------- */

static long block_spent(const ais_sampling *run, int b) { return run->tally[b].densities + run->tally[b].gradients; }

long ais_run_spent(const ais_sampling *run) {
    long spent = 0;
    for (int b = 0; b < run->blocks; b++) spent += block_spent(run, b);
    return spent;
}

/* Evaluations of one draw of one chain, those of the dearest block of the last leg; 0 when there was none. */
static double dearest(const ais_sampling *run, int done) {
    double most = 0;
    for (int b = 0; b < run->blocks && done > run->goal.leg_from; b++) {
        double draws = (double)(done - run->goal.leg_from) * ais_block_size(run, b);
        most = fmax(most, (double)(block_spent(run, b) - run->goal.leg_spent[b]) / draws);
    }
    return most;
}

static void share_out(ais_sampling *run, int done, ais_leg *leg) {
    long share = (run->goal.evaluations - ais_run_spent(run)) / run->chains;
    double cost = dearest(run, done), length = cost > 0 ? (double)share / (2 * cost) : 1;
    leg->allowance = share;
    if (share < 1) {
        leg->over = true;
        leg->ending = AIS_ENDED_EVALUATIONS;
    } else if (length < leg->until - done) {
        leg->until = done + (length < 1 ? 1 : (int)length);
    }
}

/* ---- effective draws ----------------------------------------------------------------------------- */

/* Draws that are enough otherwise would be of no use if the ESS of a tail were below what the verdict needs. */
static double tail_wanted(const ais_sampling *run) {
    return fmin((double)AIS_LEAST_ESS * run->chains, run->goal.effective);
}

/* Draws at which there should be as many effective ones as are wanted, without a doubt left. */
static double predicted(const ais_sampling *run) {
    const ais_looks *look = &run->goal.look;
    if (!(look->worst > 0)) return fmax(run->goal.effective / run->chains, run->options->least);
    double times = fmax(run->goal.effective / look->worst, tail_wanted(run) / fmax(look->tail, 1));
    return ceil(reserve * look->last * fmax(times, look->doubt));
}

/* Continuing because of a doubt must be worth it: at most this many times the draws that were enough by their ESS.
 * Where a least number was made in any case, more of them must be likely to do. */
static bool enough(ais_sampling *run, int done) {
    enum { most_times = 4 };
    ais_looks *look = &run->goal.look;
    if (look->worst < run->goal.effective || look->tail < tail_wanted(run))
        return run->options->least > 0 && predicted(run) > run->draws;
    if (!look->enough_at) look->enough_at = done;
    return look->doubt <= 1 || predicted(run) > (double)most_times * look->enough_at;
}

/* How many times as many draws would make chains agree as far as the verdict requires, and remove the caller's doubt.
 */
static ais_status find_doubt(ais_context *context, const ais_sampling *run, double *times) {
    double agreement;
    int where = -1;
    *times = 1;
    if (run->goal.effective < (double)AIS_LEAST_ESS * run->chains) return AIS_OK; /* refused in any case */
    ais_status status = ais_kept_least(context, &run->kept, run->pool, ais_column_agreement, 1, &where, &agreement);
    if (status == AIS_OK && run->doubt) status = run->doubt->times(context, run->doubt->data, &run->kept, times);
    if (agreement < 1) *times = fmax(*times, 1 / agreement);
    return status;
}

static ais_status look(ais_context *context, ais_sampling *run, int done, int planned, ais_leg *leg) {
    ais_goal *goal = &run->goal;
    goal->look.doubt = 1;
    double worst, tail = INFINITY; /* progress is reported while they are computed, from the previous ones */
    ais_status status =
        ais_kept_least(context, &run->kept, run->pool, ais_column_worst, goal->effective, &goal->look.worst_at, &worst);
    if (status == AIS_OK && worst >= goal->effective)
        status = ais_kept_least(context, &run->kept, run->pool, ais_column_tail, tail_wanted(run), &goal->look.tail_at,
                                &tail);
    if (status == AIS_OK && worst >= goal->effective && tail >= tail_wanted(run))
        status = find_doubt(context, run, &goal->look.doubt);
    if (status != AIS_OK) return status;
    goal->look.worst = worst;
    goal->look.tail = tail;
    goal->look.last = done;
    if (enough(run, done)) {
        leg->over = true;
        leg->ending = goal->look.enough_at && done > run->options->least ? AIS_ENDED_EFFECTIVE : AIS_ENDED_DRAWS;
    }
    /* A first estimate may be far off, so it is trusted for a doubling, not for more. Computing the ESS takes time,
     * too. */
    static const double least_growth = 1.03;
    double next = fmin(fmax(predicted(run), least_growth * done), 2.0 * done);
    goal->look.next = next < planned ? (int)next + 1 : planned;
    return AIS_OK;
}

int ais_goal_foreseen(const ais_sampling *run) {
    if (run->goal.effective == 0) return run->draws;
    double draws = predicted(run);
    return draws < run->draws ? (int)draws : run->draws;
}

/* ---- legs ---------------------------------------------------------------------------------------- */

static ais_status plan(ais_context *context, ais_sampling *run, int done, int planned, ais_leg *leg) {
    ais_goal *goal = &run->goal;
    ais_status status = AIS_OK;
    *leg = (ais_leg){.until = planned, .allowance = LONG_MAX, .over = done == planned, .ending = AIS_ENDED_DRAWS};
    if (!run->warming && goal->effective > 0) {
        int least = run->options->least;
        double first = fmax(FIRST_LOOK, least > 0 ? least : ceil(goal->effective / run->chains));
        if (done == 0) goal->look.next = first < planned ? (int)first : planned;
        if (done > 0 && done >= goal->look.next) status = look(context, run, done, planned, leg);
        leg->until = goal->look.next < planned ? goal->look.next : planned;
    }
    if (status == AIS_OK && !leg->over && goal->evaluations < LONG_MAX) share_out(run, done, leg);
    goal->leg_from = done;
    for (int b = 0; b < run->blocks; b++) goal->leg_spent[b] = block_spent(run, b);
    return status;
}

ais_status ais_goal_next(ais_context *context, ais_sampling *run, int done, int planned, ais_leg *leg) {
    ais_status status = AIS_OK;
    if (ais_ranks_lead(run->ranks)) status = plan(context, run, done, planned, leg);
    status = ais_ranks_agree(context, run->ranks, status);
    if (status == AIS_OK) status = ais_ranks_first(context, run->ranks, leg, sizeof *leg);
    if (status == AIS_OK) run->goal.leg = *leg;
    for (int b = run->part.first; b < run->part.end && status == AIS_OK && leg->allowance < LONG_MAX; b++)
        run->block[b].counted.left = leg->allowance * ais_block_size(run, b);
    return status;
}
