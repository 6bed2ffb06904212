/* The kernel "mixture": independent proposals from a mixture of Student-t's or normals. */
#ifndef AIS_LEARNED_MIXTURE_H
#define AIS_LEARNED_MIXTURE_H

#include "kernel/kernel.h"
#include "map/components.h"

typedef struct ais_mixture_kernel {
    ais_kernel kernel;
    ais_components components;
    ais_test test;
    /* log q of the proposals and of chains that another kernel moved. Tests put a broken one here. */
    void (*logq)(const ais_components *, size_t chains, size_t lanes, const ais_components_work *, const double *x,
                 double *logq);
    ais_arena arena;
} ais_mixture_kernel;

enum { AIS_MIXTURE_MOST_COMPONENTS = 65536 };

/* NULL when the kernel is another. */
const ais_mixture_kernel *ais_as_mixture(const ais_kernel *kernel);

#endif
