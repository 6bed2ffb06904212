/* Kinds of parameters as text: uniform(0, 10). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/nearest.h"
#include "base/status.h"
#include "target/parameter_kinds.h"

static const char *kind_name(const void *nothing, int i) {
    (void)nothing;
    return i >= AIS_KIND_COUNT ? NULL : i == AIS_KIND_CUBE ? "positive" : ais_kind_types[i].name;
}

void ais_parameter_text(const ais_parameter *parameter, char *text, size_t size) {
    int arguments = ais_kind_arguments(parameter->kind);
    size_t used = (size_t)snprintf(text, size, "%s", ais_kind_types[parameter->kind].name);
    for (int i = 0; i < arguments && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.10g", i ? ", " : "(", parameter->argument[i]);
    if (arguments && used < size) snprintf(text + used, size - used, ")");
}

/* The end of a number, or NULL. */
static const char *read_number(const char *at, double *value) {
    char *end;
    *value = ais_number(at, &end);
    while (end > at && isspace((unsigned char)*end)) end++;
    return end > at ? end : NULL;
}

/* What stands in brackets, and nothing after it; -1 when it is not a list of numbers. */
static int read_arguments(const char *at, double argument[3]) {
    int count = 0;
    if (*at == '\0') return 0;
    if (*at++ != '(') return -1;
    for (;;) {
        double value;
        at = read_number(at, &value);
        if (!at) return -1;
        if (count < 3) argument[count] = value;
        count++;
        if (*at != ',') break;
        at++;
    }
    if (*at++ != ')') return -1;
    while (isspace((unsigned char)*at)) at++;
    return *at == '\0' ? count : -1;
}

static ais_status unknown(ais_context *context, const char *who, const char *word) {
    const char *near = ais_nearest_word(word, kind_name, NULL);
    return ais_fail(
        context, AIS_BAD_ARGUMENT,
        "parameter %.60s: there is no prior or bound '%.60s'%s%s%s; there are uniform, periodic, normal, lognormal, "
        "half_normal, half_cauchy, cauchy, student, exponential, gamma, beta, dirichlet, real, positive, "
        "lower, upper, between, simplex, ordered",
        who, word, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

ais_status ais_parameter_parse(ais_context *context, const char *text, ais_parameter *parameter) {
    const char *who = parameter->name && *parameter->name ? parameter->name : "without a name";
    char word[64] = "";
    while (isspace((unsigned char)*text)) text++;
    size_t length = strcspn(text, "( \t\n");
    snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), text);
    const char *rest = text + length;
    while (isspace((unsigned char)*rest)) rest++;
    if (strcmp(word, "positive") == 0 && *rest == '\0') {
        parameter->kind = AIS_KIND_LOWER;
        parameter->argument[0] = 0;
        return AIS_OK;
    }
    int kind = 0;
    while (kind < AIS_KIND_COUNT && (kind == AIS_KIND_CUBE || strcmp(ais_kind_types[kind].name, word) != 0)) kind++;
    if (kind == AIS_KIND_COUNT) return unknown(context, who, word);
    const ais_kind_type *type = &ais_kind_types[kind];
    if (read_arguments(rest, parameter->argument) != ais_kind_arguments((ais_kind)kind))
        return ais_fail(context, AIS_BAD_ARGUMENT, "parameter %.60s: '%.100s' must be %s%s%s%s", who, text, type->name,
                        *type->arguments ? "(" : "", type->arguments, *type->arguments ? ") with numbers" : "");
    parameter->kind = (ais_kind)kind;
    return AIS_OK;
}
