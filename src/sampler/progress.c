/* What a run reports while it is under way. */
#include <math.h>

#include "base/clock.h"
#include "sampler/sample.h"

static const double progress_seconds = 0.1;

/* Draws of this round that all blocks of this rank have made so far. */
static int done_by_all(const ais_sampling *run) {
    int least = run->round;
    for (int b = run->part.first; b < run->part.end; b++) {
        int done = atomic_load_explicit(&run->block[b].done, memory_order_relaxed);
        if (done < least) least = done;
    }
    return least;
}

/* This rank's blocks as they are now, those of others as of the last round. */
static long evaluations_now(const ais_sampling *run) {
    long sum = 0;
    for (int b = 0; b < run->blocks; b++) {
        bool own = b >= run->part.first && b < run->part.end;
        const ais_counted *counted = &run->block[b].counted;
        sum += own ? ais_counted_densities(counted) + ais_counted_gradients(counted)
                   : run->tally[b].densities + run->tally[b].gradients;
    }
    return sum;
}

/* By the draws that are to come, the evaluations that may, and the deadline, whichever is first. */
static double seconds_left(const ais_sampling *run, const ais_progress *now, double phase, double elapsed) {
    int done = run->warming ? now->warmup_done : now->draws_done;
    double draws = run->warming ? now->warmup - done + (double)now->draws * run->thin : now->draws - done;
    double left = done > 0 ? phase / done * fmax(draws, 0) : NAN;
    long allowed = run->options->evaluations;
    if (allowed > 0 && now->evaluations > 0)
        left = fmin(left, elapsed / (double)now->evaluations * (double)(allowed - now->evaluations));
    return run->options->seconds > 0 ? fmin(left, fmax(run->options->seconds - elapsed, 0)) : left;
}

static void report(ais_sampling *run, bool working, bool over) {
    double accept = 0, elapsed = ais_now() - run->started, phase = ais_now() - run->phase_started;
    long divergences = 0, steps = 0;
    for (int b = 0; b < run->blocks && !working; b++) { /* blocks at work are changing them */
        accept += run->tally[b].accept_sum;
        steps += run->tally[b].steps;
        divergences += run->tally[b].divergences;
    }
    if (!working) {
        run->acceptance_now = steps > 0 ? accept / (double)steps : NAN;
        run->divergences_now = run->warming ? 0 : divergences;
    }
    int ahead = working ? done_by_all(run) : 0;
    ais_progress progress = {.chains = run->chains,
                             .warmup = run->warmup,
                             .draws = over ? run->draws_done : ais_goal_foreseen(run),
                             .warmup_done = run->warmup_done + (run->warming ? ahead : 0),
                             .draws_done = run->draws_done + (run->warming ? 0 : ahead),
                             .seconds = elapsed,
                             .acceptance = run->acceptance_now,
                             .effective = run->goal.look.worst,
                             .divergences = run->divergences_now,
                             .evaluations = evaluations_now(run),
                             .over = over};
    progress.seconds_left = over ? 0 : seconds_left(run, &progress, phase, elapsed);
    run->options->progress(&progress, run->options->progress_data);
}

static void tell(ais_sampling *run, bool working, bool over) {
    if (!run->options->progress || !ais_ranks_lead(run->ranks)) return;
    if (ais_now() - run->reported < progress_seconds && !over) return;
    run->reported = ais_now();
    report(run, working, over);
}

void ais_run_see_to_deadline(ais_sampling *run) {
    double seconds = run->drawing && run->drawing->unlimited ? 0 : run->options->seconds;
    if (seconds > 0 && ais_now() - run->started >= seconds) atomic_store(&run->halt, true);
}

void ais_run_watch(void *data) {
    ais_sampling *run = data;
    ais_run_see_to_deadline(run);
    tell(run, true, false);
}

void ais_run_report(ais_sampling *run, bool over) { tell(run, false, over); }
