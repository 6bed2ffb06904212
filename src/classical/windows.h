/* When warm-up learns variances: Stan's schedule. An initial stretch finds the typical set; then
 * windows that double in length each learn the variances afresh; a last stretch only tunes the
 * step size. */
#ifndef AIS_CLASSICAL_WINDOWS_H
#define AIS_CLASSICAL_WINDOWS_H

#include <stdint.h>

typedef enum ais_window {
    AIS_WINDOW_OUTSIDE, /* leave the draw */
    AIS_WINDOW_INSIDE,  /* add the draw to the estimate */
    AIS_WINDOW_END      /* add it, then take the estimate over and start a new one */
} ais_window;

typedef struct ais_windows {
    uint64_t first, past; /* the windows cover steps first .. past - 1 */
    uint64_t size;        /* of the window at hand */
    uint64_t end;         /* its last step */
    uint64_t count;       /* steps so far */
} ais_windows;

ais_windows ais_windows_new(uint64_t warmup);

/* What to do with the draw of the next step. */
ais_window ais_windows_advance(ais_windows *windows);

#endif
