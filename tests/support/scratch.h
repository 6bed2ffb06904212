/* A folder of a test's own, and looking at files in it. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#define _XOPEN_SOURCE 700 /* nftw */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int scratch_remove_one(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline void scratch_remove(const char *directory) {
    nftw(directory, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A cmocka setup and teardown: the state is the path of an empty folder. */
static inline int scratch_setup(void **state) {
    char *directory = strdup("/tmp/aisampler-test-XXXXXX");
    *state = directory;
    return directory && mkdtemp(directory) ? 0 : -1;
}

static inline int scratch_teardown(void **state) {
    scratch_remove(*state);
    free(*state);
    return 0;
}

/* DIRECTORY/NAME in one of a few buffers that are used in turn. */
static inline const char *scratch_path(const char *directory, const char *name) {
    static char buffer[8][1024];
    static int turn;
    char *path = buffer[turn++ % 8];
    snprintf(path, sizeof buffer[0], "%s/%s", directory, name);
    return path;
}

static inline int scratch_has(const char *directory, const char *name) {
    return access(scratch_path(directory, name), F_OK) == 0;
}

static inline void scratch_write(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) abort();
}

/* The whole file, ended by a zero byte; the caller frees it. NULL if there is none. */
static inline char *scratch_read(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) abort();
    fclose(file);
    if (bytes) *bytes = (size_t)size;
    return text;
}

static inline int scratch_same(const char *path, const char *other) {
    size_t bytes = 0, other_bytes = 0;
    char *text = scratch_read(path, &bytes), *other_text = scratch_read(other, &other_bytes);
    int same = text && other_text && bytes == other_bytes && memcmp(text, other_text, bytes) == 0;
    free(text);
    free(other_text);
    return same;
}

#endif
