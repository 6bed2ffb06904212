/* density.h: your own density, in one C file.
 *
 *     #include <aisampler/density.h>
 *
 *     static double logp(const double *x, void *data) {
 *         (void)data;
 *         return -0.5 * (x[0] * x[0] + x[1] * x[1]);
 *     }
 *
 *     AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp};
 *
 * Save it as mine.c and run `aisampler sample mine.c`. The file is compiled with cc (or $CC) and
 * cached by its content; a shared object that you built from the same source works as well
 * (`aisampler sample ./mine.so`).
 *
 * With priors and bounds, logp being the likelihood:
 *
 *     static const ais_parameter parameters[] = {{"rate", AIS_GAMMA(2, 1)}, {"share", AIS_UNIFORM(0, 1)}};
 *     AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp, .parameters = parameters, .parameter_count = 2};
 *
 * Data, libraries and debugging (keys after the file's name, joined by commas):
 *
 *     aisampler run mine.c:data=table.csv     handed to .open, which reads it; a path as the shell sees it
 *     aisampler run mine.c:link=-lgsl         words for the linker; flags=... are for the compiler, e.g. flags=-fopenmp
 *     aisampler run mine.c:debug=on           built with -g -O0: gdb --args aisampler run mine.c:debug=on
 *
 * A file can state what it always needs in comments like these:
 *
 *     // aisampler: link -lgsl -lgslcblas
 *     // aisampler: flags -I../include
 *
 * Only dim and logp are required. Whatever else is given is checked once at the start: the gradient against finite
 * differences, the batch form against the single one.
 *
 * A density that crashes, calls exit or does not return (Ctrl-C twice) ends the command, which names the point and
 * keeps the draws so far; with --isolate such points count as density 0 and the run continues (docs/c_files.md).
 *
 * The functions may be called from several threads at once with the same data, and must not write to static variables.
 * Without a batch form chains are distributed over the threads one by one, which suits a slow density; a batch form
 * gets up to 64 points at once, on one thread, and should make use of that.
 */
#ifndef AISAMPLER_DENSITY_H
#define AISAMPLER_DENSITY_H

#include <stddef.h>

#include "parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AIS_DENSITY_VERSION 1

/* The logarithm of the density at x[0..dim), up to a constant. -INFINITY outside the support;
 * NaN means an error and stops the run with the point printed. */
typedef double ais_logp(const double *x, void *data);

/* n points at once. Coordinate i of point c is x[i * n + c]: a loop over c vectorises. */
typedef void ais_logp_batch(size_t n, const double *x, double *logp, void *data);

/* Writes the gradient at x into gradient[0..dim) and returns the log density. */
typedef double ais_grad(const double *x, double *gradient, void *data);

typedef struct ais_density ais_density;
struct ais_density {
    int version;              /* AIS_DENSITY_VERSION, written by AIS_DENSITY_HEAD */
    int size;                 /* sizeof(ais_density), likewise */
    int dim;                  /* required, 1 or more */
    ais_logp *logp;           /* required */
    ais_logp_batch *batch;    /* or NULL */
    ais_grad *grad;           /* or NULL */
    const char *const *names; /* dim parameter names, or NULL for x.1, x.2, ... */
    double start_scale;       /* chains start from N(0, start_scale^2); 0 means 1 */
    void *data;               /* passed to the functions unchanged */
    /* Priors, bounds and constraints (parameters.h), parameter_count of them, with names of their own; or NULL. Their
     * elements are the dim coordinates. */
    const ais_parameter *parameters;
    int parameter_count;
    /* Called once, before any other field except version and size is read; or NULL. file is that of data=FILE, NULL if
     * none was given. density is a copy of this struct that may be changed: data, dim, names. Returns 0, or another
     * value and one sentence in message, which has size bytes. */
    int (*open)(const char *file, ais_density *density, char *message, size_t size);
    void (*close)(ais_density *density); /* frees what open made; or NULL */
};

#define AIS_DENSITY_HEAD .version = AIS_DENSITY_VERSION, .size = (int)sizeof(ais_density)
#define AIS_DENSITY      const ais_density aisampler_density

#ifdef __cplusplus
}
#endif
#endif
