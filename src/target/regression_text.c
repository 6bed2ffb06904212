/* What a regression is, in words and as a specification that opens it again. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "target/regression.h"

/* Text under way. What does not fit is cut. */
typedef struct words {
    char text[2000];
    size_t used;
} words;

__attribute__((format(printf, 2, 3))) static void say(words *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->text + to->used, sizeof to->text - to->used, format, arguments);
    va_end(arguments);
    to->used += length > 0 ? (size_t)length : 0;
    if (to->used >= sizeof to->text) to->used = sizeof to->text - 1;
}

static const char *keep(ais_arena *arena, const words *from) {
    char *copy = ais_arena_take(arena, from->used + 1);
    return copy ? memcpy(copy, from->text, from->used + 1) : NULL;
}

/* The outcome's column, in a form that label= takes. */
static void say_specification(words *to, const ais_regression_model *model, const ais_regression_data *data,
                              const ais_regression_wish *wish) {
    say(to, "%s:%s:", model->name, wish->file);
    if (strpbrk(data->outcome_name, ",:="))
        say(to, "label=%d", data->outcome_column + 1);
    else
        say(to, "label=%s", data->outcome_name);
    say(to, ",prior=%g", wish->prior);
    if (wish->fraction < 1)
        say(to, ",rows=%g", wish->fraction);
    else
        say(to, ",rows=all");
    say(to, ",intercept=%s", wish->intercept ? "on" : "off");
    if (wish->intercept) say(to, ",intercept_prior=%g", wish->intercept_prior);
    if (wish->factor) say(to, ",factor=%s", wish->factor);
    if (wish->drop) say(to, ",drop=%s", wish->drop);
}

static void say_data(words *to, const ais_regression_model *model, const ais_regression_data *data, size_t rows,
                     const char *file) {
    static const char *const title[] = {"logistic", "linear", "Poisson"};
    const char *slash = strrchr(file, '/');
    say(to, "%s regression of %s%s", title[model->outcome], data->named ? "" : "column ", data->outcome_name);
    if (model->outcome == AIS_OUTCOME_BINARY)
        say(to, " (1 stands for %.60s, %zu of %zu rows; 0 for %.60s)", data->level[1], data->ones, data->rows,
            data->level[0]);
    say(to, " on %d column%s of %.200s", data->columns, data->columns > 1 ? "s" : "", slash ? slash + 1 : file);
    if (data->missing)
        say(to, "\n%zu of %zu rows have a missing value and were dropped", data->missing, data->rows + data->missing);
    if (rows < data->rows) say(to, "\nthe first %zu of %zu rows are used", rows, data->rows);
    if (data->numbered_rows) say(to, "\nthe first column has no name and was left out as row names");
}

static void say_priors(words *to, const ais_regression_model *model, const ais_regression_data *data,
                       const ais_regression_wish *wish) {
    static const char *const change[] = {"change in log odds", "change of the outcome, in its standard deviations,",
                                         "change in log rate"};
    static const char *const level[] = {"log odds", "outcome, in its standard deviations from its mean,", "log rate"};
    say(to, "\ncoefficients ~ normal(0, %g): the %s per standard deviation of the column", wish->prior,
        change[model->outcome]);
    if (data->intercept)
        say(to, "\nbias, the intercept ~ normal(0, %g): the %s where every column is at its mean",
            wish->intercept_prior, level[model->outcome]);
    else
        say(to, "\nno intercept: columns are divided by their standard deviations and not centred");
    if (model->outcome == AIS_OUTCOME_NUMBER)
        say(to, "\nexp(log_sigma) ~ exponential(1): the residuals' standard deviation, in that of the outcome");
    if (!wish->file) return;
    say(to, "\nraw_NAME is the coefficient per unit of the column%s",
        model->outcome == AIS_OUTCOME_NUMBER
            ? ", and sigma the residuals' standard deviation, on the scale of the table"
            : "");
}

ais_status ais_regression_describe(ais_context *context, const ais_regression_model *model,
                                   const ais_regression_data *data, size_t rows, const ais_regression_wish *wish,
                                   ais_home *home) {
    words name = {.used = 0}, about = {.used = 0};
    if (wish->file) {
        say_specification(&name, model, data, wish);
        home->target.name = keep(&home->arena, &name);
    }
    say_data(&about, model, data, rows, wish->file ? wish->file : home->target.name);
    say_priors(&about, model, data, wish);
    home->target.about = keep(&home->arena, &about);
    if (!home->target.name || !home->target.about) return ais_fail_memory(context, "a description", about.used);
    return AIS_OK;
}
