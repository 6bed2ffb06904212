/* The families of learned maps, one row each, in the order of ais_map: its name in files, reports and options (other
 * kernels' names contain it: nuts@realnvp, henon+rwm), how many layers it has by default, and the element of its
 * coupling layers. A henon map has layers of its own kind, an affine one has none. */
#ifndef AIS_MAP_FAMILIES_H
#define AIS_MAP_FAMILIES_H

#include "map/element.h"

#define AIS_FAMILIES(ROW)                                                                                              \
    ROW("henon", 5, NULL)                                                                                              \
    ROW("realnvp", 4, &ais_affine_element)                                                                             \
    ROW("spline", 2, &ais_rational_element)                                                                            \
    ROW("affine", 0, NULL)

typedef struct ais_family {
    const char *name;
    int layers;
    const ais_element *element;
} ais_family;

/* In the order of ais_map; a row without a name is the end. */
extern const ais_family ais_families[];

#endif
