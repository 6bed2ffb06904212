/* What coordinates are called, and points in words for messages: on the scale that the user knows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/draws.h>

#include "target/counted.h"

enum { SHORTEST = 15, LONGEST = 17, MOST_VALUES = 20, ITEM = 160, ENDING = 24 };

const char *ais_target_parameter(const ais_target *target, int i, char buffer[32]) {
    return ais_name(&(ais_names){target->dim, target->names}, i, buffer);
}

int ais_target_shown(const ais_target *target) { return target->view ? target->view->count : target->dim; }

const char *ais_target_shown_name(const ais_target *target, int i, char buffer[32]) {
    return target->view ? target->view->names[i] : ais_target_parameter(target, i, buffer);
}

/* With as few digits as give the same number again. */
static int write_number(char *text, size_t size, double value) {
    int length = 0;
    for (int digits = SHORTEST; digits <= LONGEST; digits++) {
        length = snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return length;
}

static void write_list(const ais_target *target, bool shown, const double *value, int count, char *text, size_t size) {
    bool named = shown || target->names;
    char buffer[32], item[ITEM];
    size_t used = (size_t)snprintf(text, size, "%s", named ? "" : "x = (");
    if (used >= size) return;
    for (int i = 0; i < count; i++) {
        size_t length = 0;
        if (i) length = (size_t)snprintf(item, sizeof item, ", ");
        if (named)
            length += (size_t)snprintf(
                item + length, sizeof item - length,
                "%.80s = ", shown ? ais_target_shown_name(target, i, buffer) : ais_target_parameter(target, i, buffer));
        length += (size_t)write_number(item + length, sizeof item - length, value[i]);
        if (i == MOST_VALUES || used + length + ENDING > size) {
            used += (size_t)snprintf(text + used, size - used, "%s... and %d more", i ? ", " : "", count - i);
            break;
        }
        memcpy(text + used, item, length + 1);
        used += length;
    }
    if (!named && used < size) snprintf(text + used, size - used, ")");
}

void ais_target_point(const ais_target *target, const double *x, char *text, size_t size) {
    target = ais_counted_inner(target);
    size_t count = target->view && !target->view->generated ? (size_t)target->view->count : 0;
    double slope, *value = count ? malloc(count * sizeof *value) : NULL;
    if (value) {
        target->view->show(1, x, 0, value, &slope, target->data);
        write_list(target, true, value, (int)count, text, size);
        free(value);
        return;
    }
    int prefix = target->view ? snprintf(text, size, "unconstrained ") : 0;
    if ((size_t)prefix < size) write_list(target, false, x, target->dim, text + prefix, size - (size_t)prefix);
}
