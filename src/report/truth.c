#include "report/truth.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "diagnostics/grid.h"
#include "report/bins.h"
#include "report/ticks.h"

/* Where coordinate i has to be looked at. */
static bool interval(const ais_figure_data *data, int i, double *sorted, double *low, double *high) {
    const ais_draws *draws = data->draws;
    const ais_reference *reference = data->target->reference;
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    ais_bins bins = ais_bins_choose(sorted, ais_sort_finite(draws->value + (size_t)i * n, n, sorted));
    if (bins.finite == 0) return false;
    *low = bins.low;
    *high = bins.high;
    if (reference && reference->mean && reference->variance && isfinite(reference->variance[i])) {
        double reach = 4 * sqrt(reference->variance[i]), middle = reference->mean[i];
        /* Multimodal: two modes at +-s of equal weight have their tails well within 4 standard deviations. */
        *low = fmin(*low, fmax(middle - reach, bins.low - 0.5 * reach));
        *high = fmax(*high, fmin(middle + reach, bins.high + 0.5 * reach));
    }
    double room = 0.03 * (*high - *low);
    *low -= room;
    *high += room;
    return true;
}

void ais_truth_find(const ais_figure_data *data, ais_truth *truth) {
    const ais_draws *draws = data->draws;
    const ais_target *target = data->target;
    *truth = (ais_truth){.grid = {.nx = AIS_TRUTH_CELLS, .ny = AIS_TRUTH_CELLS}};
    if (!target || target->dim != 2 || draws->dim != 2 || target->draws || !target->logp) return;
    size_t n = (size_t)draws->chains * (size_t)draws->draws, cells = (size_t)AIS_TRUTH_CELLS * AIS_TRUTH_CELLS;
    double *sorted = ais_allocate((n + 1) * sizeof *sorted), outside;
    ais_context context = {0};
    bool there = sorted && interval(data, 0, sorted, &truth->grid.x_low, &truth->grid.x_high) &&
                 interval(data, 1, sorted, &truth->grid.y_low, &truth->grid.y_high);
    if (there) truth->mass = ais_allocate(cells * sizeof *truth->mass);
    if (truth->mass && ais_grid_mass(&context, target, &truth->grid, truth->mass, &outside) != AIS_OK)
        ais_truth_free(truth);
    free(sorted);
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
