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
    if (status != AIS_OK) return status;
    this->chains = kept->chains;
    this->weighed = kept->draws;
    return AIS_OK;
}

static double *chain_by_chain(const ais_run_reach *this) {
    size_t chains = (size_t)this->chains, draws = (size_t)this->weighed;
    double *weight = malloc(chains * draws * sizeof *weight);
    for (size_t k = 0; weight && k < chains * draws; k++) weight[k] = this->weight[k % draws * chains + k / draws];
    return weight;
}

double *ais_run_reach_weights(const ais_run_reach *this, const ais_draws *draws) {
    bool all = this->weighed > 0 && this->weighed == draws->draws && this->chains == draws->chains;
    return all ? chain_by_chain(this) : NULL;
}

/* Visits grow with the draws. */
static ais_status times(ais_context *context, void *data, const ais_kept *kept, double *times) {
    ais_run_reach *this = data;
    ais_reach reach;
    ais_status status = weigh(context, this, kept);
    double *weight = status == AIS_OK ? chain_by_chain(this) : NULL;
    if (status == AIS_OK && !weight)
        status = ais_fail_memory(context, "weights of draws", (size_t)kept->chains * (size_t)kept->draws * 8);
    if (status == AIS_OK)
        status = ais_judge_reach(context, this->kernel, this->thin, kept->chains, kept->draws, weight, &reach);
    free(weight);
    *times = status == AIS_OK && reach.needed > reach.visits ? reach.needed / reach.visits : 1;
    return status;
}

const ais_doubt *ais_run_reach_doubt(ais_run_reach *reach, const ais_kernel *kernel, int threads, int thin) {
    *reach = (ais_run_reach){.kernel = kernel, .threads = threads, .thin = thin, .doubt = {times, reach}};
    return ais_proposes_from(kernel) ? &reach->doubt : NULL;
}

void ais_run_reach_free(ais_run_reach *reach) { free(reach->weight); }
