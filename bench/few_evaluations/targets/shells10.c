/* Gaussian shells, d = 10. */
enum { SHELLS_DIM = 10 };
#include "shells.h"
