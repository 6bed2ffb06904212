/* The cold start finds what there is: modes, their weights and log Z, on targets whose truth is
 * known. Prints the table. AIS_START_SEEDS: how many seeds each (default 1, without the slow rows);
 * AIS_START_ONLY: a row's name; AIS_START_SCREEN: points to screen; AIS_START_VERBOSE: sentences. */
#include "support.h"

#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include <aisampler/target.h>

#include "look/start.h"
#include "normal_mixture.h"

enum { NEITHER, TWO, GRID, FORTY };
typedef struct row {
    const char *spec; /* of a built-in, or a name of ours */
    int kind, dim;
    double sd1, sd2, weight1, scale;
    double weight_error, log_z_error; /* allowed, in nine of ten seeds */
    bool hopeless;                    /* reported, not asserted */
    bool slow;
} row;

static const row rows[] = {
    {"twomodes:dim=2,sd2=0.5", .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"twomodes:dim=8,sd2=0.5", .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"twomodes:dim=16,sd2=0.5", .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"twomodes:dim=2,sd2=0.25", .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"twomodes:dim=8,sd2=0.25", .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"twomodes:dim=16,sd2=0.25", .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"twomodes:dim=16,sd2=0.25,weight1=0.7", .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"random direction .5/.25", TWO, 2, 0.5, 0.25, 0.3, .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"random direction .5/.25", TWO, 8, 0.5, 0.25, 0.3, .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"random direction .5/.25", TWO, 16, 0.5, 0.25, 0.3, .scale = 10, .weight_error = 0.03, .log_z_error = 0.05},
    {"random direction .5/.125", TWO, 8, 0.5, 0.125, 0.3, .scale = 10, .weight_error = 0.03, .log_z_error = 0.05,
     .hopeless = true},
    {"random direction .5/.125", TWO, 16, 0.5, 0.125, 0.3, .scale = 10, .weight_error = 0.03, .log_z_error = 0.05,
     .hopeless = true},
    {"grid of 25", GRID, .scale = 10, .weight_error = 0.02, .log_z_error = 0.05},
    {"40 random modes", FORTY, .scale = 40, .weight_error = 0.02, .log_z_error = 0.05},
    {"mog2", .weight_error = 0.03, .log_z_error = 0.05},
    {"mog6", .weight_error = 0.03, .log_z_error = 0.05},
    {"triangle", .weight_error = 0.03, .log_z_error = 0.05},
    {"ring", .weight_error = 0.03, .log_z_error = 0.1},
    {"ring5", .weight_error = 0.05, .log_z_error = 0.15},
    {"banana", .weight_error = 0.03, .log_z_error = 0.1},
    {"gaussian:dim=50,cond=1e4", .weight_error = 0.03, .log_z_error = 0.1, .slow = true},
    {"gaussian:dim=1", .weight_error = 0.03, .log_z_error = 0.05},
    {"heart", .weight_error = 0.03, .log_z_error = 0.1},
    {"german", .weight_error = 0.03, .log_z_error = 0.1, .slow = true},
    {"funnel", .weight_error = 0.03, .log_z_error = 0.1, .hopeless = true, .slow = true},
};

typedef struct result {
    int modes, found;
    double weight_error, log_z_error, sd_error;
    bool trusted, annealed;
    double milliseconds;
    long densities, gradients, screened;
    int hits;
    double ess_share, pareto_k;
} result;

static normal_mixture own;

static const ais_target *open_row(const row *r, uint64_t seed, ais_target *mine, ais_target **opened) {
    ais_context context = {0};
    *opened = NULL;
    if (r->kind == NEITHER) {
        assert_ok(context, ais_target_open(&context, r->spec, opened));
        return *opened;
    }
    if (r->kind == TWO) two_apart(&own, r->dim, seed + 17, r->sd1, r->sd2, r->weight1);
    if (r->kind == GRID) grid_of_modes(&own);
    if (r->kind == FORTY) forty_modes(&own, seed + 17);
    *mine = normal_mixture_target(&own, r->spec);
    return mine;
}

/* Modes that got at least a tenth of their due, and the largest error of a weight. */
static void judge_modes(const ais_target *target, const ais_start *start, result *to) {
    const ais_reference *reference = target->reference;
    double share[MIXTURE_MOST] = {0};
    int modes = reference ? reference->modes : 0;
    const double *x = start->x;
    for (int c = 0; c < start->count && modes; c++, x += start->dim)
        share[reference->mode(x, target->data)] += 1.0 / start->count;
    to->modes = modes;
    for (int k = 0; k < modes; k++) {
        double truth = reference->mode_weight[k];
        to->found += share[k] > 0.1 * truth;
        to->weight_error = fmax(to->weight_error, fabs(share[k] - truth));
    }
    for (int i = 0; i < start->dim && reference && reference->variance; i++) {
        double squares = 0, truth = sqrt(reference->variance[i]);
        for (int c = 0; c < start->count; c++) {
            double v = (start->x[(size_t)c * (size_t)start->dim + (size_t)i] - reference->mean[i]) / truth;
            squares += v * v / start->count;
        }
        to->sd_error = fmax(to->sd_error, fabs(sqrt(squares) - 1));
    }
}

static result run_row(const row *r, uint64_t seed, ais_pool *pool) {
    ais_context context = {0};
    ais_target mine, *opened;
    const ais_target *target = open_row(r, seed, &mine, &opened);
    const char *screen = getenv("AIS_START_SCREEN");
    ais_start_options options = {.seed = seed, .scale = r->scale, .pool = pool, .screen = screen ? atol(screen) : 0};
    ais_start *start;
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    assert_ok(context, ais_cold_start(&context, target, &options, &start));
    clock_gettime(CLOCK_MONOTONIC, &t1);
    result to = {.trusted = start->trusted, .annealed = start->annealed};
    judge_modes(target, start, &to);
    double truth = target->reference ? target->reference->log_z : NAN;
    to.log_z_error = start->log_z - truth;
    to.milliseconds = 1e3 * (double)(t1.tv_sec - t0.tv_sec) + 1e-6 * (double)(t1.tv_nsec - t0.tv_nsec);
    to.densities = start->densities;
    to.gradients = start->gradients;
    to.screened = start->screened;
    to.hits = start->fewest_hits;
    to.ess_share = start->importance_ess / start->importance_n;
    to.pareto_k = start->pareto_k;
    if (getenv("AIS_START_VERBOSE")) print_message("    %s | %s\n", start->sentence, start->warning);
    ais_start_free(start);
    ais_target_close(opened);
    return to;
}

static bool well(const row *r, const result *got) {
    return got->found == got->modes && got->weight_error <= r->weight_error &&
           (isnan(got->log_z_error) || fabs(got->log_z_error) <= r->log_z_error);
}

static void finds_what_there_is(void **state) {
    (void)state;
    const char *wanted = getenv("AIS_START_SEEDS"), *only = getenv("AIS_START_ONLY");
    int seeds = wanted ? atoi(wanted) : 1, bad = 0;
    ais_context context = {0};
    ais_pool *pool;
    assert_ok(context, ais_pool_new(&context, 2, &pool));
    print_message("%-38s %3s %9s %5s %8s %8s %7s %6s %5s %5s %6s %8s %6s %7s\n", "target", "d", "modes", "well",
                  "weights", "log Z", "sd", "trust", "ann", "hits", "ess/n", "density", "grad", "ms");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        if ((only && !strstr(r->spec, only)) || (r->slow && !wanted)) continue;
        result worst = {.hits = 1 << 30, .ess_share = 1};
        int wells = 0, trusted = 0, annealed = 0, found = 1 << 30;
        for (int seed = 0; seed < seeds; seed++) {
            result got = run_row(r, (uint64_t)seed + 1, pool);
            wells += well(r, &got);
            trusted += got.trusted;
            annealed += got.annealed;
            found = got.found < found ? got.found : found;
            worst.modes = got.modes;
            worst.weight_error = fmax(worst.weight_error, got.weight_error);
            worst.log_z_error = fmax(worst.log_z_error, fabs(got.log_z_error));
            worst.sd_error = fmax(worst.sd_error, got.sd_error);
            worst.hits = got.hits < worst.hits ? got.hits : worst.hits;
            worst.ess_share = fmin(worst.ess_share, got.ess_share);
            worst.densities += got.densities / seeds;
            worst.gradients += got.gradients / seeds;
            worst.milliseconds += got.milliseconds / seeds;
        }
        print_message("%-38s %3d %4d/%-4d %2d/%-2d %8.3f %8.3f %7.3f %3d/%-2d %5d %5d %6.3f %8ld %6ld %7.1f\n", r->spec,
                      r->dim, found, worst.modes, wells, seeds, worst.weight_error, worst.log_z_error, worst.sd_error,
                      trusted, seeds, annealed, worst.hits, worst.ess_share, worst.densities, worst.gradients,
                      worst.milliseconds);
        bad += !r->hopeless && 10 * wells < 9 * seeds;
    }
    ais_pool_free(pool);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_there_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
