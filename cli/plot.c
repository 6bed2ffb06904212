/* aisampler plot: figures from draws. */
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "page.h"
#include "shown.h"

typedef struct plotting {
    const char *figures, *format, *out, *target_name;
    bool quiet, help;
    run_folder folder;
    ais_target *target;
    ais_draws *draws;
    ais_diagnosis *diagnosis;
    shown shown;
} plotting;

/* ---- reading ------------------------------------------------------------------------------------- */

static int read_input(plotting *this, const char *const *paths, int count) {
    ais_context context = {0};
    if (is_folder(paths[0])) {
        if (count > 1)
            return complain(EXIT_USAGE, "one run at a time: '%s' is a folder, so give nothing else", paths[0]);
        if (!folder_open(&this->folder, paths[0])) return EXIT_FAILED;
        if (!this->target_name) this->target_name = folder_target(&this->folder);
        paths = (const char *const *)this->folder.path;
        count = this->folder.count;
    }
    if (this->target_name && ais_target_open(&context, this->target_name, &this->target) != AIS_OK)
        return failed(&context);
    if (ais_draws_read(&context, paths, count, &this->draws) != AIS_OK) return failed(&context);
    if (this->target && this->target->dim != this->draws->dim)
        return complain(EXIT_FAILED,
                        "%s has %d parameters, but %s has dimension %d: name the target that was drawn from", paths[0],
                        this->draws->dim, this->target_name, this->target->dim);
    if (ais_diagnose(&context, this->draws, this->target, &this->diagnosis) != AIS_OK) return failed(&context);
    return shown_find(&this->shown, (const char *const *)this->draws->name, this->draws->dim);
}

/* ---- drawing ------------------------------------------------------------------------------------- */

static int draw_figure(const plotting *this, const char *name, const ais_figure_data *data) {
    ais_context context = {0};
    ais_figure *figure;
    char file[64];
    ais_figure_format format = AIS_SVG;
    figure_format(this->format, &format); /* one of them: the option is a choice */
    if (ais_figure_of_draws(&context, name, data, &figure) != AIS_OK) return failed(&context);
    snprintf(file, sizeof file, "%s.%s", name, this->format);
    int code = write_figure(this->out, file, figure, format);
    if (code == 0 && !this->quiet) printf("%s/%s\n", this->out, file);
    ais_figure_free(figure);
    return code;
}

/* The figures of the list, or all that apply. */
static int draw_figures(const plotting *this) {
    const ais_figure_data data = {.draws = this->draws,
                                  .diagnosis = this->diagnosis,
                                  .target = this->target,
                                  .curve = this->folder.curve,
                                  .points = this->folder.points,
                                  .rungs = &this->folder.rungs,
                                  .parameter = this->shown.parameter,
                                  .parameters = this->shown.parameters,
                                  .truth = this->shown.truth};
    ais_context context = {0};
    int code = 0;
    if (ais_directory_make(&context, this->out) != AIS_OK) return failed(&context);
    if (strcmp(this->figures, "all") == 0) {
        for (int i = 0; ais_figure_builtin(i) && code == 0; i++) {
            const char *name = ais_figure_builtin(i)->name;
            if (ais_figure_applies(name, &data)) code = draw_figure(this, name, &data);
        }
        return code;
    }
    char names[512], *rest = names;
    snprintf(names, sizeof names, "%s", this->figures);
    for (char *name; code == 0 && (name = strsep(&rest, ","));) code = draw_figure(this, name, &data);
    return code;
}

/* Refuses an unknown name before anything is read. */
static int check_figures(const char *figures) {
    const char *known[32] = {"all"};
    int count = 1;
    for (int i = 0; ais_figure_builtin(i) && count < 31; i++) known[count++] = ais_figure_builtin(i)->name;
    char names[512], *rest = names;
    snprintf(names, sizeof names, "%s", figures);
    bool single = strchr(figures, ',') == NULL;
    for (char *name; (name = strsep(&rest, ","));) {
        int i = single ? 0 : 1; /* all stands alone */
        while (known[i] && strcmp(known[i], name) != 0) i++;
        if (known[i]) continue;
        const char *near = ais_nearest(name, known);
        if (near) return complain(EXIT_USAGE, "unknown figure '%s'; did you mean '%s'?", name, near);
        return complain(EXIT_USAGE, "unknown figure '%s'; see aisampler plot --help", name);
    }
    return 0;
}

static void print_plot_help(const option *options) {
    print_help("plot FILE... [options]",
               "Draws figures from Stan CSV files (one per chain), an ArviZ netCDF file, or the folder of a run, whose "
               "run.json adds the training curve, the rungs of a ladder and the target. Writes a file for every figure "
               "and prints its name.",
               options);
    help_entry figure[32] = {{0}};
    for (int i = 0; ais_figure_builtin(i) && i < 31; i++)
        figure[i] = (help_entry){ais_figure_builtin(i)->name, ais_figure_builtin(i)->summary};
    print_help_list("figures", figure);
}

int run_plot(int argc, char **argv) {
    plotting this = {.figures = "all", .format = "svg", .out = "figures"};
    const option options[] = {
        {"figure", 'f', OPTION_TEXT, &this.figures, "FIGURE,...", "which of those below (all that apply)"},
        {"format", 0, OPTION_CHOICE, &this.format, "svg|png|pdf", "of the files (svg)"},
        {"out", 'o', OPTION_TEXT, &this.out, "DIR", "where the files go (figures)"},
        SHOWN_OPTIONS(this.shown, 'p'),
        {"target", 't', OPTION_TEXT, &this.target_name, "TARGET",
         "the density that was drawn from: adds modes and true densities"},
        {"quiet", 'q', OPTION_FLAG, &this.quiet, NULL, "do not print the files' names"},
        {"help", 'h', OPTION_FLAG, &this.help, NULL, "this text"},
        {0}};
    const char **paths = malloc((size_t)argc * sizeof *paths);
    if (!paths) return complain(EXIT_FAILED, "out of memory");
    int count = parse_options(argc, argv, options, paths, argc), code = EXIT_USAGE;
    if (count >= 0 && this.help) {
        print_plot_help(options);
        code = 0;
    } else if (count == 0) {
        complain(EXIT_USAGE, "plot needs files of draws or the folder of a run; see aisampler plot --help");
    } else if (count > 0 && !*this.out) {
        complain(EXIT_USAGE, "--out is empty: name a folder");
    } else if (count > 0 && !ais_figures_available()) {
        code = complain(EXIT_FAILED, "aisampler was built without cairo and cannot draw figures: install libcairo2-dev "
                                     "and build again");
    } else if (count > 0 && (code = check_figures(this.figures)) == 0) {
        code = read_input(&this, paths, count);
        if (code == 0) code = draw_figures(&this);
    }
    shown_free(&this.shown);
    ais_diagnosis_free(this.diagnosis);
    ais_draws_free(this.draws);
    ais_target_close(this.target);
    folder_close(&this.folder);
    free(paths);
    return code;
}
