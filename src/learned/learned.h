/* A learned kernel: whitening, g, R, weights, and the test of its transition. */
#ifndef AIS_LEARNED_LEARNED_H
#define AIS_LEARNED_LEARNED_H

#include "kernel/kernel.h"
#include "map/flow.h"
#include "map/henon_small_lanes.h"
#include "map/ratio.h"
#include "map/whitening.h"

typedef struct ais_proposal ais_proposal;
typedef struct ais_learned ais_learned;

struct ais_learned {
    ais_kernel kernel;
    ais_shape shape; /* no field 0 that means a default */
    ais_test test;
    double tolerance;
    struct {
        int count; /* 0: swap */
        double degree[AIS_MOST_ANGLES], cosine[AIS_MOST_ANGLES], sine[AIS_MOST_ANGLES];
    } angles;
    ais_whitening whitening;
    ais_henon henon; /* map is AIS_HENON */
    ais_flow flow;   /* else; on 2 dim coordinates when joint; without layers when affine */
    ais_real *weights;
    size_t weight_count;
    uint32_t edition; /* of the weights: add one when changing them while chains step with them */
    ais_ratio ratio;  /* of an empirical kernel; without weights otherwise */
    /* Fills a proposal; follows from the map. Tests put broken ones here. */
    void (*propose)(const ais_learned *, ais_proposal *);
    ais_arena arena;
};

/* The memory of a block's proposals. Everything is coordinates x lanes. */
struct ais_proposal {
    int dim;
    size_t lanes;
    bool measure;       /* in, independent proposals: fill round_trip, else it is 0; true when new */
    size_t chains;      /* lanes that count, the first ones; all when new */
    bool single;        /* only lane 0 is used, and small henon maps may round differently; false when new */
    double *v;          /* in: dim, fresh normals */
    double *u;          /* in: dim, the whitened point; henon: on the lattice */
    double *z;          /* out: 2 dim, M(u, v) */
    double *x;          /* out: dim, the proposed point */
    double *kinetic;    /* out: log N(v') - log N(v) */
    double *log_det;    /* out: log|det J_M| */
    double *round_trip; /* out: largest coordinate of |M(M(z)) - z| */
    double *back;       /* work: 2 dim */
    /* Maps on x alone with swap or angles: T at the present and at the proposed point, dim, and log|det T'|. */
    double *mapped, *mapped_det, *next_mapped, *next_det;
    double *cosine, *sine; /* in: of the angle in each lane, when the kernel has angles; the first one when new */
    ais_henon_work henon_work;
    ais_alone_call alone; /* small henon maps: the memory for one chain */
    ais_flow_tape *flow_tape;
};

/* Memory from the arena; false when it is out. */
bool ais_proposal_new(const ais_learned *learned, size_t lanes, ais_arena *arena, ais_proposal *proposal);

/* M on the lattice, in place: z is 2 dim x lanes. Exactly its own inverse. */
void ais_learned_lattice_involution(const ais_learned *learned, ais_proposal *proposal, double *z);

void ais_propose_henon(const ais_learned *learned, ais_proposal *proposal);
void ais_propose_flow(const ais_learned *learned, ais_proposal *proposal);

/* With swap and T on x alone M(x, v) = (T^-1(v), T(x)): the proposal does not depend on x, and T(x) is known from
 * the step that brought the chain to x. One pass in place of the four of ais_propose_flow. The same with a reflection
 * in place of swap, if the kernel has angles. */
bool ais_is_independent(const ais_learned *learned);
void ais_propose_independent(const ais_learned *learned, ais_proposal *proposal);
void ais_propose_reflected(const ais_learned *learned, ais_proposal *proposal);

/* As ais_kernel_involution of such a kernel with swap, whatever its angles: of normals v, draws of the map. */
ais_status ais_swap_involution(ais_context *context, const ais_learned *learned, size_t n, const double *z,
                               double *image);

/* T and log|det T'| at u, for chains that did not get there by an independent proposal. */
void ais_map_forward(const ais_learned *learned, ais_proposal *proposal, const double *u, double *mapped, double *det);

/* Of the point S(z) that such a map proposes for z (dim numbers, `stride` apart): log N(z) less the whitening's
 * constant, which is log q + log|det S'| as flows and pullbacks have it. */
double ais_latent_density(const ais_learned *learned, const double *z, size_t stride);

/* learned, or NULL when the kernel is a classical one. */
const ais_learned *ais_as_learned(const ais_kernel *kernel);

/* With all weights zero. When `weights` is not 0, a shape with another number of them is refused
 * before any memory is taken for them. */
ais_status ais_learned_new(ais_context *context, const ais_shape *shape, size_t weights, ais_kernel **kernel);

/* A map of its own, with the same shape, weights and whitening. */
ais_status ais_learned_copy(ais_context *context, const ais_kernel *map, ais_kernel **copy);
void ais_learned_free(ais_kernel *kernel);

/* Makes an independent kernel an empirical one: with a discriminator whose weights are zero, which accepts every
 * proposal. Refuses other kernels and sizes out of range. When `weights` is not 0, their number must be that. */
ais_status ais_learned_add_ratio(ais_context *context, ais_kernel *kernel, int hidden, int depth, size_t weights);

/* Indexed by ais_map; in transition.c. The second of kernels whose proposals are independent draws of a density that is
 * known, and weighed. */
extern const ais_kernel_type ais_learned_type[AIS_AFFINE + 1], ais_weighing_type[AIS_AFFINE + 1];

#endif
