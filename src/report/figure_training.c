/* The training curve: a panel of losses for every stage (their losses cannot be compared), acceptance and worst ESS
 * over all of them, and the temperatures where the start was annealed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "report/figures.h"

enum { MOST_LOSS_PANELS = 4 };

typedef struct curve {
    const ais_train_point *point;
    int points;
    double *x, *y; /* room for points */
} curve;

/* A field of the points first..end-1 over time, where it is finite; how many. */
static size_t series(const curve *c, int first, int end, size_t offset) {
    size_t n = 0;
    for (int i = first; i < end; i++) {
        double value;
        memcpy(&value, (const char *)&c->point[i] + offset, sizeof value);
        if (!isfinite(value) || !isfinite(c->point[i].seconds)) continue;
        c->x[n] = c->point[i].seconds;
        c->y[n++] = value;
    }
    return n;
}

static void add_series(const curve *c, int first, int end, size_t offset, ais_panel *panel, const ais_style *style) {
    size_t n = series(c, first, end, offset);
    if (n == 1)
        ais_panel_points(panel, c->x, c->y, n, style);
    else if (n)
        ais_panel_line(panel, c->x, c->y, n, style);
}

static int stage_end(const curve *c, int first) {
    int end = first + 1;
    while (end < c->points && strcmp(c->point[end].stage, c->point[first].stage) == 0) end++;
    return end;
}

/* Where a stage begins. */
static void mark_stages(const curve *c, ais_panel *panel) {
    for (int first = stage_end(c, 0); first < c->points; first = stage_end(c, first))
        ais_panel_rule(panel, true, c->point[first].seconds,
                       &(ais_style){.colour = AIS_INK, .width = 0.8, .opacity = 0.6, .dashed = true});
}

static void quality_panel(const curve *c, ais_figure *figure) {
    char stages[160] = "";
    for (int first = 0; first < c->points; first = stage_end(c, first)) {
        size_t used = strlen(stages);
        snprintf(stages + used, sizeof stages - used, "%s%s", used ? " | " : "", c->point[first].stage);
    }
    ais_panel *panel = ais_figure_panel(figure, &(ais_panel_options){.title = stages,
                                                                     .x = {.label = "seconds"},
                                                                     .y = {.label = "share", .low = 0, .high = 1.02}});
    mark_stages(c, panel);
    add_series(c, 0, c->points, offsetof(ais_train_point, acceptance), panel, &(ais_style){.label = "acceptance"});
    add_series(c, 0, c->points, offsetof(ais_train_point, worst_ess), panel,
               &(ais_style){.label = "worst ESS / draws", .colour = 3});
}

static void loss_panel(const curve *c, int first, int end, const char *title, ais_figure *figure) {
    ais_panel *panel = ais_figure_panel(
        figure, &(ais_panel_options){.title = title, .x = {.label = "seconds"}, .y = {.label = "loss"}});
    bool judged = series(c, first, end, offsetof(ais_train_point, discriminator_loss)) > 0;
    add_series(c, first, end, offsetof(ais_train_point, loss), panel, &(ais_style){.label = judged ? "kernel" : NULL});
    add_series(c, first, end, offsetof(ais_train_point, discriminator_loss), panel,
               &(ais_style){.label = "discriminator", .colour = 1});
}

static void loss_panels(const curve *c, ais_figure *figure) {
    int shown = 0;
    for (int first = 0, end; first < c->points; first = end) {
        char title[96];
        end = stage_end(c, first);
        if (series(c, first, end, offsetof(ais_train_point, loss)) == 0) continue;
        if (++shown == MOST_LOSS_PANELS && end < c->points) { /* the rest together */
            loss_panel(c, first, c->points, "loss of the other stages", figure);
            return;
        }
        snprintf(title, sizeof title, "loss: %.60s", c->point[first].stage);
        loss_panel(c, first, end, title, figure);
    }
}

/* Inverse temperatures of the annealed start. */
static void temperature_panel(const curve *c, ais_figure *figure) {
    size_t n = 0;
    for (int i = 0; i < c->points; i++) {
        if (!(c->point[i].beta > 0)) continue;
        c->x[n] = (double)n + 1;
        c->y[n++] = c->point[i].beta;
    }
    if (n == 0) return;
    ais_panel *panel =
        ais_figure_panel(figure, &(ais_panel_options){.title = "annealing of the start",
                                                      .x = {.label = "temperature number", .whole = true},
                                                      .y = {.label = "inverse temperature", .log = c->y[0] < 0.05}});
    ais_panel_line(panel, c->x, c->y, n, &(ais_style){.colour = 2});
    ais_panel_points(panel, c->x, c->y, n, &(ais_style){.colour = 2, .width = 3.5});
}

static ais_status draw_training(ais_scene *scene) {
    size_t points = (size_t)scene->data->points;
    curve c = {.point = scene->data->curve, .points = scene->data->points};
    c.x = ais_allocate(2 * points * sizeof *c.x);
    c.y = c.x ? c.x + points : NULL;
    if (!c.y) return ais_fail_memory(scene->context, "a training curve", 2 * points * sizeof *c.x);
    quality_panel(&c, scene->figure);
    loss_panels(&c, scene->figure);
    temperature_panel(&c, scene->figure);
    if (stage_end(&c, 0) < c.points) ais_scene_say(scene, "Dashed lines: where a stage begins.");
    free(c.x);
    return AIS_OK;
}

static const char *objection(const ais_figure_data *data) {
    if (data->curve && data->points > 0) return NULL;
    return "there is no training curve: give the folder of a run that learned, with its run.json";
}

const ais_figure_kind ais_figure_training = {
    {"training", "Training", "loss, acceptance and worst ESS while the kernel was learned"},
    draw_training,
    objection,
    0,
    0,
    0};
