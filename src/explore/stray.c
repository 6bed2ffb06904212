#include "explore/stray.h"

#include <math.h>

#include <aisampler/diagnostics.h>

/* Log mass of a normal density with these draws, up to a constant: of log p the mean is the highest less dim/2, and the
 * sds are all that is known of the volume. Correlations would make it less, in all pieces alike. */
static double mass_of(int dim, size_t n, size_t stride, const double *state, const double *logp) {
    double mass = ais_mean(logp, n);
    for (int i = 0; i < dim; i++) mass += 0.5 * log(ais_variance(state + (size_t)i * stride, n));
    return isnan(mass) ? -INFINITY : mass;
}

int ais_find_stray(int dim, int chains, int draws, int pieces, const double *state, const double *logp, bool *stray) {
    const double least = 10 + 0.5 * dim;
    size_t n = (size_t)draws / (size_t)pieces, stride = (size_t)chains * (size_t)draws;
    double most = -INFINITY, most_last = -INFINITY;
    int best = 0;
    for (int pass = 0; pass < 2; pass++) /* the most of all, then what is less */
        for (int c = 0; c < chains; c++)
            for (int p = 0; p < pieces; p++) {
                size_t at = (size_t)c * (size_t)draws + (size_t)p * n;
                double mass = mass_of(dim, n, stride, state + at, logp + at);
                if (pass == 1) stray[c * pieces + p] = mass < most - least;
                most = fmax(most, mass);
                if (p < pieces - 1 || mass <= most_last) continue;
                most_last = mass;
                best = c;
            }
    return best;
}
