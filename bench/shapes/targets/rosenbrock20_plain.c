#define DIM 20
#define WITHOUT_GRADIENT
#include "rosenbrock.h"
