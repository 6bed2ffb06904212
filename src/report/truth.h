/* The true density of a two-dimensional target, on a grid. */
#ifndef AIS_REPORT_TRUTH_H
#define AIS_REPORT_TRUTH_H

#include "report/figures.h"

enum { AIS_TRUTH_CELLS = 120 };

typedef struct ais_truth {
    ais_grid grid; /* over the draws and, where moments are known, four standard deviations around the mean */
    double *mass;  /* of the cells; NULL: not known */
} ais_truth;

/* Leaves mass NULL for targets of other dimensions, without a density, or if anything fails: the figure is then drawn
 * without it. */
void ais_truth_find(const ais_figure_data *data, ais_truth *truth);
void ais_truth_free(ais_truth *truth);

/* The marginal density of coordinate 0 or 1 at the centres place[AIS_TRUTH_CELLS]. */
void ais_truth_marginal(const ais_truth *truth, int coordinate, double *place, double *density);

#endif
