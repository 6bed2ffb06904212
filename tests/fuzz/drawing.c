/* The checkpoint of a run and the journal beside it. The first byte says of which run and whether it is extended, four
 * bytes how long the checkpoint is; the journal follows. */
#include "checkpoints.h"

/* The head has 40 bytes and ends with a token and its sum; a chunk begins with 24 bytes, the last 8 of them how many
 * follow, and ends with the sum of it all, begun with the token (src/draws/journal.c). */
static void seal_journal(unsigned char *bytes, size_t count) {
    enum { HEAD = 40, ENTRY = 24 };
    if (count < HEAD) return;
    uint64_t sum = ais_checksum(bytes, HEAD - 8), token, follow;
    memcpy(bytes + HEAD - 8, &sum, 8);
    memcpy(&token, bytes + HEAD - 16, 8);
    for (size_t at = HEAD; count - at >= ENTRY; at += ENTRY + follow) {
        memcpy(&follow, bytes + at + ENTRY - 8, 8);
        if (follow < 8 || follow > count - at - ENTRY) return;
        sum = ais_checksum_long(token, bytes + at, ENTRY + follow - 8);
        memcpy(bytes + at + ENTRY + follow - 8, &sum, 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { FIXED = 5 };
    uint32_t length;
    if (size < FIXED) return 0;
    memcpy(&length, data + 1, sizeof length);
    if (length > size - FIXED) length = (uint32_t)(size - FIXED);
    patience of = {.left = 300};
    const char *path = fuzz_path("drawing"), *journal = fuzz_path("drawing.journal");
    unsigned char *bytes = fuzz_copy(data + FIXED, size - FIXED);
    fuzz_seal(bytes, length);
    seal_journal(bytes + length, size - FIXED - length);
    fuzz_write(path, bytes, length);
    fuzz_write(journal, bytes + length, size - FIXED - length);
    (void)fuzz_draw(data[0] % DRAWINGS, path, &of, data[0] / DRAWINGS % 2 ? 4 : 0);
    free(bytes);
    return 0;
}
