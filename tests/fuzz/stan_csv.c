/* Draws in Stan CSV or plain CSV. */
#include "fuzz.h"

#include "draws/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ais_context context;
    ais_draws *draws = NULL;
    char *bytes = fuzz_copy(data, size);
    FILE *file = size ? fmemopen(bytes, size, "rb") : NULL;
    if (file) {
        ais_status status = ais_read_stan_csv(&context, "draws.csv", file, &draws);
        must((status == AIS_OK) == (draws != NULL));
        fclose(file);
    }
    if (draws) {
        must(draws->dim > 0 && draws->draws > 0 && draws->chains == 1);
        (void)ais_draws_column(draws, "lp__");
    }
    ais_draws_free(draws);
    free(bytes);
    return 0;
}
