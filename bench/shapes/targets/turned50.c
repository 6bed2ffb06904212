#define DIM       50
#define CONDITION 100
#include "normal.h"
