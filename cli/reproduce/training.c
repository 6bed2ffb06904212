/* Figures 4 and 7: objective and acceptance during training, draws of kernels that were trained for longer and longer,
 * and the discriminator at the end. */
#include "reproduce/reproduce.h"

enum { LENGTHS = 3, CHAINS = 8 };

/* The training curve, drawn as plot does. That wants draws only to look up names. */
static int show_curve(reproduction *set, const ais_target *target, const ais_training *training) {
    ais_context context = {0};
    ais_draws *none = NULL;
    ais_figure *figure = NULL;
    if (ais_draws_new(&context, target->dim, 1, 1, 0, &none) != AIS_OK) return failed(&context);
    const ais_figure_data data = {
        .draws = none, .target = target, .curve = training->point, .points = training->points};
    int code = 0;
    if (!ais_figure_applies("training", &data))
        ais_document_note(set->page, "This training left no curve.");
    else if (ais_figure_of_draws(&context, "training", &data, &figure) != AIS_OK)
        code = failed(&context);
    else
        code = show_figure(set, "Training on mog6 by --preset paper (figure 7)", figure);
    ais_draws_free(none);
    return code;
}

static int one_length(reproduction *set, const ais_target *target, int steps, bool last, ais_figure *to) {
    static const ais_grid grid = {-7, 7, -7, 7, ESTIMATE_CELLS, ESTIMATE_CELLS};
    contest how = {.target = target,
                   .seed = set->seed,
                   .threads = set->threads,
                   .steps = steps,
                   .chains = CHAINS,
                   .warmup = 1000,
                   .draws = PLANE_DRAWS,
                   .from_noise = true,
                   .quiet = true};
    entry made;
    outcome out = {0};
    char title[64] = "after all its steps";
    if (steps > 0) snprintf(title, sizeof title, "after a training of %d steps", steps);
    if (!set->quiet) fprintf(stderr, "  mog6: --preset paper, %s\n", title);
    int code = entry_make(&how, find_contestant("paper"), &made);
    if (code == 0) code = outcome_make(&how, &made, &out);
    if (code == 0) code = estimate_panel(to, &grid, title, out.draws);
    if (code == 0 && last) code = show_curve(set, target, made.training);
    if (code == 0 && last) code = show_discriminator(set, target, made.training);
    entry_free(&made);
    outcome_free(&out);
    return code;
}

int reproduce_training(reproduction *set) {
    ais_context context = {0};
    ais_target *target = NULL;
    ais_figure *figure = NULL;
    int most = set->paper_steps;
    const int steps[LENGTHS] = {most > 0 ? (most + 15) / 16 : 250, most > 0 ? (most + 3) / 4 : 1000, most};
    if (ais_target_open(&context, "mog6", &target) != AIS_OK) return failed(&context);
    int code = ais_figure_new(&context, NULL, LENGTHS, &figure) == AIS_OK ? 0 : failed(&context);
    for (int k = 0; k < LENGTHS && code == 0; k++) code = one_length(set, target, steps[k], k == LENGTHS - 1, figure);
    ais_target_close(target);
    if (code == 0) return show_figure(set, "Draws of kernels by the length of their training (figure 7)", figure);
    ais_figure_free(figure);
    return code;
}
