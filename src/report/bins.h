/* From many draws to a few numbers that can be drawn. Values that are not finite are left out everywhere. */
#ifndef AIS_REPORT_BINS_H
#define AIS_REPORT_BINS_H

#include <stddef.h>

typedef struct ais_bins {
    double low, high; /* low < high */
    int count;
    size_t finite, outside; /* values, and those of them that the interval leaves out */
} ais_bins;

enum { AIS_MOST_BINS = 60 };

/* Bins that show a distribution: the interval holds all but far outliers (nothing is left out of 1000 values or
 * fewer), the number follows Freedman and Diaconis's rule for the densest part. sorted: the n finite values, ascending.
 */
ais_bins ais_bins_choose(const double *sorted, size_t n);

/* The standard deviation of a normal as dense as the densest twentieth of n > 0 values: of several modes far apart it
 * is nearer to that of one than their common standard deviation is. */
double ais_narrow_spread(const double *sorted, size_t n);

/* edge[0..count]. */
void ais_bins_edges(const ais_bins *bins, double *edge);

/* height[0..count): the share of all finite x per unit, so that the whole histogram's area is the share inside. */
void ais_bins_density(const ais_bins *bins, const double *x, size_t n, double *height);

/* The finite ones of x, ascending; their number. */
size_t ais_sort_finite(const double *x, size_t n, double *sorted);

/* rank[i] in [0, 1): where x[i] stands among all n, ties sharing their mean rank; NAN for what is not finite. False
 * when memory is out. */
int ais_rank_all(const double *x, size_t n, double *rank);

/* A curve of at most `most` (4 or more) points through x[0..n): all of them, or the least and the largest of every
 * stretch in the order in which they come. place gets their index. Returns the number of points. */
size_t ais_envelope(const double *x, size_t n, size_t most, double *place, double *value);

#endif
