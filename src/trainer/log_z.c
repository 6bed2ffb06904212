#include "trainer/log_z.h"

#include <math.h>

#include "kernel/learned.h"
#include "simd/normal.h"
#include "trainer/batch.h"

enum { BLOCKS = 320 }; /* 20,480 draws: 0.1% when the weights are even */

typedef struct task {
    const ais_learned *learned;
    const ais_target *target;
    uint64_t seed;
    double *weight; /* BLOCKS x AIS_BLOCK: log p - log q */
    ais_status *status;
    ais_context *context;
} task;

static void weigh_block(void *data, int b) {
    const task *this = data;
    const ais_learned *learned = this->learned;
    int dim = learned->shape.dim;
    ais_arena arena = {0};
    ais_proposal proposal;
    double *logp = AIS_TAKE(&arena, double, AIS_BLOCK), *point = AIS_TAKE(&arena, double, dim);
    if (!logp || !point || !ais_proposal_new(learned, AIS_BLOCK, &arena, &proposal)) {
        this->status[b] = ais_fail_memory(&this->context[b], "importance draws", (size_t)dim * AIS_BLOCK);
        ais_arena_free(&arena);
        return;
    }
    ais_stream stream = {.seed = this->seed, .step = 1, .chain = (uint32_t)b * AIS_BLOCK, .purpose = AIS_FOR_MIXTURE};
    ais_normals_lanes(&stream, (size_t)dim, AIS_BLOCK, proposal.v);
    ais_propose_independent(learned, &proposal); /* next_mapped and next_det give log q */
    for (size_t i = 0; i < (size_t)dim * AIS_BLOCK; i++)
        if (!isfinite(proposal.x[i])) proposal.x[i] = 0, proposal.next_det[i % AIS_BLOCK] = INFINITY;
    this->status[b] = ais_state_logp(&this->context[b], this->target, AIS_BLOCK, AIS_BLOCK, proposal.x, point, logp);
    for (int c = 0; c < AIS_BLOCK; c++) {
        double log_q = proposal.next_det[c];
        for (int i = 0; i < dim; i++) {
            double v = proposal.next_mapped[i * AIS_BLOCK + c];
            log_q -= 0.5 * v * v + 0.9189385332046727;
        }
        this->weight[b * AIS_BLOCK + c] = logp[c] - log_q;
    }
    ais_arena_free(&arena);
}

/* log|det A| of the whitening, by elimination with pivots on a copy. */
static double log_det(int n, const double *matrix, double *a) {
    double sum = 0;
    for (int i = 0; i < n * n; i++) a[i] = matrix[i];
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        for (int j = k; j < n; j++) {
            double swapped = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = swapped;
        }
        sum += log(fabs(a[k * n + k]));
        for (int i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
        }
    }
    return sum;
}

/* math.md (20) with the map's own q. */
ais_status ais_flow_log_z(ais_context *context, const ais_kernel *kernel, const ais_target *target, ais_pool *pool,
                          uint64_t seed, ais_training *training) {
    const ais_learned *learned = ais_as_learned(kernel);
    if (!learned || !ais_is_independent(learned)) return AIS_OK;
    enum { DRAWS = BLOCKS * AIS_BLOCK };
    int dim = learned->shape.dim;
    ais_arena arena = {0};
    task this = {.learned = learned,
                 .target = target,
                 .seed = seed,
                 .weight = AIS_TAKE(&arena, double, DRAWS),
                 .status = AIS_TAKE(&arena, ais_status, BLOCKS),
                 .context = AIS_TAKE(&arena, ais_context, BLOCKS)};
    double *copy = AIS_TAKE(&arena, double, (size_t)dim *(size_t)dim);
    ais_status status = AIS_OK;
    if (!this.weight || !this.status || !this.context || !copy)
        status = ais_fail_memory(context, "importance draws", DRAWS * sizeof(double));
    if (status == AIS_OK) ais_pool_run(pool, BLOCKS, weigh_block, &this);
    for (int b = 0; status == AIS_OK && b < BLOCKS; b++)
        if (this.status[b] != AIS_OK) {
            *context = this.context[b];
            status = this.status[b];
        }
    if (status == AIS_OK) {
        double most = -INFINITY, sum = 0, squares = 0;
        for (int i = 0; i < DRAWS; i++) most = fmax(most, this.weight[i]);
        for (int i = 0; i < DRAWS; i++) {
            double w = exp(this.weight[i] - most);
            sum += w;
            squares += w * w;
        }
        double relative = sqrt(fmax(squares / sum / sum * DRAWS - 1, 0) / DRAWS);
        if (isfinite(most) && !(training->log_z_error <= relative)) {
            training->log_z = most + log(sum / DRAWS) + log_det(dim, learned->whitening.factor, copy);
            training->log_z_error = relative;
        }
    }
    ais_arena_free(&arena);
    return status;
}
