/* The monotone maps of one coordinate that coupling layers are made of, each a constant struct: a new one is a file of
 * lanes, a row here and in element.c, and a family of maps that has it (families.h). */
#ifndef AIS_MAP_ELEMENT_H
#define AIS_MAP_ELEMENT_H

#include "map/element_lanes.h"

typedef struct ais_element {
    int (*params)(int bins); /* of one coordinate */
    void (*map[AIS_ISA_COUNT])(const ais_layer_call *call, bool inverse, double *z, double *x, double *log_det);
    void (*backward[AIS_ISA_COUNT])(const ais_element_call *call, bool inverse, const double *x, const double *a,
                                    const double *b, double *gradient, ais_real *gradient_p);
    bool scales; /* `map` takes a product instead of log_det, ais_affine_close ends it, and a point may go alone */
} ais_element;

extern const ais_element ais_affine_element, ais_rational_element;

#endif
