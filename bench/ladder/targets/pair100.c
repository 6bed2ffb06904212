#define DIM 100
#include "pair.h"
