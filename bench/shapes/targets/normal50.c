#define DIM 50
#include "normal.h"
