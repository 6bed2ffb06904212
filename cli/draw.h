/* Drawing with a kernel into files, and judging them: what sample and run share (draw.c). */
#ifndef AIS_CLI_DRAW_H
#define AIS_CLI_DRAW_H

#include "budget.h"
#include "isolate.h"
#include "shown.h"

enum { UNSAID = -1 }; /* of a count that was not given */

/* How to draw, and where to. */
typedef struct settings {
    const char *target, *kernel_file, *sampler, *out, *format, *test, *metric;
    uint64_t seed;
    int chains, draws, warmup, thin, threads, leapfrogs, max_depth, rows, iterations;
    double step_size, target_accept, jitter, scale, start_scale;
    bool save_warmup, report, json, quiet, help;
    bool resume, no_checkpoint;
    int extend;            /* draws per chain to add to a finished run */
    double renewal;        /* seconds between two checkpoints; 0: chosen */
    char checkpoint[4224]; /* of the drawing; empty: none */
    budget budget;
    isolation isolation;
    shown shown; /* in the figures of the report */
} settings;

/* The default settings. */
settings default_settings(void);

/* Fills in defaults and starts the clock of the budget; false after a complaint. */
bool settings_make_sense(settings *set);

/* Names the checkpoint, in the folder of the draws. */
void drawing_checkpoint(settings *set);

/* Whether there is one, and the run is to continue from it. */
bool drawing_goes_on(const settings *set);

/* out/NAME, NAME being the target's without folder, ending and keys. */
void default_directory(const char *target, char *directory, size_t size);

/* ais_run with these settings and what `how` says of learning, or of the kernel to draw with: files, verdict; an exit
 * code. */
int draw_to_files(const settings *set, const ais_target *target, const ais_run_options *how);

/* The options that both have; their defaults, as text. */
#define DRAW_OPTIONS(set, usual_chains, usual_warmup, usual_draws)                                                      \
    {"chains", 'c', OPTION_COUNT, &(set).chains, NULL, "independent chains (" usual_chains ")"},                        \
        {"draws",      'n',  OPTION_COUNT,                                                                              \
         &(set).draws, NULL, "most draws per chain that are kept (" usual_draws "; with --effective no limit)"},        \
        {"warmup",      'w',  OPTION_COUNT,                                                                             \
         &(set).warmup, NULL, "steps per chain that adapt and are not kept (" usual_warmup ")"},                        \
        BUDGET_OPTIONS((set).budget), {"thin", 0, OPTION_COUNT, &(set).thin, NULL, "keep every Nth step (1)"},          \
        {"seed", 0, OPTION_SEED, &(set).seed, NULL, "the same seed gives the same files on any number of threads (1)"}, \
        {"threads", 'j', OPTION_COUNT, &(set).threads, NULL, "0: one per core (0)"},                                    \
        {"out", 'o', OPTION_TEXT, &(set).out, "DIR", "where the files go (out/TARGET)"},                                \
        {"format", 0, OPTION_CHOICE, &(set).format, "csv|netcdf|both", "Stan CSV, ArviZ netCDF, or both (both)"},       \
        {"extend", 0, OPTION_COUNT, &(set).extend, NULL, "add N draws per chain to the finished run in the folder"},    \
        {"no-checkpoint",      0,    OPTION_FLAG,                                                                       \
         &(set).no_checkpoint, NULL, "write no checkpoint while drawing; --resume and --extend need one"},              \
        {"save-warmup", 0, OPTION_FLAG, &(set).save_warmup, NULL, "keep the warm-up draws in the files"},               \
        ISOLATE_OPTIONS((set).isolation), SHOWN_OPTIONS((set).shown, 0),                                                \
        {"rows", 0, OPTION_COUNT, &(set).rows, NULL, "parameters in the table, worst first; 0: all (30)"},              \
        {"json", 0, OPTION_FLAG, &(set).json, NULL, "print summary.json instead of a table"},                           \
        {"quiet", 'q', OPTION_FLAG, &(set).quiet, NULL, "no progress, no table"}, {                                     \
        "help", 'h', OPTION_FLAG, &(set).help, NULL, "this text"                                                        \
    }

#endif
