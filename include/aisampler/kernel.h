/* kernel.h: Markov kernels that leave a target invariant.
 *
 * A kernel is immutable once made and may be shared by threads and targets of its dimension. The sampler steps all of
 * them, learned and classical, in the same way, and they can be combined in cycles.
 *
 * Learned kernels. With z = (x, v), v ~ N(0, I) fresh at every step, the proposal is the
 * involution M = g^-1 o R o g, accepted with probability min(1, exp l) (Metropolis) or
 * 1 / (1 + exp -l) (Barker), l = log p(x')N(v') - log p(x)N(v) + log|det J_M(z)|.
 *     henon    n layers (x, y) -> (y + eta, -x + V(y)) on a lattice of numbers: M(M(z)) = z bit
 *              for bit, |det J| = 1
 *     realnvp  affine coupling layers, on (x, v) jointly or on x alone
 *     spline   rational-quadratic spline coupling layers on x alone
 *     affine   only the whitening below, with swap: x' = m + A v, draws of a normal distribution
 * g starts with the affine whitening x -> A^-1 (x - m).
 *
 * Empirical kernels are learned from draws of p, without its density (ais_train on a data: target): M(x, v) =
 * (T^-1(v), T(x)) and a discriminator D, an estimate of log p - log q, q being the density of T^-1(v). The log
 * ratio is then d(z) = D(x') - D(x), d(Mz) = -d(z); lp__ is log q + D up to a constant, an estimate as well.
 */
#ifndef AISAMPLER_KERNEL_H
#define AISAMPLER_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "draws.h"
#include "status.h"
#include "target.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ais_kernel ais_kernel;

void ais_kernel_free(ais_kernel *kernel); /* NULL is allowed */

/* "rwm", "hmc", "nuts", "slice", "mixture", "henon", "realnvp", "spline", "affine", "anice", "a@b" for a in the latent
 * space of b, or "a+b" for a cycle. */
const char *ais_kernel_name(const ais_kernel *kernel);

/* The dimension it was made for; 0 if it works in any (classical kernels). */
int ais_kernel_dim(const ais_kernel *kernel);

/* ---- classical kernels -------------------------------------------------------------------- */

/* options NULL: all defaults. Tuning is done per chain, in warm-up only, in Stan's windows
 * (75 steps, doubling windows from 25, 50 steps; 15%, 75%, 10% when warm-up is shorter than 150; no
 * variances below 20 steps). A given scale or step size is used unchanged, with unit variances, and nothing is adapted.
 */

/* Random walk: x + scale * N(0, diag of the warm-up's variances). If it is to be tuned but there is no warm-up, it
 * is 2.38 over the root of the dimension. */
typedef struct ais_rwm_options {
    double scale;         /* 0: tuned towards target_accept */
    double target_accept; /* 0: 0.44 in one dimension, 0.234 otherwise */
} ais_rwm_options;
ais_status ais_kernel_rwm(ais_context *context, const ais_rwm_options *options, ais_kernel **kernel);

/* Hamiltonian Monte Carlo with a fixed number of leapfrog steps. Needs the target's gradient. The
 * mass matrix is diagonal; without warm-up the step size is that of Hoffman and Gelman's search. */
typedef struct ais_hmc_options {
    double step_size;     /* 0: tuned by dual averaging in warm-up */
    int leapfrogs;        /* 0: 40 */
    double target_accept; /* 0: 0.8 */
    double jitter;        /* step size is multiplied by U(1 - jitter, 1 + jitter) at every step */
} ais_hmc_options;
ais_status ais_kernel_hmc(ais_context *context, const ais_hmc_options *options, ais_kernel **kernel);

/* The No-U-Turn sampler, multinomial, adapted in windows as Stan does. Needs the gradient. */
typedef struct ais_nuts_options {
    double step_size;     /* 0: tuned by dual averaging in warm-up */
    double target_accept; /* 0: 0.8 */
    int max_depth;        /* 0: 10 */
    bool dense;           /* dense instead of diagonal mass matrix */
    bool unit;            /* the mass matrix stays the identity: warm-up tunes the step size alone */
} ais_nuts_options;
ais_status ais_kernel_nuts(ais_context *context, const ais_nuts_options *options, ais_kernel **kernel);

/* Any classical kernel by its name. Options that a kernel does not take must be 0. */
typedef struct ais_classical_options {
    double step_size, scale, target_accept, jitter; /* as above */
    int leapfrogs, max_depth;
    bool dense;
} ais_classical_options;
ais_status ais_kernel_classical(ais_context *context, const char *name, const ais_classical_options *options,
                                ais_kernel **kernel);

/* The table of classical kernels: entry i, or NULL past the end; and whether one takes the option of this name. */
typedef struct ais_classical_entry {
    const char *name, *title;
    const char *options; /* names of fields of ais_classical_options */
    bool needs_gradient;
} ais_classical_entry;
const ais_classical_entry *ais_classical_builtin(int i);
bool ais_classical_takes(const ais_classical_entry *entry, const char *option);

/* Independent proposals x' from a mixture q of Student-t's or normals, accepted by w(x') - w(x), w = log p - log q
 * (docs/math.md (32), (33)): nothing is tuned or learned. It is meant for densities with several known, nearly normal
 * modes, one component for each. Where q has lighter tails than p, chains may stay for long, so make the covariances
 * too large rather than too small. Chains start at draws of q. The numbers are copied. */
typedef struct ais_mixture_options {
    int dim;              /* of x, 1 to 4096 */
    int count;            /* of components, 1 to 65536 */
    const double *mean;   /* count x dim */
    const double *factor; /* count x dim x dim, row-major, invertible: component k has the covariance F F' if normal,
                             F F' freedom / (freedom - 2) if a t of more than 2 */
    const double *weight; /* count, positive; their ratios matter. NULL: all equal */
    double freedom;       /* degrees of freedom of all components, 1 to 1e6; INFINITY: normals. 0: 5 */
} ais_mixture_options;
ais_status ais_kernel_mixture(ais_context *context, const ais_mixture_options *options, ais_kernel **kernel);

/* One step of each part in turn makes one step of the cycle. The cycle takes ownership of the parts, even if this
 * fails. In its info, accept_stat is the mean over the parts, n_leapfrog the sum, divergent and round_trip the largest,
 * and the rest are those of the last part that has them. */
ais_status ais_kernel_cycle(ais_context *context, ais_kernel *const *parts, int count, ais_kernel **kernel);

/* ---- learned kernels ---------------------------------------------------------------------- */

typedef enum ais_map { AIS_HENON, AIS_REALNVP, AIS_SPLINE, AIS_AFFINE } ais_map;
typedef enum ais_reversal { AIS_FLIP, AIS_SWAP } ais_reversal; /* R: (x,-v) or (v,x) */
typedef enum ais_activation { AIS_RELU, AIS_TANH } ais_activation;
typedef enum ais_test { AIS_METROPOLIS, AIS_BARKER } ais_test;

/* The shape of a learned kernel: everything except its numbers. Zero means the default. affine uses only map, reversal
 * (swap) and dim, and has no weights. */
typedef struct ais_shape {
    ais_map map;
    ais_reversal reversal;
    int dim;                   /* of x; required */
    int layers;                /* 0: 5 (henon), 4 (realnvp), 2 (spline) */
    int hidden;                /* units of a hidden layer; 0: 32 up to two dimensions, else 64 */
    int depth;                 /* hidden layers of a conditioner; 0: 1. -1: quadratic features */
    ais_activation activation; /* henon as printed: relu */
    int bins;                  /* spline: bins of a coupling layer; 0: 16 */
    int marginal_bins;         /* spline, realnvp: bins of a marginal spline put first; 0: none */
    bool joint;                /* realnvp: on (x, v) jointly instead of x alone */
    int pivot; /* spline, realnvp on x: how many coordinates (the last ones) the first coupling layer keeps; 0: half of
                  them, as in other layers. After whitening by principal axes the last coordinate is the one that
                  separates modes */
    int neck; /* spline, realnvp on x: a first layer that undoes one scale parameter of a hierarchical density, the last
                 coordinate: the number of bins of that coordinate's own spline. 0: none */
    double bound;         /* spline: acts inside [-bound, bound], identity outside; 0: 4 */
    uint64_t permutation; /* seed of the permutations between coupling layers */
} ais_shape;

/* The table of maps, in the order of ais_map: entry i, or false past the end. layers: by default, 0 where there is
 * nothing to train; bins: whether it has splines, so that shape.bins matters. */
typedef struct ais_map_entry {
    const char *name;
    int layers;
    bool bins;
} ais_map_entry;
bool ais_map_builtin(int i, ais_map_entry *entry);

/* A learned kernel with weights drawn at random from seed, whitening the identity. */
ais_status ais_kernel_learned(ais_context *context, const ais_shape *shape, uint64_t seed, ais_kernel **kernel);

/* The shape with defaults filled in; NULL for a classical kernel and for anice (anice.h). */
const ais_shape *ais_kernel_shape(const ais_kernel *kernel);

/* The weights, writable until the kernel is first used; NULL and *count 0 where there are none (classical kernels,
 * mixtures, affine, kernels made of others). */
float *ais_kernel_weights(ais_kernel *kernel, size_t *count);

/* Sets the whitening x = mean + factor u, factor (dim x dim, row-major) invertible. */
ais_status ais_kernel_whiten(ais_context *context, ais_kernel *kernel, const double *mean, const double *factor);

/* The accept test of a learned kernel or a mixture; Metropolis unless set. */
void ais_kernel_set_test(ais_kernel *kernel, ais_test test);

/* Reflections R_a: (z, v) -> (z cos a + v sin a, z sin a - v cos a) of the latent point z = T(x) in place of swap,
 * which is the angle of 90 degrees: smaller angles are local steps that are accepted more often, and 180 degrees turns
 * z into -z. For maps on x alone with swap (affine, realnvp, spline). At every step one of the `count` angles (degrees,
 * above 0 and at most 180) is drawn, all equally likely; an angle may occur more than once. count 0 returns to swap.
 */
enum { AIS_MOST_ANGLES = 16 };
ais_status ais_kernel_set_angles(ais_context *context, ais_kernel *kernel, int count, const double *degrees);

/* The angles that were set; NULL and *count 0 when there are none. */
const double *ais_kernel_angles(const ais_kernel *kernel, int *count);

/* A proposal whose measured round trip misses by more than this (in the whitened scale) is rejected; 1e-6 unless set.
 * Henon's round trips are exact. */
void ais_kernel_set_tolerance(ais_kernel *kernel, double tolerance);

/* M at n points: z and image are coordinate-major, 2 dim rows of n values, x first, then v.
 * log_det may be NULL. Of several angles the first is used. Henon first rounds z to its lattice, which ends at +-2^11
 * of the whitened scale: points beyond it stay where they are. */
ais_status ais_kernel_involution(ais_context *context, const ais_kernel *kernel, size_t n, const double *z,
                                 double *image, double *log_det);

/* The kernel file (docs/formats.md). names: dim parameter names of the target it was made for, or
 * NULL; target: its name. Load refuses a file that is incomplete, damaged or of another version; and, if target is not
 * NULL, a kernel of another dimension or with other parameter names, an empirical kernel for a target with a density,
 * and the reverse. */
ais_status ais_kernel_save(ais_context *context, const ais_kernel *kernel, const ais_target *target, const char *path);
ais_status ais_kernel_load(ais_context *context, const char *path, const ais_target *target, ais_kernel **kernel);

/* ---- A-NICE-MC ------------------------------------------------------------------------------ */

/* The shape of its map f (anice.h). Zero means the authors' choice. */
typedef struct ais_anice_shape {
    int dim;        /* of x; required */
    int velocities; /* dimension of v; 0: dim up to two dimensions, else 2 dim */
    int hidden;     /* units of a hidden layer; 0: 400 */
    int depth;      /* hidden layers of b; 0: 1 up to two dimensions, else 2. a and c have one */
} ais_anice_shape;

/* The kernel "anice" with weights drawn at random from seed. ais_kernel_weights, ais_kernel_save and ais_kernel_load
 * work on it; it has no whitening, and its test is Metropolis's. */
ais_status ais_kernel_anice(ais_context *context, const ais_anice_shape *shape, uint64_t seed, ais_kernel **kernel);

/* ---- latent kernels ----------------------------------------------------------------------- */

/* A classical kernel that steps in the latent space z = T(x) of a learned map on x alone (affine,
 * realnvp or spline, with swap), on log p(T^-1(z)) + log|det dT^-1/dz|: it mixes faster where T makes p rounder, as
 * even a poor map does. Every evaluation, with or without gradient, is one evaluation of the target. Only T of the map
 * is used, not its accept test, and it must have no angles. The inner kernel is tuned in z; with affine that amounts to
 * a dense metric. Step size and energy are those in z. The kernel takes ownership of both parts, even if this fails.
 */
ais_status ais_kernel_latent(ais_context *context, ais_kernel *map, ais_kernel *inner, ais_kernel **kernel);

/* Sets how many independent proposals of its map, 0 to 1000, come between two steps of a latent kernel's inner one;
 * each is a step and an evaluation of its own. Where the map fits they cross p in one step; where it does not, and a
 * chain of proposals alone would be stuck, the inner kernel moves it on (docs/math.md (38)). In warm-up only the inner
 * kernel steps. 0: none. */
enum { AIS_MOST_PROPOSALS = 1000 };
ais_status ais_kernel_set_proposals(ais_context *context, ais_kernel *latent, int proposals);

/* The same proposals from a mixture (ais_kernel_mixture) in place of the map: it jumps between modes, while the inner
 * kernel moves within them. The latent kernel takes ownership of the mixture, even if this fails. */
ais_status ais_kernel_propose_from(ais_context *context, ais_kernel *latent, ais_kernel *mixture);

/* ---- ladders ------------------------------------------------------------------------------ */

/* Parallel tempering from the density q of a map to the target (docs/math.md (39)): every chain has replicas on
 * q^(1-b) p^b, b rising from 0 to 1. At every step each replica makes a local move in the map's latent space, those at
 * b = 0 are drawn independently, and swaps of the even or of the odd pairs of neighbours are tested. The chain is the
 * replica at b = 1: through swaps it gets to places that no local move could reach. One step takes (rungs - 1)
 * leapfrogs + 1 gradients, or as many densities as there are rungs. The kernel takes ownership of the map, even if this
 * fails.
 */
enum { AIS_MOST_RUNGS = 64 };
typedef struct ais_ladder_options {
    int rungs;          /* 2 to AIS_MOST_RUNGS */
    const double *beta; /* rungs: b, rising from 0 to 1 */
    const double
        *scale; /* rungs: step sizes in latent space, or without leapfrogs angles in radians; the first is not used */
    int leapfrogs; /* per local move, which then needs the gradient; 0: a reflection R_a, which needs none */
} ais_ladder_options;
ais_status ais_kernel_ladder(ais_context *context, ais_kernel *map, const ais_ladder_options *options,
                             ais_kernel **kernel);

/* Which fields of ais_info (draws.h) its steps fill, as bits 1 << AIS_INFO_... */
unsigned ais_kernel_info(const ais_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
