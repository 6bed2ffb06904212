#include "run/reach.h"

#include <stdlib.h>

#include "judge/reach.h"

/* The draws since the last time, as rows. */
static ais_status weigh(ais_context *context, ais_run_reach *this, const ais_kept *kept) {
    size_t dim = (size_t)kept->dim, chains = (size_t)kept->chains, first = (size_t)this->weighed,
           count = (size_t)kept->draws - first, rows = count * chains;
    double *weight = realloc(this->weight, (size_t)kept->draws * chains * sizeof *weight),
           *x = malloc(rows * dim * sizeof *x), *logp = malloc(rows * sizeof *logp);
    if (weight) this->weight = weight;
    ais_status status = weight && x && logp ? AIS_OK : ais_fail_memory(context, "weights of draws", rows * dim * 8);
    for (size_t r = 0; r < rows && status == AIS_OK; r++) {
        size_t t = first + r / chains;
        int c = (int)(r % chains);
        for (int i = 0; i < kept->dim; i++) x[r * dim + (size_t)i] = ais_kept_row(kept, i, c)[t];
        logp[r] = ais_kept_row(kept, kept->dim, c)[t];
    }
    ais_pool *pool = NULL;
    if (status == AIS_OK) status = ais_pool_new(context, this->threads, &pool);
    if (status == AIS_OK)
        status = ais_weigh_points(context, pool, this->kernel, rows, kept->dim, x, logp, weight + first * chains);
    ais_pool_free(pool);
    free(x);
    free(logp);
    if (status == AIS_OK) this->weighed = kept->draws;
    return status;
}

/* The error of the share of places that only local steps lead to falls with the root of the draws. */
static ais_status times(ais_context *context, void *data, const ais_kept *kept, double *times) {
    ais_run_reach *this = data;
    size_t chains = (size_t)kept->chains, draws = (size_t)kept->draws;
    double proposals = ais_relieved_proposals(this->kernel, (double)chains * (double)draws * this->thin),
           *chain_by_chain = malloc(chains * draws * sizeof *chain_by_chain);
    ais_reach reach;
    ais_status status =
        chain_by_chain ? weigh(context, this, kept) : ais_fail_memory(context, "weights of draws", chains * draws * 8);
    for (size_t k = 0; k < chains * draws && status == AIS_OK; k++)
        chain_by_chain[k] = this->weight[k % draws * chains + k / draws];
    if (status == AIS_OK) status = ais_unreached(context, kept->chains, kept->draws, chain_by_chain, proposals, &reach);
    free(chain_by_chain);
    double ratio = status == AIS_OK ? reach.error / AIS_REACH_ERROR : 0;
    *times = ratio > 1 ? ratio * ratio : 1;
    return status;
}

const ais_doubt *ais_run_reach_doubt(ais_run_reach *reach, const ais_kernel *kernel, int threads, int thin) {
    *reach = (ais_run_reach){.kernel = kernel, .threads = threads, .thin = thin, .doubt = {times, reach}};
    return ais_relieved_proposals(kernel, 1) > 0 ? &reach->doubt : NULL;
}

void ais_run_reach_free(ais_run_reach *reach) { free(reach->weight); }
