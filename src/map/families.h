/* The tables of learned maps. A new element of coupling layers is a file NAME_lanes.c, its row and a family here, and
 * the family's ais_map in kernel.h. */
#ifndef AIS_MAP_FAMILIES_H
#define AIS_MAP_FAMILIES_H

/* Elements: the name in ais_NAME_map and ais_NAME_backward (element_lanes.h), how many parameters a coordinate has with
 * `bins` bins, and whether it scales (element.h). */
#define AIS_ELEMENTS(ROW)                                                                                              \
    ROW(affine, 2, true)                                                                                               \
    ROW(spline, ais_spline_params(bins), false)

/* Families, in the order of ais_map: the name in files, reports and options (other kernels' names contain it:
 * nuts@realnvp, henon+rwm), how many layers it has by default, and the element of its coupling layers. A henon map has
 * layers of its own kind, an affine one has none. */
#define AIS_FAMILIES(ROW)                                                                                              \
    ROW("henon", 5, NULL)                                                                                              \
    ROW("realnvp", 4, &ais_affine_element)                                                                             \
    ROW("spline", 2, &ais_spline_element)                                                                              \
    ROW("affine", 0, NULL)

#endif
