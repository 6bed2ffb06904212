/* Tables 1 and 4, figures 2, 3 and 8: the densities in two dimensions. */
#include "reproduce/reproduce.h"

enum { CELLS = ESTIMATE_CELLS, STEPS = 200 };

typedef struct pictures {
    ais_figure *densities, *trajectories;
    ais_grid grid;
} pictures;

static ais_panel *square(ais_figure *figure, const ais_grid *grid, const char *title) {
    return ais_figure_panel(figure, &(ais_panel_options){.title = title,
                                                         .x = {.low = grid->x_low, .high = grid->x_high},
                                                         .y = {.low = grid->y_low, .high = grid->y_high},
                                                         .height = 340});
}

/* The first row, as in the paper; below it one row of samplers for each target. */
static int draw_truth(pictures *to, const char *name) {
    double value[CELLS * CELLS];
    char title[64];
    ais_context context = {0};
    ais_target *target = NULL;
    if (ais_target_open(&context, name, &target) != AIS_OK) return failed(&context);
    snprintf(title, sizeof title, "%.30s: density", name);
    ais_grid_evaluate(&to->grid, plane_density, target, value);
    ais_panel_heat(square(to->densities, &to->grid, title), &to->grid, value, &(ais_heat){0});
    ais_target_close(target);
    return 0;
}

int estimate_panel(ais_figure *figure, const ais_grid *grid, const char *title, const ais_draws *draws) {
    double value[CELLS * CELLS];
    ais_context context = {0};
    size_t n = (size_t)draws->chains * (size_t)draws->draws;
    if (ais_kde(&context, draws->value, draws->value + n, n, grid, 0.2, 0.2, value) != AIS_OK) return failed(&context);
    ais_panel_heat(square(figure, grid, title), grid, value, &(ais_heat){0});
    return 0;
}

static int draw_estimate(const pictures *to, const char *target, const char *sampler, const ais_draws *draws) {
    char title[64];
    snprintf(title, sizeof title, "%.30s: draws of %s", target, sampler);
    return estimate_panel(to->densities, &to->grid, title, draws);
}

/* The first steps of one chain. */
static void draw_trajectory(pictures *to, const char *target, const char *sampler, const ais_draws *draws) {
    char title[64];
    size_t n = (size_t)draws->chains * (size_t)draws->draws,
           steps = draws->draws < STEPS ? (size_t)draws->draws : STEPS;
    snprintf(title, sizeof title, "%.30s: %d steps of %s", target, (int)steps, sampler);
    ais_panel *panel = square(to->trajectories, &to->grid, title);
    ais_panel_line(panel, draws->value, draws->value + n, steps, &(ais_style){.width = 0.7, .opacity = 0.5});
    ais_panel_points(panel, draws->value, draws->value + n, steps, &(ais_style){.colour = 1});
}

typedef void row_writer(table *to, const char *target, const char *sampler, const trials *made);

static int one_target(reproduction *set, const char *name, pictures *to, bool trajectories, row_writer *row,
                      table *numbers) {
    ais_context context = {0};
    ais_target *target = NULL;
    if (ais_target_open(&context, name, &target) != AIS_OK) return failed(&context);
    int code = 0;
    for (int k = 0; k < RIVALS && code == 0; k++) {
        trials made;
        code = trials_make(set, target, rivals[k], PLANE_DRAWS, &made);
        if (code != 0) break;
        row(numbers, name, rivals[k], &made);
        code = draw_estimate(to, name, rivals[k], made.outcome.draws);
        if (trajectories) draw_trajectory(to, name, rivals[k], made.outcome.draws);
        trials_free(&made);
    }
    ais_target_close(target);
    return code;
}

static int figures_new(pictures *to, int columns) {
    ais_context context = {0};
    *to = (pictures){.grid = {-7, 7, -7, 7, CELLS, CELLS}};
    if (ais_figure_new(&context, NULL, columns, &to->densities) != AIS_OK ||
        ais_figure_new(&context, NULL, RIVALS, &to->trajectories) != AIS_OK)
        return failed(&context);
    return 0;
}

static int figures_show(reproduction *set, pictures *to, const char *title, bool trajectories, int code) {
    if (code == 0)
        code = show_figure(set, title, to->densities);
    else
        ais_figure_free(to->densities);
    if (code == 0 && trajectories) return show_figure(set, "One chain, step by step (figure 3)", to->trajectories);
    ais_figure_free(to->trajectories);
    return code;
}

int reproduce_plane(reproduction *set) {
    static const char *const targets[] = {"mog2", "mog6", "ring", "ring5"};
    table numbers;
    pictures all;
    table_begin(&numbers, "Effective sample size in two dimensions (tables 1 and 4)", trial_headings);
    trial_note(set, PLANE_DRAWS, trial_columns, &numbers);
    int code = figures_new(&all, RIVALS);
    for (int i = 0; i < 4 && code == 0; i++) code = draw_truth(&all, targets[i]);
    for (int i = 0; i < 4 && code == 0; i++) code = one_target(set, targets[i], &all, i < 2, trial_row, &numbers);
    if (code == 0) show_table(set, "plane", &numbers);
    return figures_show(set, &all, "Densities, and kernel density estimates of all trials' draws (figure 2)", true,
                        code);
}

static void triangle_row(table *to, const char *target, const char *sampler, const trials *made) {
    const ais_diagnosis *judged = made->outcome.diagnosis;
    (void)target;
    char name[TABLE_CELL];
    if (made->step_size > 0)
        snprintf(name, sizeof name, "%.12s (%.2g)", sampler, made->step_size);
    else
        snprintf(name, sizeof name, "%.12s", sampler);
    char(*cell)[TABLE_CELL] = table_row(to, name);
    cell_fixed(cell[1], judged->total_variation, 3);
    cell_number(cell[2], judged->mode_kl, 3);
    for (int m = 0; m < 3 && m < judged->modes; m++) cell_fixed(cell[3 + m], judged->mode_share[m], 3);
    cell_number(cell[6], judged->mean_ess_song, 4);
    cell_number(cell[7], judged->worst_ess, 4);
    cell_fixed(cell[8], judged->worst_rhat, 3);
    cell_fixed(cell[9], made->outcome.result.acceptance, 3);
}

int reproduce_triangle(reproduction *set) {
    static const char *const headings[] = {"sampler", "total variation", "KL of mode weights", "share 1", "share 2",
                                           "share 3", "mean-ESS",        "worst ESS",          "R-hat",   "acceptance",
                                           NULL};
    ais_context context = {0};
    ais_target *target = NULL;
    table numbers;
    pictures all;
    if (ais_target_open(&context, "triangle", &target) != AIS_OK) return failed(&context);
    table_begin(&numbers, "Unbalanced modes (figure 8)", headings);
    trial_note(set, PLANE_DRAWS,
               "Total variation is that of a histogram of all trials' draws (the paper: of a kernel density estimate); "
               "it is not 0 for independent draws either. R-hat is over the trials.",
               &numbers);
    char(*truth)[TABLE_CELL] = table_row(&numbers, "truth");
    for (int m = 0; m < target->reference->modes && m < 3; m++)
        cell_fixed(truth[3 + m], target->reference->mode_weight[m], 3);
    ais_target_close(target);
    int code = figures_new(&all, RIVALS + 1);
    if (code == 0) code = draw_truth(&all, "triangle");
    if (code == 0) code = one_target(set, "triangle", &all, false, triangle_row, &numbers);
    if (code == 0) show_table(set, "triangle", &numbers);
    return figures_show(set, &all, "The triangle (figure 8)", false, code);
}
