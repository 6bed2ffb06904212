/* What a henon kernel is trained on, with gradients through M = g^-1 R g. A batch is blocks of AIS_BLOCK
 * lanes; theta is the kernel's weights followed by the base's (henon_base.h). Whitened coordinates u, v
 * throughout; the target and the mixing term see x = m + A u.
 *
 *     likelihood      -log q(g(u, v))
 *     exact           ais_exact_loss of l, the true log ratio: the target's gradient, or differences of its density
 *     adversarial     -2 E 1/(1 + e^-d), d a discriminator's value: the target is not evaluated
 *
 * to the last two: the mixing term times its strength, and the likelihood times its own. */
#ifndef AIS_FIT_HENON_OBJECTIVE_H
#define AIS_FIT_HENON_OBJECTIVE_H

#include <aisampler/kernel.h>

#include "fit/discriminator.h"
#include "fit/henon_base.h"
#include "fit/mixing.h"
#include "map/henon.h"
#include "map/whitening.h"
#include "nn/batch.h"

/* Of the exact objective. AIS_ROOT has a slope wherever l is not 0, so that it mends the rare points whose
 * proposals are hopeless and which the acceptance, a mean, can afford to give up. */
typedef enum ais_exact_loss {
    AIS_CHANCE, /* -min(1, e^l) */
    AIS_SOFT,   /* -2 / (1 + e^-l) */
    AIS_ROOT    /* sqrt(1 + l^2) - 1 */
} ais_exact_loss;

/* One block's memory; rows are coordinates x AIS_BLOCK. */
typedef struct ais_henon_block {
    double *x, *logp;   /* in: dim rows of points of the population, their log densities */
    double *z, *middle; /* (u, v), and g of it */
    double *image;      /* M(u, v) */
    double *image_x;    /* its point */
    double *image_logp, *slope, *work;
    double *ratio, *chance;            /* l or d; min(1, e^ratio) */
    double *gradient_ratio, *gradient; /* lanes; 2 dim rows */
    double *gradient_x;                /* dim rows */
    ais_henon_tape *there, *back;
    ais_discriminator_tape *discriminator;
    bool bad[AIS_BLOCK]; /* lanes whose ratio or slope is not a number: they have no gradient */
} ais_henon_block;

typedef struct ais_henon_objective {
    /* filled by the caller */
    ais_henon henon;
    ais_reversal reversal;
    const ais_whitening *whitening;
    const ais_target *target;
    const ais_discriminator *discriminator; /* or NULL: exact */
    ais_mixing *mixing;                     /* or NULL: no term */
    double strength;                        /* of the mixing term */
    double likelihood;                      /* weight of the likelihood beside it */
    bool differences;                       /* of the density, in place of the target's gradient */
    double h;                               /* their step */
    ais_exact_loss exact;
    ais_discriminator_loss loss;
    /* filled by ais_henon_objective_new */
    int blocks;
    ais_henon_block *block;
    ais_mixing_block *mixing_block;
    ais_batch batch, discriminator_batch;
    double *row; /* blocks x what the ranks exchange of one */
    /* of the call under way */
    const ais_real *theta, *phi;
} ais_henon_objective;

static inline size_t ais_henon_theta(const ais_henon *henon) {
    return henon->weights + ais_henon_base_weights(2 * henon->dim);
}

bool ais_henon_objective_new(ais_henon_objective *objective, ais_pool *pool, int blocks, ais_arena *arena);

/* v of the batch, a pure function of seed and step. */
void ais_henon_objective_draw(ais_henon_objective *objective, uint64_t seed, uint64_t step);

/* Mean negative log likelihood; its gradient by theta is in objective->batch.gradient. */
double ais_henon_likelihood(ais_henon_objective *objective, const ais_real *theta);

/* The kernel's loss, exact or (with phi) adversarial; gradient as above. */
double ais_henon_acceptance(ais_henon_objective *objective, const ais_real *theta, const ais_real *phi);

/* The discriminator's loss; its gradient by phi is in objective->discriminator_batch.gradient. */
double ais_henon_discriminate(ais_henon_objective *objective, const ais_real *theta, const ais_real *phi);

#endif
