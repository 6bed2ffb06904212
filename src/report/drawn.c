#include "report/drawn.h"

#include <stdlib.h>

#include "base/apart.h"
#include "base/memory_file.h"

/* Of processor time, far beyond what they take: fontconfig does not come back when memory is used up. */
static const double seconds = 15, panel_seconds = 0.5;

typedef struct drawing {
    ais_status (*draw)(ais_context *context, const void *data, FILE *file);
    const void *data;
    FILE *file;  /* here */
    char *bytes; /* there */
    size_t count;
} drawing;

static ais_status work(ais_context *context, void *data) {
    drawing *this = data;
    ais_memory_file memory;
    ais_status status = ais_memory_open(&memory) ? this->draw(context, this->data, memory.file) : AIS_OK;
    this->bytes = ais_memory_close(&memory, &this->count);
    return status == AIS_OK && !this->bytes ? ais_fail_memory(context, "a figure", this->count) : status;
}

static bool give(void *data, int descriptor) {
    const drawing *this = data;
    return ais_apart_write(descriptor, &this->count, sizeof this->count) &&
           ais_apart_write(descriptor, this->bytes, this->count);
}

static ais_status take(ais_context *context, void *data, int descriptor) {
    const drawing *this = data;
    size_t left;
    char buffer[1 << 14];
    bool got = ais_apart_read(descriptor, &left, sizeof left);
    for (size_t part; got && left > 0; left -= part) {
        part = left < sizeof buffer ? left : sizeof buffer;
        got = ais_apart_read(descriptor, buffer, part);
        if (got && fwrite(buffer, 1, part, this->file) != part)
            return ais_fail(context, AIS_FILE_ERROR, "the figure cannot be written: is the disk full?");
    }
    if (got) return AIS_OK;
    return ais_fail(context, AIS_FILE_ERROR, "cannot draw a figure: the process that drew it was killed");
}

ais_status ais_draw_apart(ais_context *context, ais_status (*draw)(ais_context *context, const void *data, FILE *file),
                          const void *data, int panels, FILE *file) {
    drawing this = {.draw = draw, .data = data, .file = file};
    const ais_apart_job job = {.doing = "draw a figure",
                               .death = "the cairo library failed (is memory used up?)",
                               .blame = AIS_NO_MEMORY,
                               .seconds = seconds + panels * panel_seconds,
                               .work = work,
                               .give = give,
                               .take = take,
                               .data = &this};
    return ais_apart(context, &job);
}
