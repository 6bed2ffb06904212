#define _GNU_SOURCE /* fopencookie */
#include "base/memory_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static ssize_t put(void *cookie, const char *data, size_t bytes) {
    ais_memory_file *this = cookie;
    if (this->room - this->count <= bytes) {
        size_t room = 2 * this->room + bytes + 1024;
        char *larger = this->failed ? NULL : realloc(this->bytes, room);
        if (!larger) {
            this->failed = true;
            return 0;
        }
        this->bytes = larger;
        this->room = room;
    }
    memcpy(this->bytes + this->count, data, bytes);
    this->count += bytes;
    return (ssize_t)bytes;
}

/* For ftell: where the end is. */
static int seek(void *cookie, off64_t *offset, int whence) {
    const ais_memory_file *this = cookie;
    if (whence == SEEK_SET || *offset != 0) return -1;
    *offset = (off64_t)this->count;
    return 0;
}

FILE *ais_memory_open(ais_memory_file *this) {
    *this = (ais_memory_file){0};
    this->file = fopencookie(this, "w", (cookie_io_functions_t){.write = put, .seek = seek});
    return this->file;
}

char *ais_memory_close(ais_memory_file *this, size_t *count) {
    bool whole = this->file && !ferror(this->file);
    if (this->file && fclose(this->file) != 0) whole = false;
    this->file = NULL;
    if (whole && put(this, "", 1) != 1) whole = false;
    if (!whole || this->failed) {
        free(this->bytes);
        this->bytes = NULL;
        this->count = 1;
    }
    if (count) *count = this->count - 1;
    return this->bytes;
}
