/* Autocorrelation over all chains together, as ESS counts it: 1 - (W - mean autocovariance) / var+. Chains that do not
 * agree never come down to zero. The chains' own are thin lines. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/status.h"
#include "report/figures.h"

enum { FEWEST_LAGS = 20, MOST_LAGS = 200 };

typedef struct lags {
    int count;
    double lag[MOST_LAGS + 1], all[MOST_LAGS + 1], one[AIS_MOST_CHAINS][MOST_LAGS + 1];
    int chains; /* in one */
} lags;

static bool usable(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return n > 1;
}

/* How many lags are worth showing: half as many again as it takes to come down to 0.05. */
static int lags_to_show(const lags *l) {
    int t = 1;
    while (t < l->count && l->all[t] > 0.05) t++;
    int wanted = t + t / 2;
    wanted = wanted < FEWEST_LAGS ? FEWEST_LAGS : wanted;
    return wanted < l->count ? wanted : l->count;
}

static ais_status measure(ais_scene *scene, int parameter, double *covariance, lags *l) {
    const ais_draws *draws = scene->data->draws;
    size_t length = (size_t)draws->draws;
    double within = 0, means = 0, squares = 0, chains = draws->chains;
    int stride = (draws->chains + AIS_MOST_CHAINS - 1) / AIS_MOST_CHAINS;
    *l = (lags){.count = draws->draws < MOST_LAGS ? draws->draws : MOST_LAGS};
    for (int c = 0; c < draws->chains; c++) {
        const double *x = ais_scene_chain(scene, parameter, c);
        ais_status status = ais_autocovariance(scene->context, x, draws->draws, covariance);
        if (status != AIS_OK) return status;
        double mean = ais_mean(x, length);
        means += mean / chains;
        squares += mean * mean / chains;
        within += covariance[0] / chains;
        for (int t = 0; t < l->count; t++) {
            l->all[t] += covariance[t] / chains;
            if (c % stride == 0 && l->chains < AIS_MOST_CHAINS)
                l->one[l->chains][t] = covariance[0] > 0 ? covariance[t] / covariance[0] : NAN;
        }
        if (c % stride == 0 && l->chains < AIS_MOST_CHAINS) l->chains++;
    }
    double whole = within + fmax(squares - means * means, 0);
    for (int t = 0; t < l->count; t++) {
        l->lag[t] = t;
        l->all[t] = whole > 0 ? 1 - (within - l->all[t]) / whole : NAN;
    }
    return AIS_OK;
}

static ais_status panel_of(ais_scene *scene, int parameter, double *covariance, lags *l) {
    const ais_draws *draws = scene->data->draws;
    const char *name = draws->name[parameter];
    ais_panel *panel =
        ais_figure_panel(scene->figure, &(ais_panel_options){.title = name,
                                                             .x = {.label = "lag (draws)", .whole = true},
                                                             .y = {.label = "autocorrelation"},
                                                             .height = 230});
    if (!usable(ais_scene_chain(scene, parameter, 0), (size_t)draws->chains * (size_t)draws->draws)) {
        ais_scene_say(scene, "%s has none: too few draws, or some are not finite.", name);
        return AIS_OK;
    }
    ais_status status = measure(scene, parameter, covariance, l);
    if (status != AIS_OK) return status;
    size_t shown = (size_t)lags_to_show(l);
    for (int c = 0; draws->chains > 1 && c < l->chains; c++)
        ais_panel_line(panel, l->lag, l->one[c], shown,
                       &(ais_style){.label = c ? NULL : "each chain", .colour = 3, .width = 0.7, .opacity = 0.55});
    ais_panel_rule(panel, false, 0, &(ais_style){.colour = AIS_INK, .width = 0.8, .opacity = 0.6});
    ais_panel_line(panel, l->lag, l->all, shown, &(ais_style){.label = draws->chains > 1 ? "all chains" : NULL});
    return AIS_OK;
}

static ais_status draw_autocorrelation(ais_scene *scene) {
    size_t length = (size_t)scene->data->draws->draws;
    double *covariance = ais_allocate((length + 1) * sizeof *covariance);
    lags *l = ais_allocate(sizeof *l);
    ais_status status = covariance && l ? AIS_OK : ais_fail_memory(scene->context, "autocovariances", length * 8);
    for (int k = 0; k < scene->parameters && status == AIS_OK; k++)
        status = panel_of(scene, scene->parameter[k], covariance, l);
    free(covariance);
    free(l);
    return status;
}

const ais_figure_kind ais_figure_autocorrelation = {
    {"autocorrelation", "Autocorrelation", "how long draws stay correlated: the sooner this reaches zero, the better"},
    draw_autocorrelation,
    NULL,
    4,
    AIS_MOST_SHOWN,
    0};
