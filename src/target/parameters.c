#include "target/parameters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "target/builtin.h"

typedef struct bounded {
    ais_target density;
    int count, elements, dim; /* parameters, their elements, and the x of all */
    ais_parameter *parameter; /* with counts of 1 or more */
    ais_view view;
} bounded;

/* Room for one point's theta and gradient: mostly on the stack. */
enum { USUAL_ELEMENTS = 256 };
typedef struct room {
    double usual[2 * USUAL_ELEMENTS];
    double *theta, *gradient, *taken;
} room;

static bool room_take(room *this, int elements) {
    size_t n = (size_t)elements;
    this->taken = elements > USUAL_ELEMENTS ? malloc(2 * n * sizeof(double)) : NULL;
    this->theta = elements > USUAL_ELEMENTS ? this->taken : this->usual;
    this->gradient = this->theta ? this->theta + n : NULL;
    return this->theta;
}

/* theta of x; the sum of the log terms. */
static double forward(const bounded *this, const double *x, double *theta, double *log_slope) {
    double log_term = 0;
    *log_slope = 0;
    for (int k = 0; k < this->count; k++) {
        const ais_parameter *parameter = &this->parameter[k];
        ais_parameter_forward(parameter, x, theta, &log_term, log_slope, this->density.data);
        x += ais_kind_free(parameter->kind, parameter->count);
        theta += parameter->count;
    }
    return log_term;
}

/* Far out a term may be -inf, and the density is then not evaluated, because inf - inf is not a number. */
static double with_term(double logp, double term) {
    return isnan(logp) ? logp : logp == -INFINITY || term == -INFINITY ? -INFINITY : logp + term;
}

static double bounded_logp(const double *x, void *data) {
    const bounded *this = data;
    room r;
    if (!room_take(&r, this->elements)) return NAN;
    double slope, term = forward(this, x, r.theta, &slope);
    double logp = this->density.logp(r.theta, this->density.data);
    free(r.taken);
    return with_term(logp, term);
}

static double bounded_grad(const double *x, double *gradient, void *data) {
    const bounded *this = data;
    room r;
    if (!room_take(&r, this->elements)) return NAN;
    double slope, term = forward(this, x, r.theta, &slope);
    double logp = this->density.grad(r.theta, r.gradient, this->density.data);
    const double *theta = r.theta, *by_theta = r.gradient;
    for (int k = 0; k < this->count; k++) {
        const ais_parameter *parameter = &this->parameter[k];
        int n = ais_kind_free(parameter->kind, parameter->count);
        ais_parameter_backward(parameter, x, theta, by_theta, gradient);
        x += n;
        gradient += n;
        theta += parameter->count;
        by_theta += parameter->count;
    }
    free(r.taken);
    return with_term(logp, term);
}

/* A batch of any size; NaN, which ends the run, where memory is out. */
static void bounded_batch(size_t n, const double *x, double *logp, void *data) {
    const bounded *this = data;
    size_t dim = (size_t)this->dim, elements = (size_t)this->elements;
    double *all = calloc(n * elements + dim + elements + n, sizeof *all);
    if (!all) {
        for (size_t c = 0; c < n; c++) logp[c] = NAN;
        return;
    }
    double *theta = all + n * elements, *point = theta + elements, *term = point + dim, slope;
    for (size_t c = 0; c < n; c++) {
        for (size_t i = 0; i < dim; i++) point[i] = x[i * n + c];
        term[c] = forward(this, point, theta, &slope);
        for (size_t i = 0; i < elements; i++) all[i * n + c] = theta[i];
    }
    this->density.batch(n, all, logp, this->density.data);
    for (size_t c = 0; c < n; c++) logp[c] = with_term(logp[c], term[c]);
    free(all);
}

static void show(size_t n, const double *x, uint64_t stream, double *value, double *slope, void *data) {
    (void)stream;
    const bounded *this = data;
    for (size_t r = 0; r < n; r++, x += this->dim, value += this->elements) (void)forward(this, x, value, &slope[r]);
}

/* ---- names and words ------------------------------------------------------------------------------- */

/* name, or name.1, name.2, ... for the first `count` elements. */
static ais_status add_names(ais_context *context, ais_arena *arena, const char *name, int count, bool numbered,
                            const char **names) {
    size_t size = strlen(name) + 16;
    for (int i = 0; i < count; i++) {
        char *text = ais_arena_take(arena, size);
        if (!text) return ais_fail_memory(context, "the names of parameters", size);
        if (numbered)
            snprintf(text, size, "%s.%d", name, i + 1);
        else
            snprintf(text, size, "%s", name);
        names[i] = text;
    }
    return AIS_OK;
}

static ais_status name_all(ais_context *context, ais_arena *arena, const bounded *this, const char **shown,
                           const char **own) {
    ais_status status = AIS_OK;
    for (int k = 0; k < this->count && status == AIS_OK; k++) {
        const ais_parameter *parameter = &this->parameter[k];
        int count = parameter->count, n = ais_kind_free(parameter->kind, count);
        status = add_names(context, arena, parameter->name, count, count > 1, shown);
        if (status == AIS_OK) status = add_names(context, arena, parameter->name, n, count > 1, own);
        shown += count;
        own += n;
    }
    return status;
}

enum { ABOUT_BYTES = 320 }; /* of a parameter */

/* "mass ~ uniform(0, 10)", "rate: lower(0)", a line each. */
static const char *words(ais_arena *arena, const bounded *this) {
    size_t size = (size_t)this->count * ABOUT_BYTES + 1, used = 0;
    char *about = ais_arena_take(arena, size);
    for (int k = 0; about && k < this->count; k++) {
        const ais_parameter *parameter = &this->parameter[k];
        char text[120], size_of[32] = "";
        ais_parameter_text(parameter, text, sizeof text);
        if (parameter->count > 1) snprintf(size_of, sizeof size_of, "[%d]", parameter->count);
        used += (size_t)snprintf(about + used, ABOUT_BYTES, "%s%.60s%s%s %s", k ? "\n" : "", parameter->name, size_of,
                                 ais_kind_types[parameter->kind].prior ? " ~" : ":", text);
    }
    return about;
}

/* ---- making it ------------------------------------------------------------------------------------- */

static ais_status adopt(ais_context *context, const ais_parameter *given, bounded *this) {
    for (int k = 0; k < this->count; k++) {
        ais_status status = ais_parameter_check(context, &given[k]);
        if (status != AIS_OK) return status;
        for (int j = 0; j < k; j++)
            if (strcmp(given[j].name, given[k].name) == 0)
                return ais_fail(context, AIS_BAD_DENSITY, "two parameters are called %.60s", given[k].name);
        this->parameter[k] = given[k];
        if (this->parameter[k].count == 0) this->parameter[k].count = 1;
        this->elements += this->parameter[k].count;
        this->dim += ais_kind_free(given[k].kind, this->parameter[k].count);
    }
    if (this->elements == this->density.dim) return AIS_OK;
    return ais_fail(context, AIS_BAD_DENSITY, "%.100s: dim is %d, but its parameters have %d elements",
                    this->density.name, this->density.dim, this->elements);
}

static void bounded_tell(char *text, size_t size, void *data) {
    const bounded *this = data;
    this->density.tell(text, size, this->density.data);
}

static void surround(const bounded *this, ais_target *target) {
    bool all_priors = true, slopes = this->density.grad != NULL;
    for (int k = 0; k < this->count; k++) {
        all_priors &= ais_kind_types[this->parameter[k].kind].prior;
        slopes &= this->parameter[k].kind != AIS_KIND_CUBE;
    }
    target->dim = this->dim;
    target->logp = bounded_logp;
    target->batch = this->density.batch ? bounded_batch : NULL;
    target->grad = slopes ? bounded_grad : NULL;
    target->reference = NULL;
    target->view = &this->view;
    target->tell = this->density.tell ? bounded_tell : NULL;
    if (all_priors) target->start_scale = 1; /* the prior itself */
}

ais_status ais_parameters_put(ais_context *context, const ais_parameter *parameters, int count, ais_arena *arena,
                              ais_target *target) {
    if (count < 1 || !parameters)
        return ais_fail(context, AIS_BAD_DENSITY, "%.100s: there are no parameters in the list", target->name);
    if (target->view || target->draws)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%.100s has parameters of its own: priors and bounds do not fit it",
                        target->name);
    bounded *this = AIS_TAKE(arena, bounded, 1);
    ais_parameter *copy = AIS_TAKE(arena, ais_parameter, count);
    if (!this || !copy) return ais_fail_memory(context, "parameters", (size_t)count * sizeof *copy);
    *this = (bounded){.density = *target, .count = count, .parameter = copy};
    ais_status status = adopt(context, parameters, this);
    if (status != AIS_OK) return status;
    const char **shown = AIS_TAKE(arena, const char *, this->elements),
               **own = AIS_TAKE(arena, const char *, this->dim);
    if (!shown || !own)
        return ais_fail_memory(context, "the names of parameters", (size_t)this->elements * sizeof *shown);
    status = name_all(context, arena, this, shown, own);
    if (status != AIS_OK) return status;
    this->view = (ais_view){.count = this->elements, .names = shown, .show = show};
    surround(this, target);
    target->names = own;
    target->about = words(arena, this);
    target->data = this;
    return AIS_OK;
}

static void close_home(ais_target *target) {
    ais_home *home = (ais_home *)target;
    ais_arena_free(&home->arena);
    free(home);
}

ais_status ais_target_with(ais_context *context, const ais_target *density, const ais_parameter *parameters, int count,
                           ais_target **target) {
    *target = NULL;
    ais_home *home = ais_allocate(sizeof *home);
    if (!home) return ais_fail_memory(context, "a target", sizeof *home);
    home->target = *density;
    home->target.close = close_home;
    ais_status status = ais_parameters_put(context, parameters, count, &home->arena, &home->target);
    if (status != AIS_OK)
        close_home(&home->target);
    else
        *target = &home->target;
    return status;
}
