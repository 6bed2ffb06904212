/* Opening a regression: keys, table, covariates, density, words. */
#include "target/regression.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"

double ais_regression_prior(const ais_regression_data *data, const ais_regression_wish *wish) {
    double value = -data->dim * (0.5 * AIS_LOG_2PI + log(wish->prior));
    if (data->intercept && wish->intercept_prior != wish->prior) value += log(wish->prior) - log(wish->intercept_prior);
    return value;
}

void ais_regression_precisions(const ais_regression_data *data, const ais_regression_wish *wish,
                               double *half_precision) {
    for (int i = 0; i < data->dim; i++) {
        double sd = i == 0 && data->intercept ? wish->intercept_prior : wish->prior;
        half_precision[i] = 0.5 / (sd * sd);
    }
}

static ais_status read_wish(ais_context *context, const ais_regression_model *model, const ais_value *value,
                            ais_regression_wish *wish) {
    const char *intercept = value[AIS_KEY_INTERCEPT].text;
    *wish = (ais_regression_wish){.prior = value[AIS_KEY_PRIOR].number,
                                  .intercept_prior = value[AIS_KEY_INTERCEPT_PRIOR].number,
                                  .fraction = value[AIS_KEY_ROWS].number,
                                  .intercept = !intercept || strcmp(intercept, "off") != 0,
                                  .factor = value[AIS_KEY_FACTOR].text,
                                  .drop = value[AIS_KEY_DROP].text};
    if (!(wish->intercept_prior > 0)) wish->intercept_prior = wish->prior;
    if (intercept && strcmp(intercept, "on") != 0 && strcmp(intercept, "off") != 0)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s: intercept is '%.60s', but must be on or off", model->name,
                        intercept);
    if (!wish->intercept && value[AIS_KEY_INTERCEPT_PRIOR].text)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s: intercept_prior has no effect with intercept=off", model->name);
    return AIS_OK;
}

/* Frees the table. */
static ais_status open_table(ais_context *context, const ais_regression_model *model, const char *path,
                             const char *label, const ais_regression_wish *wish, ais_table *table, ais_home *home) {
    ais_regression_data data;
    const ais_field_wish columns = {model->name, model->outcome, label, wish->factor, wish->drop};
    ais_status status = ais_regression_prepare(context, path, table, &columns, wish->intercept, &home->arena, &data);
    ais_table_free(table);
    if (status != AIS_OK) return status;
    size_t rows = (size_t)(wish->fraction * (double)data.rows + 1e-9);
    if (rows < 1) rows = 1;
    status = model->set(context, &data, rows, wish, home);
    if (status == AIS_OK) status = ais_regression_describe(context, model, &data, rows, wish, home);
    /* Where the truth is known, it is that of the parameters. */
    return status == AIS_OK && wish->file ? ais_regression_show(context, &data, home) : status;
}

ais_status ais_regression_open(ais_context *context, const ais_regression_model *model, const ais_value *value,
                               const char *file, ais_home *home) {
    ais_regression_wish wish;
    ais_table table;
    ais_status status = read_wish(context, model, value, &wish);
    wish.file = file;
    if (status == AIS_OK) status = ais_csv_read(context, file, &table);
    return status == AIS_OK ? open_table(context, model, file, value[AIS_KEY_LABEL].text, &wish, &table, home) : status;
}

ais_status ais_regression_open_text(ais_context *context, const ais_regression_model *model, const ais_value *value,
                                    const char *text, size_t length, ais_home *home) {
    ais_value all[AIS_KEYS] = {value[AIS_KEY_PRIOR], value[AIS_KEY_ROWS]};
    ais_regression_wish wish;
    ais_table table;
    ais_status status = read_wish(context, model, all, &wish);
    if (status == AIS_OK) status = ais_csv_parse(context, home->target.name, text, length, &table);
    return status == AIS_OK ? open_table(context, model, home->target.name, "last", &wish, &table, home) : status;
}
