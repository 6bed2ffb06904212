#include "nn/adam.h"

#include <math.h>
#include <string.h>

static const double pi = 3.141592653589793, first_share = 0.05, epsilon = 1e-8;

int ais_adam_new(ais_adam *adam, const ais_adam_options *options, size_t count, const ais_real *weights,
                 ais_arena *arena) {
    *adam = (ais_adam){.options = *options,
                       .count = count,
                       .scale = 1,
                       .m = AIS_TAKE(arena, ais_real, count),
                       .v = AIS_TAKE(arena, ais_real, count),
                       .averaged = options->average > 0 ? AIS_TAKE(arena, ais_real, count) : NULL};
    if (adam->options.beta1 == 0) adam->options.beta1 = 0.9;
    if (adam->options.beta2 == 0) adam->options.beta2 = 0.999;
    if (!adam->m || !adam->v || (options->average > 0 && !adam->averaged)) return 0;
    if (adam->averaged) memcpy(adam->averaged, weights, count * sizeof *weights);
    return 1;
}

double ais_adam_rate(const ais_adam *adam) {
    const ais_adam_options *options = &adam->options;
    double steps = options->steps > 1 ? (double)options->steps : 1, warm = options->warmup * steps;
    double t = (double)adam->step, share;
    if (t < warm) {
        share = first_share + (1 - first_share) * t / warm;
    } else {
        double place = fmin((t - warm) / fmax(steps - warm, 1), 1);
        share = options->final_share + (1 - options->final_share) * 0.5 * (1 + cos(pi * place));
    }
    return options->rate * share * adam->scale;
}

/* In blocks of a fixed size, so that the sum does not depend on how it is vectorised. */
static double norm(const ais_real *gradient, size_t count) {
    enum { BLOCK = 256 };
    double sum = 0;
    for (size_t first = 0; first < count; first += BLOCK) {
        double part = 0;
        for (size_t i = first; i < count && i < first + BLOCK; i++) part += (double)gradient[i] * (double)gradient[i];
        sum += part;
    }
    return sqrt(sum);
}

double ais_adam_step(ais_adam *adam, const ais_real *gradient, ais_real *weights) {
    const ais_adam_options *options = &adam->options;
    double size = norm(gradient, adam->count), rate = ais_adam_rate(adam);
    if (!isfinite(size)) return size;
    double t = (double)++adam->step;
    double shrink = options->clip > 0 && size > options->clip ? options->clip / size : 1;
    ais_real b1 = (ais_real)options->beta1, b2 = (ais_real)options->beta2, scale = (ais_real)shrink;
    ais_real step = (ais_real)(rate / (1 - pow(options->beta1, t)));
    ais_real unbias = (ais_real)(1 / (1 - pow(options->beta2, t))), small = (ais_real)epsilon;
    ais_real keep = (ais_real)options->average;
    for (size_t i = 0; i < adam->count; i++) {
        ais_real g = gradient[i] * scale;
        adam->m[i] = b1 * adam->m[i] + (1 - b1) * g;
        adam->v[i] = b2 * adam->v[i] + (1 - b2) * g * g;
#ifdef AIS_REAL_IS_DOUBLE
        weights[i] -= step * adam->m[i] / (sqrt(adam->v[i] * unbias) + small);
#else
        weights[i] -= step * adam->m[i] / (sqrtf(adam->v[i] * unbias) + small);
#endif
    }
    for (size_t i = 0; adam->averaged && i < adam->count; i++)
        adam->averaged[i] = keep * adam->averaged[i] + (1 - keep) * weights[i];
    return size;
}
