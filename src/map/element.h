/* The monotone maps of one coordinate that coupling layers are made of, each a constant struct, and the families of
 * maps that have them; both are rows of families.h. */
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

#define AIS_ELEMENT_ROW(name, count, scales) extern const ais_element ais_##name##_element;
AIS_ELEMENTS(AIS_ELEMENT_ROW)
#undef AIS_ELEMENT_ROW

typedef struct ais_family {
    const char *name;
    int layers;
    const ais_element *element;
} ais_family;

/* In the order of ais_map; a row without a name is the end. */
extern const ais_family ais_families[];

#endif
