/* A trained discriminator on its own: its shape, its weights and the whitening that it sees points through. */
#ifndef AIS_TRAINER_LEARNED_DISCRIMINATOR_H
#define AIS_TRAINER_LEARNED_DISCRIMINATOR_H

#include <aisampler/trainer.h>

#include "fit/discriminator.h"
#include "map/whitening.h"

/* Copies all three. */
ais_status ais_learned_discriminator_new(ais_context *context, const ais_discriminator *shape, const ais_real *weights,
                                         const ais_whitening *whitening, ais_learned_discriminator **discriminator);
void ais_learned_discriminator_free(ais_learned_discriminator *discriminator); /* NULL is allowed */

#endif
