/* Kernel files: what is read can be drawn with, and written and read again. */
#include "fuzz.h"

#include <aisampler/aisampler.h>

#include "file/kernel_file.h"

static double logp(const double *x, void *data) {
    double sum = 0;
    for (int i = 0; i < *(const int *)data; i++) sum -= 0.5 * x[i] * x[i];
    return sum;
}

static double grad(const double *x, double *gradient, void *data) {
    for (int i = 0; i < *(const int *)data; i++) gradient[i] = -x[i];
    return logp(x, data);
}

static void draw(const ais_kernel *kernel) {
    ais_context context;
    int dim = ais_kernel_dim(kernel);
    ais_target target = {.name = "normal", .dim = dim, .logp = logp, .grad = grad, .start_scale = 1, .data = &dim};
    ais_sample_options options = {.chains = 2, .warmup = 2, .draws = 3, .threads = 1, .seed = 1};
    (void)ais_sample(&context, &target, kernel, &options, NULL, 0, NULL);
}

static void write_and_read(const ais_kernel *kernel) {
    ais_context context;
    size_t count = 0;
    ais_kernel *again = NULL;
    unsigned char *bytes = ais_kernel_encode(kernel, NULL, &count);
    must(bytes && ais_kernel_decode(&context, "again", bytes, count, NULL, &again) == AIS_OK);
    must(ais_kernel_dim(again) == ais_kernel_dim(kernel));
    ais_kernel_free(again);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ais_context context;
    ais_kernel *kernel = NULL;
    unsigned char *bytes = fuzz_copy(data, size);
    fuzz_seal(bytes, size);
    ais_status status = ais_kernel_decode(&context, "kernel", bytes, size, NULL, &kernel);
    must((status == AIS_OK) == (kernel != NULL));
    if (kernel) {
        write_and_read(kernel);
        draw(kernel);
    }
    ais_kernel_free(kernel);
    free(bytes);
    return 0;
}
