#include "look/join.h"

#include <math.h>
#include <string.h>

static int root(const int *group, int k) {
    while (group[k] != k) k = group[k];
    return k;
}

enum { NEIGHBOURS = 4 };

/* The nearest neighbours of mode k, by distance in units of its own sd. */
static int nearest(const ais_components *modes, int k, int neighbour[NEIGHBOURS]) {
    double distance[NEIGHBOURS];
    int count = 0;
    for (int j = 0; j < modes->count; j++) {
        if (j == k) continue;
        double mine = ais_components_distance(modes, k, modes->mean + (size_t)j * (size_t)modes->dim, INFINITY);
        int place = count < NEIGHBOURS ? count++ : NEIGHBOURS;
        for (; place > 0 && distance[place - 1] > mine; place--)
            if (place < NEIGHBOURS) {
                distance[place] = distance[place - 1];
                neighbour[place] = neighbour[place - 1];
            }
        if (place == NEIGHBOURS) continue;
        distance[place] = mine;
        neighbour[place] = j;
    }
    return count;
}

/* The straight path between two modes, which rises and falls no more than a little if they are one. */
typedef struct path {
    int from, to;
    int rank;      /* of `to` among the neighbours of `from` */
    double lowest; /* log density along the path, as far as evaluated */
    bool divided;  /* below both ends */
} path;

/* Lists every pair once and returns their number. */
static size_t find_paths(const ais_components *modes, path *paths) {
    size_t n = 0;
    for (int k = 0; k < modes->count; k++) {
        int neighbour[NEIGHBOURS], many = nearest(modes, k, neighbour);
        for (int rank = 0; rank < many; rank++) {
            bool known = false;
            for (size_t w = 0; w < n; w++) known |= paths[w].from == neighbour[rank] && paths[w].to == k;
            if (!known) paths[n++] = (path){.from = k, .to = neighbour[rank], .rank = rank, .lowest = INFINITY};
        }
    }
    return n;
}

/* Log densities at `many` places, in tenths of the path, of all paths of a rank (or of any, -1) that may join modes
 * which are not one yet. */
static ais_status look_between(ais_evaluator *evaluator, const ais_modes *modes, const int *group, size_t n,
                               path *paths, int rank, int many, const int *tenths, double *point, double *value) {
    size_t dim = (size_t)modes->mixture.dim, rows = 0;
    for (int turn = 0; turn < 2; turn++) {
        size_t row = 0;
        for (size_t w = 0; w < n; w++) {
            path *this = &paths[w];
            bool due = !this->divided && (rank < 0 || this->rank == rank);
            if (!due || root(group, this->from) == root(group, this->to)) continue;
            const double *a = modes->mixture.mean + (size_t)this->from * dim;
            const double *b = modes->mixture.mean + (size_t)this->to * dim;
            double valley = fmin(modes->height[this->from], modes->height[this->to]) - 1;
            for (int t = 0; t < many; t++, row++) {
                for (size_t i = 0; i < dim && !turn; i++)
                    point[row * dim + i] = a[i] + tenths[t] / 10.0 * (b[i] - a[i]);
                if (!turn) continue;
                this->lowest = fmin(this->lowest, value[row]);
                this->divided |= !(value[row] > valley);
            }
        }
        rows = row;
        ais_status status = !turn && rows ? ais_evaluate(evaluator, rows, point, value) : AIS_OK;
        if (status != AIS_OK) return status;
    }
    return AIS_OK;
}

/* Joins what the undivided paths of a rank lead to, the highest paths first. Two groups are one if nothing lies between
 * them that is much lower than the highest mode of either: two modes whose arms meet far below both are two, though a
 * path rises from there to each. */
static void join_rank(size_t n, const path *paths, int rank, double *peak, int *group) {
    for (double above = INFINITY;;) {
        const path *next = NULL;
        for (size_t w = 0; w < n; w++) {
            bool due = paths[w].rank == rank && !paths[w].divided && paths[w].lowest < above;
            if (due && (!next || paths[w].lowest > next->lowest)) next = &paths[w];
        }
        if (!next) return;
        above = next->lowest;
        for (size_t w = 0; w < n; w++) { /* there may be several of one height */
            int a = root(group, paths[w].from), b = root(group, paths[w].to);
            if (paths[w].rank != rank || paths[w].divided || paths[w].lowest != above || a == b) continue;
            if (!(above > fmin(peak[a], peak[b]) - 1)) continue;
            group[a] = b;
            peak[b] = fmax(peak[a], peak[b]);
        }
    }
}

/* Most paths are divided in the middle, and modes that were joined by other paths need no evaluation. */
static ais_status join(ais_evaluator *evaluator, const ais_modes *modes, int *group, ais_arena *arena) {
    static const int middle[] = {5}, quarters[] = {3, 7}, others[] = {1, 2, 4, 6, 8, 9};
    enum { MOST = sizeof others / sizeof *others };
    size_t most = (size_t)modes->mixture.count * NEIGHBOURS;
    path *paths = AIS_TAKE(arena, path, most);
    double *point = AIS_TAKE(arena, double, most *MOST *(size_t)modes->mixture.dim);
    double *value = AIS_TAKE(arena, double, most *MOST);
    double *peak = AIS_TAKE(arena, double, modes->mixture.count);
    if (!paths || !point || !value || !peak)
        return ais_fail_memory(evaluator->context, "modes", most * MOST * sizeof(double));
    size_t n = find_paths(&modes->mixture, paths);
    memcpy(peak, modes->height, (size_t)modes->mixture.count * sizeof *peak); /* of a group's root: its highest mode */
    ais_status status = look_between(evaluator, modes, group, n, paths, -1, 1, middle, point, value);
    if (status == AIS_OK) status = look_between(evaluator, modes, group, n, paths, -1, 2, quarters, point, value);
    for (int rank = 0; rank < NEIGHBOURS && status == AIS_OK; rank++) {
        status = look_between(evaluator, modes, group, n, paths, rank, MOST, others, point, value);
        if (status == AIS_OK) join_rank(n, paths, rank, peak, group);
    }
    return status;
}

ais_status ais_join_modes(ais_evaluator *evaluator, const ais_modes *modes, int *group, int *groups) {
    ais_arena arena = {0};
    int count = modes->mixture.count;
    for (int k = 0; k < count; k++) group[k] = k;
    ais_status status = count > 1 ? join(evaluator, modes, group, &arena) : AIS_OK;
    *groups = 0;
    for (int k = 0; k < count; k++) *groups += group[k] == k;
    for (int k = 0; k < count; k++) group[k] = root(group, k);
    ais_arena_free(&arena);
    return status;
}
