#include <math.h>

#include <aisampler/run.h>

#include "base/status.h"

/* Reserved for judging and writing: a tenth, but no more than the most that is judged in memory takes. */
static double reserved(double seconds) { return fmin(0.1 * seconds, 30); }

ais_status ais_budget_left(ais_context *context, const ais_budget *all, long evaluations, double seconds,
                           ais_budget *left) {
    *left = (ais_budget){.effective = all->effective};
    if (all->evaluations > 0) {
        left->evaluations = all->evaluations - evaluations;
        if (left->evaluations <= 0)
            return ais_fail(context, AIS_SPENT, "all %ld evaluations are used up: none is left to continue with",
                            all->evaluations);
    }
    if (all->seconds > 0) {
        left->seconds = all->seconds - reserved(all->seconds) - seconds;
        if (left->seconds <= 0)
            return ais_fail(context, AIS_SPENT, "the deadline of %g s has passed: there is no time left to continue",
                            all->seconds);
    }
    return AIS_OK;
}
