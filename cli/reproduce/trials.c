/* Single chains, as the paper runs them. Trials are independent chains of one run: chains share nothing but the kernel.
 */
#include <math.h>
#include <string.h>

#include "reproduce/reproduce.h"

enum { burn_in = 1000, pilot_chains = 2, GRID = 20 };
static const double first_step = 0.005, step_ratio = 1.2589254117941673; /* ten steps to a decade, up to 0.4 */

const char *const rivals[RIVALS] = {"hmc", "anice", "paper", "ai"};

int anice_iterations(const reproduction *set, int draws) {
    return draws == PLANE_DRAWS ? set->anice_iterations : (set->anice_iterations + 2) / 3;
}

contest trial_contest(const reproduction *set, const ais_target *target, int draws) {
    return (contest){.target = target,
                     .seed = set->seed,
                     .chains = set->trials,
                     .draws = draws,
                     .warmup = burn_in,
                     .threads = set->threads,
                     .iterations = anice_iterations(set, draws),
                     .steps = set->paper_steps,
                     .from_noise = draws == PLANE_DRAWS,
                     .by_mean = true,
                     .quiet = true};
}

/* Mean-ESS, but no more than what chains have by means of their own: one that stands still near the true mean has a
 * large one too. And a hundredth of the ESS of (x - mean)^2, which decides where every chain stays in one mode. */
static double score(const outcome *out) {
    const ais_draws *draws = out->draws;
    size_t length = (size_t)draws->draws;
    double of_mean = INFINITY, of_spread = INFINITY;
    for (size_t series = 0; series < (size_t)draws->dim * (size_t)draws->chains; series++) {
        of_mean = fmin(of_mean, ais_ess_mean(draws->value + series * length, 1, draws->draws));
        of_spread = fmin(of_spread, ais_ess_sd(draws->value + series * length, 1, draws->draws));
    }
    if (!isfinite(of_mean) || !isfinite(of_spread)) return 0;
    return fmin(out->diagnosis->mean_ess_song, of_mean) + 0.01 * of_spread;
}

/* HMC's step as the paper tunes it: the best one of a grid, on chains that are not used again. The grid is fine because
 * trajectories of one length resonate: a fifth more or less can cost nine tenths of the ESS. */
static int tune_step(const reproduction *set, contest how, const contestant *who, double *best) {
    double largest = -1;
    how.chains = pilot_chains;
    how.seed += 1000;
    if (set->quick) {
        how.draws /= 4;
        how.warmup /= 2;
    }
    for (int k = 0; k < GRID; k++) {
        entry made;
        outcome out;
        how.step_size = first_step * pow(step_ratio, k);
        int code = entry_make(&how, who, &made);
        if (code == 0) code = outcome_make(&how, &made, &out);
        entry_free(&made);
        if (code != 0) return code;
        if (score(&out) > largest) {
            largest = score(&out);
            *best = how.step_size;
        }
        outcome_free(&out);
    }
    return 0;
}

static int time_one_chain(contest how, const entry *made, double *seconds) {
    outcome out;
    how.chains = how.threads = 1;
    int code = outcome_make(&how, made, &out);
    if (code == 0) *seconds = out.result.sample_seconds;
    outcome_free(&out);
    return code;
}

/* Far from the target a kernel that was learned near it may never be accepted: how it does from there is reported, too.
 */
static int from_noise(contest how, trials *made) {
    outcome out;
    how.from_noise = true;
    int code = outcome_make(&how, &made->entry, &out);
    if (code == 0) made->noise_ess = out.diagnosis->mean_ess_song;
    outcome_free(&out);
    return code;
}

int trials_make(reproduction *set, const ais_target *target, const char *sampler, int draws, trials *made) {
    contest how = trial_contest(set, target, draws);
    const contestant *who = find_contestant(sampler);
    *made = (trials){0};
    if (!set->quiet) fprintf(stderr, "  %s: %s\n", target->name, who->title);
    int code = strcmp(sampler, "hmc") == 0 ? tune_step(set, how, who, &made->step_size) : 0;
    how.step_size = made->step_size;
    if (strcmp(sampler, "anice") == 0)
        made->entry = baselines_take(set, target->name);
    else if (code == 0)
        code = entry_make(&how, who, &made->entry);
    if (code == 0) code = outcome_make(&how, &made->entry, &made->outcome);
    if (code == 0) code = time_one_chain(how, &made->entry, &made->seconds);
    if (code == 0) made->noise_ess = made->outcome.diagnosis->mean_ess_song;
    if (code == 0 && who->at_start && !how.from_noise) code = from_noise(how, made);
    if (code != 0) trials_free(made);
    return code;
}

void trials_free(trials *made) {
    entry_free(&made->entry);
    outcome_free(&made->outcome);
}

const char trial_columns[] =
    "ESS/s is of one chain on one core of this machine, without training; the printed one is of a GPU. R-hat and the "
    "mean correlation (corr.) between chains are over the trials.";

const char *const trial_headings[] = {"target, sampler", "mean-ESS",      "printed ESS", "worst ESS", "worst of",
                                      "ESS/s",           "printed ESS/s", "worst ESS/s", "R-hat",     "corr.",
                                      "accept.",         "train, s",      NULL};

void trial_row(table *to, const char *target, const char *sampler, const trials *made) {
    const ais_diagnosis *judged = made->outcome.diagnosis;
    char name[TABLE_CELL];
    if (made->step_size > 0)
        snprintf(name, sizeof name, "%.12s, %s (%.2g)", target, sampler, made->step_size);
    else
        snprintf(name, sizeof name, "%.12s, %s", target, sampler);
    char(*cell)[TABLE_CELL] = table_row(to, name);
    if (!cell) return;
    cell_number(cell[1], judged->mean_ess_song, 4);
    cell_number(cell[2], printed_number("ess", target, sampler), 5);
    cell_number(cell[3], judged->worst_ess, 4);
    snprintf(cell[4], TABLE_CELL, "%.31s", judged->worst_ess_function);
    cell_number(cell[5], judged->mean_ess_song / made->seconds, 4);
    cell_number(cell[6], printed_number("ess/s", target, sampler), 5);
    cell_number(cell[7], judged->worst_ess / made->seconds, 4);
    cell_fixed(cell[8], judged->worst_rhat, 3);
    cell_fixed(cell[9], judged->cross_chain_mean, 3);
    cell_fixed(cell[10], made->outcome.result.acceptance, 3);
    cell_number(cell[11], made->entry.who->learned ? made->entry.seconds : NAN, 3);
    if (to->columns > 12) cell_number(cell[12], made->noise_ess, 3);
}

void trial_note(const reproduction *set, int draws, const char *what, table *to) {
    char paper[64] = "the preset's own number of steps";
    bool plane = draws == PLANE_DRAWS;
    if (set->paper_steps > 0) snprintf(paper, sizeof paper, "%d steps", set->paper_steps);
    snprintf(to->note, sizeof to->note,
             "A single chain of %d draws after %d burn-in steps from %s, %d trials. mean-ESS is the paper's: "
             "Song's with the true moments, mean over trials, smallest over coordinates. Worst ESS is bulk ESS per "
             "chain, the smallest over x, x^2 and mode indicators. %s hmc: 40 leapfrogs, the best step of a grid (in "
             "brackets); "
             "anice: %d iterations, its kernel the best of its bootstraps by mean-ESS; paper: --preset paper, %s; ai: "
             "the default of "
             "aisampler run.",
             draws, (int)burn_in,
             plane ? "N(0, 1)" : "N(0, 1) (hmc, anice) or from the population that training leaves (paper, ai)",
             set->trials, what, anice_iterations(set, draws), paper);
}
