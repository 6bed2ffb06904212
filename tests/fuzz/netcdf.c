/* Draws in netCDF, or in what only begins like it. */
#include "fuzz.h"

#include <aisampler/draws.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ais_context context;
    ais_draws *draws = NULL;
    const char *path = fuzz_path("draws.nc");
    fuzz_write(path, data, size);
    ais_status status = ais_draws_read(&context, &path, 1, &draws);
    must((status == AIS_OK) == (draws != NULL));
    if (draws) must(draws->dim > 0 && draws->draws > 0 && draws->chains > 0);
    ais_draws_free(draws);
    return 0;
}
