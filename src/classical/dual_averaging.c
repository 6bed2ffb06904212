#include "classical/dual_averaging.h"

#include <math.h>

static const double t0 = 10, kappa = 0.75;

void ais_dual_averaging_restart(ais_dual_averaging *averaging, double gamma, double target, double centre) {
    *averaging = (ais_dual_averaging){.gamma = gamma, .target = target, .centre = centre};
}

double ais_dual_averaging_next(ais_dual_averaging *averaging, double acceptance) {
    if (acceptance > 1) acceptance = 1;
    double count = (double)++averaging->count;
    double weight = 1 / (count + t0);
    averaging->lack += weight * (averaging->target - acceptance - averaging->lack);
    double log_step = averaging->centre - averaging->lack * sqrt(count) / averaging->gamma;
    averaging->mean += pow(count, -kappa) * (log_step - averaging->mean);
    return exp(log_step);
}

double ais_dual_averaging_final(const ais_dual_averaging *averaging, double fallback) {
    return averaging->count ? exp(averaging->mean) : fallback;
}
