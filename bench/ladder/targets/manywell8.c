#define DIM 8
#include "manywell.h"
