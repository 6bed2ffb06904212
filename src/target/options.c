#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/nearest.h"
#include "target/builtin.h"

static const char *option_name(const void *option, int i) { return ((const ais_option *)option)[i].name; }

static ais_status unknown_key(ais_context *context, const ais_target_type *type, const char *key) {
    const char *near = ais_nearest_word(key, option_name, type->option);
    if (!type->option[0].name)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s takes no options, but got '%.60s'", type->entry.name, key);
    return ais_fail(context, AIS_BAD_ARGUMENT, "%s has no option '%.60s'%s%s%s; it takes %s", type->entry.name, key,
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", type->entry.options);
}

static ais_status set_number(ais_context *context, const ais_target_type *type, const ais_option *option,
                             const char *text, double *number) {
    char *end = NULL;
    bool is_word = option->word && strcmp(text, option->word) == 0;
    *number = is_word ? option->high : ais_number(text, &end);
    bool bad = !is_word && (end == text || *end != '\0');
    /* Written so that NaN fails. */
    if (!bad && *number >= option->low && *number <= option->high && (!option->whole || *number == floor(*number)))
        return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT, "%s: %s is '%.60s', but must be %s%s%s from %g to %g", type->entry.name,
                    option->name, text, option->word ? option->word : "", option->word ? " or " : "",
                    option->whole ? "a whole number" : "a number", option->low, option->high);
}

static ais_status set_option(ais_context *context, const ais_target_type *type, char *pair, ais_value *value) {
    char *equals = strchr(pair, '=');
    if (!equals)
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s: '%.60s' is not of the form key=value; it takes %s",
                        type->entry.name, pair, type->entry.options[0] ? type->entry.options : "no options");
    *equals = '\0';
    for (int k = 0; type->option[k].name; k++) {
        if (strcmp(type->option[k].name, pair) != 0) continue;
        if (value[k].text)
            return ais_fail(context, AIS_BAD_ARGUMENT, "%s: option '%s' is given twice", type->entry.name, pair);
        value[k].text = equals + 1;
        if (!type->option[k].text) return set_number(context, type, &type->option[k], equals + 1, &value[k].number);
        if (equals[1] == '\0')
            return ais_fail(context, AIS_BAD_ARGUMENT, "%s: option '%s' has no value", type->entry.name, pair);
        return AIS_OK;
    }
    return unknown_key(context, type, pair);
}

ais_status ais_options_parse(ais_context *context, const ais_target_type *type, char *text, ais_value *value) {
    for (int k = 0; type->option[k].name; k++) value[k] = (ais_value){.number = type->option[k].value};
    while (text) {
        char *comma = strchr(text, ',');
        if (comma) *comma = '\0';
        ais_status status = set_option(context, type, text, value);
        if (status != AIS_OK) return status;
        text = comma ? comma + 1 : NULL;
    }
    return AIS_OK;
}
