/* Writes a learned kernel with random weights: kernel_probe henon|realnvp|spline DIM FILE.ais */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/aisampler.h>

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    ais_context context = {0};
    ais_kernel *kernel;
    ais_shape shape = {.dim = atoi(argv[2]), .activation = AIS_TANH};
    shape.map = strcmp(argv[1], "henon") == 0 ? AIS_HENON : strcmp(argv[1], "realnvp") == 0 ? AIS_REALNVP : AIS_SPLINE;
    shape.reversal = shape.map == AIS_HENON ? AIS_FLIP : AIS_SWAP;
    if (shape.map == AIS_HENON) shape.layers = 4;
    if (ais_kernel_learned(&context, &shape, 1, &kernel) != AIS_OK ||
        ais_kernel_save(&context, kernel, NULL, argv[3]) != AIS_OK) {
        fprintf(stderr, "%s\n", context.message);
        return 1;
    }
    ais_kernel_free(kernel);
    return 0;
}
