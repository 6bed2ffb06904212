#include "draws/names.h"

#include <string.h>

#include "map/element.h"

static bool is(const char *name, const char *at, size_t length) {
    return strlen(name) == length && memcmp(name, at, length) == 0;
}

bool ais_is_trained(const char *kernel) {
    for (const char *at = kernel; *at; at += strspn(at, "+@")) {
        size_t length = strcspn(at, "+@");
        if (is(AIS_ANICE_NAME, at, length)) return true;
        for (const ais_family *family = ais_families; family->name; family++)
            if (family->layers && is(family->name, at, length)) return true;
        at += length;
    }
    return false;
}
