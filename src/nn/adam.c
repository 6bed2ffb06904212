#include "nn/adam.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "nn/adam_lanes.h"

static const double first_share = 0.05;

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
        share = options->final_share + (1 - options->final_share) * 0.5 * (1 + cos(AIS_PI * place));
    }
    return options->rate * share * adam->scale;
}

double ais_adam_step(ais_adam *adam, const ais_real *gradient, ais_real *weights) {
    const ais_adam_options *options = &adam->options;
    double size = sqrt(AIS_CHOOSE(ais_adam_square)(gradient, adam->count)), rate = ais_adam_rate(adam);
    if (!isfinite(size)) return size;
    double t = (double)++adam->step;
    ais_real keep = (ais_real)options->average;
    ais_adam_call call = {.keep1 = (ais_real)options->beta1,
                          .keep2 = (ais_real)options->beta2,
                          .scale = (ais_real)(options->clip > 0 && size > options->clip ? options->clip / size : 1),
                          .rate = (ais_real)(rate / (1 - pow(options->beta1, t))),
                          .unbias = (ais_real)(1 / (1 - pow(options->beta2, t))),
                          .share = adam->share,
                          .gradient = gradient,
                          .m = adam->m,
                          .v = adam->v};
    AIS_CHOOSE(ais_adam_update)(&call, adam->count, weights);
    for (size_t i = 0; adam->averaged && i < adam->count; i++)
        adam->averaged[i] = keep * adam->averaged[i] + (1 - keep) * weights[i];
    return size;
}
