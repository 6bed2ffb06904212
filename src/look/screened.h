/* What a screen leaves to learning. */
#ifndef AIS_LOOK_SCREENED_H
#define AIS_LOOK_SCREENED_H

#include "look/box.h"

/* Points that were screened, of a density that is known: learning can weigh them. */
typedef struct ais_screened {
    size_t n;
    double *x, *logp; /* n x dim, n */
    ais_box box;      /* where they are uniform; without one they are of N(0, scale^2 I) */
} ais_screened;

enum { AIS_SCREENS = 4 };

#endif
