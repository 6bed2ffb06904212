/* The logistic regression `german` (25 coefficients), its gradient withheld. */
#include <math.h>
#include <pthread.h>

#include <aisampler/aisampler.h>
#include <aisampler/density.h>

#include "../../metered.h"

static const ais_target *german;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_german(void) {
    ais_context context = {0};
    ais_target *opened = NULL;
    if (ais_target_open(&context, "german", &opened) == AIS_OK) german = opened;
}

static double logp(const double *x, void *data) {
    (void)data;
    pthread_once(&once, open_german);
    metered_density();
    return german ? german->logp(x, german->data) : -INFINITY;
}

AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 25, .logp = logp};
