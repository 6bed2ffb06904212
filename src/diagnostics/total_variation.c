/* Total variation between draws and a two-dimensional target, on a grid. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/status.h"
#include "diagnostics/grid.h"

enum { POINTS = 5 };

/* Gauss-Legendre on [0, 1]. */
static const double node[POINTS] = {0.046910077030668004, 0.230765344947158454, 0.5, 0.769234655052841546,
                                    0.953089922969331996};
static const double weight[POINTS] = {0.118463442528094544, 0.239314335249683234, 0.284444444444444444,
                                      0.239314335249683234, 0.118463442528094544};

/* log of the integral of exp(logp) over the cell at (x, y); NAN after a failure. */
static double cell_log_mass(ais_context *context, const ais_target *target, double x, double y, double dx, double dy) {
    double value[POINTS * POINTS], most = -INFINITY, sum = 0;
    for (int k = 0; k < POINTS * POINTS; k++) {
        double point[2] = {x + node[k % POINTS] * dx, y + node[k / POINTS] * dy};
        value[k] = target->logp(point, target->data);
        if (isnan(value[k]) || value[k] == INFINITY) {
            ais_fail(context, AIS_BAD_DENSITY,
                     "target %s: the log density at (%.17g, %.17g) is %g, but must be a number", target->name, point[0],
                     point[1], value[k]);
            return NAN;
        }
        most = fmax(most, value[k]);
    }
    if (most == -INFINITY) return -INFINITY;
    for (int k = 0; k < POINTS * POINTS; k++) sum += weight[k % POINTS] * weight[k / POINTS] * exp(value[k] - most);
    return most + log(sum * dx * dy);
}

ais_status ais_grid_mass(ais_context *context, const ais_target *target, const ais_grid *grid, double *mass,
                         double *outside) {
    ais_status status = ais_grid_check(context, grid);
    if (status != AIS_OK) return status;
    if (target->dim != 2)
        return ais_fail(context, AIS_BAD_ARGUMENT, "target %s has %d dimensions, but a grid needs a target with 2",
                        target->name, target->dim);
    double dx = (grid->x_high - grid->x_low) / grid->nx, dy = (grid->y_high - grid->y_low) / grid->ny;
    double most = -INFINITY, inside = 0;
    size_t nx = (size_t)grid->nx, cells = nx * (size_t)grid->ny;
    for (size_t k = 0; k < cells; k++) {
        size_t iy = k / nx;
        double row = (double)iy;
        double x = grid->x_low + (double)(k % nx) * dx, y = grid->y_low + row * dy;
        mass[k] = cell_log_mass(context, target, x, y, dx, dy);
        if (isnan(mass[k])) return AIS_BAD_DENSITY;
        most = fmax(most, mass[k]);
    }
    if (most == -INFINITY)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "target %s has no mass on the grid [%g, %g] x [%g, %g]: give another", target->name,
                        grid->x_low, grid->x_high, grid->y_low, grid->y_high);
    for (size_t k = 0; k < cells; k++) inside += mass[k] = exp(mass[k] - most);
    double all = inside;
    if (target->reference && isfinite(target->reference->log_z))
        all = fmax(inside, exp(target->reference->log_z - most)); /* quadrature may overshoot a little */
    for (size_t k = 0; k < cells; k++) mass[k] /= all;
    *outside = 1 - inside / all;
    return AIS_OK;
}

/* The rows (step: 1 between cells of a row) whose mass is above the limit, as first..last. */
static void occupied(const double *mass, int lines, size_t line_step, int cells, size_t cell_step, int *first,
                     int *last) {
    *first = lines;
    *last = -1;
    for (int i = 0; i < lines; i++) {
        double sum = 0;
        for (int k = 0; k < cells; k++) sum += mass[(size_t)i * line_step + (size_t)k * cell_step];
        if (sum * lines < 2.5e-7) continue;
        if (*last < 0) *first = i;
        *last = i;
    }
}

ais_status ais_grid_shrink(ais_context *context, const ais_target *target, ais_grid *grid, double *mass) {
    double outside;
    ais_status status = ais_grid_mass(context, target, grid, mass, &outside);
    if (status != AIS_OK) return status;
    int first, last;
    double dx = (grid->x_high - grid->x_low) / grid->nx, dy = (grid->y_high - grid->y_low) / grid->ny;
    occupied(mass, grid->nx, 1, grid->ny, (size_t)grid->nx, &first, &last);
    grid->x_high = grid->x_low + dx * (last + 2);
    grid->x_low += dx * (first - 1);
    occupied(mass, grid->ny, (size_t)grid->nx, grid->nx, 1, &first, &last);
    grid->y_high = grid->y_low + dy * (last + 2);
    grid->y_low += dy * (first - 1);
    return AIS_OK;
}

ais_status ais_total_variation(ais_context *context, const double *x, const double *y, size_t n,
                               const ais_target *target, const ais_grid *grid, double *distance) {
    ais_status status = ais_grid_check(context, grid);
    if (status != AIS_OK) return status;
    if (n == 0) return ais_fail(context, AIS_BAD_ARGUMENT, "a total variation needs 1 draw or more, but got none");
    size_t cells = (size_t)grid->nx * (size_t)grid->ny;
    double *mass = ais_allocate(2 * cells * sizeof(double)), outside = 0;
    if (!mass) return ais_fail_memory(context, "a grid", 2 * cells * sizeof(double));
    double *share = mass + cells;
    if ((status = ais_grid_mass(context, target, grid, mass, &outside)) == AIS_OK) {
        double out = 0, one = 1 / (double)n;
        for (size_t i = 0; i < n; i++) {
            double ix = floor((x[i] - grid->x_low) / (grid->x_high - grid->x_low) * grid->nx);
            double iy = floor((y[i] - grid->y_low) / (grid->y_high - grid->y_low) * grid->ny);
            if (ix >= 0 && ix < grid->nx && iy >= 0 && iy < grid->ny)
                share[(size_t)iy * (size_t)grid->nx + (size_t)ix] += one;
            else
                out += one; /* draws that are not numbers too */
        }
        double sum = fabs(out - outside);
        for (size_t k = 0; k < cells; k++) sum += fabs(share[k] - mass[k]);
        *distance = 0.5 * sum;
    }
    free(mass);
    return status;
}
