#define DIM 10
#include "funnel.h"
