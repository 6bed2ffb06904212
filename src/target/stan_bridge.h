/* The BridgeStan C interface, as far as we use it, in a library that was loaded at run time.
 *
 * Nothing is bound that BridgeStan 2.4 lacks, so that every library compiled since then loads. */
#ifndef AIS_TARGET_STAN_BRIDGE_H
#define AIS_TARGET_STAN_BRIDGE_H

#include <stdbool.h>

#include "base/status.h"

typedef struct bs_model bs_model;
typedef struct bs_rng bs_rng;

/* A function that fails returns NULL or not 0, and a message that free_message frees. */
typedef struct ais_bridge {
    void *library;
    bs_model *(*construct)(const char *data, unsigned seed, char **message); /* data: JSON text */
    void (*destruct)(bs_model *);
    void (*free_message)(char *);
    const char *(*info)(const bs_model *);
    const char *(*names)(const bs_model *, bool transformed, bool generated); /* separated by commas */
    const char *(*free_names)(const bs_model *);                              /* of the unconstrained parameters */
    int (*count)(const bs_model *, bool transformed, bool generated);
    int (*free_count)(const bs_model *);
    int (*constrain)(const bs_model *, bool transformed, bool generated, const double *x, double *values, bs_rng *,
                     char **message);
    int (*density)(const bs_model *, bool propto, bool jacobian, const double *x, double *logp, char **message);
    int (*gradient)(const bs_model *, bool propto, bool jacobian, const double *x, double *logp, double *gradient,
                    char **message);
    bs_rng *(*rng)(unsigned seed, char **message);
    void (*free_rng)(bs_rng *);
    int (*print)(void (*callback)(const char *text, size_t size), char **message); /* where print() goes */
} ais_bridge;

/* Loads a library (an absolute path) and finds its functions. `stay`: it cannot be loaded a second time and is never
 * unloaded. `shown` is what messages call it. */
ais_status ais_bridge_load(ais_context *context, const char *shown, const char *path, bool stay, ais_bridge *bridge);
void ais_bridge_unload(ais_bridge *bridge);

/* Takes a message of the library over into one line of at most size - 1 characters: without the picture of the program
 * that Stan's compiler draws, and without prefixes that only the library's authors understand. */
void ais_bridge_line(const char *message, char *line, size_t size);

#endif
