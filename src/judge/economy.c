#include "judge/economy.h"

#include <math.h>

/* Nominal costs: a density of some thousand data points, and half the speed of one core of 2020. */
static const double nominal_evaluation = 1e-4, nominal_arithmetic = 1e-10;
/* The least that an evaluation counts for when costs are measured: with one mode and a gradient, with several modes,
 * and without a gradient. */
static const double least_gradient = 2e-5, least_weighed = 3e-4, least_density = 1e-3;
/* What a first round leaves of the waste, as a share (docs/notebook), and how far one round's gain is trusted. */
static const double usual_share = 0.4, least_share = 0.25, first_waste = 1;

ais_economy ais_economy_begin(double wanted, bool measured) {
    return (ais_economy){.wanted = wanted,
                         .measured = measured,
                         .density = nominal_evaluation,
                         .gradient = nominal_evaluation,
                         .arithmetic = nominal_arithmetic};
}

void ais_economy_measure(ais_economy *economy, double seconds, bool gradients, bool weighed) {
    if (!economy->measured) return;
    double least = !gradients ? least_density : weighed ? least_weighed : least_gradient;
    economy->density = economy->gradient = fmax(ais_coarse(seconds), least);
}

double ais_coarse(double cost) { return cost > 0 && cost < INFINITY ? exp2(round(log2(cost))) : cost; }

double ais_waste_after(double before, double now) {
    if (!(before > 0)) return fmin(usual_share * now, first_waste);
    return now * fmax(fmin(sqrt(usual_share * now / before), 1), least_share);
}
