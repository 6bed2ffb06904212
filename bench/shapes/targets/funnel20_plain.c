#define DIM 20
#define WITHOUT_GRADIENT
#include "funnel.h"
