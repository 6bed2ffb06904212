/* The table of figures, and which parameters they show. */
#include "report/figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/nearest.h"
#include "base/status.h"

#define ROW(name) &ais_figure_##name,
static const ais_figure_kind *const kinds[] = {AIS_FIGURES(ROW)};
#undef ROW
enum { KINDS = sizeof kinds / sizeof *kinds };

const ais_figure_entry *ais_figure_builtin(int i) { return i >= 0 && i < KINDS ? &kinds[i]->entry : NULL; }

static const ais_figure_kind *find(const char *name) {
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->entry.name, name) == 0) return kinds[i];
    return NULL;
}

/* NULL, or why the figure cannot be made. */
static const char *objection(const char *name, const ais_figure_data *data) {
    const ais_figure_kind *this = find(name);
    return this->objection ? this->objection(data) : NULL;
}

bool ais_figure_applies(const char *name, const ais_figure_data *data) { return find(name) && !objection(name, data); }

void ais_scene_say(ais_scene *scene, const char *format, ...) {
    size_t used = strlen(scene->note);
    va_list arguments;
    if (used && used + 1 < sizeof scene->note) scene->note[used++] = ' ';
    va_start(arguments, format);
    vsnprintf(scene->note + used, sizeof scene->note - used, format, arguments);
    va_end(arguments);
}

const double *ais_scene_chain(const ais_scene *scene, int parameter, int chain) {
    const ais_draws *draws = scene->data->draws;
    return draws->value + ((size_t)parameter * (size_t)draws->chains + (size_t)chain) * (size_t)draws->draws;
}

/* ---- the worst parameters ---------------------------------------------------------------------------------- */

typedef struct place {
    double badness;
    int index;
} place;

static int by_badness(const void *a, const void *b) {
    const place *p = a, *q = b;
    if (p->badness != q->badness) return p->badness > q->badness ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* R-hat above what is tolerated counts before a small ESS; a parameter without either (constant, not finite) first. */
static double badness(const ais_parameter_summary *p) {
    double ess = fmin(fmin(p->ess_bulk, p->ess_tail), p->ess_square);
    if (isnan(ess) || isnan(p->rhat)) return INFINITY;
    return (p->rhat > AIS_MOST_RHAT ? 1e6 * p->rhat : 0) + 1 / fmax(ess, 1e-6);
}

static bool needs_a_look(const ais_parameter_summary *p) {
    return !(p->rhat <= AIS_MOST_RHAT) || !(fmin(fmin(p->ess_bulk, p->ess_tail), p->ess_square) >= 400);
}

int ais_worst_parameters(const ais_figure_data *data, int least, int most, int *parameter) {
    int dim = data->draws->dim, count = dim < least ? dim : least;
    place *places = data->diagnosis && dim > least ? ais_allocate((size_t)dim * sizeof *places) : NULL;
    for (int i = 0; i < count; i++) parameter[i] = i;
    if (!places) return count;
    for (int i = 0; i < dim; i++) places[i] = (place){badness(&data->diagnosis->parameter[i]), i};
    qsort(places, (size_t)dim, sizeof *places, by_badness);
    while (count < dim && count < most && needs_a_look(&data->diagnosis->parameter[places[count].index])) count++;
    for (int i = 0; i < count; i++) parameter[i] = places[i].index;
    free(places);
    return count;
}

static void select_parameters(ais_scene *scene, const ais_figure_kind *this, int *room) {
    const ais_figure_data *data = scene->data;
    scene->parameter = data->parameter;
    scene->parameters = data->parameters;
    if (data->parameter) return;
    scene->parameter = room;
    scene->parameters = ais_worst_parameters(data, this->least, this->most, room);
    if (scene->parameters < data->draws->dim)
        ais_scene_say(scene, "The %d %s of %d parameters.", scene->parameters,
                      data->diagnosis ? "worst (largest R-hat, smallest ESS)" : "first", data->draws->dim);
}

/* ---- making one -------------------------------------------------------------------------------------------- */

static const char *word(const void *data, int i) {
    (void)data;
    const ais_figure_entry *entry = ais_figure_builtin(i);
    return entry ? entry->name : NULL;
}

static ais_status unknown(ais_context *context, const char *name) {
    const char *near = ais_nearest_word(name, word, NULL);
    if (near) return ais_fail(context, AIS_BAD_ARGUMENT, "unknown figure '%s'; did you mean '%s'?", name, near);
    char known[256] = "";
    for (int k = 0; k < KINDS; k++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s",
                 k == 0          ? ""
                 : k + 1 < KINDS ? ", "
                                 : " and ",
                 kinds[k]->entry.name);
    }
    return ais_fail(context, AIS_BAD_ARGUMENT, "unknown figure '%s'; there are %s", name, known);
}

static ais_status check(ais_context *context, const char *name, const ais_figure_data *data) {
    if (!find(name)) return unknown(context, name);
    const char *why = objection(name, data);
    if (why) return ais_fail(context, AIS_BAD_ARGUMENT, "the figure '%s' cannot be made: %s", name, why);
    if (data->draws->draws < 1 || data->draws->chains < 1)
        return ais_fail(context, AIS_BAD_ARGUMENT, "there are no draws to make figures of");
    for (int k = 0; data->parameter && k < data->parameters; k++)
        if (data->parameter[k] < 0 || data->parameter[k] >= data->draws->dim)
            return ais_fail(context, AIS_BAD_ARGUMENT, "there is no parameter %d: they are numbered 0 to %d",
                            data->parameter[k], data->draws->dim - 1);
    return AIS_OK;
}

ais_status ais_figure_of_draws(ais_context *context, const char *name, const ais_figure_data *data,
                               ais_figure **figure) {
    *figure = NULL;
    ais_status status = check(context, name, data);
    if (status != AIS_OK) return status;
    const ais_figure_kind *this = find(name);
    int room[AIS_MOST_SHOWN];
    ais_scene scene = {.context = context, .data = data};
    if ((status = ais_figure_new(context, this->entry.title, this->columns, figure)) != AIS_OK) return status;
    scene.figure = *figure;
    if (this->least) select_parameters(&scene, this, room);
    status = this->draw(&scene);
    if (status == AIS_OK) ais_figure_note(*figure, scene.note);
    if (status == AIS_OK) return AIS_OK;
    ais_figure_free(*figure);
    *figure = NULL;
    return status;
}
