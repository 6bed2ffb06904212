/* The figures of draws: one file each, a table in figures.c. */
#ifndef AIS_REPORT_FIGURES_H
#define AIS_REPORT_FIGURES_H

#include <aisampler/report.h>

/* What a figure function gets: the data, and which parameters to show. */
typedef struct ais_scene {
    ais_context *context;
    const ais_figure_data *data;
    ais_figure *figure;
    const int *parameter;
    int parameters;
    char note[512]; /* what was left out, sentence by sentence */
} ais_scene;

/* Appends a sentence to the note. */
void ais_scene_say(ais_scene *scene, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Chain c of a parameter: `draws` values. */
const double *ais_scene_chain(const ais_scene *scene, int parameter, int chain);

enum { AIS_MOST_CHAINS = 16 }; /* drawn one by one */

ais_status ais_draw_marginals(ais_scene *scene);
ais_status ais_draw_ranks(ais_scene *scene);
ais_status ais_draw_traces(ais_scene *scene);
ais_status ais_draw_autocorrelation(ais_scene *scene);
ais_status ais_draw_corner(ais_scene *scene);
ais_status ais_draw_training(ais_scene *scene);
ais_status ais_draw_ladder(ais_scene *scene);
ais_status ais_draw_modes(ais_scene *scene);
ais_status ais_draw_jumps(ais_scene *scene);

enum { AIS_MOST_SHOWN = 12 }; /* in a figure, when the caller names none */

/* The parameters to show then: `least` and all that need a look (R-hat above 1.01, ESS below 400), at most `most`; the
 * largest R-hat or smallest ESS first, or all in their order where there are no more than `least`. Returns how many. */
int ais_worst_parameters(const ais_figure_data *data, int least, int most, int *parameter);

#endif
