#include "contest.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "learning.h"

/* What is learned; classical kernels follow as the library has them. */
static const contestant learned[] = {
    {"ai", "Ai-sampler (default)", false, true, true},
    {"ladder", "ladder of replicas", false, true, true},
    {"anice", "A-NICE-MC", false, true, false},
    {"paper", "Ai-sampler (--preset paper)", false, true, true},
};
enum { LEARNED = sizeof learned / sizeof *learned, MOST = 32 };

/* All of them; ends with a NULL name. */
static const contestant *contestants(void) {
    static contestant all[MOST + 1];
    if (all[0].name) return all;
    memcpy(all, learned, sizeof learned);
    const ais_classical_entry *at;
    for (int i = 0; LEARNED + i < MOST && (at = ais_classical_builtin(i)); i++)
        all[LEARNED + i] = (contestant){at->name, at->title, at->needs_gradient, false, false};
    return all;
}

void contestant_list(char *text, size_t size) {
    size_t used = 0;
    for (const contestant *at = contestants(); at->name && used < size; at++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 at == contestants() ? ""
                                 : at[1].name        ? ", "
                                                     : " and ",
                                 at->name);
}

const contestant *find_contestant(const char *name) {
    const char *known[MOST + 1];
    int count = 0;
    for (const contestant *at = contestants(); at->name; at++) {
        if (strcmp(at->name, name) == 0) return at;
        known[count++] = at->name;
    }
    known[count] = NULL;
    char list[256];
    contestant_list(list, sizeof list);
    const char *near = ais_nearest(name, known);
    complain(EXIT_USAGE, "unknown sampler '%s'; %s%s%s", name, near ? "did you mean " : "there are ",
             near ? near : list, near ? "?" : "");
    return NULL;
}

json_t *json_number_or_null(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* ---- counting --------------------------------------------------------------------------------------- */

/* A target in front of another one. Training evaluates in batches, so counting costs next to nothing. */
typedef struct counter {
    const ais_target *inner;
    atomic_long densities, gradients;
} counter;

static double counted_logp(const double *x, void *data) {
    counter *count = data;
    atomic_fetch_add_explicit(&count->densities, 1, memory_order_relaxed);
    return count->inner->logp(x, count->inner->data);
}

static void counted_batch(size_t n, const double *x, double *logp, void *data) {
    counter *count = data;
    atomic_fetch_add_explicit(&count->densities, (long)n, memory_order_relaxed);
    count->inner->batch(n, x, logp, count->inner->data);
}

static double counted_grad(const double *x, double *gradient, void *data) {
    counter *count = data;
    atomic_fetch_add_explicit(&count->gradients, 1, memory_order_relaxed);
    return count->inner->grad(x, gradient, count->inner->data);
}

static ais_target counting(counter *count) {
    ais_target target = *count->inner;
    target.logp = counted_logp;
    target.batch = target.batch ? counted_batch : NULL;
    target.grad = target.grad ? counted_grad : NULL;
    target.reference = NULL; /* its functions want the inner target's data, and training must not look anyway */
    target.close = NULL;
    target.data = count;
    return target;
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

static int learn_involution(const contest *set, const contestant *who, const ais_target *target, entry *made) {
    ais_context context = {0};
    progress_view view;
    progress_begin(&view);
    bool paper = strcmp(who->name, "paper") == 0;
    const ais_train_options options = {.seed = set->seed,
                                       .threads = set->threads,
                                       .paper = paper,
                                       .ladder = strcmp(who->name, "ladder") == 0,
                                       .steps = paper ? set->steps : 0,
                                       .progress = set->quiet ? NULL : learning_show,
                                       .progress_data = &view,
                                       .stop = stop_flag()};
    catch_interrupts();
    ais_status status = ais_train(&context, target, &options, &made->kernel, &made->training);
    release_interrupts();
    return status == AIS_OK ? 0 : failed(&context);
}

static int learn_kernel(const contest *set, const contestant *who, entry *made) {
    counter count = {.inner = set->target};
    const ais_target target = counting(&count);
    const anice_learning how = {.iterations = set->iterations, .mean_only = set->by_mean};
    int code = strcmp(who->name, "anice") == 0
                   ? learn_anice(&how, &target, set->seed, set->threads, set->quiet, &made->kernel, &made->training)
                   : learn_involution(set, who, &target, made);
    if (code == 0 && *stop_flag()) code = complain(EXIT_FAILED, "stopped");
    if (code != 0) return code;
    made->seconds = made->training->start_seconds + made->training->train_seconds;
    made->densities = (double)count.densities;
    made->gradients = (double)count.gradients;
    return 0;
}

int entry_make(const contest *set, const contestant *who, entry *made) {
    ais_context context = {0};
    *made = (entry){.who = who};
    ais_status status = AIS_OK;
    int code = 0;
    if (who->learned) {
        code = learn_kernel(set, who, made);
    } else {
        const ais_classical_options options = {.step_size = strcmp(who->name, "hmc") == 0 ? set->step_size : 0};
        status = ais_kernel_classical(&context, who->name, &options, &made->kernel);
    }
    if (status != AIS_OK) code = failed(&context);
    if (code != 0) entry_free(made);
    return code;
}

void entry_free(entry *made) {
    ais_kernel_free(made->kernel);
    ais_training_free(made->training);
    *made = (entry){0};
}

/* ---- draws ------------------------------------------------------------------------------------------ */

int outcome_make(const contest *set, const entry *made, outcome *out) {
    ais_context context = {0};
    ais_sink *memory = NULL;
    double *start = NULL;
    *out = (outcome){0};
    if (made->who->at_start && !set->from_noise) {
        start = population_points(made->training, set->chains);
        if (!start) return complain(EXIT_FAILED, "out of memory for the starting points of %d chains", set->chains);
    }
    const ais_sample_options options = {.seed = set->seed,
                                        .chains = set->chains,
                                        .warmup = set->warmup,
                                        .draws = set->draws,
                                        .threads = set->threads,
                                        .start = start,
                                        .stop = stop_flag()};
    ais_status status = ais_sink_memory(&context, &memory);
    catch_interrupts();
    if (status == AIS_OK) status = ais_sample(&context, set->target, made->kernel, &options, &memory, 1, &out->result);
    release_interrupts();
    if (status == AIS_OK) out->draws = ais_sink_memory_take(memory);
    if (status == AIS_OK) status = ais_diagnose(&context, out->draws, set->target, &out->diagnosis);
    ais_sink_free(memory);
    free(start);
    if (status != AIS_OK) {
        outcome_free(out);
        return failed(&context);
    }
    return 0;
}

void outcome_free(outcome *out) {
    ais_draws_free(out->draws);
    ais_diagnosis_free(out->diagnosis);
    *out = (outcome){0};
}

double plane_density(double x, double y, void *data) {
    const ais_target *target = data;
    const double point[2] = {x, y};
    return exp(target->logp(point, target->data));
}

double outcome_ess(const outcome *out) { return out->diagnosis->worst_ess * out->diagnosis->chains; }
