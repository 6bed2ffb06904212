#include "judge/reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/diagnostics.h>

#include "base/sort.h"
#include "explore/source.h"
#include "learned/latent.h"
#include "learned/mixture.h"

/* False where the kernel has no proposals of its own. */
static bool source_of(const ais_kernel *kernel, ais_source *source) {
    const ais_latent *latent = ais_as_latent(kernel);
    const ais_learned *learned = ais_as_learned(kernel);
    const ais_mixture_kernel *mixture = ais_as_mixture(latent && latent->source ? latent->source : kernel);
    if (latent && latent->proposals > 0 && !latent->source) source->map = latent->map;
    if (learned && ais_is_independent(learned) && !learned->ratio.weights && !learned->angles.count)
        source->map = kernel;
    if (mixture && !(latent && latent->proposals == 0)) source->mixture = &mixture->components;
    return source->map || source->mixture;
}

bool ais_proposes_from(const ais_kernel *kernel) {
    ais_source source = {0};
    return source_of(kernel, &source);
}

ais_status ais_weigh_points(ais_context *context, ais_pool *pool, const ais_kernel *kernel, size_t n, int dim,
                            const double *x, const double *logp, double *weight) {
    ais_source source = {0};
    source_of(kernel, &source);
    ais_status status = ais_source_logq(context, &source, dim, pool, n, x, weight);
    for (size_t k = 0; k < n && status == AIS_OK; k++) weight[k] = logp[k] - weight[k];
    return status;
}

ais_status ais_weigh_draws(ais_context *context, ais_pool *pool, const ais_kernel *kernel, const ais_draws *draws,
                           double **weight) {
    enum { ROWS = 4096 };
    size_t n = (size_t)draws->chains * (size_t)draws->draws, dim = (size_t)draws->dim;
    *weight = NULL;
    if (!draws->logp || !ais_proposes_from(kernel)) return AIS_OK;
    double *made = malloc(n * sizeof *made), *x = malloc(ROWS * dim * sizeof *x);
    ais_status status = made && x ? AIS_OK : ais_fail_memory(context, "weights of draws", n * sizeof *made);
    for (size_t first = 0; first < n && status == AIS_OK; first += ROWS) {
        size_t rows = n - first < ROWS ? n - first : ROWS;
        for (size_t c = 0; c < rows; c++)
            for (size_t i = 0; i < dim; i++) x[c * dim + i] = draws->value[i * n + first + c];
        status = ais_weigh_points(context, pool, kernel, rows, draws->dim, x, draws->logp + first, made + first);
    }
    free(x);
    if (status != AIS_OK)
        free(made);
    else
        *weight = made;
    return status;
}

bool ais_is_relieved(const ais_kernel *kernel) {
    const ais_latent *latent = ais_as_latent(kernel);
    return latent && latent->proposals > 0;
}

/* The draws' log weights, the largest first; for the caller to free. */
static double *sort_weights(size_t n, const double *weight) {
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted) return NULL;
    memcpy(sorted, weight, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ais_falling);
    return sorted;
}

/* Of the `few` draws whose weights are above the cut. room: a number per draw. */
static void count_visits(int chains, int draws, const double *weight, size_t few, double cut, double *room,
                         ais_reach *reach) {
    size_t n = (size_t)chains * (size_t)draws;
    for (size_t k = 0; k < n; k++) room[k] = weight[k] > cut;
    double effective = ais_ess_mean(room, chains, draws); /* NAN of a handful */
    reach->share = (double)few / (double)n;
    reach->visits = few ? fmax(1, isnan(effective) ? 1 : effective * reach->share) : 0;
    reach->error = few ? reach->share / sqrt(reach->visits) : 0;
}

ais_status ais_unreached(ais_context *context, int chains, int draws, const double *weight, double proposals,
                         ais_reach *reach) {
    size_t n = (size_t)chains * (size_t)draws, few = 0;
    double *sorted = sort_weights(n, weight), all = 0, arrivals = 0;
    if (!sorted) return ais_fail_memory(context, "weights of draws", n * sizeof *sorted);
    /* 1 / w is q's density in units of p's; the largest is of the last. */
    for (size_t k = 0; k < n; k++) all += exp(sorted[n - 1] - sorted[k]);
    for (; few < n; few++) {
        arrivals += proposals * exp(sorted[n - 1] - sorted[few]) / all;
        if (arrivals > AIS_FEW_PROPOSALS) break;
    }
    count_visits(chains, draws, weight, few, few < n ? sorted[few] : -INFINITY, sorted, reach);
    reach->needed = pow(reach->share / AIS_REACH_ERROR, 2);
    free(sorted);
    return AIS_OK;
}

ais_status ais_hardly_reached(ais_context *context, int chains, int draws, const double *weight, ais_reach *reach) {
    static const double few_visits = 4;
    size_t n = (size_t)chains * (size_t)draws, few = 0;
    double *sorted = sort_weights(n, weight);
    if (!sorted) return ais_fail_memory(context, "weights of draws", n * sizeof *sorted);
    double cut = sorted[(size_t)(AIS_EDGE * (double)n)];
    while (few < n && sorted[few] > cut) few++;
    if (!few) { /* one long stay at the largest, or a map without a flaw, which has no edge */
        while (few < n && sorted[few] == cut) few++;
        cut = few < n ? sorted[few] : INFINITY;
        few %= n;
    }
    count_visits(chains, draws, weight, few, cut, sorted, reach);
    reach->needed = few ? fmax(few_visits, 0.5 * AIS_LEAST_ESS * chains * reach->share) : 0;
    free(sorted);
    return AIS_OK;
}

ais_status ais_judge_reach(ais_context *context, const ais_kernel *kernel, int thin, int chains, int draws,
                           const double *weight, ais_reach *reach) {
    const ais_latent *latent = ais_as_latent(kernel);
    double steps = (double)chains * draws * (thin > 1 ? thin : 1);
    if (!ais_is_relieved(kernel)) return ais_hardly_reached(context, chains, draws, weight, reach);
    return ais_unreached(context, chains, draws, weight, steps * latent->proposals / (latent->proposals + 1.0), reach);
}
