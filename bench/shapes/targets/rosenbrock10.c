#define DIM 10
#include "rosenbrock.h"
