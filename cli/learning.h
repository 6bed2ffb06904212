/* What train and run share (train_options.c). */
#ifndef AIS_CLI_LEARNING_H
#define AIS_CLI_LEARNING_H

#include <jansson.h>

#include "budget.h"

typedef struct learning {
    const char *map, *involution, *objective, *loss, *paper, *start;
    int layers, hidden, depth, bins, steps, population, screen;
    double rate, start_scale, renewal;
    bool resume;
    bool ladder;           /* and nothing else of all this */
    const char *folder;    /* made before training begins; or NULL */
    bool over;             /* learning was, when the run was interrupted: drawing continues */
    char checkpoint[4224]; /* kept up to date during training; empty: none */
} learning;

/* The families of maps that can be trained, "henon|realnvp|...". */
const char *learning_maps(void);

#define LEARNING_OPTIONS(set)                                                                                            \
    {"map", 'm', OPTION_CHOICE, &(set).map, learning_maps(), "family of the learned map (automatic)"},                   \
        {"involution", 0, OPTION_CHOICE, &(set).involution, "flip|swap", "R of M = g^-1 R g (henon flip, others swap)"}, \
        {"objective",      0,        OPTION_TEXT,                                                                        \
         &(set).objective, "STAGES", "maps: fisher, likelihood+exact; henon: e.g. likelihood+adversarial (automatic)"},  \
        {"loss", 0, OPTION_CHOICE, &(set).loss, "rlogr|logistic", "loss of the discriminator (logistic)"},               \
        {"preset",     0,       OPTION_CHOICE,                                                                           \
         &(set).paper, "paper", "henon, flip, adversarial, r log r: the paper's own setting"},                           \
        {"start",                                                                                                        \
         0,                                                                                                              \
         OPTION_TEXT,                                                                                                    \
         &(set).start,                                                                                                   \
         "search|anneal|nuts|FILE",                                                                                      \
         "how learning starts; FILE: from these draws (search)"},                                                        \
        {"start-scale",      0,    OPTION_NUMBER,                                                                        \
         &(set).start_scale, NULL, "modes are searched for in N(0, N^2) (the target's own)"},                            \
        {"screen",      0,    OPTION_COUNT,                                                                              \
         &(set).screen, NULL, "points of the search for modes; more find narrower ones (automatic)"},                    \
        {"layers", 0, OPTION_COUNT, &(set).layers, NULL, "layers of g (automatic)"},                                     \
        {"hidden", 0, OPTION_COUNT, &(set).hidden, NULL, "units of a hidden layer (automatic)"},                         \
        {"depth", 0, OPTION_COUNT, &(set).depth, NULL, "hidden layers of a network (automatic)"},                        \
        {"bins", 0, OPTION_COUNT, &(set).bins, NULL, "spline: bins of a coupling layer (automatic)"},                    \
        {"steps", 0, OPTION_COUNT, &(set).steps, NULL, "Adam steps of a stage (automatic)"},                             \
        {"rate", 0, OPTION_NUMBER, &(set).rate, NULL, "highest learning rate (automatic)"},                              \
        {"population", 0, OPTION_COUNT, &(set).population, NULL, "henon: chains that supply the batches (1024)"},        \
        {"checkpoint", 0, OPTION_NUMBER, &(set).renewal, NULL, "seconds between two checkpoints (1)"}, {                 \
        "resume", 0, OPTION_FLAG, &(set).resume, NULL,                                                                   \
            "continue what was killed or stopped; the files become the same as without the interruption"                 \
    }

/* The warnings about learning from draws, for the help of both. */
#define EMPIRICAL_HELP                                                                                                 \
    " TARGET may be data:DRAWS (CSV with a header, Stan CSV or netCDF; 1000 draws or more): then kernel and "          \
    "discriminator are learned from the draws alone, and the discriminator is the accept test. It is an estimate, so " \
    "the new draws can be biased where it is wrong; they lack what the data lack, and hold no more information than "  \
    "the data. Never use it where you can evaluate the density."

#define RESUME_HELP                                                                                                    \
    " While it learns, a checkpoint beside the kernel (K.ais.training) is renewed every second; a killed training "    \
    "continues from it with --resume and the same target, options and seed, and gives the same kernel to the last "    \
    "byte."

/* The same of drawing, for run and sample. */
#define DRAWING_HELP                                                                                                   \
    " While it draws, drawing.checkpoint and its journal in the folder are renewed: --resume continues a run that "    \
    "was killed or stopped, and --extend N adds draws to a finished one, with the same bytes as if it had been drawn " \
    "at once."

/* DIRECTORY/KERNEL.training, or KERNEL.training. */
void learning_checkpoint(learning *set, const char *directory, const char *kernel);

/* One line if an earlier training is not continued although the user may expect it. */
void learning_tell(const learning *set);

/* The kernel is saved: removes the checkpoint. */
void learning_done(const learning *set);

/* The settings as the library takes them, with a live table on stderr. Seed, threads, budget, stop and ranks are left
 * to the caller. It must stay where it is: the options point into it. */
typedef struct learning_plan {
    ais_train_options options;
    ais_shape shape;
    ais_draws *draws; /* that learning starts from, or NULL */
    progress_view view;
} learning_plan;

/* Refuses settings that contradict each other, reads what learning starts from, makes the folder; an exit code. The
 * plan is to be freed in any case. */
int learning_prepare(const learning *set, const ais_target *target, bool quiet, learning_plan *plan);
void learning_free(learning_plan *plan);

/* Says that learning was stopped, and what is left of it. */
void learning_stopped(const learning *set, const ais_context *context);

/* Trains with a live table on stderr; an exit code, 0 when there is a kernel. */
int learn(const learning *set, const ais_budget *limits, const ais_target *target, uint64_t seed, int threads,
          bool quiet, ais_kernel **kernel, ais_training **training);

/* The settings of A-NICE-MC's training that the command has (anice.c); 0: its authors' choice. */
typedef struct anice_learning {
    int iterations, hidden;
    double rate;
    bool mean_only;       /* as in ais_anice_options */
    const learning *kept; /* whose checkpoint is kept and resumed from; or NULL */
} anice_learning;

/* As learn, with A-NICE-MC's kernel and training. */
int learn_anice(const anice_learning *set, const ais_target *target, uint64_t seed, int threads, bool quiet,
                ais_kernel **kernel, ais_training **training);

/* Whether an option was set that A-NICE-MC does not use. */
bool beyond_anice(const learning *set);

/* chains x dim, where learning has been (ais_training_starts). The caller frees them; NULL when memory is out. */
double *population_points(const ais_training *training, int chains);

void learning_show(const ais_train_progress *progress, void *view);
void learning_verdict(const ais_training *training, FILE *file);

/* The training as JSON: what was searched, log Z, the curve. */
json_t *learning_json(const ais_training *training);

#endif
