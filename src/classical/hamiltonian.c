#include "classical/hamiltonian.h"

#include <math.h>
#include <string.h>

#include "simd/normal.h"

bool ais_phase_take(ais_phase *phase, ais_arena *arena, int dim) {
    phase->x = AIS_TAKE(arena, double, dim);
    phase->p = AIS_TAKE(arena, double, dim);
    phase->gradient = AIS_TAKE(arena, double, dim);
    phase->velocity = AIS_TAKE(arena, double, dim);
    return phase->x && phase->p && phase->gradient && phase->velocity;
}

void ais_phase_copy(ais_phase *to, const ais_phase *from, int dim) {
    size_t bytes = (size_t)dim * sizeof(double);
    memcpy(to->x, from->x, bytes);
    memcpy(to->p, from->p, bytes);
    memcpy(to->gradient, from->gradient, bytes);
    memcpy(to->velocity, from->velocity, bytes);
    to->logp = from->logp;
}

static bool all_finite(const double *x, int dim) {
    for (int i = 0; i < dim; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

ais_status ais_phase_evaluate(ais_context *context, const ais_target *target, ais_phase *phase) {
    phase->logp = -INFINITY;
    if (!all_finite(phase->x, target->dim)) return AIS_OK;
    phase->logp = target->grad(phase->x, phase->gradient, target->data);
    return phase->logp < INFINITY ? AIS_OK : ais_fail_density(context, target, phase->logp, phase->x);
}

void ais_phase_kick(const ais_metric *metric, const ais_stream *stream, ais_phase *phase) {
    ais_normals(stream, (size_t)metric->dim, phase->p);
    ais_metric_momentum(metric, phase->p);
    ais_metric_velocity(metric, phase->p, phase->velocity);
}

double ais_phase_energy(const ais_phase *phase, int dim) {
    if (phase->logp == -INFINITY) return INFINITY;
    double sum = 0;
    for (int i = 0; i < dim; i++) sum += phase->p[i] * phase->velocity[i];
    double energy = 0.5 * sum - phase->logp;
    return isnan(energy) ? INFINITY : energy;
}

ais_status ais_leapfrog(ais_context *context, const ais_target *target, const ais_metric *metric, double step_size,
                        ais_phase *phase) {
    int dim = target->dim;
    for (int i = 0; i < dim; i++) phase->p[i] += 0.5 * step_size * phase->gradient[i];
    ais_metric_velocity(metric, phase->p, phase->velocity);
    for (int i = 0; i < dim; i++) phase->x[i] += step_size * phase->velocity[i];
    ais_status status = ais_phase_evaluate(context, target, phase);
    if (status != AIS_OK || phase->logp == -INFINITY) return status;
    for (int i = 0; i < dim; i++) phase->p[i] += 0.5 * step_size * phase->gradient[i];
    ais_metric_velocity(metric, phase->p, phase->velocity);
    return AIS_OK;
}
