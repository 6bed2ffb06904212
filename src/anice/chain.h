/* Chains of f without a test, in the networks' arithmetic, forward and backward: what training differentiates. */
#ifndef AIS_ANICE_CHAIN_H
#define AIS_ANICE_CHAIN_H

#include "learned/nice.h"

typedef struct ais_nice_tape {
    size_t lanes;
    int most;                    /* steps that there is room for */
    ais_real *x;                 /* (most + 1) x dim x lanes: the states; x_0 is filled by the caller */
    ais_real *v;                 /* most x velocities x lanes: in: fresh normals; out: v after its first update */
    ais_real *last;              /* velocities x lanes: v' of the last step */
    ais_real *hidden[3];         /* most x units x lanes */
    ais_real *out, *work, *down; /* of one network */
    ais_real *slope_x, *slope_v; /* dim, velocities x lanes: gradient by the end, overwritten by backward */
} ais_nice_tape;

bool ais_nice_tape_new(const ais_nice *nice, size_t lanes, int most, ais_arena *arena, ais_nice_tape *tape);

/* The state after `steps` steps: dim x lanes. */
ais_real *ais_nice_state(const ais_nice *nice, const ais_nice_tape *tape, int steps);

/* steps times f, each with its own v. */
void ais_nice_forward(const ais_nice *nice, const ais_real *weights, ais_nice_tape *tape, int steps);

/* From slope_x and slope_v, the gradient by the last state and the last v': adds that by the weights. */
void ais_nice_backward(const ais_nice *nice, const ais_real *weights, ais_nice_tape *tape, int steps,
                       ais_real *gradient);

#endif
