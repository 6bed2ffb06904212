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
                                       .checkpoint = set->kept ? set->kept->checkpoint : NULL,
                                       .checkpoint_seconds = set->kept ? set->kept->renewal : 0,
                                       .resume = set->kept && set->kept->resume,
                                       .progress = quiet ? NULL : learning_show,
                                       .progress_data = &view,
                                       .stop = stop_flag()};
    if (set->kept) learning_tell(set->kept);
    catch_interrupts();
    ais_status status = ais_train_anice(&context, target, &options, kernel, training);
    release_interrupts();
    if (status == AIS_OK) return 0;
    if (status != AIS_STOPPED || !*kernel) return failed(&context);
    complain(0, "%s; the best kernel so far is kept%s", context.message, set->kept ? ", and --resume continues" : "");
    return 0;
}
