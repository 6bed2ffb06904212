#define DIM       100
#define CONDITION 100
#include "normal.h"
