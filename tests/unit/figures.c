/* Ticks, colours, bins, text, and figures of odd draws. */
#include "support.h"

#include <float.h>

#include <aisampler/report.h>

#include "report/bins.h"
#include "report/clean_text.h"
#include "report/colour.h"
#include "report/figure.h"
#include "report/ticks.h"

/* ---- ticks ------------------------------------------------------------------------------------------------- */

/* Multiples of one step that is 1, 2 or 5 times a power of ten, inside, and told apart by their labels. */
static void check_linear(double low, double high, int most) {
    ais_ticks ticks;
    ais_ticks_linear(low, high, most, false, &ticks);
    assert_in_range(ticks.count, 1, most);
    double room = 1e-6 * (high - low);
    for (int i = 0; i < ticks.count; i++) {
        assert_true(ticks.at[i] >= low - room && ticks.at[i] <= high + room);
        assert_true(ticks.label[i][0] != 0);
        for (int k = 0; k < i; k++) assert_string_not_equal(ticks.label[i], ticks.label[k]);
    }
    if (ticks.count < 3) return;
    double step = ticks.at[1] - ticks.at[0], lead = step / pow(10, floor(log10(step) + 1e-6));
    assert_true(fabs(lead - 1) < 1e-4 || fabs(lead - 2) < 1e-4 || fabs(lead - 5) < 1e-4);
    for (int i = 2; i < ticks.count; i++) assert_near(ticks.at[i] - ticks.at[i - 1], step, 1e-6 * step);
}

static void ticks_are_round_and_inside(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        double size = pow(10, odd(1, i, -12, 12)), middle = odd(2, i, -3, 3) * size;
        double width = size * pow(10, odd(3, i, -6, 1));
        check_linear(middle, middle + width, 2 + (int)odd(4, i, 0, 13));
    }
    check_linear(-1e300, 1e300, 6);
    check_linear(0, 1e-300, 6);
}

static void ticks_to_the_letter(void **state) {
    (void)state;
    ais_ticks ticks;
    ais_ticks_linear(-1.3, 2.6, 5, false, &ticks);
    assert_int_equal(ticks.count, 4);
    assert_string_equal(ticks.label[0], "−1");
    assert_string_equal(ticks.label[1], "0");
    ais_ticks_linear(0, 3.1e6, 5, false, &ticks);
    assert_string_equal(ticks.factor, "×10⁶");
    assert_string_equal(ticks.label[ticks.count - 1], "3");
    ais_ticks_linear(1000000.25, 1000000.75, 6, false, &ticks);
    assert_non_null(strstr(ticks.factor, "+ 1000000.3"));
    ais_ticks_linear(0.2, 3.4, 8, true, &ticks);
    for (int i = 0; i < ticks.count; i++) assert_true(ticks.at[i] == floor(ticks.at[i]));
    ais_ticks_log(0.9, 2000, 6, &ticks);
    assert_int_equal(ticks.count, 4);
    assert_string_equal(ticks.label[3], "1000");
    ais_ticks_log(1e-9, 1e9, 5, &ticks);
    assert_in_range(ticks.count, 2, 5);
    assert_non_null(strstr(ticks.label[0], "10"));
}

static void ranges_always_have_an_inside(void **state) {
    (void)state;
    const double pair[][2] = {{0, 0},
                              {3, 3},
                              {NAN, 1},
                              {1, INFINITY},
                              {5, -5},
                              {-DBL_MAX, DBL_MAX},
                              {1e9, 1e9 + 1e-7},
                              {-2e-310, 0},
                              {INFINITY, -INFINITY}};
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        for (int log = 0; log < 2; log++) {
            double low = pair[i][0], high = pair[i][1];
            ais_ticks_range(&low, &high, log);
            assert_true(isfinite(low) && isfinite(high) && low < high && isfinite(high - low));
            assert_true(!log || low > 0);
            ais_ticks ticks;
            if (log)
                ais_ticks_log(low, high, 6, &ticks);
            else
                ais_ticks_linear(low, high, 6, false, &ticks);
            assert_in_range(ticks.count, 1, 6);
        }
}

/* ---- colours ----------------------------------------------------------------------------------------------- */

static double difference(ais_colour a, ais_colour b) {
    double p[3], q[3];
    ais_colour_oklab(a, p);
    ais_colour_oklab(b, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}

/* How a deuteranope sees it: Machado, Oliveira and Fernandes (2009), severity 1, on linear values. */
static double linear_of(double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); }
static double coded(double v) {
    v = v < 0 ? 0 : v > 1 ? 1 : v;
    return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
}
static ais_colour without_green(ais_colour c) {
    double r = linear_of(c.red), g = linear_of(c.green), b = linear_of(c.blue);
    return (ais_colour){coded(0.367322 * r + 0.860646 * g - 0.227968 * b),
                        coded(0.280085 * r + 0.672501 * g + 0.047413 * b),
                        coded(-0.011820 * r + 0.042940 * g + 0.968881 * b)};
}

static void scale_is_uniform_and_rises(void **state) {
    (void)state;
    enum { STEPS = 64 };
    double smallest = INFINITY, largest = 0, last = 0;
    for (int i = 0; i <= STEPS; i++) {
        ais_colour here = ais_colour_scale((double)i / STEPS);
        double lab[3], seen[3];
        ais_colour_oklab(here, lab);
        assert_true(lab[0] > last);
        last = lab[0];
        /* nothing was cut off: all within the colours of a screen */
        assert_true(here.red > 0 && here.red < 1 && here.green > 0 && here.green < 1 && here.blue > 0 && here.blue < 1);
        if (i == 0) continue;
        ais_colour before = ais_colour_scale((double)(i - 1) / STEPS);
        smallest = fmin(smallest, difference(here, before));
        largest = fmax(largest, difference(here, before));
        /* and to the colour-blind it rises as well */
        double seen_before[3];
        ais_colour_oklab(without_green(here), seen);
        ais_colour_oklab(without_green(before), seen_before);
        assert_true(seen[0] > seen_before[0]);
    }
    assert_true(largest / smallest < 1.05);
    assert_near(difference(ais_colour_scale(-3), ais_colour_scale(0)), 0, 1e-12);
    assert_near(difference(ais_colour_scale(NAN), ais_colour_scale(0)), 0, 1e-12);
    assert_near(difference(ais_colour_scale(INFINITY), ais_colour_scale(1)), 0, 1e-12);
}

static void series_can_be_told_apart(void **state) {
    (void)state;
    for (int i = 0; i < AIS_COLOURS; i++)
        for (int k = 0; k < i; k++) {
            assert_true(difference(ais_colour_of(i), ais_colour_of(k)) > 0.08);
            assert_true(difference(without_green(ais_colour_of(i)), without_green(ais_colour_of(k))) > 0.03);
        }
    for (int i = 1; i < 30; i++)
        assert_true(difference(ais_colour_of(ais_series_colour(i, 30)), ais_colour_of(ais_series_colour(i - 1, 30))) >
                    0);
}

/* ---- bins -------------------------------------------------------------------------------------------------- */

static void histograms_keep_all_mass(void **state) {
    (void)state;
    enum { N = 5000 };
    static double x[N], sorted[N];
    double height[AIS_MOST_BINS], edge[AIS_MOST_BINS + 1], area = 0;
    for (uint64_t i = 0; i < N; i++) x[i] = odd(7, i, -1, 1) + odd(8, i, -1, 1);
    x[0] = 1e6; /* far outside: must not flatten the rest */
    x[1] = NAN;
    x[2] = -INFINITY;
    size_t finite = ais_sort_finite(x, N, sorted);
    assert_int_equal(finite, N - 2);
    ais_bins bins = ais_bins_choose(sorted, finite);
    assert_true(bins.high < 10);
    assert_int_equal(bins.outside, 1);
    ais_bins_edges(&bins, edge);
    ais_bins_density(&bins, x, N, height);
    for (int i = 0; i < bins.count; i++) area += height[i] * (edge[i + 1] - edge[i]);
    assert_near(area, 1 - 1.0 / (N - 2), 1e-9);
    assert_true(edge[0] == bins.low && edge[bins.count] == bins.high);
}

static void bins_of_odd_values(void **state) {
    (void)state;
    const double constant[3] = {2.385, 2.385, 2.385}, huge[2] = {-DBL_MAX, DBL_MAX};
    double height[AIS_MOST_BINS], sum = 0;
    ais_bins bins = ais_bins_choose(constant, 3);
    assert_true(bins.low < 2.385 && bins.high > 2.385);
    ais_bins_density(&bins, constant, 3, height);
    for (int i = 0; i < bins.count; i++) sum += height[i] * (bins.high - bins.low) / bins.count;
    assert_near(sum, 1, 1e-12);
    bins = ais_bins_choose(NULL, 0);
    assert_true(bins.low < bins.high && bins.finite == 0);
    bins = ais_bins_choose(constant, 1);
    assert_true(bins.low < bins.high && bins.count >= 1 && bins.count <= AIS_MOST_BINS);
    bins = ais_bins_choose(huge, 2);
    assert_true(isfinite(bins.low) && isfinite(bins.high) && bins.low < bins.high);
    ais_bins_density(&bins, huge, 2, height);
}

static void ranks_share_ties(void **state) {
    (void)state;
    const double x[6] = {5, 1, 5, NAN, 0.5, 5};
    double rank[6];
    assert_true(ais_rank_all(x, 6, rank));
    const double wanted[6] = {3.0 / 5, 1.0 / 5, 3.0 / 5, NAN, 0, 3.0 / 5};
    for (int i = 0; i < 6; i++) {
        if (i == 3)
            assert_true(isnan(rank[i]));
        else
            assert_near(rank[i], wanted[i], 1e-12);
    }
}

static void envelopes_keep_extremes(void **state) {
    (void)state;
    enum { N = 10007, MOST = 100 };
    static double x[N];
    double place[MOST], value[MOST], least = INFINITY, largest = -INFINITY;
    for (uint64_t i = 0; i < N; i++) x[i] = odd(9, i, -1, 1);
    x[4321] = 17;
    x[777] = -19;
    size_t points = ais_envelope(x, N, MOST, place, value);
    assert_in_range(points, MOST / 2, MOST);
    for (size_t i = 0; i < points; i++) {
        if (i) assert_true(place[i] > place[i - 1]);
        assert_true(value[i] == x[(size_t)place[i]]);
        least = fmin(least, value[i]);
        largest = fmax(largest, value[i]);
    }
    assert_true(least == -19 && largest == 17);
    assert_int_equal(ais_envelope(x, 3, MOST, place, value), 3);
    assert_int_equal(ais_envelope(x, 1, MOST, place, value), 1);
    const double broken[3] = {1, NAN, 2};
    assert_int_equal(ais_envelope(broken, 3, MOST, place, value), 3);
    assert_true(isnan(value[1]));
}

/* ---- text -------------------------------------------------------------------------------------------------- */

static void text_is_escaped_and_cleaned(void **state) {
    (void)state;
    char text[128] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    ais_html_text(file, "<a href='x'>&\"\xC3\xA9\xFF\x01");
    fclose(file);
    assert_string_equal(text, "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\xC3\xA9\xEF\xBF\xBD ");
    char small[4];
    ais_clean_text("ab\xC3\xA9", small, sizeof small); /* the last character does not fit as a whole */
    assert_string_equal(small, "ab");
    ais_clean_text("\xE0\x80\x80\xED\xA0\x80\xC0", text, sizeof text); /* overlong, surrogate, stray */
    for (char *at = text; *at; at += 3) assert_memory_equal(at, "\xEF\xBF\xBD", 3);
    ais_ascii_text("−2.5 ± 3×10⁻¹², µ…", text, sizeof text);
    assert_string_equal(text, "-2.5 +- 3x10^-12, ?...");
    ais_ascii_text("x…", small, 4); /* not as a whole */
    assert_string_equal(small, "x");
    ais_clean_text(NULL, text, sizeof text);
    assert_string_equal(text, "");
}

/* ---- grids ------------------------------------------------------------------------------------------------- */

static double cone(double x, double y, void *data) {
    (void)data;
    return 1 - hypot(x, y);
}

static void levels_hold_their_share(void **state) {
    (void)state;
    enum { CELLS = 100 };
    static double value[CELLS * CELLS];
    const ais_grid grid = {-1.5, 1.5, -1.5, 1.5, CELLS, CELLS};
    ais_grid_evaluate(&grid, cone, NULL, value);
    double level = ais_grid_level(&grid, value, 0.5), above = 0, sum = 0;
    for (int k = 0; k < CELLS * CELLS; k++) {
        sum += fmax(value[k], 0);
        if (value[k] >= level) above += value[k];
    }
    assert_near(above / sum, 0.5, 0.01);
    assert_near(level, 0.5, 0.02); /* the inner half of a cone's volume lies within r = 1/2 */
    for (int k = 0; k < CELLS * CELLS; k++) value[k] = k % 2 ? NAN : -1;
    assert_true(isnan(ais_grid_level(&grid, value, 0.5)));
}

/* ---- whole figures ----------------------------------------------------------------------------------------- */

static size_t bytes_of(const ais_figure *figure, ais_figure_format format, char **bytes) {
    ais_context context = {0};
    size_t size = 0;
    FILE *file = open_memstream(bytes, &size);
    assert_non_null(file);
    assert_ok(context, ais_figure_write(&context, figure, format, file));
    fclose(file);
    return size;
}

static void odd_panels_are_drawn(void **state) {
    (void)state;
    if (!ais_figures_available()) skip();
    ais_context context = {0};
    ais_figure *figure;
    char *bytes;
    assert_ok(context, ais_figure_new(&context, "odd \xFF <&>", 3, &figure));
    FILE *nothing = fopen("/dev/null", "w");
    assert_int_equal(ais_figure_write(&context, figure, AIS_SVG, nothing), AIS_BAD_ARGUMENT); /* no panel */
    fclose(nothing);
    const double x[5] = {1, NAN, INFINITY, 1e308, -1e308}, zero[5] = {0}, minus[2] = {-1, 0};
    const char *names[2] = {"a name that is much too long for its place in any panel, and longer still", "\xFF"};
    ais_figure_panel(figure, &(ais_panel_options){.title = NULL}); /* nothing on it */
    ais_panel *panel =
        ais_figure_panel(figure, &(ais_panel_options){.title = "t", .x = {.log = true}, .y = {.log = true}});
    ais_panel_line(panel, x, x, 5, &(ais_style){.label = "l"});
    ais_panel_points(panel, minus, minus, 2, NULL);
    ais_panel_rule(panel, true, NAN, NULL);
    panel = ais_figure_panel(figure, &(ais_panel_options){.x = {.names = names, .name_count = 2}});
    ais_panel_bars(panel, x, 2, &(ais_style){.label = names[0]});
    ais_panel_bars(panel, minus, 2, &(ais_style){.label = names[1], .colour = 1});
    panel = ais_figure_panel(figure, &(ais_panel_options){.title = "heat"});
    ais_panel_heat(panel, &(ais_grid){0, 1, 0, 1, 5, 1}, x, &(ais_heat){.label = "h", .numbers = true});
    ais_panel_heat(panel, &(ais_grid){0, 1, 0, 1, 5, 1}, zero, NULL);
    ais_panel_contour(panel, &(ais_grid){0, 1, 0, 1, 5, 1}, zero, 0, NULL);
    ais_panel_line(panel, x, x, 0, NULL);
    ais_panel_line(NULL, x, x, 5, NULL); /* of a figure without memory */
    ais_figure_note(figure, "a note\nof two lines");
    static const char *const magic[] = {"<?xml", "\x89PNG", "%PDF"};
    for (ais_figure_format format = AIS_SVG; format <= AIS_PDF; format++) {
        assert_true(bytes_of(figure, format, &bytes) > 500);
        assert_memory_equal(bytes, magic[format], strlen(magic[format]));
        free(bytes);
    }
    ais_figure_free(figure);
    assert_int_equal(ais_figure_new(&context, NULL, -1, &figure), AIS_BAD_ARGUMENT);
    ais_figure_free(NULL);
}

static void a_full_disk_is_told(void **state) {
    (void)state;
    ais_context context = {0};
    ais_figure *figure;
    FILE *full = fopen("/dev/full", "w");
    if (!full || !ais_figures_available()) skip();
    assert_ok(context, ais_figure_new(&context, "t", 0, &figure));
    ais_figure_panel(figure, &(ais_panel_options){0});
    assert_int_equal(ais_figure_write(&context, figure, AIS_PNG, full), AIS_FILE_ERROR);
    fclose(full);
    ais_figure_free(figure);
}

static ais_draws *draws_of(int dim, int chains, int draws) {
    ais_context context = {0};
    ais_draws *d;
    assert_ok(context, ais_draws_new(&context, dim, chains, draws, 0, &d));
    for (size_t i = 0; i < (size_t)dim * (size_t)chains * (size_t)draws; i++) d->value[i] = odd(11, i, -2, 2);
    return d;
}

/* Every figure that applies, as SVG, and the page. Returns the bytes of all. */
static size_t draw_all(const ais_draws *draws) {
    ais_context context = {0};
    ais_diagnosis *diagnosis;
    ais_figure *figure;
    char *bytes = NULL;
    size_t all = 0, page = 0;
    assert_ok(context, ais_diagnose(&context, draws, NULL, &diagnosis));
    const ais_figure_data data = {.draws = draws, .diagnosis = diagnosis};
    for (int i = 0; ais_figure_builtin(i); i++) {
        const char *name = ais_figure_builtin(i)->name;
        if (!ais_figure_applies(name, &data)) {
            assert_int_equal(ais_figure_of_draws(&context, name, &data, &figure), AIS_BAD_ARGUMENT);
            continue;
        }
        assert_ok(context, ais_figure_of_draws(&context, name, &data, &figure));
        assert_in_range(ais_figure_panels(figure), 1, 12);
        all += ais_figures_available() ? bytes_of(figure, AIS_SVG, &bytes) : 1;
        free(bytes);
        bytes = NULL;
        ais_figure_free(figure);
    }
    FILE *file = open_memstream(&bytes, &page);
    assert_ok(context, ais_report_html(&context, &data, NULL, NULL, file));
    fclose(file);
    assert_non_null(strstr(bytes, "</html>"));
    assert_null(strstr(bytes, "<script"));
    free(bytes);
    ais_diagnosis_free(diagnosis);
    return all + page;
}

static void figures_of_odd_draws(void **state) {
    (void)state;
    const int shape[][3] = {{1, 1, 1}, {2, 1, 2}, {1, 4, 50}, {3, 1, 40}, {200, 2, 30}, {2, 100, 5}, {4, 16, 100}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int fault = 0; fault < 3; fault++) {
            ais_draws *draws = draws_of(shape[i][0], shape[i][1], shape[i][2]);
            size_t n = (size_t)shape[i][1] * (size_t)shape[i][2];
            for (size_t t = 0; fault == 1 && t < n; t++) draws->value[t] = 2.385; /* never changes */
            if (fault == 2) {
                draws->value[0] = NAN;
                draws->value[n - 1] = INFINITY;
                strcpy(draws->name[0], "\xFF<");
            }
            assert_true(draw_all(draws) > 0);
            ais_draws_free(draws);
        }
}

/* Twenty times the draws, about the same pictures. */
static void long_runs_do_not_make_large_figures(void **state) {
    (void)state;
    ais_draws *few = draws_of(2, 4, 2000), *many = draws_of(2, 4, 40000);
    assert_true((double)draw_all(many) < 1.3 * (double)draw_all(few));
    ais_draws_free(few);
    ais_draws_free(many);
}

/* Where its rungs stand is shown where it is known, round trips always; all of them are counted. */
static void ladders(void **state) {
    (void)state;
    enum { DIM = 1, CHAINS = 20, DRAWS = 7 };
    ais_context context = {0};
    ais_draws *draws;
    ais_figure *figure;
    char *bytes = NULL;
    assert_ok(context, ais_draws_new(&context, DIM, CHAINS, DRAWS, 1, &draws));
    ais_figure_data data = {.draws = draws};
    assert_false(ais_figure_applies("ladder", &data));
    free(draws->stat_name[0]);
    draws->stat_name[0] = strdup("ladder_trip__");
    for (int k = 0; k < CHAINS * DRAWS; k++) draws->stat[k] = k % 4 == 0;
    for (int count = 0; count <= AIS_MOST_RUNGS; count = count ? 8 * count : 1) {
        ais_rungs rungs = {.count = count};
        for (int k = 0; k < count; k++) {
            rungs.beta[k] = count > 1 ? (double)k / (count - 1) : 0;
            rungs.rejection[k] = count == 8 ? 0 : k == 3 ? NAN : 0.3;
        }
        data.rungs = count ? &rungs : NULL;
        assert_ok(context, ais_figure_of_draws(&context, "ladder", &data, &figure));
        assert_int_equal(ais_figure_panels(figure), count > 1 ? 3 : 1);
        assert_non_null(strstr(figure->note, "35 round trips in 20 chains of 7 draws"));
        if (ais_figures_available()) assert_true(bytes_of(figure, AIS_SVG, &bytes) > 0);
        free(bytes);
        bytes = NULL;
        ais_figure_free(figure);
    }
    ais_draws_free(draws);
}

static void wrong_figures_are_refused(void **state) {
    (void)state;
    ais_context context = {0};
    ais_figure *figure;
    ais_draws *draws = draws_of(2, 2, 20);
    const int wrong = 2;
    ais_figure_data data = {.draws = draws};
    assert_int_equal(ais_figure_of_draws(&context, "marginal", &data, &figure), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "'marginals'"));
    assert_int_equal(ais_figure_of_draws(&context, "training", &data, &figure), AIS_BAD_ARGUMENT);
    assert_null(figure);
    data.parameter = &wrong;
    data.parameters = 1;
    assert_int_equal(ais_figure_of_draws(&context, "trace", &data, &figure), AIS_BAD_ARGUMENT);
    assert_int_equal(ais_report_html(&context, &data, NULL, NULL, stdout), AIS_BAD_ARGUMENT);
    ais_draws_free(draws);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round_and_inside),
        cmocka_unit_test(ticks_to_the_letter),
        cmocka_unit_test(ranges_always_have_an_inside),
        cmocka_unit_test(scale_is_uniform_and_rises),
        cmocka_unit_test(series_can_be_told_apart),
        cmocka_unit_test(histograms_keep_all_mass),
        cmocka_unit_test(bins_of_odd_values),
        cmocka_unit_test(ranks_share_ties),
        cmocka_unit_test(envelopes_keep_extremes),
        cmocka_unit_test(text_is_escaped_and_cleaned),
        cmocka_unit_test(levels_hold_their_share),
        cmocka_unit_test(odd_panels_are_drawn),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(figures_of_odd_draws),
        cmocka_unit_test(long_runs_do_not_make_large_figures),
        cmocka_unit_test(ladders),
        cmocka_unit_test(wrong_figures_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
