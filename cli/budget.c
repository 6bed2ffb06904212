#include "budget.h"

#include <math.h>

#include "guard.h"

bool budget_begin(budget *all, int chains, int draws) {
    all->began = wall_seconds();
    if (all->effective < 0 || all->evaluations < 0 || all->seconds < 0)
        complain(EXIT_USAGE, "--effective, --evaluations and --seconds must not be negative");
    else if (all->evaluations != floor(all->evaluations) || all->evaluations > 1e15)
        complain(EXIT_USAGE, "--evaluations takes a whole number up to 1e15, not %g", all->evaluations);
    else if (draws > 0 && all->effective > (double)chains * draws)
        complain(EXIT_USAGE,
                 "--effective %g is more than %d chains of at most %d draws can give: raise --draws or leave it out",
                 all->effective, chains, draws);
    else
        return true;
    return false;
}

int budget_check(budget *all, const ais_target *target, uint64_t seed, int threads) {
    ais_context context = {0};
    if (all->evaluations > 0 && target->draws)
        return complain(EXIT_USAGE, "--evaluations: %s is a set of draws and has no density to evaluate", target->name);
    all->check = (ais_check){.evaluations = (long)all->evaluations, .threads = threads};
    if (ais_target_check(&context, target, seed, &all->check) != AIS_OK) return failed(&context);
    if (all->check.note[0]) complain(0, "%s", all->check.note);
    return 0;
}

int budget_left(const budget *all, ais_budget *left) {
    ais_context context = {0};
    const ais_budget whole = {all->effective, (long)all->evaluations, all->seconds};
    if (ais_budget_left(&context, &whole, all->check.densities + all->check.gradients, wall_seconds() - all->began,
                        left) == AIS_OK)
        return 0;
    return failed(&context);
}
