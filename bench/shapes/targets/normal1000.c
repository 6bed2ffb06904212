#define DIM 1000
#define GRADIENT
#include "normal.h"
