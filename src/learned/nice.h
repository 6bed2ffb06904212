/* The proposal of A-NICE-MC (Song, Zhao and Ermon 2017): three additive coupling updates f of (x, v),
 *     v += a(x),   x += b(v),   v += c(x),
 * a, b, c perceptrons with relu. |det| = 1. v has a dimension of its own.
 *
 * With the direction u = +-1 as part of the state, (x, v, u) -> (f(x, v), -u) for u = 1 and (f^-1(x, v), -u) for u = -1
 * is an involution; u is +-1 with probability 1/2, fresh at every step as v is. So the kernel is one more involution
 * with a Metropolis test. It runs on a fixed-point lattice, where f^-1 undoes f bit for bit whatever the networks
 * are. */
#ifndef AIS_LEARNED_NICE_H
#define AIS_LEARNED_NICE_H

#include "kernel/kernel.h"
#include "nn/perceptron.h"

typedef struct ais_nice {
    int dim, velocities;   /* of x, of v */
    ais_perceptron net[3]; /* a, b, c */
    size_t offset[3];      /* of their weights */
    size_t weights;
} ais_nice;

ais_nice ais_nice_build(const ais_anice_shape *shape);

/* What the networks of one block of lanes need. */
typedef struct ais_nice_work {
    size_t lanes;
    ais_real *in, *hidden, *out; /* the widest of each */
    ais_real *other;             /* velocities x lanes: c(x) where out is a(x) */
} ais_nice_work;

bool ais_nice_work_new(const ais_nice *nice, size_t lanes, ais_arena *arena, ais_nice_work *work);

/* f where forward[c], else f^-1, in place on lattice points: x is dim x lanes, v velocities x lanes. */
void ais_nice_lattice(const ais_nice *nice, const ais_real *weights, ais_nice_work *work, const bool *forward,
                      int64_t *x, int64_t *v);

typedef struct ais_nice_kernel ais_nice_kernel;
struct ais_nice_kernel {
    ais_kernel kernel;
    ais_anice_shape shape; /* no field 0 that means a default */
    ais_nice nice;
    ais_real *weights;
    /* The map that a proposal uses; ais_nice_lattice. Tests put broken ones here. */
    void (*map)(const ais_nice *, const ais_real *, ais_nice_work *, const bool *, int64_t *, int64_t *);
    ais_arena arena;
};

/* NULL when the kernel is another one. */
const ais_nice_kernel *ais_as_nice(const ais_kernel *kernel);

/* With all weights zero. When `weights` is not 0, a shape with another number of them is refused. */
ais_status ais_nice_new(ais_context *context, const ais_anice_shape *shape, size_t weights, ais_kernel **kernel);

#endif
