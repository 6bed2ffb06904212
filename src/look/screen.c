#include "look/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "look/evaluate.h"

enum { ROWS = 256, BINS = 40, SMALL_BIN = 20, NEIGHBOURS = 5, SUMMIT_DIMENSIONS = 3, SUMMIT_POINTS = 16384 };

typedef struct screen_place {
    int mode;
    double distance;
    size_t point;
} screen_place;

bool ais_screen_take(ais_screen *screen, ais_arena *arena, size_t n, size_t region, int dim) {
    *screen = (ais_screen){.n = n,
                           .region = region,
                           .dim = (size_t)dim,
                           .x = AIS_TAKE(arena, double, n *(size_t)dim),
                           .logp = AIS_TAKE(arena, double, n),
                           .origin = AIS_TAKE(arena, int, n),
                           .mode = AIS_TAKE(arena, int, n),
                           .distance = AIS_TAKE(arena, double, n),
                           .expected = AIS_TAKE(arena, double, n),
                           .odd = AIS_TAKE(arena, double, n),
                           .used = AIS_TAKE(arena, bool, n),
                           .summit = AIS_TAKE(arena, bool, n),
                           .order = AIS_TAKE(arena, screen_place, n),
                           .room = AIS_TAKE(arena, double, n)};
    for (size_t c = 0; c < n && screen->origin; c++) screen->origin[c] = -1;
    return screen->x && screen->logp && screen->origin && screen->mode && screen->distance && screen->expected &&
           screen->odd && screen->used && screen->summit && screen->order && screen->room;
}

typedef struct nearest_job {
    ais_screen *screen;
    const ais_modes *modes;
} nearest_job;

static void nearest_task(void *data, int block) {
    const nearest_job *job = data;
    ais_screen *screen = job->screen;
    size_t first = (size_t)block * ROWS, end = first + ROWS < screen->n ? first + ROWS : screen->n;
    for (size_t c = first; c < end; c++) {
        double best = -INFINITY;
        screen->mode[c] = 0;
        screen->distance[c] = INFINITY;
        for (int k = 0; k < job->modes->mixture.count; k++) {
            double height = job->modes->height[k], limit = 2 * (height - best);
            double distance = ais_components_distance(&job->modes->mixture, k, screen->x + c * screen->dim, limit);
            if (!(height - 0.5 * distance > best)) continue;
            best = height - 0.5 * distance;
            screen->mode[c] = k;
            screen->distance[c] = distance;
        }
        screen->expected[c] = best;
    }
}

static int by_place(const void *a, const void *b) {
    const screen_place *x = a, *y = b;
    if (x->mode != y->mode) return x->mode < y->mode ? -1 : 1;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

static double median(double *value, size_t n) {
    qsort(value, n, sizeof *value, ais_rising);
    return n % 2 ? value[n / 2] : 0.5 * (value[n / 2 - 1] + value[n / 2]);
}

/* Points at about the same distance of one mode. */
static void judge_bin(ais_screen *screen, const screen_place *bin, size_t n) {
    double middle = 0, spread = 0;
    if (n >= SMALL_BIN / 2) {
        for (size_t i = 0; i < n; i++) screen->room[i] = screen->logp[bin[i].point] - screen->expected[bin[i].point];
        middle = median(screen->room, n);
        if (n < SMALL_BIN) middle = fmax(middle, 0);
        for (size_t i = 0; i < n; i++) screen->room[i] = fabs(screen->room[i] - middle);
        spread = 1.48 * median(screen->room, n);
    }
    for (size_t i = 0; i < n; i++) {
        size_t c = bin[i].point;
        double expected = screen->expected[c], excess = screen->logp[c] - expected;
        double odd = (excess - middle) / (1 + 3 * spread + 0.01 * fabs(expected));
        bool above = excess > 1 + 0.02 * fabs(expected);
        screen->odd[c] = above && odd <= 1 ? 1 + 1e-9 : odd;
    }
}

void ais_screen_judge(ais_screen *screen, const ais_modes *modes, ais_pool *pool) {
    nearest_job job = {screen, modes};
    ais_share_out(pool, (int)((screen->n + ROWS - 1) / ROWS), nearest_task, &job);
    size_t inside = 0;
    for (size_t c = 0; c < screen->n; c++) {
        screen->odd[c] = -INFINITY;
        if (!(screen->logp[c] > -INFINITY)) continue;
        if (modes->mixture.count)
            screen->order[inside++] = (screen_place){screen->mode[c], screen->distance[c], c};
        else
            screen->odd[c] = 2 + atan(screen->logp[c]); /* no modes are known: all points are odd, the highest most */
    }
    qsort(screen->order, inside, sizeof *screen->order, by_place);
    for (size_t first = 0, end; first < inside; first = end) {
        for (end = first + 1; end < inside && screen->order[end].mode == screen->order[first].mode;) end++;
        size_t count = end - first, bins = count / SMALL_BIN < BINS ? count / SMALL_BIN : BINS;
        if (!bins) bins = 1;
        for (size_t b = 0; b < bins; b++) {
            size_t from = first + count * b / bins, to = first + count * (b + 1) / bins;
            judge_bin(screen, screen->order + from, to - from);
        }
    }
}

/* Squared distances of the nearest points so far, rising, and whether each is higher. */
typedef struct neighbour {
    double distance;
    bool higher;
} neighbour;

static void add_neighbour(neighbour *nearest, double distance, bool higher) {
    int k = NEIGHBOURS - 1;
    for (; k > 0 && nearest[k - 1].distance > distance; k--) nearest[k] = nearest[k - 1];
    nearest[k] = (neighbour){distance, higher};
}

static void summit_task(void *data, int block) {
    ais_screen *screen = data;
    size_t dim = screen->dim, first = (size_t)block * ROWS, end = first + ROWS < screen->n ? first + ROWS : screen->n;
    for (size_t c = first; c < end; c++) {
        neighbour nearest[NEIGHBOURS];
        if (!(screen->logp[c] > -INFINITY)) continue;
        for (int k = 0; k < NEIGHBOURS; k++) nearest[k] = (neighbour){INFINITY, false};
        for (size_t o = 0; o < screen->n; o++) {
            double distance = 0;
            for (size_t i = 0; i < dim; i++) {
                double apart = screen->x[c * dim + i] - screen->x[o * dim + i];
                distance += apart * apart;
            }
            if (o != c && distance < nearest[NEIGHBOURS - 1].distance)
                add_neighbour(nearest, distance, screen->logp[o] > screen->logp[c]);
        }
        screen->summit[c] = true;
        for (int k = 0; k < NEIGHBOURS; k++) screen->summit[c] &= !nearest[k].higher;
    }
}

void ais_screen_summits(ais_screen *screen, ais_pool *pool) {
    screen->surveyed = screen->dim <= SUMMIT_DIMENSIONS && screen->n <= SUMMIT_POINTS;
    if (screen->surveyed) ais_share_out(pool, (int)((screen->n + ROWS - 1) / ROWS), summit_task, screen);
}

long ais_screen_enough(int dim, bool even) { return dim <= SUMMIT_DIMENSIONS && !even ? 2 * NEIGHBOURS : 5; }

static bool eligible(const ais_screen *screen, size_t c) { return screen->odd[c] > 1 && !screen->used[c]; }

static void take_point(ais_screen *screen, size_t c, double *x) {
    screen->used[c] = true;
    memcpy(x, screen->x + c * screen->dim, screen->dim * sizeof *x);
}

int ais_screen_pick(ais_screen *screen, const ais_stream *stream, int most, double *x) {
    int picked = 0;
    for (size_t best; picked < most; picked++) {
        best = screen->n;
        for (size_t c = 0; c < screen->n; c++)
            if (screen->summit[c] && eligible(screen, c) && (best == screen->n || screen->logp[c] > screen->logp[best]))
                best = c;
        if (best == screen->n) break;
        take_point(screen, best, x + (size_t)picked * screen->dim);
    }
    if (picked || screen->surveyed) return picked;
    for (; picked < most; picked++) {
        size_t candidates = 0, best = screen->n;
        for (size_t c = 0; c < screen->n; c++) {
            if (!eligible(screen, c)) continue;
            candidates++;
            if (best == screen->n || screen->odd[c] > screen->odd[best]) best = c;
        }
        if (!candidates) break;
        if (picked >= most / 2) {
            size_t left = ais_random_below(stream, (uint32_t)picked, candidates);
            for (best = 0; !eligible(screen, best) || left; best++) left -= eligible(screen, best);
        }
        take_point(screen, best, x + (size_t)picked * screen->dim);
    }
    return picked;
}

/* Of few dimensions, where basins matter and not how wide a fit in them is. */
static int nearest_mode(const ais_screen *screen, const ais_components *modes, const double *unit, size_t c) {
    int best = 0;
    double least = INFINITY;
    for (int k = 0; k < modes->count; k++) {
        double distance = 0;
        for (size_t i = 0; i < screen->dim; i++) {
            double apart = (screen->x[c * screen->dim + i] - modes->mean[(size_t)k * screen->dim + i]) / unit[i];
            distance += apart * apart;
        }
        if (distance < least) best = k;
        least = fmin(least, distance);
    }
    return best;
}

void ais_screen_hits(const ais_screen *screen, const ais_modes *modes, const double *unit, long *hits) {
    size_t n = screen->surveyed ? screen->region : screen->n;
    for (size_t c = 0; c < n && modes->mixture.count; c++) {
        if (!(screen->logp[c] > -INFINITY) || screen->origin[c] == screen->mode[c]) continue;
        int k = screen->surveyed ? nearest_mode(screen, &modes->mixture, unit, c) : screen->mode[c];
        hits[k] += screen->even && screen->origin[c] >= 0 ? 2 : 1;
    }
}
