/* bench --out: what was measured, a panel for every part that can be drawn. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "page.h"

enum { MOST_POINTS = 16 };

static const bench_drawing drawings[] = {
    {"steps",
     "Steps of one core against parallel chains",
     "chains",
     "parallel chains",
     "chain-steps per second",
     {{"steps_per_second", NULL}}},
    {"proposal",
     "One proposal against one gradient",
     "points",
     "points in a batch",
     "seconds",
     {{"proposal_seconds", "proposals, henon, 5 layers"}, {"gradient_seconds", "gradients"}}},
    {"chains",
     "100 steps against parallel chains",
     "chains",
     "parallel chains",
     "seconds",
     {{"henon_seconds", "henon, 5 layers"}, {"hmc_seconds", "HMC, 40 leapfrogs"}}},
    {"dimension",
     "A step of henon against the dimension",
     "dim",
     "dimension",
     "nanoseconds per step",
     {{"nanoseconds", "measured"},
      {"linear", "in proportion to the dimension"},
      {"whitened_nanoseconds", "with a full whitening"}}},
    {"memory",
     "Peak memory against draws that go to disk",
     "draws",
     "draws",
     "megabytes",
     {{"netcdf_1_megabytes", "netCDF, 1 chain"},
      {"netcdf_100_megabytes", "netCDF, 100 chains"},
      {"netcdf_10000_megabytes", "netCDF, 10,000 chains"},
      {"csv_100_megabytes", "Stan CSV, 100 chains"}}},
};

const bench_drawing *bench_drawing_of(const char *part) {
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++)
        if (strcmp(drawings[i].part, part) == 0) return &drawings[i];
    return NULL;
}

double bench_number(const json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void bench_panel(ais_figure *figure, const bench_drawing *drawing, bool titled, const json_t *rows) {
    ais_panel *panel = ais_figure_panel(figure, &(ais_panel_options){.title = titled ? drawing->title : NULL,
                                                                     .x = {.label = drawing->across, .log = true},
                                                                     .y = {.label = drawing->up, .log = true}});
    double x[MOST_POINTS] = {0}, y[MOST_POINTS] = {0};
    size_t count = json_array_size(rows) < MOST_POINTS ? json_array_size(rows) : MOST_POINTS;
    for (int k = 0; k < BENCH_LINES && drawing->line[k].key; k++) {
        bool linear = strcmp(drawing->line[k].key, "linear") == 0; /* through the last point of the line before */
        double last = y[count ? count - 1 : 0];
        for (size_t i = 0; i < count; i++) {
            const json_t *row = json_array_get(rows, i);
            x[i] = bench_number(row, drawing->key);
            y[i] = linear ? last * x[i] / bench_number(json_array_get(rows, count - 1), drawing->key)
                          : bench_number(row, drawing->line[k].key);
        }
        ais_panel_line(panel, x, y, count,
                       &(ais_style){.label = drawing->line[k].label,
                                    .colour = linear ? AIS_INK : k,
                                    .opacity = linear ? 0.6 : 0,
                                    .dashed = linear});
        if (!linear) ais_panel_points(panel, x, y, count, &(ais_style){.colour = k, .width = 4});
    }
}

bool bench_figure_format(const char *path, ais_figure_format *format) {
    const char *dot = strrchr(path, '.');
    return dot && figure_format(dot + 1, format);
}

int bench_draw(const char *path, const json_t *found) {
    ais_context context = {0};
    ais_figure *figure;
    ais_figure_format format = AIS_SVG;
    const char *part;
    json_t *rows;
    if (!bench_figure_format(path, &format)) return EXIT_USAGE;
    if (ais_figure_new(&context, NULL, 0, &figure) != AIS_OK) return failed(&context);
    json_object_foreach((json_t *)found, part, rows) {
        if (bench_drawing_of(part)) bench_panel(figure, bench_drawing_of(part), true, rows);
    }
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char directory[4096] = ".";
    if (slash) snprintf(directory, sizeof directory, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int code = write_figure(directory, name, figure, format);
    ais_figure_free(figure);
    return code;
}
