/* AIS_BRIEF: the short form of tests that take minutes under sanitizers, where every step takes 20 times as long.
 * Memory is what those look at, and want every path through it once; how often, and whether laws hold, the normal build
 * tells. */
#ifndef TESTS_BRIEF_H
#define TESTS_BRIEF_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool brief(void) { return getenv("AIS_BRIEF") != NULL; }

#endif
