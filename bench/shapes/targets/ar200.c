#define DIM         200
#define CORRELATION 0.9
#define GRADIENT
#include "normal.h"
