#include "learned/pullback.h"

#include <math.h>
#include <string.h>

static bool room_take(ais_latent_room *room, const ais_learned *map, size_t lanes, ais_arena *arena) {
    *room = (ais_latent_room){.lanes = lanes,
                              .u = AIS_TAKE(arena, double, (size_t)map->shape.dim *lanes),
                              .log_det = AIS_TAKE(arena, double, lanes),
                              .tape = ais_flow_tape_new(&map->flow, lanes, arena)};
    return room->u && room->log_det && room->tape;
}

static bool is_affine(const ais_pullback *density) { return density->map->shape.map == AIS_AFFINE; }

/* u = T(z) or T^-1(z), the whitening apart, and its log determinant; z has the room's lanes. */
static void pass(const ais_pullback *density, const ais_latent_room *room, bool inverse, const double *z) {
    memcpy(room->u, z, (size_t)density->map->shape.dim * room->lanes * sizeof *z);
    memset(room->log_det, 0, room->lanes * sizeof *room->log_det);
    ais_flow_map(&density->map->flow, density->map->weights, room->tape, inverse, room->u, room->log_det);
}

static void put_alone(const ais_pullback *density, const double *point, double *alone) {
    size_t dim = (size_t)density->target->dim, lanes = density->one.lanes;
    memset(alone, 0, dim * lanes * sizeof *alone);
    for (size_t i = 0; i < dim; i++) alone[i * lanes] = point[i];
}

static void take_alone(const ais_pullback *density, const double *alone, double *point) {
    for (size_t i = 0; i < (size_t)density->target->dim; i++) point[i] = alone[i * density->one.lanes];
}

double ais_pullback_point(ais_pullback *density, const double *z, double *x) {
    const ais_whitening *whitening = &density->map->whitening;
    if (is_affine(density)) {
        ais_unwhiten_point(whitening, z, x);
        return 0;
    }
    double *u = density->by_x;
    put_alone(density, z, density->alone);
    pass(density, &density->one, true, density->alone);
    take_alone(density, density->one.u, u);
    ais_unwhiten_point(whitening, u, x);
    return density->one.log_det[0];
}

void ais_pullback_lanes(ais_pullback *density, const double *z) {
    const ais_latent_room *room = &density->many;
    pass(density, room, true, z);
    ais_unwhiten(&density->map->whitening, room->lanes, room->u, density->x);
}

void ais_pullback_enter(ais_pullback *density, const double *x, double *z) {
    const ais_latent_room *room = &density->many;
    ais_whiten_first(&density->map->whitening, room->lanes, (size_t)density->chains, x, z);
    pass(density, room, false, z);
    memcpy(z, room->u, (size_t)density->map->shape.dim * room->lanes * sizeof *z);
    for (size_t c = 0; c < room->lanes; c++) room->log_det[c] = -room->log_det[c];
}

double ais_pullback_alone(ais_pullback *density, const double *x, double *z) {
    const ais_latent_room *room = &density->one;
    ais_whiten_point(&density->map->whitening, x, density->whitened);
    put_alone(density, density->whitened, density->alone);
    pass(density, room, false, density->alone);
    take_alone(density, room->u, z);
    return -room->log_det[0];
}

/* ---- evaluations ------------------------------------------------------------------------------- */

static bool all_finite(const double *x, size_t dim, size_t stride) {
    for (size_t i = 0; i < dim; i++)
        if (!isfinite(x[i * stride])) return false;
    return true;
}

/* The log density in z from that in x. A value that is not a log density is kept with its x, which the caller of a
 * kernel reports. */
static double pulled(ais_pullback *density, double logp, double log_det, const double *x, size_t stride) {
    if (logp < INFINITY) return logp + log_det;
    density->failure = logp;
    for (int i = 0; i < density->target->dim; i++) density->failed_at[i] = x[(size_t)i * stride];
    return logp;
}

/* x of one point and its log determinant; false where the map overflows, which has no mass. */
static bool reach(ais_pullback *density, const double *z, double *log_det) {
    *log_det = ais_pullback_point(density, z, density->point);
    return isfinite(*log_det) && all_finite(density->point, (size_t)density->target->dim, 1);
}

static double logp(const double *z, void *data) {
    ais_pullback *density = data;
    const ais_target *target = density->target;
    double log_det;
    if (!reach(density, z, &log_det)) return -INFINITY;
    return pulled(density, target->logp(density->point, target->data), log_det, density->point, 1);
}

static double grad(const double *z, double *gradient, void *data) {
    ais_pullback *density = data;
    const ais_target *target = density->target;
    const ais_learned *map = density->map;
    double log_det;
    if (!reach(density, z, &log_det)) return -INFINITY;
    double value = target->grad(density->point, density->by_x, target->data);
    ais_unwhiten_gradient(&map->whitening, density->by_x, gradient);
    if (!is_affine(density) && value > -INFINITY) {
        put_alone(density, gradient, density->alone);
        ais_flow_backward(&map->flow, map->weights, density->one.tape, true, density->alone, density->gradient_det,
                          NULL);
        take_alone(density, density->alone, gradient);
    }
    return pulled(density, value, log_det, density->point, 1);
}

/* A point that the map cannot handle is replaced by the mean, which the target can. */
static void batch(size_t n, const double *z, double *value, void *data) {
    ais_pullback *density = data;
    const ais_target *target = density->target;
    size_t dim = (size_t)target->dim, lanes = density->many.lanes;
    if (n == 1) {
        *value = logp(z, data);
        return;
    }
    double *x = density->x, *log_det = density->many.log_det;
    ais_pullback_lanes(density, z);
    for (size_t c = 0; c < lanes; c++) {
        if (isfinite(log_det[c]) && all_finite(x + c, dim, lanes)) continue;
        log_det[c] = -INFINITY;
        for (size_t i = 0; i < dim; i++) x[i * lanes + c] = density->map->whitening.mean[i];
    }
    if (target->batch) target->batch(lanes, x, value, target->data);
    for (size_t c = 0; c < lanes; c++) {
        bool counts = c < (size_t)density->chains;
        if (!target->batch) {
            for (size_t i = 0; i < dim; i++) density->point[i] = x[i * lanes + c];
            value[c] = counts && log_det[c] > -INFINITY ? target->logp(density->point, target->data) : -INFINITY;
        }
        value[c] = log_det[c] == -INFINITY ? -INFINITY
                   : counts                ? pulled(density, value[c], log_det[c], x + c, lanes)
                                           : value[c];
    }
}

bool ais_pullback_take(ais_pullback *density, const ais_learned *map, const ais_target *target, int chains,
                       size_t lanes, bool single, ais_arena *arena) {
    size_t dim = (size_t)target->dim, alone = single && ais_flow_takes_one(&map->flow) ? 1 : AIS_LANES;
    *density = (ais_pullback){.latent = {.name = target->name,
                                         .dim = target->dim,
                                         .logp = logp,
                                         .grad = target->grad ? grad : NULL,
                                         .batch = batch,
                                         .data = density},
                              .target = target,
                              .map = map,
                              .chains = chains,
                              .x = AIS_TAKE(arena, double, dim *lanes),
                              .point = AIS_TAKE(arena, double, dim),
                              .by_x = AIS_TAKE(arena, double, dim),
                              .alone = AIS_TAKE(arena, double, dim *alone),
                              .whitened = AIS_TAKE(arena, double, dim),
                              .gradient_det = AIS_TAKE(arena, double, AIS_LANES),
                              .failed_at = AIS_TAKE(arena, double, dim)};
    if (!density->x || !density->point || !density->by_x || !density->alone || !density->whitened ||
        !density->gradient_det || !density->failed_at || !room_take(&density->one, map, alone, arena))
        return false;
    density->gradient_det[0] = 1;
    density->many = density->one;
    return lanes == alone || room_take(&density->many, map, lanes, arena);
}
