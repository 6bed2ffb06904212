#define DIM 100
#include "normal.h"
