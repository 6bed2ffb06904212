#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { PART_BYTES = 1 << 13 }; /* small: of a million chains there are 15,000 arenas */

struct ais_arena_part {
    ais_arena_part *before;
    size_t used, size; /* bytes, the head included */
};

static size_t rounded(size_t bytes) { return (bytes + AIS_ALIGNMENT - 1) / AIS_ALIGNMENT * AIS_ALIGNMENT; }

void *ais_allocate(size_t bytes) {
    if (bytes > (size_t)-1 / 4) return NULL;
    size_t size = rounded(bytes ? bytes : 1);
    void *memory = aligned_alloc(AIS_ALIGNMENT, size);
    if (memory) memset(memory, 0, size);
    return memory;
}

void *ais_arena_take(ais_arena *arena, size_t bytes) {
    if (bytes > (size_t)-1 / 4) return NULL;
    size_t head = rounded(sizeof(ais_arena_part)), need = rounded(bytes ? bytes : 1);
    ais_arena_part *part = arena->last;
    if (!part || part->size - part->used < need) {
        size_t size = head + need > PART_BYTES ? head + need : PART_BYTES;
        ais_arena_part *fresh = ais_allocate(size);
        if (!fresh) return NULL;
        *fresh = (ais_arena_part){.before = part, .used = head, .size = size};
        arena->last = part = fresh;
    }
    void *slice = (char *)part + part->used;
    part->used += need;
    return slice;
}

void ais_arena_free(ais_arena *arena) {
    for (ais_arena_part *part = arena->last; part;) {
        ais_arena_part *before = part->before;
        free(part);
        part = before;
    }
    arena->last = NULL;
}
