/* Where an axis has its ticks, and what stands beside them. */
#ifndef AIS_REPORT_TICKS_H
#define AIS_REPORT_TICKS_H

#include <stdbool.h>

enum { AIS_MOST_TICKS = 16 };

typedef struct ais_ticks {
    int count;
    double at[AIS_MOST_TICKS];
    char label[AIS_MOST_TICKS][24];
    char factor[48]; /* what the labels are to be multiplied by or added to, e.g. "×10⁶"; or empty */
} ais_ticks;

/* Widens an interval that is empty, not finite or too narrow for its place to one that has an inside. */
void ais_ticks_range(double *low, double *high, bool log);

/* At most `most` (2 to AIS_MOST_TICKS) round numbers in [low, high], at least one of which lies inside: multiples of
 * 1, 2 or 5 times a power of ten. whole: whole numbers only. */
void ais_ticks_linear(double low, double high, int most, bool whole, ais_ticks *ticks);

/* Powers of ten, with 2 and 5 between them where there are few; 0 < low < high. */
void ais_ticks_log(double low, double high, int most, ais_ticks *ticks);

#endif
