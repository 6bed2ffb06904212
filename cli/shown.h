/* Which parameters figures show, and their true values, as the user says it (shown.c). */
#ifndef AIS_CLI_SHOWN_H
#define AIS_CLI_SHOWN_H

#include "cli.h"

typedef struct shown {
    const char *names, *truths; /* as given; or NULL */
    int *parameter, parameters; /* which; NULL: not said */
    double *truth;              /* of every parameter, NAN where it was not given; NULL: none was */
} shown;

#define SHOWN_OPTIONS(set, letter)                                                                                     \
    {"parameters", letter,     OPTION_TEXT,                                                                            \
     &(set).names, "NAME,...", "to show in the figures; x means x.1, x.2, ... (the worst few)"},                       \
    {                                                                                                                  \
        "truth", 0, OPTION_TEXT, &(set).truths, "NAME=VALUE,...|FILE.json",                                            \
            "true values, as lines in the corner plot; the file has an object such as {\"x\": [0, 1.5], \"scale\": 2}" \
    }

/* Looks the names up among those of draws, count of them; an exit code, 0 when all are there. To be freed in any
 * case. */
int shown_find(shown *set, const char *const *names, int count);

/* The same among the names that draws of a target will have: before hours are spent on them. */
int shown_find_of(shown *set, const ais_target *target);

void shown_free(shown *set);

#endif
