/* Hamiltonian dynamics: points in phase space and the leapfrog integrator. The Hamiltonian is
 * H(x, p) = -log p(x) + p' S p / 2 with S of classical/metric.h. */
#ifndef AIS_CLASSICAL_HAMILTONIAN_H
#define AIS_CLASSICAL_HAMILTONIAN_H

#include "classical/metric.h"
#include "kernel/kernel.h"

/* Trajectories whose energy grows by more than this have diverged. */
#define AIS_DIVERGENT_ENERGY 1000.0

typedef struct ais_phase {
    double *x, *p, *gradient, *velocity; /* dim each; velocity is S p */
    double logp;
} ais_phase;

/* false when memory is out. */
bool ais_phase_take(ais_phase *phase, ais_arena *arena, int dim);
void ais_phase_copy(ais_phase *to, const ais_phase *from, int dim);

/* Log density and gradient at phase->x. Where x itself is not finite, which only a diverging
 * trajectory brings about, the target is not asked and logp is -infinity. A NaN or +infinity at a
 * finite x is the target's error. */
ais_status ais_phase_evaluate(ais_context *context, const ais_target *target, ais_phase *phase);

/* A fresh momentum from the stream's normals, and its velocity. */
void ais_phase_kick(const ais_metric *metric, const ais_stream *stream, ais_phase *phase);

/* +infinity outside the support and where something overflowed; never NaN. */
double ais_phase_energy(const ais_phase *phase, int dim);

/* One leapfrog step, of negative size backwards in time. Left the support: logp is -infinity, and
 * momentum and velocity mean nothing. */
ais_status ais_leapfrog(ais_context *context, const ais_target *target, const ais_metric *metric, double step_size,
                        ais_phase *phase);

#endif
