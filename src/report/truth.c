#include "report/truth.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "diagnostics/grid.h"
#include "report/bins.h"

/* Where the draws of coordinate i are. */
static bool interval(const ais_figure_data *data, int i, double *sorted, double *low, double *high) {
    const ais_draws *draws = data->draws;
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    ais_bins bins = ais_bins_choose(sorted, ais_sort_finite(draws->value + (size_t)i * n, n, sorted));
    double room = 0.03 * (bins.high - bins.low);
    *low = bins.low - room;
    *high = bins.high + room;
    return bins.finite > 0;
}

/* To where the target is known to be: draws that miss a mode must not hide it. */
static void widen(const ais_reference *reference, ais_grid *grid) {
    if (!reference || !reference->mean || !reference->variance) return;
    for (int i = 0; i < 2; i++) {
        double reach = 4 * sqrt(reference->variance[i]), middle = reference->mean[i];
        double *low = i ? &grid->y_low : &grid->x_low, *high = i ? &grid->y_high : &grid->x_high;
        if (!isfinite(reach) || !isfinite(middle)) continue;
        *low = fmin(*low, middle - reach);
        *high = fmax(*high, middle + reach);
    }
}

void ais_truth_find(const ais_figure_data *data, ais_truth *truth) {
    const ais_draws *draws = data->draws;
    const ais_target *target = data->target;
    *truth = (ais_truth){.grid = {.nx = AIS_TRUTH_CELLS, .ny = AIS_TRUTH_CELLS}};
    if (!target || target->view || target->dim != 2 || draws->dim != 2 || target->draws || !target->logp) return;
    size_t n = (size_t)draws->chains * (size_t)draws->draws, cells = (size_t)AIS_TRUTH_CELLS * AIS_TRUTH_CELLS;
    double *sorted = ais_allocate((n + 1) * sizeof *sorted), outside;
    ais_context context = {0};
    ais_grid seen = truth->grid, *grid = &truth->grid;
    bool there = sorted && interval(data, 0, sorted, &seen.x_low, &seen.x_high) &&
                 interval(data, 1, sorted, &seen.y_low, &seen.y_high);
    free(sorted);
    if (there) truth->mass = ais_allocate(cells * sizeof *truth->mass);
    if (!truth->mass) return;
    *grid = seen;
    widen(target->reference, grid);
    ais_status status = ais_grid_shrink(&context, target, grid, truth->mass);
    grid->x_low = fmin(grid->x_low, seen.x_low);
    grid->x_high = fmax(grid->x_high, seen.x_high);
    grid->y_low = fmin(grid->y_low, seen.y_low);
    grid->y_high = fmax(grid->y_high, seen.y_high);
    if (status == AIS_OK) status = ais_grid_mass(&context, target, grid, truth->mass, &outside);
    if (status != AIS_OK) ais_truth_free(truth);
}

void ais_truth_free(ais_truth *truth) {
    free(truth->mass);
    truth->mass = NULL;
}

void ais_truth_marginal(const ais_truth *truth, int coordinate, double *place, double *density) {
    double low = coordinate ? truth->grid.y_low : truth->grid.x_low;
    double step = ((coordinate ? truth->grid.y_high : truth->grid.x_high) - low) / AIS_TRUTH_CELLS;
    for (size_t i = 0; i < AIS_TRUTH_CELLS; i++) {
        double sum = 0;
        for (size_t k = 0; k < AIS_TRUTH_CELLS; k++)
            sum += truth->mass[coordinate ? i * AIS_TRUTH_CELLS + k : k * AIS_TRUTH_CELLS + i];
        place[i] = low + ((double)i + 0.5) * step;
        density[i] = sum / step;
    }
}
