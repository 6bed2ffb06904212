/* Gaussian shells, d = 2. */
enum { SHELLS_DIM = 2 };
#include "shells.h"
