/* Figure 4: the discriminator as a function of two points, d(x, y) over the plane of y for three x. */
#include <math.h>
#include <stdlib.h>

#include "reproduce/reproduce.h"

enum { CELLS = ESTIMATE_CELLS, PLACES = 3 };

/* One far from the six modes of mog6 and two at the centre of one, as in the paper. */
static const struct {
    const char *name;
    double x[2];
} places[PLACES] = {{"the centre", {0, 0}}, {"a mode", {5, 0}}, {"another mode", {-2.5, 4.330127018922193}}};

static const ais_grid plane = {-7, 7, -7, 7, CELLS, CELLS};

static double centre_of(double low, double high, int cell) { return low + (high - low) * (cell + 0.5) / CELLS; }

/* d((x, 0), (y, 0)) for every y of the grid: states are x, then v. */
static int evaluate(const ais_learned_discriminator *discriminator, const double x[2], double *value) {
    enum { N = CELLS * CELLS };
    ais_context context = {0};
    double *z = calloc(8 * (size_t)N, sizeof *z);
    if (!z) {
        complain(EXIT_FAILED, "out of memory");
        return EXIT_FAILED;
    }
    double *image = z + 4 * (size_t)N;
    for (int k = 0; k < N; k++) {
        z[k] = x[0];
        z[N + k] = x[1];
        image[k] = centre_of(plane.x_low, plane.x_high, k % CELLS);
        image[N + k] = centre_of(plane.y_low, plane.y_high, k / CELLS);
    }
    ais_status status = ais_discriminator_evaluate(&context, discriminator, N, z, image, value);
    free(z);
    if (status == AIS_OK) return 0;
    failed(&context);
    return EXIT_FAILED;
}

static void true_ratio(const ais_target *target, const double x[2], double *value) {
    double here = target->logp(x, target->data);
    for (int k = 0; k < CELLS * CELLS; k++) {
        const double y[2] = {centre_of(plane.x_low, plane.x_high, k % CELLS),
                             centre_of(plane.y_low, plane.y_high, k / CELLS)};
        value[k] = target->logp(y, target->data) - here;
    }
}

/* The largest |d| where the density is not lost: far outside nothing was learned, and d may be anything. */
static double scale_of(const ais_target *target, double (*value)[CELLS * CELLS]) {
    static const double lost = -8;
    double ratio[CELLS * CELLS], scale = 0.01;
    true_ratio(target, places[1].x, ratio);
    for (int place = 0; place < PLACES; place++)
        for (int k = 0; k < CELLS * CELLS; k++)
            if (ratio[k] > lost) scale = fmax(scale, fabs(value[place][k]));
    return scale;
}

/* scale 0: from the values. */
static void heat_panel(ais_figure *figure, int place, const char *what, double scale, double *value) {
    char title[96];
    snprintf(title, sizeof title, "%s, x at %s", what, places[place].name);
    for (int k = 0; scale > 0 && k < CELLS * CELLS; k++) value[k] = fmin(fmax(value[k], -scale), scale);
    ais_panel *panel =
        ais_figure_panel(figure, &(ais_panel_options){.title = title,
                                                      .x = {.label = "y.1", .low = plane.x_low, .high = plane.x_high},
                                                      .y = {.label = "y.2", .low = plane.y_low, .high = plane.y_high},
                                                      .height = 340});
    ais_panel_heat(panel, &plane, value, &(ais_heat){.label = what, .low = -scale, .high = scale});
    ais_panel_points(panel, &places[place].x[0], &places[place].x[1], 1,
                     &(ais_style){.label = "x", .colour = 1, .width = 7});
}

int show_discriminator(reproduction *set, const ais_target *target, const ais_training *training) {
    ais_context context = {0};
    ais_figure *figure = NULL;
    double value[PLACES][CELLS * CELLS];
    int code = 0;
    for (int k = 0; k < PLACES && code == 0; k++) code = evaluate(training->discriminator, places[k].x, value[k]);
    if (code != 0) return code;
    if (ais_figure_new(&context, NULL, PLACES, &figure) != AIS_OK) return failed(&context);
    double scale = scale_of(target, value);
    for (int k = 0; k < PLACES; k++) heat_panel(figure, k, "d(x, y)", scale, value[k]);
    for (int k = 0; k < PLACES; k++) {
        true_ratio(target, places[k].x, value[k]);
        heat_panel(figure, k, "log p(y)/p(x)", 0, value[k]);
    }
    code = show_figure(set, "The discriminator d(x, y) after that training (figure 4)", figure);
    if (code == 0)
        ais_document_note(
            set->page,
            "Top: d((x, 0), (y, 0)), v being 0 at both ends; values beyond the scale have the colour of its "
            "end. Below: the log ratio. Training asks for d only at pairs (z, Mz), and here M nearly turns x "
            "into -x: at other pairs d is whatever the networks make of it. And r log r, the printed loss, "
            "does not have the log ratio as its minimiser (errata of docs/paper.md).");
    return code;
}
