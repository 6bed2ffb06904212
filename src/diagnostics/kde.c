/* A Gaussian kernel density in two dimensions. */
#include <aisampler/diagnostics.h>

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/status.h"
#include "diagnostics/grid.h"

/* exp(-8^2 / 2) is 1e-14: what lies farther from a draw is left out. */
#define REACH 8.0

ais_status ais_grid_check(ais_context *context, const ais_grid *grid) {
    if (grid->nx < 1 || grid->ny < 1)
        return ais_fail(context, AIS_BAD_ARGUMENT, "the grid has %d x %d cells, but needs 1 or more each way", grid->nx,
                        grid->ny);
    bool sound = isfinite(grid->x_high - grid->x_low) && isfinite(grid->y_high - grid->y_low) &&
                 grid->x_low < grid->x_high && grid->y_low < grid->y_high;
    if (!sound)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "the grid is [%g, %g] x [%g, %g], but each interval must be finite and not empty", grid->x_low,
                        grid->x_high, grid->y_low, grid->y_high);
    return AIS_OK;
}

/* One axis: cell i has its centre at low + (i + 1/2) step. */
typedef struct axis {
    double low, step, bandwidth;
    int cells;
    double *weight; /* cells */
    int first, end; /* the cells within reach of the current draw */
} axis;

static void reach(axis *a, double x) {
    double place = (x - a->low) / a->step - 0.5, width = REACH * a->bandwidth / a->step;
    double first = fmin(fmax(ceil(place - width), 0), a->cells),
           end = fmin(fmax(floor(place + width) + 1, 0), a->cells);
    a->first = (int)first;
    a->end = (int)end;
    for (int i = a->first; i < a->end; i++) {
        double u = (a->low + (i + 0.5) * a->step - x) / a->bandwidth;
        a->weight[i] = exp(-0.5 * u * u);
    }
}

/* Scott's rule for two dimensions. */
static ais_status choose_bandwidth(ais_context *context, const char *name, const double *x, size_t n,
                                   double *bandwidth) {
    if (*bandwidth == 0) *bandwidth = sqrt(ais_variance(x, n)) * pow((double)n, -1.0 / 6);
    if (*bandwidth > 0 && isfinite(*bandwidth)) return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "the bandwidth of %s is %g: the draws do not vary, or are not finite; give a positive bandwidth",
                    name, *bandwidth);
}

ais_status ais_kde(ais_context *context, const double *x, const double *y, size_t n, const ais_grid *grid,
                   double bandwidth_x, double bandwidth_y, double *density) {
    ais_status status = ais_grid_check(context, grid);
    if (status != AIS_OK) return status;
    if (n == 0) return ais_fail(context, AIS_BAD_ARGUMENT, "a density estimate needs 1 draw or more, but got none");
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]) || !isfinite(y[i]))
            return ais_fail(context, AIS_BAD_ARGUMENT, "draw %zu is (%g, %g): leave non-finite draws out", i, x[i],
                            y[i]);
    if ((status = choose_bandwidth(context, "x", x, n, &bandwidth_x)) != AIS_OK) return status;
    if ((status = choose_bandwidth(context, "y", y, n, &bandwidth_y)) != AIS_OK) return status;

    size_t cells = (size_t)grid->nx + (size_t)grid->ny;
    double *weight = ais_allocate(cells * sizeof(double));
    if (!weight) return ais_fail_memory(context, "a kernel density", cells * sizeof(double));
    axis across = {grid->x_low, (grid->x_high - grid->x_low) / grid->nx, bandwidth_x, grid->nx, weight, 0, 0};
    axis up = {grid->y_low, (grid->y_high - grid->y_low) / grid->ny, bandwidth_y, grid->ny, weight + grid->nx, 0, 0};
    size_t total = (size_t)grid->nx * (size_t)grid->ny;
    for (size_t k = 0; k < total; k++) density[k] = 0;
    for (size_t i = 0; i < n; i++) {
        reach(&across, x[i]);
        reach(&up, y[i]);
        for (int iy = up.first; iy < up.end; iy++) {
            double *row = density + (size_t)iy * (size_t)grid->nx, factor = up.weight[iy];
            for (int ix = across.first; ix < across.end; ix++) row[ix] += factor * across.weight[ix];
        }
    }
    double scale = 1 / ((double)n * 2 * AIS_PI * bandwidth_x * bandwidth_y);
    for (size_t k = 0; k < total; k++) density[k] *= scale;
    free(weight);
    return AIS_OK;
}
