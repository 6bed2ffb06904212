/* target.h: the densities to draw from.
 *
 * A target is a log density with what is known about it. Built-in targets are opened by name; a
 * caller's own is a struct filled in place, and needs only name, dim and logp:
 *
 *     ais_target target = {.name = "mine", .dim = 2, .logp = my_logp};
 */
#ifndef AISAMPLER_TARGET_H
#define AISAMPLER_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "density.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is known about a target beforehand. It is used to judge samplers, never to draw. The functions get the target's
 * data. */
typedef struct ais_reference {
    const double *mean;                       /* of x_i, dim values */
    const double *variance;                   /* of x_i */
    const double *square_mean;                /* of x_i^2 */
    const double *square_variance;            /* of x_i^2 */
    double log_z;                             /* log of the integral of exp(logp), NAN if unknown */
    int modes;                                /* 0 when the target has no mode indicators */
    const double *mode_weight;                /* modes values that sum to 1 */
    int (*mode)(const double *x, void *data); /* the mode of x, 0..modes-1 */
    /* An exact, independent draw: a pure function of seed and index; or NULL. */
    void (*draw)(uint64_t seed, uint64_t index, double *x, void *data);
    const char *source; /* where the numbers come from, in words */
    double size;        /* how many draws the moments were estimated from; 0: exact */
} ais_reference;

/* What is shown of a draw in place of x: parameters within their bounds, a Stan program's parameters and generated
 * quantities. Draws, tables and figures have these values; kernels and learning only see x. */
typedef struct ais_view {
    int count;                /* values of a draw */
    const char *const *names; /* count of them */
    /* Writes the values of n points, row by row. slope[r]: log of the determinant of d values / dx, which is subtracted
     * from the log density that is shown; 0 shows it unchanged. stream + r is unique to row r, for values that are
     * drawn at random. Called from several threads at once. */
    void (*show)(size_t n, const double *x, uint64_t stream, double *value, double *slope, void *data);
    bool generated; /* some values are random or may fail: messages then show the x of a point */
} ais_view;

typedef struct ais_target ais_target;
struct ais_draws;
struct ais_target {
    const char *name;
    int dim;
    ais_logp *logp;
    ais_logp_batch *batch;          /* or NULL */
    ais_grad *grad;                 /* or NULL */
    const char *const *names;       /* of the dim parameters; NULL for x.1, x.2, ... */
    double start_scale;             /* chains start from N(0, start_scale^2); 0 means 1 */
    const ais_reference *reference; /* or NULL */
    const ais_view *view;           /* NULL: x is shown itself */
    const char *about;              /* description, one item per line: what it is, priors and bounds; or NULL */
    /* Writes a sentence about the points so far at which the density could not be computed, and why, or nothing. It is
     * shown after a run. Or NULL. */
    void (*tell)(char *text, size_t size, void *data);
    const struct ais_draws *draws; /* empirical targets: all that is known of p. logp is then 0 everywhere, chains start
                                      at draws, and only kernels learned from draws can be used. NULL otherwise */
    void *data;
    void (*close)(ais_target *); /* frees target and data; NULL for a caller's own */
};

/* Opens the target that spec names:
 *     NAME[:key=value,...]            a built-in, e.g. mog2, mog2:sd=0.7, gaussian:dim=50,cond=1e4
 *     blr:FILE[:key=value,...]        logistic regression on a table (docs/tables.md), e.g. blr:heart.csv:label=y
 *     linear:FILE, poisson:FILE       other regressions on a table, with the same keys
 *     FILE.c or FILE.so[:data=FILE,...]  a density of your own (density.h)
 *     stan:MODEL.stan[:DATA.json]     a Stan program, by stanli (docs/stan.md); or MODEL.so made by BridgeStan
 *     data:FILE                       draws in CSV, Stan CSV or netCDF instead of a density; at least 1000
 * FILE.c, FILE.so and Stan programs are code and run with the caller's rights; the others are data. The caller closes
 * it. An unknown name or key is refused with the nearest one that exists. */
ais_status ais_target_open(ais_context *context, const char *spec, ais_target **target);

/* A Stan program. model: a file MODEL.stan or MODEL.so, or the text of a program; data: a JSON file, JSON text that
 * begins with {, or NULL; stanli: the path of its libstanli.so, NULL: the file that AISAMPLER_STANLI names, or the
 * usual places of Python's packages. x are the unconstrained parameters and logp has the Jacobian, as in Stan; the view
 * (above) shows parameters, transformed parameters and generated quantities. Where the program raises an error, or
 * reject()s, logp is -inf. The caller closes the target; `model` and `data` are not needed after the call. */
ais_status ais_target_stan(ais_context *context, const char *model, const char *data, const char *stanli,
                           ais_target **target);

/* The target's sentence about failed evaluations so far (`tell`), or "". */
void ais_target_tell(const ais_target *target, char *text, size_t size);

/* Closes a target that ais_target_open or ais_target_stan made; NULL is allowed. */
void ais_target_close(ais_target *target);

/* A target that evaluates `density` inside the bounds only and includes the priors (parameters.h). The parameters'
 * elements are, one after the other, the density's dim coordinates. They are copied; density must live as long as the
 * target, and its reference is left out. The caller closes the target. */
ais_status ais_target_with(ais_context *context, const ais_target *density, const ais_parameter *parameters, int count,
                           ais_target **target);

/* A kind with its arguments from text, such as "uniform(0, 10)", "half_normal(2.5)" or "simplex", into kind and
 * argument of the parameter, whose name appears in messages; and back, as much as fits. */
ais_status ais_parameter_parse(ais_context *context, const char *text, ais_parameter *parameter);
void ais_parameter_text(const ais_parameter *parameter, char *text, size_t size);

/* Checks a target once, at points drawn from its start distribution with this seed: logp is a
 * number, grad agrees with finite differences of logp, batch with logp. The message names the
 * coordinate, the point and both values.
 *
 * A density without a reference is also evaluated by two threads at once: one that writes to a static variable is
 * refused if the threads disturb each other, which is rare if an evaluation takes less than a microsecond.
 *
 * A gradient that is off by no more than 2% of its scale, or by what the noise of logp explains, is imprecise, not
 * wrong (ODE solvers, single precision): the check passes and leaves a note. Only proposals depend on a gradient, never
 * the accept test. */
typedef struct ais_check {
    long evaluations;          /* in: densities and gradients that may be evaluated; 0: any number */
    int threads;               /* in: threads that will call the density at once; 1: two threads are not tried */
    long densities, gradients; /* out: evaluated */
    char note[400];            /* out: one sentence for the user, or empty */
} ais_check;
ais_status ais_target_check(ais_context *context, const ais_target *target, uint64_t seed, ais_check *check);

/* The name of parameter i (from 0): names[i], or x.1, x.2, ... written into buffer. */
const char *ais_target_parameter(const ais_target *target, int i, char buffer[32]);

/* How many values of a draw are shown, and the name of one of them: those of the view, or the parameters. */
int ais_target_shown(const ais_target *target);
const char *ais_target_shown_name(const ais_target *target, int i, char buffer[32]);

/* Writes the point x (dim coordinates) as messages show it, as much as fits: the values that are shown with their
 * names, "mass = 1.5, rate = 0.25", or "x = (1.5, 0.25)" if there are no names. For a Stan program it shows the
 * unconstrained parameters, and says so. */
void ais_target_point(const ais_target *target, const double *x, char *text, size_t size);

/* The table of built-in targets: entry i, or NULL past the end. */
typedef struct ais_target_entry {
    const char *name;
    const char *summary; /* one line for people */
    const char *options; /* the keys it takes with their defaults, e.g. "sd=0.5"; or "" */
} ais_target_entry;
const ais_target_entry *ais_target_builtin(int i);

#ifdef __cplusplus
}
#endif
#endif
