/* How far a claimed derivative of logp is from finite differences, and whether that is a mistake.
 *
 * Central differences are taken over a ladder of steps, and it is enough if one step with a small enough error agrees:
 * near a kink only the short steps are right, in a noisy density only the long ones. The noise of logp is measured by
 * high differences over a row of points close by, which vanish for a smooth function. */
#ifndef AIS_TARGET_GRADIENT_CHECK_H
#define AIS_TARGET_GRADIENT_CHECK_H

#include <aisampler/target.h>

typedef enum ais_gradient_verdict {
    AIS_GRADIENT_UNKNOWN, /* no step can tell */
    AIS_GRADIENT_AGREES,
    AIS_GRADIENT_IMPRECISE,
    AIS_GRADIENT_WRONG
} ais_gradient_verdict;

typedef struct ais_gradient_check {
    const ais_target *target;
    const double *x; /* the point */
    int coordinate;
    double claimed;
    double unit;    /* of x: steps begin at a quarter of it */
    double floor;   /* differences count in proportion to the derivative, but to no less than this */
    double scale;   /* what an imprecise derivative is measured by; the derivative itself where that is more */
    double noise;   /* of logp, absolute: ais_noise; 0 when it has not been measured */
    double *moved;  /* room for dim */
    double nearest; /* out: the best difference quotient, unless the verdict is that they agree */
} ais_gradient_check;

ais_gradient_verdict ais_gradient_judge(ais_gradient_check *slope);

/* The root of -d^2 logp / dx_i^2 at x, about what the derivative is a standard deviation away from a mode; 0 where logp
 * is not concave. */
double ais_curvature_root(const ais_target *target, const double *x, int coordinate, double unit, double *moved);

/* The standard deviation of what is not smooth in logp about x, on rows of points along `direction`, each a thousandth
 * of it or less from the next; 0 where they leave the support. */
double ais_noise(const ais_target *target, const double *x, const double *direction, double *moved);

#endif
