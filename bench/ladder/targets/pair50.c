#define DIM 50
#include "pair.h"
