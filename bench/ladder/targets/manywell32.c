#define DIM 32
#include "manywell.h"
