#include "file/json_text.h"

#include "base/memory_file.h"

static int put(const char *text, size_t count, void *data) {
    ais_memory_file *memory = data;
    if (fwrite(text, 1, count, memory->file) == count) return 0;
    memory->failed = true;
    return -1;
}

char *ais_json_text(const json_t *json) {
    ais_memory_file memory;
    if (!json) return NULL;
    if (ais_memory_open(&memory) && json_dump_callback(json, put, &memory, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0)
        memory.failed = true;
    return ais_memory_close(&memory, NULL);
}
