#include "look/search.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/streams.h"
#include "look/join.h"
#include "look/laplace.h"
#include "look/screen.h"
#include "simd/normal.h"

enum { ATTEMPTS = 50, ITERATIONS = 80, RADIUS = 1 << 30 };
static const double FARTHEST = 1e9; /* in units of the scale */

void ais_search_points(uint64_t seed, uint64_t step, size_t n, int dim, double scale, const double *unit, double *x) {
    size_t d = (size_t)dim;
    for (size_t c = 0; c < n; c++) {
        ais_stream stream = ais_stream_for(AIS_USE_SEARCH, seed, step, c);
        double *point = x + c * d, square = 0, factor = scale;
        ais_normals(&stream, d, point);
        if (c < n / 2) {
            for (size_t i = 0; i < d; i++) square += point[i] * point[i];
            double reach = log(2 * fmax(sqrt((double)d), 1.5));
            factor = 0.5 * scale * exp(reach * ais_random_uniform(&stream, RADIUS)) / sqrt(square);
        }
        for (size_t i = 0; i < d; i++) point[i] *= factor * unit[i];
    }
}

/* n points of N(0, (s unit)^2). */
static void normal_points(uint64_t seed, uint64_t step, size_t n, int dim, double scale, const double *unit,
                          double *x) {
    for (size_t c = 0; c < n; c++) {
        ais_stream stream = ais_stream_for(AIS_USE_SEARCH, seed, step, c);
        ais_normals(&stream, (size_t)dim, x + c * (size_t)dim);
        for (int i = 0; i < dim; i++) x[c * (size_t)dim + (size_t)i] *= scale * unit[i];
    }
}

ais_status ais_search_new(ais_search *search, ais_evaluator *evaluator, uint64_t seed, double scale, int most,
                          ais_modes *modes, ais_arena *arena) {
    int dim = evaluator->target->dim;
    *search = (ais_search){.evaluator = evaluator,
                           .seed = seed,
                           .scale = scale,
                           .most = most,
                           .modes = modes,
                           .arena = arena,
                           .hits = AIS_TAKE(arena, long, 2 * most),
                           .group = AIS_TAKE(arena, int, 2 * most),
                           .peak = AIS_TAKE(arena, double, dim),
                           .unit = AIS_TAKE(arena, double, dim),
                           .variance = AIS_TAKE(arena, double, dim),
                           .peak_logp = -INFINITY,
                           .lowest = INFINITY,
                           .highest = -INFINITY};
    for (int i = 0; search->unit && i < dim; i++) search->unit[i] = 1;
    if (!search->hits || !search->group || !search->peak || !search->unit || !search->variance ||
        !ais_modes_take(modes, arena, dim, 2 * most))
        return ais_fail_memory(evaluator->context, "modes", (size_t)most * (size_t)dim * (size_t)dim);
    return AIS_OK;
}

/* Replaces points of density zero by later ones. */
static ais_status inside_points(ais_search *search, size_t wanted, double *x, double *logp) {
    size_t dim = (size_t)search->modes->mixture.dim, found = 0;
    ais_arena arena = {0};
    double *fresh = AIS_TAKE(&arena, double, wanted *dim), *value = AIS_TAKE(&arena, double, wanted);
    ais_status status = fresh && value ? AIS_OK : ais_fail_memory(search->evaluator->context, "starts", wanted * dim);
    int attempt = 0;
    for (; attempt < ATTEMPTS && found < wanted && status == AIS_OK; attempt++) {
        ais_search_points(search->seed, search->step++, wanted, (int)dim, search->scale, search->unit, fresh);
        status = ais_evaluate(search->evaluator, wanted, fresh, value);
        for (size_t c = 0; c < wanted && found < wanted && status == AIS_OK; c++) {
            if (!(value[c] > -INFINITY)) {
                search->outside++;
                continue;
            }
            memcpy(x + found * dim, fresh + c * dim, dim * sizeof *x);
            logp[found++] = value[c];
        }
    }
    ais_arena_free(&arena);
    if (status != AIS_OK) return status;
    if (!found)
        return ais_fail(search->evaluator->context, AIS_BAD_DENSITY,
                        "the density of target %.100s is zero at all %zu points tried in the search region N(0, %g^2): "
                        "give another start scale, or shift the parameters so that the mass is around 0",
                        search->evaluator->target->name ? search->evaluator->target->name : "(without a name)",
                        wanted * (size_t)attempt, search->scale);
    for (size_t c = found; c < wanted; c++) { /* a sparse support: some points serve twice */
        memcpy(x + c * dim, x + c % found * dim, dim * sizeof *x);
        logp[c] = logp[c % found];
    }
    return AIS_OK;
}

static void note_range(ais_search *search, size_t n, const double *logp) {
    for (size_t c = 0; c < n; c++) {
        if (!(logp[c] > -INFINITY)) continue;
        search->lowest = fmin(search->lowest, logp[c]);
        search->highest = fmax(search->highest, logp[c]);
    }
}

/* The variance of coordinate i of mode k. */
static double variance_of(const ais_modes *modes, size_t k, size_t i) {
    size_t dim = (size_t)modes->mixture.dim;
    const double *row = modes->mixture.factor + (k * dim + i) * dim;
    double sum = 0;
    for (size_t j = 0; j < dim; j++) sum += row[j] * row[j];
    return sum;
}

/* The variances of the mode of largest evidence, or NULL. */
static const double *known_scales(ais_search *search) {
    const ais_modes *modes = search->modes;
    int best = -1;
    for (int k = 0; k < modes->mixture.count; k++)
        if (best < 0 || ais_modes_evidence(modes, k) > ais_modes_evidence(modes, best)) best = k;
    for (size_t i = 0; best >= 0 && i < (size_t)modes->mixture.dim; i++)
        search->variance[i] = variance_of(modes, (size_t)best, i);
    return best < 0 ? NULL : search->variance;
}

ais_status ais_search_optimise(ais_search *search, int runs, double *x, double *logp, ais_ending *ending, int *added) {
    double scale = search->scale, root = sqrt((double)search->modes->mixture.dim);
    ais_lbfgs_options options = {.iterations = ITERATIONS,
                                 .tolerance = 1e-4,
                                 .scale = scale,
                                 .longest = 2 * scale * root,
                                 .farthest = FARTHEST * scale,
                                 .variance = known_scales(search)};
    ais_status status = ais_maximise(search->evaluator, &options, runs, x, logp, ending);
    for (int r = 0; r < runs && status == AIS_OK; r++) {
        search->runs++;
        search->stuck += ending[r] == AIS_STUCK;
        search->fled += ending[r] == AIS_FLED;
        if (ending[r] == AIS_FLED || !(logp[r] > search->peak_logp)) continue;
        search->peak_logp = logp[r];
        search->peak_converged = ending[r] == AIS_CONVERGED;
        memcpy(search->peak, x + (size_t)r * (size_t)search->modes->mixture.dim,
               (size_t)search->modes->mixture.dim * sizeof *x);
    }
    if (status != AIS_OK) return status;
    int before = search->modes->mixture.count;
    status = ais_absorb(search->evaluator, scale, runs, x, logp, ending, search->most, search->modes, added);
    search->reordered |= search->modes->mixture.count != before + *added;
    search->regroup |= *added > 0;
    return status;
}

bool ais_search_goes_on(const ais_search *search) {
    return !search->effort || search->evaluator->densities + search->evaluator->gradients < search->effort;
}

ais_status ais_search_begin(ais_search *search, int runs) {
    size_t dim = (size_t)search->modes->mixture.dim, n = (size_t)runs;
    ais_arena arena = {0};
    double *x = AIS_TAKE(&arena, double, n *dim), *logp = AIS_TAKE(&arena, double, n);
    ais_ending *ending = AIS_TAKE(&arena, ais_ending, n);
    int added;
    ais_status status = AIS_OK;
    if (!x || !logp || !ending) status = ais_fail_memory(search->evaluator->context, "starts", n * dim);
    if (status == AIS_OK) status = inside_points(search, n, x, logp);
    if (status == AIS_OK) note_range(search, n, logp);
    if (status == AIS_OK) status = ais_search_optimise(search, runs, x, logp, ending, &added);
    search->anywhere += runs;
    ais_arena_free(&arena);
    return status;
}

bool ais_search_relevant(const ais_search *search, int k) {
    double top = -INFINITY;
    for (int j = 0; j < search->modes->mixture.count; j++) top = fmax(top, ais_modes_evidence(search->modes, j));
    return ais_modes_evidence(search->modes, k) > top + log(1e-3);
}

/* One chunk: rounds of (find what is odd, optimise from it) until two add nothing. */
static ais_status hunt(ais_search *search, ais_screen *screen, ais_arena *arena) {
    enum { ROUNDS = 12, BATCH = 32 };
    size_t dim = (size_t)search->modes->mixture.dim;
    double *x = AIS_TAKE(arena, double, BATCH *dim), logp[BATCH];
    ais_ending ending[BATCH];
    if (!x) return ais_fail_memory(search->evaluator->context, "a screen", BATCH * dim);
    /* With one mode what looks odd is mostly its shape: a few optimisations tell. */
    search->dry = false;
    for (int round = 0, vain = 0; round < ROUNDS && !search->dry && ais_search_goes_on(search); round++) {
        bool several = search->modes->mixture.count > 1;
        ais_screen_judge(screen, search->modes, search->evaluator->pool);
        ais_stream stream = ais_stream_for(AIS_USE_SEARCH_CHOICE, search->seed, search->step++, 0);
        int picked = ais_screen_pick(screen, &stream, several ? BATCH : BATCH / 4, x), added = 0;
        ais_status status = picked ? ais_search_optimise(search, picked, x, logp, ending, &added) : AIS_OK;
        if (status != AIS_OK) return status;
        vain = added ? 0 : vain + 1;
        search->dry = !picked || vain == (search->modes->mixture.count > 1 ? 2 : 1);
    }
    ais_screen_judge(screen, search->modes, search->evaluator->pool);
    return AIS_OK;
}

/* Points per plane, of all the planes of two coordinates through a mode: a mode that dominates a twentieth of such a
 * plane is then met about five times. 0 where they would be too few to meet it at all. */
static size_t plane_points_each(const ais_search *search) {
    enum { MOST = 96, LEAST = 8 };
    size_t dim = (size_t)search->modes->mixture.dim, planes = dim * (dim - 1) / 2;
    size_t each = planes ? (size_t)search->planes / planes : 0;
    return each < LEAST ? 0 : each < MOST ? each : MOST;
}

/* Modes often differ from each other in few coordinates. A found mode with two coordinates redrawn, every pair of them
 * equally often; the points of a pair lie evenly in a disc as wide as the region (an additive recurrence with a random
 * shift), so that what is wider than their distance is met for certain. */
static void plane_points(ais_search *search, size_t each, double *x, int *origin) {
    static const double turn[2] = {0.7548776662466927, 0.5698402909980532}, reach = 2.5;
    size_t dim = (size_t)search->modes->mixture.dim, pair = 0;
    uint64_t step = search->step++;
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < i; j++, pair++) {
            ais_stream stream = ais_stream_for(AIS_USE_SEARCH, search->seed, step, pair);
            double u = ais_random_uniform(&stream, 0), v = ais_random_uniform(&stream, 1);
            for (size_t c = 0; c < each; c++, x += dim) {
                size_t k = ais_random_below(&stream, RADIUS + (uint32_t)c, (uint64_t)search->modes->mixture.count);
                double radius = reach * search->scale * sqrt(u);
                *origin++ = (int)k;
                memcpy(x, search->modes->mixture.mean + k * dim, dim * sizeof *x);
                x[i] = radius * cos(2 * AIS_PI * v) * search->unit[i];
                x[j] = radius * sin(2 * AIS_PI * v) * search->unit[j];
                u = fmod(u + turn[0], 1);
                v = fmod(v + turn[1], 1);
            }
        }
}

/* Where planes are too many: a found mode with 1 to 3 coordinates redrawn. */
static void sparse_points(ais_search *search, size_t n, double *x, int *origin) {
    size_t dim = (size_t)search->modes->mixture.dim, most = dim < 3 ? dim : 3;
    uint64_t step = search->step++;
    for (size_t c = 0; c < n; c++) {
        ais_stream stream = ais_stream_for(AIS_USE_SEARCH, search->seed, step, c);
        double fresh[3];
        ais_normals(&stream, 3, fresh);
        size_t k = ais_random_below(&stream, RADIUS, (uint64_t)search->modes->mixture.count);
        size_t many = 1 + ais_random_below(&stream, RADIUS + 1, most);
        origin[c] = (int)k;
        memcpy(x + c * dim, search->modes->mixture.mean + k * dim, dim * sizeof *x);
        for (size_t j = 0; j < many; j++) {
            size_t i = ais_random_below(&stream, RADIUS + 2 + (uint32_t)j, dim);
            x[c * dim + i] = search->scale * search->unit[i] * fresh[j];
        }
    }
}

/* How far the relevant modes reach, in units of the region's sd: the largest root mean square over a mode's
 * coordinates; 0 without modes. */
static double extent_of(const ais_search *search) {
    const ais_modes *modes = search->modes;
    size_t dim = (size_t)modes->mixture.dim;
    double extent = 0;
    for (size_t k = 0; k < (size_t)modes->mixture.count; k++) {
        double square = 0;
        if (!ais_search_relevant(search, (int)k)) continue;
        for (size_t i = 0; i < dim; i++) {
            double mean = modes->mixture.mean[k * dim + i], unit = search->scale * search->unit[i];
            square += (mean * mean + variance_of(modes, k, i)) / (unit * unit);
        }
        extent = fmax(extent, sqrt(square / (double)dim));
    }
    return extent;
}

bool ais_search_widen(ais_search *search) {
    static const double room = 1.5;
    const ais_modes *modes = search->modes;
    size_t dim = (size_t)modes->mixture.dim;
    bool wider = false;
    if (!(extent_of(search) > 1)) return false;
    for (size_t k = 0; k < (size_t)modes->mixture.count; k++)
        for (size_t i = 0; i < dim && ais_search_relevant(search, (int)k); i++) {
            double mean = modes->mixture.mean[k * dim + i], reach = sqrt(mean * mean + variance_of(modes, k, i));
            if (!(reach > search->scale * search->unit[i])) continue;
            search->unit[i] = room * reach / search->scale;
            wider = true;
        }
    return wider;
}

/* What holds the relevant modes, with some room. */
static void box_of(const ais_search *search, ais_box *box) {
    static const double sds = 3, room = 0.1;
    const ais_modes *modes = search->modes;
    size_t dim = (size_t)modes->mixture.dim;
    for (size_t i = 0; i < dim; i++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < (size_t)modes->mixture.count; k++) {
            if (!ais_search_relevant(search, (int)k)) continue;
            double mean = modes->mixture.mean[k * dim + i], reach = sds * sqrt(variance_of(modes, k, i));
            low = fmin(low, mean - reach);
            high = fmax(high, mean + reach);
        }
        box->low[i] = low - room * (high - low);
        box->high[i] = high + room * (high - low);
    }
}

/* How the points of a screen are spread. */
typedef struct spread {
    size_t region, aside, few; /* points of the region, near to 0, and of modes with coordinates redrawn */
    size_t each;               /* of the last, points per plane of two coordinates; 0: of 1 to 3 at random */
    bool boxed;                /* those of the region are of a box instead, and those near to 0 of the region */
} spread;

static spread spread_of(const ais_search *search, size_t points, bool first) {
    bool known = search->modes->mixture.count > 0;
    double near = 1.5 * extent_of(search);
    spread of = {.few = search->modes->mixture.dim > 2 && known ? points / 3 : 0,
                 .aside = known && near < 0.5 && (first || !search->weighed) ? points / (search->weighed ? 8 : 3) : 0,
                 .boxed = search->weighed && known && (!first || near < 0.5)};
    of.region = points - of.few - of.aside;
    if (of.few && (of.each = plane_points_each(search))) {
        size_t dim = (size_t)search->modes->mixture.dim;
        of.few = dim * (dim - 1) / 2 * of.each;
    }
    return of;
}

/* Learning may weigh points of the region, if it is the one that it knows, and of boxes. */
static ais_status keep_screen(ais_search *search, const ais_screen *screen, const ais_box *box) {
    size_t dim = (size_t)search->modes->mixture.dim, n = screen->region;
    bool usual = true;
    for (size_t i = 0; i < dim; i++) usual &= search->unit[i] == 1;
    if (!search->weighed || search->screens == AIS_SCREENS || !(box || usual)) return AIS_OK;
    ais_screened *kept = &search->screen[search->screens++];
    *kept = (ais_screened){.n = n,
                           .x = AIS_TAKE(search->arena, double, n *dim),
                           .logp = AIS_TAKE(search->arena, double, n),
                           .box = box ? *box : (ais_box){0}};
    if (!kept->x || !kept->logp)
        return ais_fail_memory(search->evaluator->context, "a screen", n * dim * sizeof(double));
    memcpy(kept->x, screen->x, n * dim * sizeof(double));
    memcpy(kept->logp, screen->logp, n * sizeof(double));
    return AIS_OK;
}

static ais_status draw_screen(ais_search *search, const spread *of, ais_screen *screen) {
    size_t dim = (size_t)search->modes->mixture.dim;
    double *aside = screen->x + of->region * dim, *few = aside + of->aside * dim;
    int *origin = screen->origin + of->region + of->aside;
    ais_box *box = of->boxed ? &search->box : NULL;
    if (box) {
        *box = (ais_box){AIS_TAKE(search->arena, double, dim), AIS_TAKE(search->arena, double, dim)};
        if (!box->low || !box->high) return ais_fail_memory(search->evaluator->context, "a screen", dim);
        box_of(search, box);
        ais_box_points(box, search->seed, search->step++, of->region, (int)dim, screen->x);
        ais_search_points(search->seed, search->step++, of->aside, (int)dim, search->scale, search->unit, aside);
    } else if (search->weighed) {
        normal_points(search->seed, search->step++, of->region, (int)dim, search->scale, search->unit, screen->x);
    } else {
        ais_search_points(search->seed, search->step++, of->region, (int)dim, search->scale, search->unit, screen->x);
        ais_search_points(search->seed, search->step++, of->aside, (int)dim, 1.5 * extent_of(search) * search->scale,
                          search->unit, aside);
    }
    screen->even = of->each > 0;
    if (of->each)
        plane_points(search, of->each, few, origin);
    else if (of->few)
        sparse_points(search, of->few, few, origin);
    ais_status status = ais_evaluate(search->evaluator, screen->n, screen->x, screen->logp);
    return status == AIS_OK ? keep_screen(search, screen, box) : status;
}

static ais_status screen_chunk(ais_search *search, size_t points, bool first) {
    ais_arena arena = {0};
    ais_screen screen;
    spread of = spread_of(search, points, first);
    ais_status status = AIS_OK;
    points = of.region + of.aside + of.few;
    if (!ais_screen_take(&screen, &arena, points, of.region, search->modes->mixture.dim))
        status = ais_fail_memory(search->evaluator->context, "a screen", points * sizeof(double));
    if (status == AIS_OK) status = draw_screen(search, &of, &screen);
    if (status == AIS_OK) {
        note_range(search, points, screen.logp);
        ais_screen_summits(&screen, search->evaluator->pool);
        for (size_t c = 0; c < screen.region; c++) search->outside += !(screen.logp[c] > -INFINITY);
        search->reordered = false;
        /* Maps follow ridges from points alone: further places along them are not looked for. */
        bool ridges = of.boxed && !first && 3 * search->groups <= 2 * search->modes->mixture.count;
        if (ridges)
            ais_screen_judge(&screen, search->modes, search->evaluator->pool);
        else
            status = hunt(search, &screen, &arena);
        if (search->reordered) memset(search->hits, 0, (size_t)search->modes->mixture.room * sizeof *search->hits);
        ais_screen_hits(&screen, search->modes, search->unit, search->hits);
        search->screened += (long)screen.region;
        search->anywhere += (long)(of.boxed ? of.aside : of.region);
        search->sparse += (long)of.few;
    }
    ais_arena_free(&arena);
    return status;
}

ais_status ais_search_join(ais_search *search) {
    if (!search->regroup) return AIS_OK;
    search->regroup = false;
    return ais_join_modes(search->evaluator, search->modes, search->group, &search->groups);
}

long ais_search_fewest_hits(const ais_search *search) {
    long least = -1;
    for (int g = 0; g < search->modes->mixture.count; g++) {
        long hits = 0;
        bool relevant = false;
        for (int k = 0; k < search->modes->mixture.count; k++) {
            if (search->group[k] != g) continue;
            hits += search->hits[k];
            relevant |= ais_search_relevant(search, k);
        }
        if (relevant && (least < 0 || hits < least)) least = hits;
    }
    return least < 0 ? 0 : least;
}

/* A box that was screened must hold the relevant modes that were found meanwhile. */
static bool outgrown(const ais_search *search) {
    const ais_components *modes = &search->modes->mixture;
    size_t dim = (size_t)modes->dim;
    bool outside = false;
    for (size_t k = 0; k < (size_t)modes->count && search->box.low; k++)
        for (size_t i = 0; i < dim && ais_search_relevant(search, (int)k); i++) {
            double mean = modes->mean[k * dim + i];
            outside |= mean < search->box.low[i] || mean > search->box.high[i];
        }
    return outside;
}

ais_status ais_search_screen(ais_search *search, long points, long limit) {
    enum { CHUNK = 1 << 16 };
    const ais_components *modes = &search->modes->mixture;
    long done = 0, goal = points;
    while (done < goal) {
        long chunk = goal - done < CHUNK ? goal - done : CHUNK;
        ais_status status = screen_chunk(search, (size_t)chunk, !done);
        if (status != AIS_OK) return status;
        done += chunk;
        if (done < goal || done + points > limit || modes->count < 2 || modes->count >= search->most) continue;
        if ((status = ais_search_join(search)) != AIS_OK) return status;
        if (outgrown(search))
            goal += points;
        else if (2 * goal <= limit &&
                 ais_search_fewest_hits(search) < ais_screen_enough(modes->dim, search->weighed && done > points))
            goal *= 2;
    }
    return AIS_OK;
}
