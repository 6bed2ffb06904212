/* What a whole command may cost, and what is left of it (budget.c). */
#ifndef AIS_CLI_BUDGET_H
#define AIS_CLI_BUDGET_H

#include "cli.h"

typedef struct budget {
    double effective;   /* draws wanted, as a worst ESS of all chains; 0: not said */
    double evaluations; /* of the density and its gradient, all together; 0: no limit */
    double seconds;     /* from the beginning of the command; 0: no limit */
    double began;       /* wall_seconds() then */
    ais_check check;    /* of the target: what it cost */
} budget;

#define BUDGET_OPTIONS(set)                                                                                            \
    {"effective", 0, OPTION_NUMBER, &(set).effective, NULL, "effective draws wanted: the worst ESS of all chains"},    \
        {"evaluations",      0,    OPTION_NUMBER,                                                                      \
         &(set).evaluations, NULL, "most evaluations of the density and its gradient, for everything (no limit)"},     \
    {                                                                                                                  \
        "seconds", 0, OPTION_NUMBER, &(set).seconds, NULL,                                                             \
            "deadline, files and verdict included; the result then depends on the machine (none)"                      \
    }

/* Starts the clock; false after a complaint. */
bool budget_begin(budget *all, int chains, int draws);

/* Checks the target within the budget, for `threads` threads, and prints what it found; an exit code. */
int budget_check(budget *all, const ais_target *target, uint64_t seed, int threads);

/* What is left to learn with after the check; an exit code. */
int budget_left(const budget *all, ais_budget *left);

#endif
