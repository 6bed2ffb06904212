/* A-NICE-MC for train and sample: the authors' training with a live table. */
#include "cli.h"
#include "learning.h"

int learn_anice(const anice_learning *set, const ais_target *target, uint64_t seed, int threads, bool quiet,
                ais_kernel **kernel, ais_training **training) {
    ais_context context = {0};
    progress_view view;
    progress_begin(&view);
    const ais_anice_shape shape = {.dim = target->dim, .hidden = set->hidden};
    const ais_anice_options options = {.seed = seed,
                                       .threads = threads,
                                       .shape = &shape,
                                       .iterations = set->iterations,
                                       .rate = set->rate,
                                       .mean_only = set->mean_only,
                                       .progress = quiet ? NULL : learning_show,
                                       .progress_data = &view,
                                       .stop = stop_flag()};
    catch_interrupts();
    ais_status status = ais_train_anice(&context, target, &options, kernel, training);
    release_interrupts();
    if (status == AIS_OK) return 0;
    if (status != AIS_STOPPED || !*kernel) return failed(&context);
    fprintf(stderr, "aisampler: %s; the best kernel so far is kept\n", context.message);
    return 0;
}
