#include "trainer/identity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory_file.h"
#include "simd/normal.h"

uint64_t ais_sum_of_draws(const ais_draws *draws) {
    size_t count = (size_t)draws->dim * (size_t)draws->chains * (size_t)draws->draws;
    return ais_checksum(draws->value, count * sizeof *draws->value);
}

/* Log densities at a few points: a density of one's own may change under the same name. Six digits, so that another
 * machine's last bits do not count. */
static bool write_density(FILE *file, const ais_target *target) {
    double scale = target->start_scale > 0 ? target->start_scale : 1;
    double *x = malloc((size_t)target->dim * sizeof *x);
    for (uint32_t k = 0; x && k < AIS_IDENTITY_POINTS; k++) {
        ais_stream stream = {.chain = k, .purpose = AIS_FOR_CHECK};
        ais_normals(&stream, (size_t)target->dim, x);
        for (int i = 0; i < target->dim; i++) x[i] *= scale;
        fprintf(file, " %.6g", target->logp(x, target->data));
    }
    free(x);
    return x != NULL;
}

static void write_shape(FILE *file, const ais_shape *shape) {
    fprintf(file, "kernel");
    if (shape)
        fprintf(file,
                " map %d reversal %d layers %d hidden %d depth %d activation %d bins %d %d joint %d pivot %d neck %d "
                "bound %.17g",
                shape->map, shape->reversal, shape->layers, shape->hidden, shape->depth, shape->activation, shape->bins,
                shape->marginal_bins, shape->joint, shape->pivot, shape->neck, shape->bound);
    else
        fprintf(file, " chosen");
    fputc('\n', file);
}

void ais_identity_target(FILE *file, const ais_target *target, uint64_t seed) {
    fprintf(file, "library %s\ntarget %s\ndimension %d\ngradient %d\nstart scale %.17g\n", ais_version(),
            target->name ? target->name : "", target->dim, target->grad != NULL, target->start_scale);
    if (target->draws) fprintf(file, "draws %016llx\n", (unsigned long long)ais_sum_of_draws(target->draws));
    fprintf(file, "seed %llu\n", (unsigned long long)seed);
}

bool ais_identity_begin(FILE *file, const ais_target *target, uint64_t seed) {
    ais_identity_target(file, target, seed);
    if (target->draws) return true;
    fprintf(file, "log density at points");
    bool whole = write_density(file, target);
    fputc('\n', file);
    return whole;
}

void ais_identity_learning(FILE *file, const ais_train_options *options) {
    write_shape(file, options->shape);
    fprintf(file,
            "effective %.17g\nevaluations %ld\nseconds %.17g\nobjective %s\nloss %s\npreset %s\nsteps %ld\nrate %.17g\n"
            "population %d\nscale %.17g\nscreen %ld\nstart %d",
            options->effective, options->evaluations, options->seconds,
            options->objective ? options->objective : "chosen", options->rlogr ? "rlogr" : "logistic",
            options->paper    ? "paper"
            : options->ladder ? "ladder"
                              : "none",
            options->steps, options->rate, options->population, options->scale, options->screen, (int)options->method);
    if (options->start) fprintf(file, " %016llx", (unsigned long long)ais_sum_of_draws(options->start));
    fputc('\n', file);
}

char *ais_training_identity(const ais_target *target, const ais_train_options *options) {
    ais_memory_file text;
    if (ais_memory_open(&text)) {
        text.failed = !ais_identity_begin(text.file, target, options->seed);
        ais_identity_learning(text.file, options);
    }
    return ais_memory_close(&text, NULL);
}
