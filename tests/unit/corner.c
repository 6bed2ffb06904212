/* The corner plot: what is drawn where. */
#include "support.h"

#include <aisampler/report.h>

#include "report/figure.h"
#include "report/figures.h"
#include "simd/normal.h"

enum { CHAINS = 4, DRAWS = 5000, N = CHAINS * DRAWS };

/* Independent normals. */
static ais_draws *normals(int dim) {
    ais_context context = {0};
    ais_draws *draws;
    assert_ok(context, ais_draws_new(&context, dim, CHAINS, DRAWS, 0, &draws));
    ais_stream stream = {.seed = 7, .purpose = AIS_FOR_USER};
    ais_normals(&stream, (size_t)dim * N, draws->value);
    return draws;
}

static ais_figure *corner_of(const ais_figure_data *data) {
    ais_context context = {0};
    ais_figure *figure;
    assert_ok(context, ais_figure_of_draws(&context, "corner", data, &figure));
    assert_int_equal(ais_figure_panels(figure), 1);
    return figure;
}

static const ais_panel *cell(const ais_figure *figure, int row, int column) {
    return figure->first->cell[row * (row + 1) / 2 + column];
}

/* The rules of one direction and colour in a cell. */
static int rules(const ais_panel *panel, bool vertical, int colour, double *at) {
    int count = 0;
    for (const ais_layer *layer = panel->first; layer; layer = layer->next)
        if (layer->kind == AIS_LAYER_RULE && layer->colour == colour && (layer->x != NULL) == vertical)
            at[count++] = vertical ? layer->x[0] : layer->y[0];
    return count;
}

static void quantiles_on_the_diagonal(void **state) {
    (void)state;
    ais_draws *draws = normals(3);
    for (int i = 0; i < N; i++) draws->value[2 * N + i] = 100 + 10 * draws->value[2 * N + i];
    ais_figure *figure = corner_of(&(ais_figure_data){.draws = draws});
    assert_int_equal(figure->first->side, 3);
    double at[8], z = 1.6449;
    for (int row = 0; row < 3; row++) {
        double sd = row == 2 ? 10 : 1, mean = row == 2 ? 100 : 0;
        assert_int_equal(rules(cell(figure, row, row), true, AIS_INK, at), 3);
        for (int q = 0; q < 3; q++) assert_near(at[q], mean + (q - 1) * z * sd, 0.06 * sd);
        assert_int_equal(rules(cell(figure, row, row), true, 3, at), 0); /* no truth was given */
    }
    assert_string_equal(cell(figure, 2, 0)->x.label, draws->name[0]);
    assert_string_equal(cell(figure, 2, 0)->y.label, draws->name[2]);
    assert_true(strchr(cell(figure, 2, 2)->title, '['));
    ais_figure_free(figure);
    ais_draws_free(draws);
}

/* In the plane a normal's circles of radius 1 and 2 hold 39.3% and 86.5%; smoothing makes them a little larger. */
static void lines_hold_their_share(void **state) {
    (void)state;
    ais_draws *draws = normals(2);
    ais_figure *figure = corner_of(&(ais_figure_data){.draws = draws});
    double mean[2] = {0};
    int lines = 0;
    bool heat = false;
    for (const ais_layer *layer = cell(figure, 1, 0)->first; layer; layer = layer->next) {
        heat = heat || (layer->kind == AIS_LAYER_HEAT && layer->tint);
        if (layer->kind != AIS_LAYER_LINE) continue;
        size_t count = 0;
        assert_in_range(lines, 0, 1);
        for (size_t i = 0; i < layer->n; i++) {
            if (!isfinite(layer->x[i])) continue;
            mean[lines] += hypot(layer->x[i], layer->y[i]);
            count++;
        }
        mean[lines++] /= (double)count;
    }
    assert_true(heat);
    assert_int_equal(lines, 2);
    assert_near(mean[0], 1, 0.08);
    assert_near(mean[1], 2, 0.12);
    ais_figure_free(figure);
    ais_draws_free(draws);
}

static void truths_are_lines(void **state) {
    (void)state;
    ais_draws *draws = normals(3);
    const double truth[] = {0.5, NAN, 6};
    ais_figure *figure = corner_of(&(ais_figure_data){.draws = draws, .truth = truth});
    double at[8];
    assert_int_equal(rules(cell(figure, 0, 0), true, 3, at), 1);
    assert_near(at[0], 0.5, 0);
    assert_int_equal(rules(cell(figure, 1, 1), true, 3, at), 0);
    assert_int_equal(rules(cell(figure, 2, 0), true, 3, at), 1);
    assert_int_equal(rules(cell(figure, 2, 0), false, 3, at), 1);
    assert_near(at[0], 6, 0);
    /* The axis reaches it, in all cells of the row and the column. */
    assert_true(cell(figure, 2, 2)->x.high > 6 && cell(figure, 2, 0)->y.high > 6 && cell(figure, 2, 1)->y.high > 6);
    ais_figure_free(figure);
    const double far[] = {NAN, NAN, 600};
    figure = corner_of(&(ais_figure_data){.draws = draws, .truth = far});
    assert_true(cell(figure, 2, 2)->x.high < 10);
    assert_non_null(strstr(figure->note, "600, is far outside"));
    ais_figure_free(figure);
    ais_draws_free(draws);
}

/* Chosen ones in their order, each once; the six worst when none are named. */
static void which_parameters(void **state) {
    (void)state;
    ais_context context = {0};
    ais_draws *draws = normals(20);
    ais_diagnosis *diagnosis;
    for (int i = 0; i < DRAWS; i++) draws->value[17 * N + i] += 3; /* one chain apart */
    assert_ok(context, ais_diagnose(&context, draws, NULL, &diagnosis));
    const int twice[] = {3, 1, 3};
    ais_figure *figure = corner_of(&(ais_figure_data){.draws = draws, .parameter = twice, .parameters = 3});
    assert_int_equal(figure->first->side, 2);
    assert_string_equal(cell(figure, 1, 0)->x.label, draws->name[3]);
    assert_string_equal(cell(figure, 1, 0)->y.label, draws->name[1]);
    ais_figure_free(figure);
    figure = corner_of(&(ais_figure_data){.draws = draws, .diagnosis = diagnosis});
    assert_int_equal(figure->first->side, 6);
    assert_string_equal(cell(figure, 0, 0)->x.label, draws->name[17]);
    assert_non_null(strstr(figure->note, "The 6 worst"));
    ais_figure_free(figure);
    int all[20];
    for (int i = 0; i < 20; i++) all[i] = i;
    figure = corner_of(&(ais_figure_data){.draws = draws, .parameter = all, .parameters = 20});
    assert_int_equal(figure->first->side, 12);
    assert_non_null(strstr(figure->note, "The first 12 of the 20"));
    ais_figure_free(figure);
    ais_diagnosis_free(diagnosis);
    ais_draws_free(draws);
}

/* Four, and those that need a look. */
static void figures_show_what_needs_a_look(void **state) {
    (void)state;
    ais_context context = {0};
    ais_draws *draws = normals(20);
    for (int k = 5; k < 15; k++)
        for (int i = 0; i < DRAWS; i++) draws->value[k * N + i] += 3;
    for (int cured = 0; cured < 2; cured++) {
        ais_diagnosis *diagnosis;
        ais_figure *figure;
        assert_ok(context, ais_diagnose(&context, draws, NULL, &diagnosis));
        const ais_figure_data data = {.draws = draws, .diagnosis = diagnosis};
        assert_ok(context, ais_figure_of_draws(&context, "marginals", &data, &figure));
        assert_int_equal(ais_figure_panels(figure), cured ? 4 : 10);
        ais_figure_free(figure);
        ais_diagnosis_free(diagnosis);
        for (int k = 5; k < 15; k++)
            for (int i = 0; i < DRAWS; i++) draws->value[k * N + i] -= 3;
    }
    ais_draws_free(draws);
}

/* A target in the plane: its own lines, the right way round when the parameters are not. */
static void the_targets_lines(void **state) {
    (void)state;
    ais_context context = {0};
    ais_target *target;
    ais_draws *draws = normals(2);
    assert_ok(context, ais_target_open(&context, "mog2", &target)); /* modes at x.1 = -5 and 5 */
    const int turned[] = {1, 0};
    for (int turn = 0; turn < 2; turn++) {
        ais_figure *figure = corner_of(
            &(ais_figure_data){.draws = draws, .target = target, .parameter = turn ? turned : NULL, .parameters = 2});
        double most_x = 0, most_y = 0;
        for (const ais_layer *layer = cell(figure, 1, 0)->first; layer; layer = layer->next)
            for (size_t i = 0; layer->kind == AIS_LAYER_LINE && layer->colour == 2 && i < layer->n; i++) {
                most_x = fmax(most_x, layer->x[i]);
                most_y = fmax(most_y, layer->y[i]);
            }
        assert_true(turn ? most_y > 4 && most_x < 3 : most_x > 4 && most_y < 3);
        ais_figure_free(figure);
    }
    ais_target_close(target);
    ais_draws_free(draws);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_on_the_diagonal),
        cmocka_unit_test(lines_hold_their_share),
        cmocka_unit_test(truths_are_lines),
        cmocka_unit_test(which_parameters),
        cmocka_unit_test(figures_show_what_needs_a_look),
        cmocka_unit_test(the_targets_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
