/* Whether modes got the share that is theirs. */
#include <aisampler/diagnostics.h>

#include <math.h>

double ais_mode_kl(const double *weight, const double *share, int modes) {
    double sum = 0;
    if (modes < 1) return NAN;
    for (int k = 0; k < modes; k++) {
        if (!(weight[k] >= 0) || !(share[k] >= 0)) return NAN;
        if (weight[k] == 0) continue;
        if (share[k] == 0) return INFINITY;
        sum += weight[k] * log(weight[k] / share[k]);
    }
    return fmax(sum, 0); /* rounding */
}
