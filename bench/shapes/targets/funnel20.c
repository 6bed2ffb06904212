#define DIM 20
#include "funnel.h"
