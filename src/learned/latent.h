/* A classical kernel in the latent space of a map. */
#ifndef AIS_LEARNED_LATENT_H
#define AIS_LEARNED_LATENT_H

#include "learned/pullback.h"

typedef struct ais_latent {
    ais_kernel kernel;
    ais_kernel_type type; /* made with it: name and info are the inner kernel's */
    char name[40];
    ais_kernel *map, *inner;
    ais_kernel *source; /* a mixture that proposes instead of the map, in x; or NULL */
    int proposals;      /* independent ones between two steps of the inner kernel */
    /* Replaces the density's functions before the inner kernel sees it, or NULL. Tests put broken ones there. */
    void (*replace)(ais_target *latent);
} ais_latent;

/* NULL when the kernel is another one. */
const ais_latent *ais_as_latent(const ais_kernel *kernel);

/* The learned kernel itself, or the map of a latent one; NULL for others. */
const ais_learned *ais_map_of(const ais_kernel *kernel);

#endif
