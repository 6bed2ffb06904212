/* Contours by marching squares, and what fills grids. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/sort.h"
#include "report/figure.h"

void ais_grid_evaluate(const ais_grid *grid, double (*function)(double x, double y, void *data), void *data,
                       double *value) {
    double dx = (grid->x_high - grid->x_low) / grid->nx, dy = (grid->y_high - grid->y_low) / grid->ny;
    for (int iy = 0; iy < grid->ny; iy++)
        for (int ix = 0; ix < grid->nx; ix++)
            value[(size_t)iy * (size_t)grid->nx + (size_t)ix] =
                function(grid->x_low + (ix + 0.5) * dx, grid->y_low + (iy + 0.5) * dy, data);
}

double ais_grid_level(const ais_grid *grid, const double *value, double share) {
    size_t cells = (size_t)grid->nx * (size_t)grid->ny;
    double *sorted = ais_allocate(cells * sizeof *sorted), sum = 0, above = 0, level = NAN;
    if (!sorted) return NAN;
    for (size_t k = 0; k < cells; k++) {
        sorted[k] = isfinite(value[k]) && value[k] > 0 ? value[k] : 0;
        sum += sorted[k];
    }
    qsort(sorted, cells, sizeof *sorted, ais_falling);
    for (size_t k = 0; sum > 0 && k < cells && above < share * sum; k++) {
        above += sorted[k];
        level = sorted[k];
    }
    free(sorted);
    return level;
}

/* One square of four centres, corners counted around from the lower left. */
typedef struct square {
    double x[4], y[4], value[4];
} square;

static void crossing(const square *s, int edge, double level, double *x, double *y) {
    int a = edge, b = (edge + 1) % 4;
    double share = (level - s->value[a]) / (s->value[b] - s->value[a]);
    *x = s->x[a] + share * (s->x[b] - s->x[a]);
    *y = s->y[a] + share * (s->y[b] - s->y[a]);
}

/* The line's pieces in a square, each as two points and a break; how many numbers were added. */
static size_t cross(const square *s, double level, double *x, double *y) {
    int edge[4], edges = 0;
    for (int i = 0; i < 4; i++) {
        if (!isfinite(s->value[i])) return 0;
        if ((s->value[i] > level) != (s->value[(i + 1) % 4] > level)) edge[edges++] = i;
    }
    /* A saddle has four crossings: its middle decides which corners belong together. */
    bool middle = 0.25 * (s->value[0] + s->value[1] + s->value[2] + s->value[3]) > level;
    if (edges == 4 && middle == (s->value[0] > level)) {
        int first = edge[0];
        for (int i = 0; i < 3; i++) edge[i] = edge[i + 1];
        edge[3] = first;
    }
    size_t n = 0;
    for (int k = 0; k + 1 < edges; k += 2) {
        crossing(s, edge[k], level, &x[n], &y[n]);
        crossing(s, edge[k + 1], level, &x[n + 1], &y[n + 1]);
        x[n + 2] = y[n + 2] = NAN;
        n += 3;
    }
    return n;
}

void ais_panel_contour(ais_panel *panel, const ais_grid *grid, const double *value, double level,
                       const ais_style *style) {
    if (!panel || !isfinite(level)) return;
    double dx = (grid->x_high - grid->x_low) / grid->nx, dy = (grid->y_high - grid->y_low) / grid->ny;
    size_t nx = (size_t)grid->nx, room = 6 * nx * (size_t)grid->ny, n = 0;
    double *x = ais_allocate(2 * room * sizeof *x), *y = x ? x + room : NULL;
    if (!y) {
        panel->figure->failed = true;
        return;
    }
    for (int iy = 0; iy + 1 < grid->ny; iy++)
        for (int ix = 0; ix + 1 < grid->nx; ix++) {
            square s;
            for (int i = 0; i < 4; i++) {
                int cx = ix + (i == 1 || i == 2), cy = iy + (i >= 2);
                s.x[i] = grid->x_low + (cx + 0.5) * dx;
                s.y[i] = grid->y_low + (cy + 0.5) * dy;
                s.value[i] = value[(size_t)cy * nx + (size_t)cx];
            }
            n += cross(&s, level, x + n, y + n);
        }
    ais_panel_line(panel, x, y, n, style);
    free(x);
}
