/* Traces: a few chains, those whose means lie farthest apart from all the others'. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/status.h"
#include "report/bins.h"
#include "report/figures.h"

enum { MOST_LINES = 4, POINTS = 320 };

/* How far a chain's mean is from the mean of all. */
static double distance(const double *x, size_t draws, double middle) {
    double sum = 0;
    size_t finite = 0;
    for (size_t t = 0; t < draws; t++) {
        if (!isfinite(x[t])) continue;
        sum += x[t];
        finite++;
    }
    return finite ? fabs(sum / (double)finite - middle) : 0;
}

static double finite_mean(const double *x, size_t n) {
    double sum = 0, finite = 0;
    for (size_t i = 0; i < n; i++) {
        sum += isfinite(x[i]) ? x[i] : 0;
        finite += isfinite(x[i]);
    }
    return finite > 0 ? sum / finite : 0;
}

/* The chains to show, ascending. */
static int choose(const ais_scene *scene, int parameter, int chain[MOST_LINES]) {
    const ais_draws *draws = scene->data->draws;
    size_t length = (size_t)draws->draws;
    double far[MOST_LINES];
    int count = 0;
    double middle = finite_mean(ais_scene_chain(scene, parameter, 0), (size_t)draws->chains * length);
    for (int c = 0; c < draws->chains; c++) {
        double d = distance(ais_scene_chain(scene, parameter, c), length, middle);
        int nearest = 0;
        if (count < MOST_LINES) {
            far[count] = d;
            chain[count++] = c;
            continue;
        }
        for (int k = 1; k < count; k++)
            if (far[k] < far[nearest]) nearest = k;
        if (d <= far[nearest]) continue;
        for (int k = nearest; k + 1 < count; k++) { /* keeps them in their order */
            chain[k] = chain[k + 1];
            far[k] = far[k + 1];
        }
        chain[count - 1] = c;
        far[count - 1] = d;
    }
    return count;
}

static ais_status draw_traces(ais_scene *scene) {
    const ais_draws *draws = scene->data->draws;
    double place[POINTS], value[POINTS];
    for (int k = 0; k < scene->parameters; k++) {
        int parameter = scene->parameter[k], chain[MOST_LINES];
        const char *name = draws->name[parameter];
        int shown = choose(scene, parameter, chain);
        ais_panel *panel = ais_figure_panel(
            scene->figure, &(ais_panel_options){.title = name,
                                                .x = {.label = "draw", .low = 1, .high = fmax(draws->draws, 2)},
                                                .y = {.label = name},
                                                .height = 230});
        for (int c = 0; c < shown; c++) {
            char label[32];
            snprintf(label, sizeof label, "chain %d", chain[c] + 1);
            size_t points =
                ais_envelope(ais_scene_chain(scene, parameter, chain[c]), (size_t)draws->draws, POINTS, place, value);
            for (size_t i = 0; i < points; i++) place[i] += 1;
            const ais_style style = {.label = label, .colour = c, .width = 0.8, .opacity = 0.75};
            if (points > 1)
                ais_panel_line(panel, place, value, points, &style);
            else
                ais_panel_points(panel, place, value, points, &style);
        }
    }
    if (draws->chains > MOST_LINES)
        ais_scene_say(scene, "%d of %d chains, those whose means are farthest from the mean of all.", MOST_LINES,
                      draws->chains);
    if (draws->draws > POINTS)
        ais_scene_say(scene, "Lines join the smallest and the largest of every %d draws.", draws->draws / (POINTS / 2));
    return AIS_OK;
}

const ais_figure_kind ais_figure_trace = {
    {"trace", "Traces",
     "draws in order: there should be no trend, no chain apart from the others, no long flat stretch"},
    draw_traces,
    NULL,
    4,
    AIS_MOST_SHOWN,
    0};
