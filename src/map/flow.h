/* Coupling flows T on `dim` coordinates: an optional neck, optional marginal splines, then coupling layers of one
 * kind of element (element.h). A layer keeps some coordinates and maps the others one by one, with parameters
 * that a conditioner computes from the kept ones. Points are dim x lanes, in double. */
#ifndef AIS_MAP_FLOW_H
#define AIS_MAP_FLOW_H

#include <stdint.h>

#include "base/arena.h"
#include "map/element.h"
#include "nn/perceptron.h"

typedef struct ais_flow_layer {
    bool neck;                  /* no conditioner: map/neck.h; `bins` is of its warp, all coordinates are mapped */
    bool marginal;              /* no conditioner: its weights are the parameters */
    const ais_element *element; /* of coordinates that are mapped */
    int bins, params;           /* of one element */
    int kept, mapped;           /* coordinates */
    double most_scale;          /* affine: bound of the log scale */
    int *index;                 /* kept ones first, then mapped ones */
    ais_perceptron net;         /* features -> mapped x params */
    size_t offset;              /* of its weights */
} ais_flow_layer;

typedef struct ais_flow {
    int dim, layers;
    int pivot;      /* coordinates that the first coupling layer keeps; 0: half of them */
    bool quadratic; /* conditioners see c_i and c_i c_j and are linear in them */
    double bound;
    ais_flow_layer *layer;
    size_t weights;
} ais_flow;

/* Fills flow from the shape's fields; memory from arena, false when it is out. */
typedef struct ais_flow_shape {
    int dim, layers, hidden, depth, bins, marginal_bins;
    int pivot;                  /* coordinates that the first coupling layer keeps, the last ones; 0: as other layers */
    int neck;                   /* bins of its warp; 0: there is none */
    const ais_element *element; /* of coupling layers; NULL: affine */
    bool quadratic, tanh;
    double bound;
    uint64_t permutation;
} ais_flow_shape;
bool ais_flow_build(ais_flow *flow, const ais_flow_shape *shape, ais_arena *arena);

/* Whether a tape may have one lane, for a point alone that need not pay for the others: splines have no body for it. It
 * rounds otherwise than lanes do. */
bool ais_flow_takes_one(const ais_flow *flow);

/* What a pass leaves for backward, and its working memory. NULL when memory is out. lanes: a multiple of AIS_LANES, or
 * 1 where the flow takes it, and then backward without gradient by weights. */
typedef struct ais_flow_tape ais_flow_tape;
ais_flow_tape *ais_flow_tape_new(const ais_flow *flow, size_t lanes, ais_arena *arena);

/* z <- T(z) or T^-1(z), in place; log|det| is added to log_det (lanes). */
void ais_flow_map(const ais_flow *flow, const ais_real *weights, ais_flow_tape *tape, bool inverse, double *z,
                  double *log_det);

/* After ais_flow_map with the same tape and direction: gradient is dL/d result and becomes dL/d
 * argument; gradient_det is dL/d log_det (lanes); dL/d weights is added to gradient_weights,
 * unless that is NULL. A neck's weights are not learned by gradients, and have none. */
void ais_flow_backward(const ais_flow *flow, const ais_real *weights, ais_flow_tape *tape, bool inverse,
                       double *gradient, const double *gradient_det, ais_real *gradient_weights);

#endif
