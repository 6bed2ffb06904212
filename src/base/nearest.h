/* "did you mean": the nearest of some words. */
#ifndef AIS_BASE_NEAREST_H
#define AIS_BASE_NEAREST_H

#include <stddef.h>

/* Insertions, deletions, substitutions and swaps of neighbours that turn a into b, ignoring case;
 * words longer than 63 characters are compared by their first 63. */
int ais_word_distance(const char *a, const char *b);

/* The nearest word, or NULL if none is near enough to be meant (at most a third of the letters may differ, or one).
 * word(data, i) gives candidate i, NULL past the end. */
const char *ais_nearest_word(const char *wrong, const char *(*word)(const void *data, int i), const void *data);

#endif
