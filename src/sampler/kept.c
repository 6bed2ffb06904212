#include "sampler/kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

void ais_kept_free(ais_kept *kept) {
    free(kept->x);
    kept->x = NULL;
    kept->draws = kept->room = 0;
}

static ais_status grow(ais_context *context, ais_kept *kept, int need) {
    size_t rows = (size_t)(kept->dim + 1) * (size_t)kept->chains, old = (size_t)kept->room;
    size_t room = kept->room ? 2 * old : FIRST_ROOM;
    while (room < (size_t)need) room *= 2;
    double *x = malloc(rows * room * sizeof *x);
    if (!x) return ais_fail_memory(context, "the draws that are judged", rows * room * sizeof *x);
    for (size_t r = 0; r < rows && kept->draws > 0; r++)
        memcpy(x + r * room, kept->x + r * old, (size_t)kept->draws * sizeof *x);
    free(kept->x);
    kept->x = x;
    kept->room = (int)room;
    return AIS_OK;
}

ais_status ais_kept_add(ais_context *context, ais_kept *kept, const ais_chunk *chunk) {
    size_t dim = (size_t)kept->dim, chains = (size_t)kept->chains, count = (size_t)chunk->count;
    if (kept->draws + chunk->count > kept->room) {
        ais_status status = grow(context, kept, kept->draws + chunk->count);
        if (status != AIS_OK) return status;
    }
    for (size_t c = 0; c < chains; c++) {
        for (size_t t = 0; t < count; t++)
            for (size_t i = 0; i < dim; i++)
                ais_kept_row(kept, (int)i, (int)c)[(size_t)kept->draws + t] = chunk->x[(c * count + t) * dim + i];
        memcpy(ais_kept_row(kept, kept->dim, (int)c) + kept->draws, chunk->logp + c * count, count * sizeof *kept->x);
    }
    kept->draws += chunk->count;
    return AIS_OK;
}

typedef struct judgement {
    const ais_kept *kept;
    ais_measure *measure;
    int first, end, tasks; /* coordinates */
    double *least;         /* of each task; NAN: out of memory */
    int *where;            /* which coordinate's */
} judgement;

/* Coordinates first + task, first + task + tasks, ...: a task has working room for one at a time. */
static void judge(void *data, int task) {
    const judgement *this = data;
    const ais_kept *kept = this->kept;
    size_t chains = (size_t)kept->chains, draws = (size_t)kept->draws;
    double *x = malloc(chains * draws * sizeof *x), least = INFINITY;
    ais_column column;
    this->least[task] = NAN;
    this->where[task] = this->first;
    if (x && ais_column_init(&column, kept->chains, kept->draws)) {
        for (int i = this->first + task; i < this->end; i += this->tasks) {
            for (size_t c = 0; c < chains; c++) memcpy(x + c * draws, ais_kept_row(kept, i, (int)c), draws * sizeof *x);
            double value = this->measure(&column, x);
            if (value < least) this->where[task] = i;
            least = fmin(least, value);
        }
        ais_column_free(&column);
        this->least[task] = least;
    }
    free(x);
}

/* Of coordinates first to end; *where is among them. */
static ais_status least_of(ais_context *context, const ais_kept *kept, ais_pool *pool, ais_measure *measure, int first,
                           int end, int *where, double *least) {
    int threads = ais_pool_threads(pool), tasks = threads < end - first ? threads : end - first;
    judgement this = {.kept = kept,
                      .measure = measure,
                      .first = first,
                      .end = end,
                      .tasks = tasks,
                      .least = malloc((size_t)tasks * sizeof(double)),
                      .where = malloc((size_t)tasks * sizeof(int))};
    bool whole = this.least && this.where;
    if (whole) ais_pool_run(pool, tasks, judge, &this);
    *least = INFINITY;
    for (int k = 0; whole && k < tasks; k++) {
        whole = !isnan(this.least[k]);
        if (k == 0 || this.least[k] < *least) *where = this.where[k];
        *least = fmin(*least, this.least[k]);
    }
    free(this.least);
    free(this.where);
    if (whole) return AIS_OK;
    *least = NAN;
    return ais_fail_memory(context, "judging the draws",
                           (size_t)kept->chains * (size_t)kept->draws * 10 * sizeof(double));
}

ais_status ais_kept_least(ais_context *context, const ais_kept *kept, ais_pool *pool, ais_measure *measure,
                          double enough, int *where, double *least) {
    *least = NAN;
    if (kept->draws < 4) return AIS_OK;
    ais_status status = AIS_OK;
    if (*where >= 0) status = least_of(context, kept, pool, measure, *where, *where + 1, where, least);
    if (status != AIS_OK || *least < enough) return status;
    return least_of(context, kept, pool, measure, 0, kept->dim, where, least);
}
