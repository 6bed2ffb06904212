/* The corner plot: marginals with their quantiles on the diagonal, below it every pair of parameters as a smoothed
 * density with the lines that hold 39% and 86% of it: one and two standard deviations of a normal in the plane. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "diagnostics/column.h"
#include "report/bins.h"
#include "report/figure.h"
#include "report/figures.h"
#include "report/truth.h"

enum { CELLS = 64, DOTS = 200, KDE_DRAWS = 20000, MOST_SIDE = 12, LEVELS = 2 };

static const double level_share[LEVELS] = {0.393, 0.865}; /* 1 - exp(-r^2 / 2), r = 1, 2 */
static const double quantile[3] = {0.05, 0.5, 0.95};

/* A parameter: what its axis and its bins are. */
typedef struct side {
    int parameter;
    const char *name;
    const double *x; /* n draws */
    ais_bins bins;
    double low, high; /* of the axis */
    double quantile[3];
    double bandwidth;
    double truth; /* or NAN */
} side;

typedef struct corner {
    ais_scene *scene;
    ais_panel *triangle;
    size_t n;
    side *of; /* count of them */
    int count;
    double *x, *y;   /* the finite pairs of one cell, thinned */
    double *density; /* CELLS x CELLS */
    ais_truth known; /* the target's density, in two dimensions */
} corner;

/* ---- axes ---------------------------------------------------------------------------------------------------- */

/* The target's range, where its density is shown. */
static void widen_to_target(const ais_truth *known, side *of) {
    if (!known->mass) return;
    of->low = fmin(of->low, of->parameter ? known->grid.y_low : known->grid.x_low);
    of->high = fmax(of->high, of->parameter ? known->grid.y_high : known->grid.x_high);
}

/* A true value near the draws should be visible; one far away would leave no room for the draws. */
static void widen_to_truth(ais_scene *scene, side *of) {
    double width = of->high - of->low, room = 0.05 * width;
    if (!isfinite(of->truth)) return;
    if (of->truth < of->low - 2 * width || of->truth > of->high + 2 * width) {
        ais_scene_say(scene, "The true %s, %.6g, is far outside its panel.", of->name, of->truth);
        return;
    }
    if (of->truth < of->low + room) of->low = of->truth - room;
    if (of->truth > of->high - room) of->high = of->truth + room;
}

static void measure(corner *this, side *of, double *sorted) {
    const ais_figure_data *data = this->scene->data;
    size_t finite = ais_sort_finite(of->x, this->n, sorted);
    of->bins = ais_bins_choose(sorted, finite);
    of->low = of->bins.low;
    of->high = of->bins.high;
    of->truth = data->truth ? data->truth[of->parameter] : NAN;
    for (int q = 0; q < 3; q++) of->quantile[q] = finite ? ais_sorted_quantile(sorted, finite, quantile[q]) : NAN;
    /* Less than Scott's rule, for the densest part: modes far apart must not be smeared. */
    double draws = (double)(finite < KDE_DRAWS ? finite : KDE_DRAWS);
    of->bandwidth = finite ? 0.85 * ais_narrow_spread(sorted, finite) * pow(draws, -1.0 / 6) : 0;
    widen_to_target(&this->known, of);
    widen_to_truth(this->scene, of);
    if (finite < this->n)
        ais_scene_say(this->scene, "Draws of %s that are not finite: %zu.", of->name, this->n - finite);
    if (of->bins.outside) ais_scene_say(this->scene, "Draws of %s outside its panel: %zu.", of->name, of->bins.outside);
}

/* ---- the diagonal -------------------------------------------------------------------------------------------- */

/* "1.23 [0.41, 2.05]" with as many decimals as the width of the interval justifies. */
static void say_quantiles(const side *of, char *text, size_t size) {
    double width = of->quantile[2] - of->quantile[0], most = fmax(fabs(of->quantile[0]), fabs(of->quantile[2]));
    int decimals = width > 0 ? (int)floor(2.5 - log10(width)) : 2;
    if (!isfinite(width))
        *text = 0;
    else if (decimals > 5 || most >= 1e12)
        snprintf(text, size, "%.2g [%.2g, %.2g]", of->quantile[1], of->quantile[0], of->quantile[2]);
    else
        snprintf(text, size, "%.*f [%.*f, %.*f]", decimals < 0 ? 0 : decimals, of->quantile[1],
                 decimals < 0 ? 0 : decimals, of->quantile[0], decimals < 0 ? 0 : decimals, of->quantile[2]);
}

static void rule(ais_panel *panel, bool vertical, double at, const ais_style *style) {
    if (isfinite(at)) ais_panel_rule(panel, vertical, at, style);
}

static const ais_style quantile_line = {.colour = AIS_INK, .width = 1, .dashed = true, .opacity = 0.8};
static const ais_style target_line = {.colour = 2, .width = 1.2};
static const ais_style truth_line = {.colour = 3, .width = 1.3};
static const ais_style truth_dot = {.colour = 3, .width = 6};
static const ais_style level_line = {.colour = 0, .width = 1.3};

static void marginal(const corner *this, int row) {
    const side *of = &this->of[row];
    double edge[AIS_MOST_BINS + 1], height[AIS_MOST_BINS], place[AIS_TRUTH_CELLS], density[AIS_TRUTH_CELLS], top = 0;
    ais_bins_edges(&of->bins, edge);
    ais_bins_density(&of->bins, of->x, this->n, height);
    for (int i = 0; i < of->bins.count; i++) top = fmax(top, height[i]);
    if (this->known.mass) ais_truth_marginal(&this->known, of->parameter, place, density);
    for (int i = 0; this->known.mass && i < AIS_TRUTH_CELLS; i++) top = fmax(top, density[i]);
    char title[128];
    say_quantiles(of, title, sizeof title);
    ais_panel *panel =
        ais_triangle_cell(this->triangle, row, row,
                          &(ais_panel_options){.title = title,
                                               .x = {.label = of->name, .low = of->low, .high = of->high},
                                               .y = {.high = top > 0 ? 1.06 * top : 1}});
    ais_panel_steps(panel, edge, height, of->bins.count, true, &(ais_style){.width = 1});
    if (this->known.mass) ais_panel_line(panel, place, density, AIS_TRUTH_CELLS, &target_line);
    for (int q = 0; q < 3; q++) rule(panel, true, of->quantile[q], &quantile_line);
    rule(panel, true, of->truth, &truth_line);
}

/* ---- pairs --------------------------------------------------------------------------------------------------- */

/* The finite pairs; of very many draws every k-th. */
static size_t gather(const corner *this, const side *across, const side *up) {
    size_t every = (this->n + KDE_DRAWS - 1) / KDE_DRAWS, count = 0;
    for (size_t i = 0; i < this->n; i += every) {
        if (!isfinite(across->x[i]) || !isfinite(up->x[i])) continue;
        this->x[count] = across->x[i];
        this->y[count++] = up->x[i];
    }
    return count;
}

static double correlation(const double *x, const double *y, size_t n) {
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) mx += x[i] / (double)n, my += y[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    double r = xy / sqrt(xx * yy);
    return isfinite(r) ? r : 0;
}

/* The smoothed density of n pairs; false when they have none (a constant parameter). A ridge is narrower than either
 * marginal: the kernel follows it down to what a cell can show. */
static bool smooth(const corner *this, const side *across, const side *up, size_t n, ais_grid *grid) {
    ais_context context = {0};
    *grid = (ais_grid){across->low, across->high, up->low, up->high, CELLS, CELLS};
    double r = correlation(this->x, this->y, n), narrow = fmax(sqrt(1 - r * r), 0.3);
    double wide = fmax(narrow * across->bandwidth, 0.7 * (grid->x_high - grid->x_low) / CELLS),
           tall = fmax(narrow * up->bandwidth, 0.7 * (grid->y_high - grid->y_low) / CELLS);
    return n > 0 && across->bandwidth > 0 && up->bandwidth > 0 &&
           ais_kde(&context, this->x, this->y, n, grid, wide, tall, this->density) == AIS_OK;
}

static double density_at(const corner *this, const ais_grid *grid, double x, double y) {
    double ix = (x - grid->x_low) / (grid->x_high - grid->x_low) * CELLS,
           iy = (y - grid->y_low) / (grid->y_high - grid->y_low) * CELLS;
    if (!(ix >= 0 && ix < CELLS && iy >= 0 && iy < CELLS)) return 0;
    return this->density[(size_t)iy * CELLS + (size_t)ix];
}

/* Some of the draws that no line holds. They are moved to the front of x and y. */
static void dots(const corner *this, ais_panel *panel, const ais_grid *grid, double level, size_t n) {
    size_t outside = 0, shown = 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(level) && density_at(this, grid, this->x[i], this->y[i]) >= level) continue;
        this->x[outside] = this->x[i];
        this->y[outside++] = this->y[i];
    }
    size_t every = (outside + DOTS - 1) / DOTS;
    for (size_t i = 0; i < outside; i += every, shown++) {
        this->x[shown] = this->x[i];
        this->y[shown] = this->y[i];
    }
    ais_panel_points(panel, this->x, this->y, shown, &(ais_style){.colour = 0, .width = 1.3, .opacity = 0.5});
}

/* The target's own lines. Its grid is that of coordinates 0 and 1; the panel may have them the other way round. */
static void target_lines(const corner *this, ais_panel *panel, bool turned) {
    const ais_grid *from = &this->known.grid;
    size_t cells = (size_t)from->nx * (size_t)from->ny;
    ais_grid grid = *from;
    double *mass = turned ? ais_allocate(cells * sizeof *mass) : NULL;
    if (turned && !mass) return;
    if (turned) grid = (ais_grid){from->y_low, from->y_high, from->x_low, from->x_high, from->ny, from->nx};
    for (size_t k = 0; turned && k < cells; k++)
        mass[k] = this->known.mass[k % (size_t)grid.nx * (size_t)from->nx + k / (size_t)grid.nx];
    const double *value = turned ? mass : this->known.mass;
    for (int l = 0; l < LEVELS; l++)
        ais_panel_contour(panel, &grid, value, ais_grid_level(&grid, value, level_share[l]), &target_line);
    free(mass);
}

static void pair(const corner *this, int row, int column) {
    const side *across = &this->of[column], *up = &this->of[row];
    ais_panel *panel =
        ais_triangle_cell(this->triangle, row, column,
                          &(ais_panel_options){.x = {.label = across->name, .low = across->low, .high = across->high},
                                               .y = {.label = up->name, .low = up->low, .high = up->high}});
    size_t n = gather(this, across, up);
    ais_grid grid;
    double outermost = NAN;
    if (smooth(this, across, up, n, &grid)) {
        ais_panel_heat(panel, &grid, this->density, &(ais_heat){.tint = true});
        for (int l = 0; l < LEVELS; l++) {
            outermost = ais_grid_level(&grid, this->density, level_share[l]);
            ais_panel_contour(panel, &grid, this->density, outermost, &level_line);
        }
    }
    dots(this, panel, &grid, outermost, n);
    if (this->known.mass) target_lines(this, panel, across->parameter > up->parameter);
    rule(panel, true, across->truth, &truth_line);
    rule(panel, false, up->truth, &truth_line);
    if (isfinite(across->truth) && isfinite(up->truth))
        ais_panel_points(panel, &across->truth, &up->truth, 1, &truth_dot);
}

/* ---- the whole ----------------------------------------------------------------------------------------------- */

static void entry(ais_panel *triangle, const char *label, ais_style style) {
    style.label = label;
    ais_panel_line(triangle, NULL, NULL, 0, &style);
}

static void legend(const corner *this) {
    bool truths = false;
    for (int i = 0; i < this->count; i++) truths = truths || isfinite(this->of[i].truth);
    entry(this->triangle, "median, 5% and 95%", quantile_line);
    if (this->count > 1) entry(this->triangle, "hold 39% and 86%", level_line);
    if (this->known.mass) entry(this->triangle, "target", target_line);
    if (truths) entry(this->triangle, "truth", truth_line);
}

/* A parameter that was named twice is shown once: its pair with itself would be a line. */
static void choose(corner *this) {
    const ais_scene *scene = this->scene;
    int distinct = 0;
    for (int k = 0; k < scene->parameters; k++) {
        bool again = false;
        for (int i = 0; i < k; i++) again = again || scene->parameter[i] == scene->parameter[k];
        if (again || distinct++ >= MOST_SIDE) continue;
        int parameter = scene->parameter[k];
        this->of[this->count++] = (side){.parameter = parameter,
                                         .name = scene->data->draws->name[parameter],
                                         .x = ais_scene_chain(scene, parameter, 0)};
    }
    if (distinct > this->count)
        ais_scene_say(this->scene, "The first %d of the %d parameters that were named.", this->count, distinct);
}

static void fill(corner *this, double *sorted) {
    char title[512] = "corner plot of";
    choose(this);
    for (int i = 0; i < this->count; i++) {
        size_t used = strlen(title);
        snprintf(title + used, sizeof title - used, "%s %s", i ? "," : "", this->of[i].name);
        measure(this, &this->of[i], sorted);
    }
    this->triangle = ais_figure_triangle(this->scene->figure, title, this->count);
    legend(this);
    for (int row = 0; row < this->count; row++) {
        marginal(this, row);
        for (int column = 0; column < row; column++) pair(this, row, column);
    }
}

static ais_status draw_corner(ais_scene *scene) {
    const ais_draws *draws = scene->data->draws;
    size_t n = (size_t)draws->chains * (size_t)draws->draws, most = n < KDE_DRAWS ? n : KDE_DRAWS;
    side sides[MOST_SIDE];
    corner this = {.scene = scene, .n = n, .of = sides};
    double *sorted = ais_allocate((n + 1) * sizeof *sorted),
           *work = ais_allocate((2 * most + CELLS * CELLS) * sizeof *work);
    ais_status status = sorted && work ? AIS_OK : ais_fail_memory(scene->context, "sorted draws", n * sizeof *sorted);
    if (status == AIS_OK) {
        this.x = work;
        this.y = work + most;
        this.density = work + 2 * most;
        ais_truth_find(scene->data, &this.known);
        fill(&this, sorted);
        ais_truth_free(&this.known);
    }
    free(sorted);
    free(work);
    return status;
}

const ais_figure_kind ais_figure_corner = {
    {"corner", "Corner plot",
     "marginals with median, 5% and 95% quantile, and every pair of parameters with contours that hold 39% and 86% of "
     "the draws; the target's own contours where its density is known"},
    draw_corner,
    NULL,
    6,
    6,
    0};
