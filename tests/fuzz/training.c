/* Checkpoints of a training. The first byte says of which. */
#include "checkpoints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    patience of = {.left = 300};
    const char *path = fuzz_path("training");
    unsigned char *bytes = fuzz_copy(data + 1, size - 1);
    fuzz_seal(bytes, size - 1);
    fuzz_write(path, bytes, size - 1);
    (void)fuzz_train(data[0] % TRAININGS, path, &of);
    free(bytes);
    return 0;
}
