/* Words that name a target. Those that name files are not opened: they would be this machine's. */
#include "fuzz.h"

#include <aisampler/target.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ais_context context;
    ais_target *target = NULL;
    char *spec = fuzz_text(data, size);
    if (!strpbrk(spec, "/~")) {
        must(chdir(fuzz_folder) == 0 || (fuzz_path("") && chdir(fuzz_folder) == 0)); /* where there are none */
        ais_status status = ais_target_open(&context, spec, &target);
        must((status == AIS_OK) == (target != NULL));
        if (target && target->dim <= 1000 && !target->draws) {
            double *x = calloc((size_t)target->dim, sizeof *x), value;
            must(x);
            value = target->logp(x, target->data);
            must(value == value);
            free(x);
        }
    }
    ais_target_close(target);
    free(spec);
    return 0;
}
