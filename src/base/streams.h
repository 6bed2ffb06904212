/* The uses of random numbers in one table (streams.c): a test refuses two rows that overlap.
 *
 * Steps of kernels are not in it: ais_state_stream gives them the numbers of the chain and of the step, for purposes of
 * their own, in learning and in drawing alike. The chain and step of a row are added to those of its user, which stay
 * below `chains` and `steps`. Not here either, because their seeds are their own: the halves of a map's layers (its
 * shape's), the rotation of the target gaussian (a constant), exact draws of references. */
#ifndef AIS_BASE_STREAMS_H
#define AIS_BASE_STREAMS_H

#include "base/random.h"

typedef enum ais_use {
    /* first weights of networks */
    AIS_USE_NET,      /* of a map, up to its third matrix: the first blocks of each */
    AIS_USE_NET_REST, /* the blocks after them */
    AIS_USE_NET_DEEP, /* further matrices */
    AIS_USE_FLOW_SPREAD,
    AIS_USE_HENON_SPREAD,
    AIS_USE_MIXING, /* waves and ripples that henon's objective looks through */
    AIS_USE_DISCRIMINATOR,
    AIS_USE_RATIO,
    AIS_USE_ANICE_NETS,
    /* the look */
    AIS_USE_SEARCH,
    AIS_USE_SEARCH_CHOICE,
    AIS_USE_ANNEAL,
    AIS_USE_ANNEAL_CHOICE,
    AIS_USE_POPULATION,
    AIS_USE_LOOK_DRAWS,
    AIS_USE_REFIT,
    AIS_USE_SWEEPS,
    AIS_USE_LOCAL,
    AIS_USE_CLUSTERS,
    /* rounds of maps */
    AIS_USE_ANYWHERE, /* where chains explore from */
    AIS_USE_CHAINS,
    AIS_USE_POINTS,
    AIS_USE_WHITENING,
    AIS_USE_BENDS,
    AIS_USE_JUDGE,
    AIS_USE_WIDELY,
    AIS_USE_CLIMB,
    /* batches */
    AIS_USE_FLOW_BATCH,
    AIS_USE_HENON_BATCH,
    AIS_USE_DATA_BATCH,
    AIS_USE_RATIO_BATCH,
    AIS_USE_RATIO_PROPOSALS,
    AIS_USE_ANICE, /* chains apart from those of its kernel */
    /* the check of a target */
    AIS_USE_CHECK_POINTS,
    AIS_USE_CHECK_SCALES,
    AIS_USE_CHECK,
    /* drawing */
    AIS_USE_STARTS,         /* from anywhere, and draws of a map */
    AIS_USE_STARTS_MIXTURE, /* draws of a mixture */
    AIS_USE_STARTS_INSTEAD, /* from anywhere, where a kernel's own are outside of the support */
    AIS_USE_MIXTURE_STEPS,  /* proposals of the mixture kernel, up to step AIS_MIXTURE_STEPS */
    AIS_USE_MIXTURE_LONG,   /* and after it */
    /* the verdict */
    AIS_USE_FRONTIER, /* of seed 0: local steps from the edge of what was proposed */
    AIS_USES
} ais_use;

/* Blocks of 64 weights, and steps, after which the numbers of another row begin. */
enum { AIS_NET_BLOCKS = 3000, AIS_MIXTURE_STEPS = 1 << 21 };

typedef struct ais_stream_use {
    unsigned jobs;     /* in which it occurs: rows without a common one never meet */
    unsigned purposes; /* bits 1 << AIS_FOR_... */
    uint64_t chain, chains;
    uint64_t step, steps;
} ais_stream_use;

extern const ais_stream_use ais_stream_table[AIS_USES];

/* The purpose is the row's first one. */
ais_stream ais_stream_for(ais_use use, uint64_t seed, uint64_t step, uint64_t chain);

/* The row's first step, for those who hand steps on. */
uint64_t ais_stream_step(ais_use use);

#endif
