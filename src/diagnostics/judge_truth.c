/* Modes, and the grid truth of two-dimensional targets. */
#include <math.h>
#include <stdlib.h>

#include "base/status.h"
#include "diagnostics/grid.h"
#include "diagnostics/judge.h"

/* Fills judge->mode and judge->visits. */
static ais_status find_modes(ais_judge *judge, double *point) {
    const ais_reference *truth = judge->reference;
    size_t n = judge->column.n;
    int dim = judge->draws->dim;
    for (size_t k = 0; k < n; k++) {
        bool finite = true;
        for (int i = 0; i < dim; i++) {
            point[i] = judge->draws->value[(size_t)i * n + k];
            finite = finite && isfinite(point[i]);
        }
        judge->mode[k] = finite ? truth->mode(point, judge->target->data) : -1;
        if (finite && (judge->mode[k] < 0 || judge->mode[k] >= truth->modes))
            return ais_fail(
                judge->context, AIS_BAD_DENSITY,
                "target %s says that draw %zu of parameter values %g... is in mode %d, but its modes are 0 to %d",
                judge->target->name, k, point[0], judge->mode[k], truth->modes - 1);
        if (finite) judge->visits[k / (size_t)judge->column.draws * (size_t)truth->modes + (size_t)judge->mode[k]]++;
    }
    return AIS_OK;
}

/* The ESS of one mode's indicator. Two values: ranks change nothing, so it is its own bulk ESS. */
static void judge_mode(ais_judge *judge, int k) {
    ais_column *column = &judge->column;
    double weight = judge->reference->mode_weight[k];
    for (size_t t = 0; t < column->n; t++) column->function[t] = judge->mode[t] == k;
    if (judge->diagnosis->mode_share[k] == 0) {
        if (weight > 0) ais_judge_ess(judge, 0, "mode %d", k + 1);
    } else if (column->draws >= 4 && ais_column_usable(column->function, column->n)) {
        ais_column_split(column, column->function, column->split);
        ais_judge_ess(judge, ais_column_ess(column, column->split), "mode %d", k + 1);
    }
    if (weight > 0 && weight < 1) ais_judge_known(judge, column->function, weight, weight * (1 - weight));
}

ais_status ais_judge_modes(ais_judge *judge) {
    ais_diagnosis *diagnosis = judge->diagnosis;
    int modes = judge->reference->modes, chains = diagnosis->chains;
    size_t n = judge->column.n, table = (size_t)chains * (size_t)modes;
    double *point = calloc((size_t)diagnosis->dim, sizeof *point);
    judge->mode = calloc(n, sizeof *judge->mode);
    judge->visits = calloc(table, sizeof *judge->visits);
    diagnosis->mode_share = calloc((size_t)modes, sizeof *diagnosis->mode_share);
    if (!point || !judge->mode || !judge->visits || !diagnosis->mode_share) {
        free(point);
        return ais_fail_memory(judge->context, "mode indicators", n * sizeof *judge->mode + table * sizeof(long));
    }
    ais_status status = find_modes(judge, point);
    free(point);
    if (status != AIS_OK) return status;
    diagnosis->modes = diagnosis->fewest_modes = modes;
    for (int c = 0; c < chains; c++) {
        int visited = 0;
        for (int k = 0; k < modes; k++) {
            long visits = judge->visits[(size_t)c * (size_t)modes + (size_t)k];
            visited += visits > 0;
            diagnosis->mode_share[k] += (double)visits / (double)n;
        }
        if (visited < diagnosis->fewest_modes) diagnosis->fewest_modes = visited;
    }
    diagnosis->mode_kl = ais_mode_kl(judge->reference->mode_weight, diagnosis->mode_share, modes);
    for (int k = 0; k < modes; k++) judge_mode(judge, k);
    return AIS_OK;
}

/* A first rectangle: 6 true standard deviations about the true mean, so that runs can be compared; without
 * a truth, the draws' range and half of it more on either side. */
static void first_interval(const ais_judge *judge, int i, double *low, double *high) {
    const ais_reference *truth = judge->reference;
    if (truth && truth->mean && truth->variance && isfinite(truth->mean[i]) && truth->variance[i] > 0 &&
        isfinite(truth->variance[i])) {
        *low = truth->mean[i] - 6 * sqrt(truth->variance[i]);
        *high = truth->mean[i] + 6 * sqrt(truth->variance[i]);
        return;
    }
    const double *x = judge->draws->value + (size_t)i * judge->column.n;
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t k = 0; k < judge->column.n; k++) {
        if (!isfinite(x[k])) continue;
        *low = fmin(*low, x[k]);
        *high = fmax(*high, x[k]);
    }
    double margin = 0.5 * (*high - *low);
    *low -= margin;
    *high += margin;
}

ais_status ais_judge_total_variation(ais_judge *judge) {
    enum { SCAN = 64, CELLS = 32 };
    ais_grid grid = {.nx = SCAN, .ny = SCAN};
    first_interval(judge, 0, &grid.x_low, &grid.x_high);
    first_interval(judge, 1, &grid.y_low, &grid.y_high);
    if (!(grid.x_low < grid.x_high && grid.y_low < grid.y_high)) return AIS_OK; /* draws that never move: NAN */
    double *mass = ais_allocate((size_t)SCAN * SCAN * sizeof(double));
    if (!mass) return ais_fail_memory(judge->context, "a grid", (size_t)SCAN * SCAN * sizeof(double));
    /* A density that fails somewhere on the grid, where no draw need be, costs this number only. */
    ais_context own = {0};
    ais_status status = ais_grid_shrink(&own, judge->target, &grid, mass);
    free(mass);
    if (status != AIS_OK) return AIS_OK;
    grid.nx = grid.ny = CELLS;
    status = ais_total_variation(&own, judge->draws->value, judge->draws->value + judge->column.n, judge->column.n,
                                 judge->target, &grid, &judge->diagnosis->total_variation);
    if (status == AIS_NO_MEMORY) *judge->context = own;
    return status == AIS_NO_MEMORY ? status : AIS_OK;
}
