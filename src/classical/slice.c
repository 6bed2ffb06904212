/* Slice sampling (Neal 2003), one coordinate after the other: a height below the density, an interval around the point
 * that is stepped out until it leaves the slice, and points of it, shrinking towards the present one, until one is in
 * the slice. Every step moves, and there is no scale that could be wrong by much: widths are tuned in warm-up, three
 * times the mean move of their coordinate. */
#include <math.h>

#include "classical/classical.h"

/* Random numbers of one coordinate: its height, where the interval lies, how steps are shared out, then the points. */
enum { STEPS_OUT = 32, MOST_POINTS = 200, NUMBERS = 256, HEIGHT = 0, PLACE, SHARE, POINT };

typedef struct slice {
    ais_kernel kernel;
    double width; /* 0: tuned */
} slice;

typedef struct block {
    double *width;   /* chains x dim */
    double *moved;   /* chains x dim: the sum of what coordinates moved in warm-up */
    uint64_t *moves; /* chains: steps that it is the sum of */
    double *point;   /* dim */
} block;

static ais_status init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **own) {
    size_t dim = (size_t)state->target->dim, count = (size_t)state->chains * dim;
    block *b = AIS_TAKE(&state->arena, block, 1);
    double *memory = AIS_TAKE(&state->arena, double, 2 * count + dim);
    uint64_t *moves = AIS_TAKE(&state->arena, uint64_t, state->chains);
    if (!b || !memory || !moves) return ais_fail_memory(context, "slice", (2 * count + dim) * sizeof(double));
    *b = (block){.width = memory, .moved = memory + count, .moves = moves, .point = memory + 2 * count};
    double first = ((const slice *)kernel)->width;
    if (first == 0) first = state->target->start_scale > 0 ? state->target->start_scale : 1;
    for (size_t i = 0; i < count; i++) b->width[i] = first;
    *own = b;
    return AIS_OK;
}

static ais_status density(ais_context *context, const ais_target *target, const double *x, double *logp) {
    *logp = target->logp(x, target->data);
    return *logp < INFINITY ? AIS_OK : ais_fail_density(context, target, *logp, x);
}

/* Moves coordinate i of the point, whose log density is *logp. *tried counts points of the interval. */
static ais_status move(ais_context *context, const ais_target *target, const ais_stream *stream, int i, double width,
                       double *x, double *logp, long *tried) {
    uint32_t first = (uint32_t)i * NUMBERS;
    double here = x[i], there = *logp, height = *logp + log(ais_random_uniform(stream, first + HEIGHT));
    double left = here - width * ais_random_uniform(stream, first + PLACE), right = left + width;
    int outside = (int)(STEPS_OUT * ais_random_uniform(stream, first + SHARE)),
        steps[2] = {outside, STEPS_OUT - 1 - outside};
    ais_status status = AIS_OK;
    for (int side = 0; side < 2 && status == AIS_OK; side++) {
        double *end = side ? &right : &left;
        for (; steps[side] > 0 && status == AIS_OK; steps[side]--) {
            x[i] = *end;
            status = density(context, target, x, &there);
            if (!(there > height)) break;
            *end += side ? width : -width;
        }
    }
    x[i] = here;
    for (uint32_t k = 0; k < MOST_POINTS && status == AIS_OK; k++) {
        double at = left + (right - left) * ais_random_uniform(stream, first + POINT + k);
        x[i] = at;
        status = density(context, target, x, &there);
        ++*tried;
        if (status == AIS_OK && there > height) {
            *logp = there;
            return AIS_OK;
        }
        *(at < here ? &left : &right) = at;
    }
    x[i] = here;
    return status;
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own, ais_info *info) {
    block *b = own;
    size_t dim = (size_t)state->target->dim, lanes = (size_t)state->lanes;
    bool tunes = ((const slice *)kernel)->width == 0 && state->step < state->warmup;
    ais_status status = AIS_OK;
    for (size_t c = 0; c < (size_t)state->chains && status == AIS_OK; c++) {
        const ais_stream stream = ais_state_stream(state, (int)c, AIS_FOR_WALK);
        double *width = b->width + c * dim, *moved = b->moved + c * dim, sum = 0, logp = state->logp[c];
        long tried = 0;
        for (size_t i = 0; i < dim; i++) b->point[i] = state->x[i * lanes + c];
        for (size_t i = 0; i < dim && status == AIS_OK; i++)
            status = move(context, state->target, &stream, (int)i, width[i], b->point, &logp, &tried);
        if (status != AIS_OK) break;
        b->moves[c] += tunes;
        for (size_t i = 0; i < dim; i++) {
            sum += width[i];
            moved[i] += tunes ? fabs(b->point[i] - state->x[i * lanes + c]) : 0;
            if (tunes && moved[i] > 0) width[i] = 3 * moved[i] / (double)b->moves[c];
            state->x[i * lanes + c] = b->point[i];
        }
        state->logp[c] = logp;
        state->version[c]++;
        info[c].accept_stat = (double)dim / (double)tried;
        info[c].step_size = sum / (double)dim;
    }
    return status;
}

static void persist(const ais_kernel *kernel, ais_state *state, void *own, int lane, ais_record *record) {
    (void)kernel;
    block *b = own;
    size_t dim = (size_t)state->target->dim, first = (size_t)lane * dim;
    ais_record_bytes(record, b->width + first, dim * sizeof(double));
    ais_record_bytes(record, b->moved + first, dim * sizeof(double));
    ais_record_bytes(record, b->moves + lane, sizeof *b->moves);
}

static const ais_kernel_type type = {
    .name = "slice",
    .info = 1u << AIS_INFO_ACCEPT_STAT | 1u << AIS_INFO_STEP_SIZE,
    .trajectories = true,
    .init = init,
    .step = step,
    .persist = persist,
    .free = ais_classical_free,
};

static ais_status make(ais_context *context, const ais_classical_options *options, ais_kernel **kernel) {
    if (!(options->scale >= 0 && options->scale < INFINITY))
        return ais_fail(context, AIS_BAD_ARGUMENT, "slice: scale is %g, but must be positive, or 0 to have it tuned",
                        options->scale);
    const slice made = {.kernel = {.type = &type}, .width = options->scale};
    return ais_classical_keep(context, &made.kernel, sizeof made, kernel);
}

static ais_classical_options options_of(const ais_kernel *kernel) {
    return (ais_classical_options){.scale = ((const slice *)kernel)->width};
}

const ais_classical ais_classical_slice = {{"slice", "slice sampling", "scale", false}, &type, make, options_of};
