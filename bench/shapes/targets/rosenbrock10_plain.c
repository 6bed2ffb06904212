#define DIM 10
#define WITHOUT_GRADIENT
#include "rosenbrock.h"
