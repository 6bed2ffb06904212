/* What the attacks on the readers share. Each is one function that is given bytes: it must come back, whatever they
 * are. What it promises beside that is checked by `must`. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition) ((condition) ? (void)0 : fuzz_broken(#condition, __FILE__, __LINE__))
static inline void fuzz_broken(const char *what, const char *file, int line) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

static char fuzz_folder[] = "/dev/shm/aisampler-fuzz-XXXXXX";

static void fuzz_clean(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", fuzz_folder);
    if (system(command) != 0) return;
}

/* FOLDER/NAME, in one of a few buffers that are used in turn; the folder is made at the first call. */
static inline const char *fuzz_path(const char *name) {
    static char buffer[4][128];
    static int turn;
    static bool made; /* its name may end in an X, too */
    if (!made) {
        must(mkdtemp(fuzz_folder));
        atexit(fuzz_clean);
        made = true;
    }
    char *path = buffer[turn++ % 4];
    snprintf(path, sizeof buffer[0], "%s/%s", fuzz_folder, name);
    return path;
}

static inline void fuzz_write(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    must(file && (!count || fwrite(bytes, 1, count, file) == count) && fclose(file) == 0);
}

/* A copy on the heap, of its exact size, so that reading beyond its end is seen. */
static inline void *fuzz_copy(const void *bytes, size_t count) {
    void *copy = malloc(count ? count : 1);
    must(copy);
    if (count) memcpy(copy, bytes, count);
    return copy;
}

static inline char *fuzz_text(const void *bytes, size_t count) {
    char *text = malloc(count + 1);
    must(text);
    if (count) memcpy(text, bytes, count);
    text[count] = '\0';
    return text;
}

/* Corrects the checksum in the last 8 bytes: behind it is what is to be attacked. */
static inline void fuzz_seal(unsigned char *bytes, size_t count) {
    if (count < 8) return;
    uint64_t sum = ais_checksum(bytes, count - 8);
    memcpy(bytes + count - 8, &sum, 8);
}

#endif
