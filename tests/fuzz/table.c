/* Tables for regressions. The first byte says which regression, the first line its options; the rest is the table. */
#include "fuzz.h"

#include <aisampler/target.h>

static void evaluate(const ais_target *target) {
    double *x = calloc(2 * (size_t)target->dim, sizeof *x);
    must(x);
    (void)target->logp(x, target->data);
    if (target->grad) (void)target->grad(x, x + target->dim, target->data);
    free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const model[] = {"blr", "linear", "poisson"};
    ais_context context;
    ais_target *target = NULL;
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    if (!line) return 0;
    char *options = fuzz_text(data + 1, line > data ? (size_t)(line - data) - 1 : 0);
    const char *path = fuzz_path("table.csv");
    size_t room = strlen(path) + strlen(options) + 32;
    char *spec = malloc(room);
    must(spec);
    snprintf(spec, room, "%s:%s%s%s", model[data[0] % 3], path, *options ? ":" : "", options);
    fuzz_write(path, line + 1, size - (size_t)(line + 1 - data));
    if (!strchr(options, '/')) { /* else it may be another file */
        ais_status status = ais_target_open(&context, spec, &target);
        must((status == AIS_OK) == (target != NULL));
        if (target && target->dim <= 1000) evaluate(target);
        ais_target_close(target);
    }
    free(spec);
    free(options);
    return 0;
}
