#include "draws/names.h"

#include <string.h>

bool ais_is_trained(const char *kernel) {
    static const char *const trained[] = {AIS_HENON_NAME, AIS_REALNVP_NAME, AIS_SPLINE_NAME, AIS_ANICE_NAME};
    for (const char *at = kernel; *at; at += strspn(at, "+@")) {
        size_t length = strcspn(at, "+@");
        for (size_t k = 0; k < sizeof trained / sizeof *trained; k++)
            if (strlen(trained[k]) == length && memcmp(trained[k], at, length) == 0) return true;
        at += length;
    }
    return false;
}
