/* Coefficients on the data's scale beside those of standardised columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "target/regression.h"

/* One point: x, then the raw coefficients, then sigma. */
static void show_point(const ais_regression_scale *scale, const double *x, double *value) {
    int dim = scale->dim, first = scale->intercept;
    memcpy(value, x, ((size_t)dim + (scale->sigma ? 1 : 0)) * sizeof *value);
    value += dim + scale->sigma;
    double shift = 0;
    for (int i = first; i < dim; i++) {
        value[i] = scale->outcome_sd * x[i] / scale->sd[i];
        shift += x[i] * (scale->mean[i] / scale->sd[i]);
    }
    if (first) value[0] = scale->outcome_mean + scale->outcome_sd * (x[0] - shift);
    if (scale->sigma) value[dim] = scale->outcome_sd * exp(x[dim]);
}

static void show(size_t n, const double *x, uint64_t stream, double *value, double *slope, void *data) {
    const ais_regression_scale *scale = data;
    size_t dim = (size_t)scale->dim + (scale->sigma ? 1 : 0);
    (void)stream;
    for (size_t r = 0; r < n; r++) {
        show_point(scale, x + r * dim, value + r * 2 * dim);
        slope[r] = 0;
    }
}

static const char *raw_name(ais_arena *arena, const char *name) {
    size_t size = strlen(name) + sizeof "raw_";
    char *made = ais_arena_take(arena, size);
    if (made) snprintf(made, size, "raw_%s", name);
    return made;
}

ais_status ais_regression_show(ais_context *context, const ais_regression_data *data, ais_home *home) {
    int all = home->target.dim, dim = data->dim;
    ais_view *view = AIS_TAKE(&home->arena, ais_view, 1);
    const char **names = AIS_TAKE(&home->arena, const char *, 2 * all);
    bool whole = view && names;
    for (int i = 0; whole && i < dim; i++) {
        names[i] = home->target.names[i];
        names[all + i] = i == 0 && data->intercept ? "raw_intercept" : raw_name(&home->arena, data->names[i]);
        whole = names[all + i] != NULL;
    }
    if (!whole) return ais_fail_memory(context, "names", (size_t)all * sizeof *names);
    if (all > dim) {
        names[dim] = home->target.names[dim];
        names[all + dim] = "sigma";
    }
    *(ais_regression_scale *)home->target.data = (ais_regression_scale){.dim = dim,
                                                                        .intercept = data->intercept,
                                                                        .sigma = all > dim,
                                                                        .mean = data->mean,
                                                                        .sd = data->sd,
                                                                        .outcome_mean = data->outcome_mean,
                                                                        .outcome_sd = data->outcome_sd};
    *view = (ais_view){.count = 2 * all, .names = names, .show = show};
    home->target.view = view;
    return AIS_OK;
}
