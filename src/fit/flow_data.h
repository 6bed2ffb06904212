/* An archive as a flow's objectives want it: points in the flow's whitened coordinates, with log p, the gradient by
 * these coordinates, and which of them batches are made of. A share of the points is held out, to tell learning from
 * learning by heart. */
#ifndef AIS_FIT_FLOW_DATA_H
#define AIS_FIT_FLOW_DATA_H

#include "explore/archive.h"
#include "fit/flow_objective.h"

typedef struct ais_flow_data {
    int dim;
    size_t count;  /* points to learn from */
    size_t held;   /* points held out, behind them */
    double *u;     /* (count + held) x dim */
    double *slope; /* likewise; NULL without gradients */
    double *logp;
    double *chance; /* count: cumulated chances of being taken, the last one 1; NULL: all alike */
    ais_arena arena;
} ais_flow_data;

/* Points of positive density with a gradient, for fisher; all alike. hold: the share held out. Of a flow with a bend
 * (ais_flow_bends) they are behind its pivot layer: residuals count in the units of the narrow parts there. */
ais_status ais_flow_data_slopes(ais_context *context, ais_flow_data *data, const ais_archive *archive,
                                const ais_learned *learned, double hold);

/* Points that together follow p, for likelihood and pair: draws of sources by their importance weights (the largest
 * clipped at the half percent), draws of chains alike; whichever stand for more draws. weight: of the
 * archive. Gradients come along where it has them all. */
ais_status ais_flow_data_draws(ais_context *context, ais_flow_data *data, const ais_archive *archive,
                               const ais_learned *learned, const double *weight);

/* Whether the first layer is an affine pivot layer, which fit/bend.h fits and fisher leaves as it is. */
bool ais_flow_bends(const ais_learned *learned);

void ais_flow_data_free(ais_flow_data *data);

/* Fills the trainer's batch from points drawn at random, with this stream. */
void ais_flow_data_batch(const ais_flow_data *data, const ais_stream *stream, ais_flow_trainer *trainer);

/* The mean fisher loss of the points held out; NAN when there are none. */
double ais_flow_data_held_loss(const ais_flow_data *data, ais_flow_trainer *trainer);

#endif
