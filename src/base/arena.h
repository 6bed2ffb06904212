/* One allocation, sliced. Everything a chain block needs is taken before the first step, so that
 * a step allocates nothing. Slices are aligned to 64 bytes and zeroed. */
#ifndef AIS_BASE_ARENA_H
#define AIS_BASE_ARENA_H

#include <stddef.h>

enum { AIS_ALIGNMENT = 64 };

typedef struct ais_arena_part ais_arena_part;
typedef struct ais_arena {
    ais_arena_part *last;
} ais_arena;

/* NULL when memory is out. The arena grows by parts; earlier slices never move. */
void *ais_arena_take(ais_arena *arena, size_t bytes);

#define AIS_TAKE(arena, type, count) ((type *)ais_arena_take((arena), (size_t)(count) * sizeof(type)))

void ais_arena_free(ais_arena *arena);

/* A zeroed, aligned allocation of its own, released by free(). */
void *ais_allocate(size_t bytes);

#endif
