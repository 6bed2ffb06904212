/* The parts of `aisampler bench` that need nothing but the public interface. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

/* The paper's kernel: henon, flip, relu, 5 layers. */
static ais_kernel *paper_kernel(int dim) {
    ais_context context = {0};
    ais_kernel *kernel = NULL;
    const ais_shape shape = {.map = AIS_HENON, .dim = dim};
    if (ais_kernel_learned(&context, &shape, 1, &kernel) != AIS_OK) failed(&context);
    return kernel;
}

static ais_target *open_target(const char *name) {
    ais_context context = {0};
    ais_target *target = NULL;
    if (ais_target_open(&context, name, &target) != AIS_OK) failed(&context);
    return target;
}

static ais_kernel *open_kernel(const bench *set, const ais_target *target) {
    ais_context context = {0};
    ais_kernel *kernel = NULL;
    if (!set->kernel_file) return paper_kernel(target->dim);
    if (ais_kernel_load(&context, set->kernel_file, target, &kernel) != AIS_OK) failed(&context);
    return kernel;
}

/* ---- hot paths ------------------------------------------------------------------------------------- */

static json_t *share(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *measure_paths(const bench *set) {
    ais_context context = {0};
    ais_bench_limits limits;
    ais_bench_entry entry[AIS_BENCH_MOST];
    int count = 0;
    if (ais_bench_hot_paths(&context, NULL, set->seconds, &limits, entry, &count) != AIS_OK) {
        failed(&context);
        return NULL;
    }
    json_t *rows = json_array();
    if (!set->quiet)
        printf("  %s; multiply-adds %.4g GFLOP/s, memory copy %.3g GB/s\n", limits.isa, 1e-9 * limits.fma_per_second,
               1e-9 * limits.bytes_per_second);
    for (int i = 0; i < count; i++) {
        const ais_bench_entry *at = &entry[i];
        if (!set->quiet) printf("  %-44s %10.4g %s/s", at->name, at->rate, at->unit);
        if (!set->quiet && at->peak) printf(", %.0f%% of %s", 100 * at->peak_ratio, at->peak);
        if (!set->quiet) printf(", %.1f x scalar\n", at->scalar_ratio);
        json_array_append_new(rows, json_pack("{sssssfss?soso}", "name", at->name, "unit", at->unit, "rate", at->rate,
                                              "peak", at->peak, "peak_ratio", share(at->peak_ratio), "scalar_ratio",
                                              share(at->scalar_ratio)));
    }
    return json_pack("{sssfsfso}", "isa", limits.isa, "fma_per_second", limits.fma_per_second, "bytes_per_second",
                     limits.bytes_per_second, "paths", rows);
}

/* ---- steps ----------------------------------------------------------------------------------------- */

static const int few_and_many[] = {1, 1000, 10000};

static json_t *measure_steps(const bench *set) {
    ais_target *target = open_target(set->target ? set->target : "mog6");
    ais_kernel *kernel = target ? open_kernel(set, target) : NULL;
    json_t *rows = kernel ? json_array() : NULL;
    for (size_t i = 0; rows && i < sizeof few_and_many / sizeof *few_and_many; i++) {
        double rate = steps_per_second(set, target, kernel, few_and_many[i], 1);
        if (!set->quiet)
            printf("  %-8s %6d chains, one core: %10.4g steps/s, %8.1f ns per chain and step\n",
                   ais_kernel_name(kernel), few_and_many[i], rate, 1e9 / rate);
        json_array_append_new(rows, json_pack("{sisf}", "chains", few_and_many[i], "steps_per_second", rate));
    }
    ais_kernel_free(kernel);
    ais_target_close(target);
    return rows;
}

/* ---- time against the number of chains ------------------------------------------------------------- */

static json_t *measure_chains(const bench *set) {
    enum { STEPS = 100 };
    ais_target *target = open_target(set->target ? set->target : "german");
    ais_context context = {0};
    ais_kernel *kernel[2] = {target ? paper_kernel(target->dim) : NULL, NULL};
    const ais_hmc_options fixed = {.step_size = 0.02, .leapfrogs = 40};
    bool whole = kernel[0] && (!target->grad || ais_kernel_hmc(&context, &fixed, &kernel[1]) == AIS_OK);
    json_t *rows = whole ? json_array() : NULL;
    for (int chains = 1; rows && chains <= 100000; chains *= 10) {
        double rate[2] = {0};
        for (int k = 0; k < 2 && kernel[k] && chains <= (k ? 1000 : 100000); k++)
            rate[k] = steps_per_second(set, target, kernel[k], chains, 0);
        if (!set->quiet) printf("  %6d chains x %d steps: henon %9.4g s", chains, STEPS, chains * STEPS / rate[0]);
        if (!set->quiet && rate[1] > 0) printf(", hmc (40 leapfrogs) %9.4g s", chains * STEPS / rate[1]);
        if (!set->quiet) putchar('\n');
        json_t *row = json_pack("{sisf}", "chains", chains, "henon_seconds", chains * STEPS / rate[0]);
        if (rate[1] > 0) json_object_set_new(row, "hmc_seconds", json_real(chains * STEPS / rate[1]));
        json_array_append_new(rows, row);
    }
    ais_kernel_free(kernel[0]);
    ais_kernel_free(kernel[1]);
    ais_target_close(target);
    return rows;
}

/* ---- one proposal against one gradient ------------------------------------------------------------- */

typedef struct batch_call {
    const ais_target *target;
    const ais_kernel *kernel;
    size_t n;
    double *z, *image; /* 2 dim rows of n values */
} batch_call;

static void propose(const batch_call *call) {
    ais_context context;
    ais_kernel_involution(&context, call->kernel, call->n, call->z, call->image, NULL);
}

static void slopes(const batch_call *call) {
    size_t dim = (size_t)call->target->dim;
    for (size_t c = 0; c < call->n; c++) /* any dim numbers make a point */
        call->target->grad(call->z + c * dim, call->image + c * dim, call->target->data);
}

static double best_seconds(const bench *set, void (*job)(const batch_call *), const batch_call *call) {
    double best = INFINITY, began = wall_seconds();
    for (int k = 0; k < 3 || wall_seconds() - began < set->seconds; k++) {
        double start = wall_seconds();
        job(call);
        best = fmin(best, wall_seconds() - start);
    }
    return best;
}

static json_t *measure_proposal(const bench *set) {
    enum { MOST = 100000 };
    ais_target *target = open_target(set->target ? set->target : "german");
    batch_call call = {.target = target, .kernel = target ? paper_kernel(target->dim) : NULL};
    size_t numbers = target ? 2 * (size_t)target->dim * MOST : 0;
    if (call.kernel && target->grad) {
        call.z = malloc(numbers * sizeof(double));
        call.image = malloc(numbers * sizeof(double));
    } else if (call.kernel) {
        complain(EXIT_FAILED, "%s has no gradient to compare a proposal with", target->name);
    }
    json_t *rows = call.z && call.image ? json_array() : NULL;
    for (size_t i = 0; rows && i < numbers; i++) call.z[i] = 0.3 * sin((double)i);
    for (call.n = 1; rows && call.n <= MOST; call.n *= 10) {
        double proposal = best_seconds(set, propose, &call), gradient = best_seconds(set, slopes, &call);
        if (!set->quiet)
            printf("  %6zu points, one core: proposals %9.3g s, gradients %9.3g s, ratio %.2f\n", call.n, proposal,
                   gradient, proposal / gradient);
        json_array_append_new(rows, json_pack("{sIsfsf}", "points", (json_int_t)call.n, "proposal_seconds", proposal,
                                              "gradient_seconds", gradient));
    }
    free(call.z);
    free(call.image);
    ais_kernel_free((ais_kernel *)call.kernel);
    ais_target_close(target);
    return rows;
}

/* ---- threads, dimension ---------------------------------------------------------------------------- */

static json_t *measure_threads(const bench *set) {
    ais_target *target = open_target(set->target ? set->target : "mog6");
    ais_kernel *kernel = target ? open_kernel(set, target) : NULL;
    json_t *found = NULL;
    if (kernel) {
        double one = 0, two = 0;
        for (int k = 0; k < 3; k++) { /* in turn, so that a slow moment of the machine meets both */
            one = fmax(one, steps_per_second(set, target, kernel, 20000, 1));
            two = fmax(two, steps_per_second(set, target, kernel, 20000, 2));
        }
        if (!set->quiet)
            printf("  %s, 20000 chains: 2 threads make %.3f times the steps of 1\n", target->name, two / one);
        found = json_pack("{sfsfsf}", "one", one, "two", two, "ratio", two / one);
    }
    ais_kernel_free(kernel);
    ais_target_close(target);
    return found;
}

/* A triangular whitening without a zero, as the covariance of a population has one. */
static bool whiten_fully(ais_kernel *kernel, int dim) {
    ais_context context = {0};
    size_t n = (size_t)dim;
    double *mean = calloc(n, sizeof *mean), *factor = calloc(n * n, sizeof *factor);
    for (size_t i = 0; factor && i < n; i++)
        for (size_t j = 0; j <= i; j++) factor[i * n + j] = i == j ? 1 : 0.01 / dim;
    bool done = mean && factor && ais_kernel_whiten(&context, kernel, mean, factor) == AIS_OK;
    if (!done) complain(EXIT_FAILED, "no whitening in %d dimensions: %s", dim, context.message);
    free(mean);
    free(factor);
    return done;
}

static json_t *measure_one_dimension(const bench *set, int dim) {
    enum { HIDDEN = 64, CHAINS = 1024 };
    char name[64];
    ais_context context = {0};
    ais_kernel *kernel = NULL;
    json_t *row = NULL;
    const ais_shape shape = {.map = AIS_HENON, .dim = dim, .hidden = HIDDEN};
    snprintf(name, sizeof name, "gaussian:dim=%d", dim);
    ais_target *target = open_target(name);
    if (target && ais_kernel_learned(&context, &shape, 1, &kernel) != AIS_OK) failed(&context);
    if (kernel) {
        double plain = 1e9 / steps_per_second(set, target, kernel, CHAINS, 1);
        double whitened = whiten_fully(kernel, dim) ? 1e9 / steps_per_second(set, target, kernel, CHAINS, 1) : NAN;
        if (!set->quiet)
            printf("  d = %3d, hidden %d: %9.1f ns per step, %6.4f ns per d x hidden; %9.1f ns with a full whitening\n",
                   dim, HIDDEN, plain, plain / dim / HIDDEN, whitened);
        row = json_pack("{sisisfso}", "dim", dim, "hidden", HIDDEN, "nanoseconds", plain, "whitened_nanoseconds",
                        share(whitened));
    }
    ais_kernel_free(kernel);
    ais_target_close(target);
    return row;
}

static json_t *measure_dimension(const bench *set) {
    json_t *rows = json_array();
    for (int dim = 2; dim <= 256; dim *= 2) {
        json_t *row = measure_one_dimension(set, dim);
        if (row) {
            json_array_append_new(rows, row);
            continue;
        }
        json_decref(rows);
        return NULL;
    }
    return rows;
}

/* ---- memory ---------------------------------------------------------------------------------------- */

typedef struct stream {
    const char *key, *name; /* in JSON, in words */
    int chains;
    ais_status (*sink)(ais_context *, const char *directory, ais_sink **);
} stream;

static const stream streams[] = {
    {"netcdf_1_megabytes", "netCDF of 1 chain", 1, ais_sink_netcdf},
    {"netcdf_100_megabytes", "of 100", 100, ais_sink_netcdf},
    {"netcdf_10000_megabytes", "of 10000", 10000, ais_sink_netcdf},
    {"csv_100_megabytes", "CSV of 100", 100, ais_sink_stan_csv},
};

/* In a process of its own, whose peak is then that of the run. */
static void stream_to_disk(const ais_target *target, const ais_kernel *kernel, const char *directory, const stream *to,
                           int draws) {
    ais_context context = {0};
    ais_sink *sink;
    const ais_sample_options options = {.seed = 1, .chains = to->chains, .draws = draws / to->chains};
    ais_status status = to->sink(&context, directory, &sink);
    if (status == AIS_OK) status = ais_sample(&context, target, kernel, &options, &sink, 1, NULL);
    if (status != AIS_OK) failed(&context);
    _exit(status == AIS_OK ? 0 : EXIT_FAILED);
}

static void remove_draws(const char *directory, const stream *to) {
    char path[64];
    snprintf(path, sizeof path, "%s/draws.nc", directory);
    unlink(path);
    for (int c = 1; to->sink == ais_sink_stan_csv && c <= to->chains; c++) {
        snprintf(path, sizeof path, "%s/draws-%d.csv", directory, c);
        unlink(path);
    }
}

/* The largest resident size in megabytes, or -1. */
static double peak_of(const ais_target *target, const ais_kernel *kernel, const stream *to, int draws) {
    char directory[] = "/tmp/aisampler-bench-XXXXXX";
    if (!mkdtemp(directory)) return -1;
    pid_t child = fork();
    if (child == 0) stream_to_disk(target, kernel, directory, to, draws);
    struct rusage usage = {0};
    int status = 1;
    bool good = child > 0 && wait4(child, &status, 0, &usage) == child && status == 0;
    remove_draws(directory, to);
    rmdir(directory);
    return good ? (double)usage.ru_maxrss / 1024 : -1;
}

static json_t *peaks_of(const bench *set, const ais_target *target, const ais_kernel *kernel, int draws) {
    json_t *row = json_pack("{si}", "draws", draws);
    if (!set->quiet) printf("  %8d draws to disk, peak resident MB:", draws);
    double peak = 0;
    for (size_t i = 0; peak >= 0 && i < sizeof streams / sizeof *streams; i++) {
        peak = peak_of(target, kernel, &streams[i], draws);
        json_object_set_new(row, streams[i].key, json_real(peak));
        if (!set->quiet) printf("%s %s %.1f", i ? "," : "", streams[i].name, peak);
        fflush(stdout);
    }
    if (!set->quiet) putchar('\n');
    if (peak >= 0) return row;
    json_decref(row);
    return NULL;
}

static json_t *measure_memory(const bench *set) {
    ais_target *target = open_target(set->target ? set->target : "mog6");
    ais_kernel *kernel = target ? open_kernel(set, target) : NULL;
    json_t *rows = kernel ? json_array() : NULL;
    for (int draws = 100000; rows && draws <= 10000000; draws *= 10) {
        json_t *row = peaks_of(set, target, kernel, draws);
        if (row) {
            json_array_append_new(rows, row);
        } else {
            json_decref(rows);
            rows = NULL;
        }
    }
    ais_kernel_free(kernel);
    ais_target_close(target);
    return rows;
}

const bench_part bench_parts[] = {
    {"paths", "every hot path: rate, share of the machine's peak, ratio to scalar code", false, measure_paths},
    {"steps", "whole steps of a kernel, one core, 1 to 10,000 chains", false, measure_steps},
    {"threads", "two threads against one", false, measure_threads},
    {"proposal", "one proposal of the paper's kernel against one gradient, 1 to 100,000 points", false,
     measure_proposal},
    {"chains", "time of 100 steps against the number of chains, 1 to 100,000", false, measure_chains},
    {"dimension", "cost of a step in 2 to 256 dimensions", false, measure_dimension},
    {"memory", "peak memory of 10^5 to 10^7 draws that go to disk", true, measure_memory},
    {"ranks", "what an exchange between ranks costs, under mpirun", true, measure_ranks},
    {0},
};
