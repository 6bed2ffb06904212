#define DIM 20
#include "rosenbrock.h"
