/* Modes: what share of the draws each has, how proposals fare that start in it, how often chains jump between them. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/status.h"
#include "diagnostics/judge.h"
#include "report/figures.h"

typedef struct census {
    int modes;
    int *mode;            /* chains x draws; -1: not finite */
    double *share, *jump; /* modes; modes x modes: jump[to * modes + from] */
    double *acceptance;   /* modes: mean accept_stat of steps that start there; NAN without */
    const char **name;    /* modes: "1", "2", ... */
    char (*digits)[12];
    ais_arena arena;
} census;

static ais_status take(ais_scene *scene, census *c) {
    size_t n = (size_t)scene->data->draws->chains * (size_t)scene->data->draws->draws;
    size_t modes = (size_t)scene->data->target->reference->modes;
    c->modes = (int)modes;
    c->mode = AIS_TAKE(&c->arena, int, n);
    c->share = AIS_TAKE(&c->arena, double, modes);
    c->acceptance = AIS_TAKE(&c->arena, double, modes);
    c->jump = AIS_TAKE(&c->arena, double, modes *modes);
    c->name = AIS_TAKE(&c->arena, const char *, modes);
    c->digits = ais_arena_take(&c->arena, modes * sizeof *c->digits);
    if (!c->mode || !c->share || !c->acceptance || !c->jump || !c->name || !c->digits)
        return ais_fail_memory(scene->context, "a census of modes", n * sizeof(int));
    for (size_t k = 0; k < modes; k++) {
        snprintf(c->digits[k], sizeof c->digits[k], "%u", (unsigned)k + 1);
        c->name[k] = c->digits[k];
    }
    return AIS_OK;
}

static ais_status find_modes(ais_scene *scene, census *c) {
    const ais_draws *draws = scene->data->draws;
    const ais_target *target = scene->data->target;
    size_t n = (size_t)draws->chains * (size_t)draws->draws, dim = (size_t)draws->dim;
    double *x = AIS_TAKE(&c->arena, double, dim), finite = 0;
    if (!x) return ais_fail_memory(scene->context, "a point", dim * sizeof *x);
    for (size_t t = 0; t < n; t++) {
        bool whole = true;
        for (size_t i = 0; i < dim; i++) {
            x[i] = draws->value[i * n + t];
            whole = whole && isfinite(x[i]);
        }
        int mode = whole ? target->reference->mode(x, target->data) : -1;
        c->mode[t] = mode >= 0 && mode < c->modes ? mode : -1;
        if (c->mode[t] >= 0) c->share[c->mode[t]] += 1;
        finite += c->mode[t] >= 0;
    }
    for (int k = 0; k < c->modes; k++) c->share[k] /= fmax(finite, 1);
    return AIS_OK;
}

/* accept_stat of a draw belongs to the step that led to it: it counts for the mode of the draw before. */
static ais_status count_steps(ais_scene *scene, census *c) {
    const ais_draws *draws = scene->data->draws;
    const double *accept = ais_judge_stat(draws, "accept_stat__", "acceptance_rate__");
    double *steps = AIS_TAKE(&c->arena, double, c->modes);
    if (!steps) return ais_fail_memory(scene->context, "counts of modes", (size_t)c->modes * sizeof *steps);
    for (size_t chain = 0; chain < (size_t)draws->chains; chain++)
        for (size_t t = chain * (size_t)draws->draws + 1; t < (chain + 1) * (size_t)draws->draws; t++) {
            int from = c->mode[t - 1], to = c->mode[t];
            if (from >= 0 && to >= 0) c->jump[to * c->modes + from] += 1;
            if (from < 0 || !accept || !isfinite(accept[t])) continue;
            c->acceptance[from] += accept[t];
            steps[from] += 1;
        }
    for (int k = 0; k < c->modes; k++) c->acceptance[k] = steps[k] > 0 ? c->acceptance[k] / steps[k] : NAN;
    return AIS_OK;
}

static ais_status census_of(ais_scene *scene, census *c) {
    *c = (census){0};
    ais_status status = take(scene, c);
    if (status == AIS_OK) status = find_modes(scene, c);
    if (status == AIS_OK) status = count_steps(scene, c);
    return status;
}

static ais_axis axis_of(const census *c, const char *label) {
    return (ais_axis){.label = label, .names = c->name, .name_count = c->modes};
}

static ais_status draw_modes(ais_scene *scene) {
    census c;
    ais_status status = census_of(scene, &c);
    if (status == AIS_OK) {
        ais_panel *panel = ais_figure_panel(
            scene->figure,
            &(ais_panel_options){.title = "share of the draws", .x = axis_of(&c, "mode"), .y = {.label = "share"}});
        ais_panel_bars(panel, c.share, c.modes, &(ais_style){.label = "draws"});
        if (scene->data->target->reference->mode_weight)
            ais_panel_bars(panel, scene->data->target->reference->mode_weight, c.modes,
                           &(ais_style){.label = "target", .colour = 1});
        bool known = false;
        for (int k = 0; k < c.modes; k++) known = known || isfinite(c.acceptance[k]);
        panel = known ? ais_figure_panel(scene->figure,
                                         &(ais_panel_options){.title = "acceptance by mode",
                                                              .x = axis_of(&c, "mode that a step starts in"),
                                                              .y = {.label = "acceptance", .low = 0, .high = 1.02}})
                      : NULL;
        ais_panel_bars(panel, c.acceptance, c.modes, &(ais_style){.colour = 2});
    }
    ais_arena_free(&c.arena);
    return status;
}

static ais_status draw_jumps(ais_scene *scene) {
    census c;
    ais_status status = census_of(scene, &c);
    if (status == AIS_OK) {
        double stayed = 0, all = 0, most = 1;
        for (int k = 0; k < c.modes * c.modes; k++) {
            most = fmax(most, c.jump[k]);
            all += c.jump[k];
            if (k / c.modes == k % c.modes) stayed += c.jump[k];
        }
        const ais_grid grid = {-0.5, c.modes - 0.5, -0.5, c.modes - 0.5, c.modes, c.modes};
        ais_panel *panel = ais_figure_panel(scene->figure, &(ais_panel_options){.title = "from one draw to the next",
                                                                                .x = axis_of(&c, "from mode"),
                                                                                .y = axis_of(&c, "to mode"),
                                                                                .height = 300});
        ais_panel_heat(panel, &grid, c.jump, &(ais_heat){.label = "pairs of draws", .high = most, .numbers = true});
        ais_scene_say(scene, "%.0f of %.0f pairs of consecutive draws (%.3g%%) are in two different modes.",
                      all - stayed, all, all > 0 ? 100 * (all - stayed) / all : 0);
    }
    ais_arena_free(&c.arena);
    return status;
}

static const char *objection(const ais_figure_data *data) {
    const ais_target *target = data->target;
    if (target && target->reference && target->reference->modes > 0 && target->reference->mode &&
        target->dim == data->draws->dim)
        return NULL;
    return "it needs a target with known modes, such as mog6: name it with --target";
}

const ais_figure_kind ais_figure_modes = {
    {"modes", "Modes", "the share of draws in every mode, and the acceptance of steps that start there"},
    draw_modes,
    objection,
    0,
    0,
    0};

const ais_figure_kind ais_figure_jumps = {
    {"jumps", "Mode jumps", "how often a draw in one mode is followed by one in another"},
    draw_jumps,
    objection,
    0,
    0,
    0};
