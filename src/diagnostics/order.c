/* Radix sort, byte by byte from the lowest: linear, stable, and the same on every machine. */
#include "diagnostics/order.h"

#include <string.h>

enum { BYTES = 8, DIGITS = 256 };

/* The bits of a double, changed so that unsigned order is numeric order. */
static uint64_t key_of(double x) {
    uint64_t bits;
    x += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}

void ais_order(const double *x, size_t n, ais_ordered *order, ais_ordered *spare) {
    size_t count[BYTES][DIGITS];
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = key_of(x[i]);
        order[i] = (ais_ordered){key, i};
        for (int b = 0; b < BYTES; b++) count[b][key >> (8 * b) & 255]++;
    }
    ais_ordered *from = order, *to = spare;
    for (int b = 0; b < BYTES && n > 0; b++) {
        size_t *place = count[b], sum = 0;
        if (place[from[0].key >> (8 * b) & 255] == n) continue; /* all the same digit */
        for (int digit = 0; digit < DIGITS; digit++) {
            size_t here = place[digit];
            place[digit] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++) to[place[from[i].key >> (8 * b) & 255]++] = from[i];
        ais_ordered *keep = from;
        from = to;
        to = keep;
    }
    if (from != order) memcpy(order, from, n * sizeof *order);
}
