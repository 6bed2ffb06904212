/* key=value words of a research program's command line, and a clock. */
#ifndef AIS_BENCH_ARGUMENTS_H
#define AIS_BENCH_ARGUMENTS_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int words;
static char **word;

static inline const char *text(const char *key, const char *otherwise) {
    size_t length = strlen(key);
    for (int i = 1; i < words; i++)
        if (strncmp(word[i], key, length) == 0 && word[i][length] == '=') return word[i] + length + 1;
    return otherwise;
}

static inline double number(const char *key, double otherwise) {
    const char *value = text(key, NULL);
    return value ? strtod(value, NULL) : otherwise;
}

static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
