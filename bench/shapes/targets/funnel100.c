#define DIM 100
#include "funnel.h"
