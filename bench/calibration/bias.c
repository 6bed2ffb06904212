/* Is there a bias that only a long run shows? Trained kernels on every plane, many transitions from exact draws,
 * against moments and mode weights by formula or quadrature.
 *
 *     bias [transitions=1e7] [chains=4096] [only=PLANE] [kernels=trained,spline,reflections,latent] [threads=1]
 * [broken=0]
 *
 * trained: whatever ais_train takes for the plane; spline: independent proposals of a spline map; reflections: that map
 * with angles of 20, 90 and 180 degrees; latent: the random walk in its latent space. Errors are those of the chains'
 * means, whatever the correlations within. Told: the largest deviation in standard errors of the functions x_i, x_i^2
 * and modes, and four errors of the least precise of them in standard deviations, which is the smallest bias that would
 * have been seen everywhere. Exits 1 above `most` = 4.5 (the largest of about 200 deviations is 3.5).
 *
 * broken=E: the spline kernels with E of their Jacobian missing; the program has to end with 1. */
#include <math.h>
#include <stdio.h>

#include <aisampler/aisampler.h>

#include "../arguments.h"
#include "learned/learned.h"

static const char *const planes[] = {"mog2", "mog6", "ring", "ring5", "triangle", "gaussian:dim=2,cond=9", "banana"};
enum { PLANES = sizeof planes / sizeof *planes, MOST_MODES = 8, FUNCTIONS = 4 + MOST_MODES };

/* ---- sums of every chain ------------------------------------------------------------------------------------------
 */

typedef struct sums {
    ais_sink sink;
    const ais_target *target;
    int chains, functions;
    double *of_chain; /* chains x FUNCTIONS */
    double draws;
} sums;

static ais_status begin(ais_context *context, ais_sink *sink, const ais_run_header *header) {
    (void)context, (void)sink, (void)header;
    return AIS_OK;
}
static ais_status add(ais_context *context, ais_sink *sink, const ais_chunk *chunk) {
    (void)context;
    sums *s = (sums *)sink;
    const ais_reference *truth = s->target->reference;
    for (int c = 0; c < s->chains; c++) {
        double *sum = s->of_chain + (size_t)c * FUNCTIONS;
        for (int t = 0; t < chunk->count; t++) {
            const double *x = chunk->x + 2 * ((size_t)c * (size_t)chunk->count + (size_t)t);
            for (int i = 0; i < 2; i++) sum[i] += x[i], sum[2 + i] += x[i] * x[i];
            if (truth->modes) sum[4 + truth->mode(x, s->target->data)]++;
        }
    }
    s->draws += chunk->count;
    return AIS_OK;
}
static ais_status end(ais_context *context, ais_sink *sink, const ais_run_footer *footer) {
    (void)context, (void)sink, (void)footer;
    return AIS_OK;
}
static void nothing(ais_sink *sink) { (void)sink; }

/* ---- one kernel on one plane ---------------------------------------------------------------------------------------
 */

typedef struct finding {
    double z, visible, transitions, acceptance;
} finding;

static double truth_of(const ais_reference *truth, int f, double *sd) {
    if (f < 2) return *sd = sqrt(truth->variance[f]), truth->mean[f];
    if (f < 4) return *sd = sqrt(truth->square_variance[f - 2]), truth->square_mean[f - 2];
    double w = truth->mode_weight[f - 4];
    return *sd = sqrt(w * (1 - w)), w;
}

static void judge(const sums *s, finding *found) {
    const ais_reference *truth = s->target->reference;
    for (int f = 0; f < 4 + truth->modes; f++) {
        double mean = 0, square = 0, sd, expected = truth_of(truth, f, &sd), n = s->chains;
        for (int c = 0; c < s->chains; c++) {
            double x = s->of_chain[(size_t)c * FUNCTIONS + (size_t)f] / s->draws - expected;
            mean += x / n;
            square += x * x / n;
        }
        double error = sqrt((square - mean * mean) / (n - 1));
        found->z = fmax(found->z, fabs(mean) / error);
        found->visible = fmax(found->visible, 4 * error / sd);
    }
}

static ais_status follow(ais_context *context, const ais_target *target, const ais_kernel *kernel, finding *found) {
    int chains = (int)number("chains", 4096);
    double *start = malloc((size_t)chains * 2 * sizeof *start);
    sums s = {.sink = {.begin = begin, .write = add, .end = end, .abandon = nothing, .free = nothing},
              .target = target,
              .chains = chains,
              .of_chain = calloc((size_t)chains * FUNCTIONS, sizeof *s.of_chain)};
    ais_sample_result result = {0};
    ais_sample_options options = {.seed = 2385,
                                  .chains = chains,
                                  .draws = (int)(number("transitions", 1e7) / chains),
                                  .threads = (int)number("threads", 1),
                                  .start = start};
    ais_sink *sink = &s.sink;
    ais_status status = start && s.of_chain ? AIS_OK : AIS_NO_MEMORY;
    for (int c = 0; c < chains && status == AIS_OK; c++)
        target->reference->draw(options.seed, (uint64_t)c, start + 2 * (size_t)c, target->data);
    if (status == AIS_OK) status = ais_sample(context, target, kernel, &options, &sink, 1, &result);
    if (status == AIS_OK) judge(&s, found);
    found->transitions = (double)options.draws * chains;
    found->acceptance = result.acceptance;
    free(start);
    free(s.of_chain);
    return status;
}

/* ---- kernels -------------------------------------------------------------------------------------------------------
 */

static double missing; /* share of the Jacobian */
static void (*proposed)(const ais_learned *, ais_proposal *);
static void propose_broken(const ais_learned *learned, ais_proposal *proposal) {
    proposed(learned, proposal);
    for (size_t c = 0; c < proposal->lanes; c++) proposal->log_det[c] *= 1 - missing;
}

static ais_status make(ais_context *context, const ais_target *target, const char *name, ais_kernel **kernel) {
    static const ais_shape spline = {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 2};
    static const double angles[] = {20, 90, 180};
    bool as_it_comes = strcmp(name, "trained") == 0;
    const ais_train_options options = {.seed = 1, .threads = 1, .shape = as_it_comes ? NULL : &spline};
    ais_training *training = NULL;
    ais_kernel *walk = NULL;
    ais_status status = ais_train(context, target, &options, kernel, &training);
    ais_training_free(training);
    if (status != AIS_OK) return status;
    if (strcmp(name, "reflections") == 0) status = ais_kernel_set_angles(context, *kernel, 3, angles);
    if (missing > 0 && !as_it_comes) {
        proposed = ((ais_learned *)*kernel)->propose;
        ((ais_learned *)*kernel)->propose = propose_broken;
    }
    if (status != AIS_OK || strcmp(name, "latent") != 0) return status;
    ais_kernel *map = *kernel;
    *kernel = NULL;
    status = ais_kernel_rwm(context, &(ais_rwm_options){.scale = 1.5}, &walk);
    return status == AIS_OK ? ais_kernel_latent(context, map, walk, kernel) : status;
}

static ais_status measure(ais_context *context, const char *plane, const char *name, finding *found) {
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_status status = ais_target_open(context, plane, &target);
    if (status == AIS_OK) status = make(context, target, name, &kernel);
    double began = now();
    if (status == AIS_OK) status = follow(context, target, kernel, found);
    if (status == AIS_OK)
        printf("| %s | %s | %s | %.2e | %.3f | %.2f | %.5f | %.1e |\n", plane, name, ais_kernel_name(kernel),
               found->transitions, found->acceptance, found->z, found->visible, found->transitions / (now() - began));
    else
        fprintf(stderr, "bias: %s, %s: %s\n", plane, name, context->message);
    fflush(stdout);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return status;
}

int main(int count, char **argument) {
    words = count, word = argument;
    const char *only = text("only", NULL);
    double most = number("most", 4.5), largest = 0;
    missing = number("broken", 0);
    printf("| plane | kernel | | transitions | acceptance | largest deviation, standard errors | bias that would have "
           "been "
           "seen, sd | per second |\n|---|---|---|---|---|---|---|---|\n");
    for (int p = 0; p < PLANES; p++) {
        char names[256];
        if (only && strcmp(only, planes[p]) != 0) continue;
        snprintf(names, sizeof names, "%s", text("kernels", "trained,spline,reflections,latent"));
        for (char *rest = names, *name; (name = strtok_r(rest, ",", &rest));) {
            ais_context context = {0};
            finding found = {0};
            if (measure(&context, planes[p], name, &found) != AIS_OK) return 2;
            largest = fmax(largest, found.z);
        }
    }
    printf("\nlargest deviation: %.2f standard errors\n", largest);
    return largest > most;
}
