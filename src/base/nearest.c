#include "base/nearest.h"

#include <aisampler/status.h>

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 };

static int smaller(int a, int b) { return a < b ? a : b; }
static int lower(char c) { return tolower((unsigned char)c); }

int ais_word_distance(const char *a, const char *b) {
    int cost[3][LONGEST + 1]; /* rows i-2, i-1 and i of the usual table, taken in turn */
    int rows = (int)strnlen(a, LONGEST), columns = (int)strnlen(b, LONGEST);
    for (int j = 0; j <= columns; j++) cost[0][j] = j;
    for (int i = 1; i <= rows; i++) {
        int *now = cost[i % 3], *before = cost[(i + 2) % 3], *earlier = cost[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= columns; j++) {
            int differ = lower(a[i - 1]) != lower(b[j - 1]);
            now[j] = smaller(before[j - 1] + differ, smaller(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = smaller(now[j], earlier[j - 2] + 1);
        }
    }
    return cost[rows % 3][columns];
}

const char *ais_nearest_word(const char *wrong, const char *(*word)(const void *, int), const void *data) {
    const char *best = NULL;
    int length = (int)strnlen(wrong, LONGEST), least = (length < 6 ? 2 : length / 3) + 1;
    if (length < 3) least = 2;
    const char *candidate;
    for (int i = 0; (candidate = word(data, i)) != NULL; i++) {
        int distance = ais_word_distance(wrong, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

static const char *known_word(const void *data, int i) { return ((const char *const *)data)[i]; }

const char *ais_nearest(const char *wrong, const char *const *known) {
    return ais_nearest_word(wrong, known_word, known);
}
