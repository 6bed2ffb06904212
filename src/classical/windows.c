#include "classical/windows.h"

enum { SHORTEST = 20, INITIAL = 75, BASE = 25, TERMINAL = 50 };

ais_windows ais_windows_new(uint64_t warmup) {
    if (warmup < SHORTEST) return (ais_windows){0};
    uint64_t initial = INITIAL, terminal = TERMINAL, size = BASE;
    if (warmup < INITIAL + BASE + TERMINAL) {
        initial = warmup * 15 / 100;
        terminal = warmup / 10;
        size = warmup - initial - terminal;
    }
    return (ais_windows){.first = initial, .past = warmup - terminal, .size = size, .end = initial + size - 1};
}

/* A window that would leave too little for the next, twice as long one, is stretched to the end. */
static void next_window(ais_windows *windows, uint64_t step) {
    uint64_t last = windows->past - 1;
    if (windows->end == last) return;
    windows->size *= 2;
    windows->end = step + windows->size;
    if (windows->end + 2 * windows->size > last) windows->end = last;
}

ais_window ais_windows_advance(ais_windows *windows) {
    uint64_t step = windows->count++;
    if (step < windows->first || step >= windows->past) return AIS_WINDOW_OUTSIDE;
    if (step != windows->end) return AIS_WINDOW_INSIDE;
    next_window(windows, step);
    return AIS_WINDOW_END;
}
