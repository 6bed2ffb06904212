#include "look/modes.h"

#include <math.h>

#include "base/constants.h"

bool ais_modes_take(ais_modes *modes, ais_arena *arena, int dim, int room) {
    modes->height = AIS_TAKE(arena, double, room);
    modes->unbounded = AIS_TAKE(arena, bool, room);
    return ais_components_take(&modes->mixture, arena, dim, room) && modes->height && modes->unbounded;
}

bool ais_modes_add(ais_modes *modes, const double *mean, double height, const double *sd, const double *axis,
                   bool unbounded) {
    int k = modes->mixture.count;
    if (!ais_components_set_axes(&modes->mixture, k, mean, sd, axis)) return false;
    modes->height[k] = height;
    modes->unbounded[k] = unbounded;
    return true;
}

void ais_modes_keep(ais_modes *modes, int count, const int *places) {
    ais_components_keep(&modes->mixture, count, places);
    for (int k = 0; k < count; k++) {
        modes->height[k] = modes->height[places[k]];
        modes->unbounded[k] = modes->unbounded[places[k]];
    }
}

double ais_modes_evidence(const ais_modes *modes, int k) {
    return modes->height[k] + modes->mixture.log_volume[k] + 0.5 * modes->mixture.dim * log(2 * AIS_PI);
}

void ais_modes_weigh(ais_modes *modes) {
    double top = -INFINITY, sum = 0, *weight = modes->mixture.weight;
    int count = modes->mixture.count;
    for (int k = 0; k < count; k++) top = fmax(top, ais_modes_evidence(modes, k));
    for (int k = 0; k < count; k++) sum += weight[k] = exp(ais_modes_evidence(modes, k) - top);
    for (int k = 0; k < count; k++) weight[k] = (1 - AIS_MODES_EVEN) * weight[k] / sum + AIS_MODES_EVEN / count;
    ais_components_weigh(&modes->mixture);
}
