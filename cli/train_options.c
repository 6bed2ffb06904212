/* What train and run share: the settings of learning, their options, the live table, the kernel's shape. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "learning.h"
#include "ranks.h"

/* ---- shape --------------------------------------------------------------------------------------- */

static bool shape_asked(const learning *set) {
    return set->map || set->involution || set->layers || set->hidden || set->depth || set->bins;
}

const char *learning_maps(void) {
    static char list[256];
    size_t used = 0;
    ais_map_entry at;
    for (int i = 0; ais_map_builtin(i, &at); i++)
        if (at.layers > 0 && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? "|" : "", at.name);
    return list;
}

static ais_map map_of(const char *name, ais_map_entry *entry) {
    int i = 0;
    while (ais_map_builtin(i, entry) && strcmp(entry->name, name) != 0) i++;
    return (ais_map)i;
}

static ais_shape shape_of(const learning *set, int dim) {
    ais_map_entry entry;
    ais_shape shape = {
        .dim = dim, .layers = set->layers, .hidden = set->hidden, .depth = set->depth, .bins = set->bins};
    shape.map = map_of(set->map ? set->map : "spline", &entry);
    shape.activation = AIS_TANH;
    shape.reversal = AIS_SWAP;
    if (set->involution) shape.reversal = strcmp(set->involution, "swap") == 0 ? AIS_SWAP : AIS_FLIP;
    shape.joint = shape.map == AIS_REALNVP && shape.reversal == AIS_FLIP;
    if (shape.map == AIS_HENON && !set->layers && set->involution) shape.layers = 24;
    if (entry.bins && dim > 2) shape.marginal_bins = 24;
    return shape;
}

bool beyond_anice(const learning *set) {
    return set->map || set->involution || set->objective || set->loss || set->paper || set->start || set->layers ||
           set->depth || set->bins || set->population || set->screen || set->start_scale != 0;
}

/* Combinations that would do nothing, or not what they seem to. */
static const char *objection(const learning *set) {
    ais_map_entry entry;
    bool henon = map_of(set->map ? set->map : set->paper ? "henon" : "spline", &entry) == AIS_HENON;
    if (set->paper && shape_asked(set)) return "--preset paper sets the map itself: leave out --map and its sizes";
    if (set->paper && set->objective) return "--preset paper sets the objective itself: leave out --objective";
    if (set->bins && !entry.bins) return "--bins applies only to maps of splines: --map spline";
    if (set->loss && !(set->objective && strstr(set->objective, "adversarial")))
        return "--loss applies only to --objective adversarial";
    if (set->involution && strcmp(set->involution, "flip") == 0 && !henon)
        return "maps other than henon act on x alone and need --involution swap: with flip, x would never move";
    return NULL;
}

/* ---- table --------------------------------------------------------------------------------------- */

static void number(double value, int digits, char text[16]) {
    if (isnan(value))
        snprintf(text, 16, "-");
    else
        snprintf(text, 16, "%.*f", digits, value);
}

/* "12,345" would be longer than what fits: 12345, 123k, 12.3M. */
static void count(double value, char text[16]) {
    if (!(value > 0))
        snprintf(text, 16, "-");
    else if (value < 1e5)
        snprintf(text, 16, "%.0f", value);
    else
        snprintf(text, 16, value < 1e6 ? "%.0fk" : "%.1fM", value < 1e6 ? value / 1e3 : value / 1e6);
}

/* The columns of the live table, in the order in which they are shown. */
enum { STAGE, DONE, EVALUATIONS, RATE, SECONDS, LEFT, ESS, BEST, ACCEPTANCE, LOSS, DISCRIMINATOR, ROLLBACKS, COLUMNS };
static const struct {
    const char *heading;
    int width; /* the space before it included */
} column[COLUMNS] = {[STAGE] = {"stage", -11},
                     [DONE] = {"done", 6},
                     [EVALUATIONS] = {"evaluations", 13},
                     [RATE] = {"/second", 9},
                     [SECONDS] = {"seconds", 9},
                     [LEFT] = {"left", 7},
                     [ESS] = {"worst ESS/1000", 16},
                     [BEST] = {"best", 7},
                     [ACCEPTANCE] = {"accept.", 9},
                     [LOSS] = {"loss", 9},
                     [DISCRIMINATOR] = {"discr.", 8},
                     [ROLLBACKS] = {"rolled back", 13}};

static void fill_cells(const ais_train_progress *p, char cell[COLUMNS][16]) {
    snprintf(cell[STAGE], 16, "%s", p->stage);
    snprintf(cell[DONE], 16, "%.0f%%", 100 * p->share);
    count((double)p->evaluations, cell[EVALUATIONS]);
    count(p->seconds > 0 ? (double)p->evaluations / p->seconds : 0, cell[RATE]);
    number(p->seconds, 1, cell[SECONDS]);
    number(p->seconds_left, 1, cell[LEFT]);
    number(1000 * p->worst_ess, 0, cell[ESS]);
    number(p->best_ess >= 0 ? 1000 * p->best_ess : NAN, 0, cell[BEST]);
    number(p->acceptance, 3, cell[ACCEPTANCE]);
    number(p->loss, 3, cell[LOSS]);
    number(p->discriminator_loss, 3, cell[DISCRIMINATOR]);
    snprintf(cell[ROLLBACKS], 16, "%d", p->rollbacks);
}

/* A set of columns that fits into the width, one bit each. The time comes first, columns that have been empty so far
 * come last; no column is cut. */
static unsigned choose_columns(int width, unsigned filled) {
    static const int first[] = {STAGE, DONE, SECONDS, LEFT};
    unsigned chosen = 0;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        chosen |= 1U << first[i];
        width -= abs(column[first[i]].width);
    }
    for (int empty = 0; empty < 2; empty++)
        for (int k = 0; k < COLUMNS; k++) {
            if ((chosen & 1U << k) || ((filled & 1U << k) == 0) != (empty == 1) || column[k].width > width) continue;
            chosen |= 1U << k;
            width -= column[k].width;
        }
    return chosen;
}

/* The headings, where cell is NULL. */
static void write_row(unsigned chosen, char cell[COLUMNS][16]) {
    for (int k = 0; k < COLUMNS; k++)
        if (chosen & 1U << k) fprintf(stderr, "%*s", column[k].width, cell ? cell[k] : column[k].heading);
    fputc('\n', stderr);
}

void learning_show(const ais_train_progress *p, void *data) {
    progress_view *view = data;
    char cell[COLUMNS][16];
    fill_cells(p, cell);
    for (int k = 0; k < COLUMNS; k++)
        if (strcmp(cell[k], "-") != 0) view->filled |= 1U << k;
    bool new_stage = strncmp(view->stage, p->stage, sizeof view->stage - 1) != 0;
    snprintf(view->stage, sizeof view->stage, "%s", p->stage);
    if (!view->terminal && !new_stage && p->seconds - view->last_line < 2 && p->share < 1) return;
    if (view->terminal && view->drawn && !new_stage) fputs("\033[1A\r\033[K", stderr);
    const unsigned chosen = choose_columns(view->columns - 1, view->filled);
    if (!view->drawn || (new_stage && chosen != view->chosen)) {
        view->chosen = chosen;
        write_row(chosen, NULL);
    }
    write_row(view->chosen, cell);
    view->drawn = true;
    view->last_line = p->seconds;
}

/* ---- training ------------------------------------------------------------------------------------ */

static int start_method(const learning *set, ais_train_options *options, ais_draws **draws) {
    ais_context context = {0};
    const char *start = set->start ? set->start : "search";
    if (strcmp(start, "search") == 0) return 0;
    if (strcmp(start, "hunt") == 0) return complain(EXIT_USAGE, "'--start hunt' is now '--start search'");
    if (strcmp(start, "anneal") == 0) {
        options->method = AIS_START_ANNEAL;
    } else if (strcmp(start, "nuts") == 0) {
        options->method = AIS_START_NUTS;
    } else {
        if (ais_draws_read(&context, &start, 1, draws) != AIS_OK) return failed(&context);
        options->method = AIS_START_DRAWS;
        options->start = *draws;
    }
    return 0;
}

void learning_checkpoint(learning *set, const char *directory, const char *kernel) {
    snprintf(set->checkpoint, sizeof set->checkpoint, "%s%s%s.training", directory ? directory : "",
             directory ? "/" : "", kernel);
}

void learning_done(const learning *set) { unlink(set->checkpoint); }

void learning_tell(const learning *set) {
    bool there = access(set->checkpoint, F_OK) == 0;
    if (set->over) return;
    if (set->resume && !there)
        fprintf(stderr, "aisampler: nothing to resume, there is no %s: training starts from the beginning\n",
                set->checkpoint);
    if (!set->resume && there)
        fprintf(stderr, "aisampler: training starts from the beginning; --resume would have continued from %s\n",
                set->checkpoint);
}

int learning_prepare(const learning *set, const ais_target *target, bool quiet, learning_plan *plan) {
    *plan = (learning_plan){.shape = shape_of(set, target->dim)};
    progress_begin(&plan->view);
    plan->options = (ais_train_options){.shape = shape_asked(set) ? &plan->shape : NULL,
                                        .objective = set->objective,
                                        .rlogr = set->loss && strcmp(set->loss, "rlogr") == 0,
                                        .paper = set->paper != NULL,
                                        .ladder = set->ladder,
                                        .steps = set->steps,
                                        .rate = set->rate,
                                        .population = set->population,
                                        .scale = set->start_scale,
                                        .screen = set->screen,
                                        .checkpoint_seconds = set->renewal,
                                        .checkpoint = set->checkpoint[0] ? set->checkpoint : NULL,
                                        .resume = set->resume,
                                        .progress = quiet ? NULL : learning_show,
                                        .progress_data = &plan->view};
    const char *why = objection(set);
    if (why) return complain(EXIT_USAGE, "%s", why);
    int code = start_method(set, &plan->options, &plan->draws);
    if (code != 0) return code;
    ais_context context = {0};
    if (set->folder && ais_directory_make(&context, set->folder) != AIS_OK) return failed(&context);
    learning_tell(set);
    return 0;
}

void learning_free(learning_plan *plan) { ais_draws_free(plan->draws); }

void learning_stopped(const learning *set, const ais_context *context) {
    complain(0, "%s; the best kernel so far is kept%s", context->message,
             set->checkpoint[0] ? ", and --resume continues" : "");
}

int learn(const learning *set, const ais_budget *limits, const ais_target *target, uint64_t seed, int threads,
          bool quiet, ais_kernel **kernel, ais_training **training) {
    ais_context context = {0};
    learning_plan plan;
    int code = learning_prepare(set, target, quiet, &plan);
    plan.options.seed = seed;
    plan.options.threads = threads;
    plan.options.effective = limits->effective;
    plan.options.evaluations = limits->evaluations;
    plan.options.seconds = limits->seconds;
    plan.options.stop = stop_flag();
    plan.options.ranks = ranks_all();
    if (code == 0) {
        catch_interrupts();
        ais_status status = ais_train(&context, target, &plan.options, kernel, training);
        release_interrupts();
        if (status == AIS_STOPPED && *kernel)
            learning_stopped(set, &context);
        else if (status != AIS_OK)
            code = failed(&context);
    }
    learning_free(&plan);
    return code;
}

double *population_points(const ais_training *training, int chains) {
    double *start = malloc((size_t)chains * (size_t)training->dim * sizeof *start);
    if (start) ais_training_starts(training, chains, start);
    return start;
}

void learning_verdict(const ais_training *training, FILE *file) {
    char text[2048];
    print_wrapped(file, 0, 4, training->sentence);
    snprintf(text, sizeof text, "warning: %s", training->warning);
    if (training->warning[0]) print_wrapped(file, 0, 4, text);
    size_t size = sizeof text, used = 0;
    used += (size_t)snprintf(text, size, "learned in %.2f s", training->start_seconds + training->train_seconds);
    if (training->start_seconds > 0)
        used += (size_t)snprintf(text + used, size - used, " (%.2f s of them for the start)", training->start_seconds);
    if (isnan(training->worst_ess))
        used += (size_t)snprintf(text + used, size - used, ": stopped before the kernel was judged");
    else
        used += (size_t)snprintf(
            text + used, size - used, " and %ld evaluations: acceptance %.3f, worst ESS %.0f of 1000",
            training->densities + training->gradients, training->acceptance, 1000 * training->worst_ess);
    if (!isnan(training->log_z))
        snprintf(text + used, size - used, ", log Z = %.4f +- %.4f", training->log_z, training->log_z_error);
    print_wrapped(file, 0, 4, text);
}

static json_t *real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *ladder_json(const ais_rungs *rungs) {
    if (!rungs->count) return json_null();
    json_t *beta = json_array(), *rejection = json_array();
    for (int k = 0; k < rungs->count; k++) json_array_append_new(beta, real(rungs->beta[k]));
    for (int k = 0; k + 1 < rungs->count; k++) json_array_append_new(rejection, real(rungs->rejection[k]));
    return json_pack("{so so}", "beta", beta, "rejection", rejection);
}

json_t *learning_json(const ais_training *training) {
    json_t *curve = json_array();
    for (int i = 0; i < training->points; i++) {
        const ais_train_point *point = &training->point[i];
        json_array_append_new(curve, json_pack("{ss so so so so so so}", "stage", point->stage, "seconds",
                                               real(point->seconds), "loss", real(point->loss), "discriminator_loss",
                                               real(point->discriminator_loss), "acceptance", real(point->acceptance),
                                               "worst_ess", real(point->worst_ess), "beta", real(point->beta)));
    }
    return json_pack("{so so so si sb ss ss sI sI sI so so so so si si sb so so}", "log_z", real(training->log_z),
                     "log_z_error", real(training->log_z_error), "worst_ess", real(training->worst_ess), "modes",
                     training->modes, "trusted", (int)training->trusted, "sentence", training->sentence, "warning",
                     training->warning, "densities", (json_int_t)training->densities, "gradients",
                     (json_int_t)training->gradients, "start_evaluations", (json_int_t)training->start_evaluations,
                     "start_seconds", real(training->start_seconds), "train_seconds", real(training->train_seconds),
                     "acceptance", real(training->acceptance), "population", json_integer(training->count), "attempts",
                     training->attempts, "rollbacks", training->rollbacks, "resumed", (int)training->resumed, "ladder",
                     ladder_json(&training->rungs), "curve", curve);
}
