/* A cycle: one step of each part in turn. Its type is made with it, because name, info and the need
 * for a gradient are those of its parts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"

typedef struct cycle {
    ais_kernel kernel;
    ais_kernel_type type;
    char *name;
    int count;
    uint32_t leaves; /* parts, those of cycles among them counted one by one */
    ais_kernel **part;
} cycle;

typedef struct block {
    void **own;     /* of each part */
    ais_info *info; /* of one part, chains */
} block;

static void release(ais_kernel *kernel);

static uint32_t leaves_of(const ais_kernel *kernel) {
    return kernel->type->free == release ? ((const cycle *)kernel)->leaves : 1;
}

static ais_status init(ais_context *context, const ais_kernel *kernel, ais_state *state, void **own) {
    const cycle *all = (const cycle *)kernel;
    block *b = AIS_TAKE(&state->arena, block, 1);
    if (b) b->own = AIS_TAKE(&state->arena, void *, all->count);
    if (b) b->info = AIS_TAKE(&state->arena, ais_info, state->chains);
    if (!b || !b->own || !b->info) return ais_fail_memory(context, "a cycle", (size_t)state->chains * sizeof(ais_info));
    *own = b;
    ais_status status = AIS_OK;
    uint32_t outer = state->part;
    for (int k = 0; status == AIS_OK && k < all->count; k++) {
        status = all->part[k]->type->init(context, all->part[k], state, &b->own[k]);
        state->part += leaves_of(all->part[k]);
    }
    state->part = outer;
    return status;
}

/* Adds what one part reports about a chain. */
static void add_info(ais_info *sum, const ais_info *part, unsigned fields, double share) {
    sum->accept_stat += share * part->accept_stat;
    if (fields >> AIS_INFO_STEP_SIZE & 1) sum->step_size = part->step_size;
    if (fields >> AIS_INFO_TREE_DEPTH & 1) sum->tree_depth = part->tree_depth;
    if (fields >> AIS_INFO_N_LEAPFROG & 1) sum->n_leapfrog += part->n_leapfrog;
    if (fields >> AIS_INFO_DIVERGENT & 1) sum->divergent = fmax(sum->divergent, part->divergent);
    if (fields >> AIS_INFO_ENERGY & 1) sum->energy = part->energy;
    if (fields >> AIS_INFO_ROUND_TRIP & 1) sum->round_trip = fmax(sum->round_trip, part->round_trip);
    if (fields >> AIS_INFO_REJECTION & 1) sum->rejection += part->rejection;
    if (fields >> AIS_INFO_TRIP & 1) sum->trip = fmax(sum->trip, part->trip);
    if (fields >> AIS_INFO_LOG_WEIGHT & 1 && !isnan(part->log_weight)) sum->log_weight = part->log_weight;
}

static ais_status step(ais_context *context, const ais_kernel *kernel, ais_state *state, void *own, ais_info *info) {
    const cycle *all = (const cycle *)kernel;
    block *b = own;
    ais_status status = AIS_OK;
    uint32_t outer = state->part;
    memset(info, 0, (size_t)state->chains * sizeof *info);
    for (int c = 0; c < state->chains && all->type.info >> AIS_INFO_LOG_WEIGHT & 1; c++) info[c].log_weight = NAN;
    for (int k = 0; status == AIS_OK && k < all->count; k++) {
        const ais_kernel_type *type = all->part[k]->type;
        status = type->step(context, all->part[k], state, b->own[k], b->info);
        for (int c = 0; status == AIS_OK && c < state->chains; c++)
            add_info(&info[c], &b->info[c], type->info, 1.0 / all->count);
        state->part += leaves_of(all->part[k]);
    }
    state->part = outer;
    return status;
}

static void persist(const ais_kernel *kernel, ais_state *state, void *own, int lane, ais_record *record) {
    const cycle *all = (const cycle *)kernel;
    block *b = own;
    ais_record_bytes(record, &b->info[lane], sizeof *b->info);
    for (int k = 0; k < all->count; k++) all->part[k]->type->persist(all->part[k], state, b->own[k], lane, record);
}

ais_kernel *const *ais_cycle_parts(const ais_kernel *kernel, int *count) {
    const cycle *all = kernel->type->free == release ? (const cycle *)kernel : NULL;
    *count = all ? all->count : 0;
    return all ? all->part : NULL;
}

/* A kernel may occur in a cycle more than once; it is freed once. */
static void free_parts(ais_kernel *const *part, int count) {
    for (int k = 0; k < count; k++) {
        bool seen = false;
        for (int j = 0; j < k; j++) seen = seen || part[j] == part[k];
        if (!seen) ais_kernel_free(part[k]);
    }
}

static void release(ais_kernel *kernel) {
    cycle *all = (cycle *)kernel;
    free_parts(all->part, all->count);
    free(all->part);
    free(all->name);
    free(all);
}

static ais_status check_parts(ais_context *context, ais_kernel *const *part, int count, cycle *all) {
    if (count < 1) return ais_fail(context, AIS_BAD_ARGUMENT, "a cycle of %d kernels: at least 1 is needed", count);
    size_t leaves = 0;
    for (int k = 0; k < count; k++) {
        if (!part[k]) return ais_fail(context, AIS_BAD_ARGUMENT, "part %d of a cycle is NULL, not a kernel", k + 1);
        int dim = part[k]->dim;
        if (dim && all->kernel.dim && dim != all->kernel.dim)
            return ais_fail(
                context, AIS_BAD_ARGUMENT,
                "part %d of a cycle, %.100s, is made for dimension %d and an earlier part for %d: all parts "
                "must be of one dimension",
                k + 1, part[k]->type->name, dim, all->kernel.dim);
        if (dim) all->kernel.dim = dim;
        all->kernel.empirical = (k == 0 || all->kernel.empirical) && part[k]->empirical;
        if (part[k]->max_depth) all->kernel.max_depth = part[k]->max_depth; /* as add_info: the last one's */
        all->type.info |= part[k]->type->info;
        all->type.trajectories = all->type.trajectories || part[k]->type->trajectories;
        all->type.needs_gradient = all->type.needs_gradient || part[k]->type->needs_gradient;
        leaves += leaves_of(part[k]);
    }
    if (leaves > AIS_MAX_PARTS)
        return ais_fail(context, AIS_BAD_ARGUMENT, "a cycle of %zu kernels: at most %d are possible", leaves,
                        AIS_MAX_PARTS);
    all->leaves = (uint32_t)leaves;
    return AIS_OK;
}

static char *joined_name(ais_kernel *const *part, int count) {
    size_t length = 0;
    for (int k = 0; k < count; k++) length += strlen(part[k]->type->name) + 1;
    char *name = malloc(length), *end = name;
    for (int k = 0; name && k < count; k++) {
        size_t own = strlen(part[k]->type->name);
        memcpy(end, part[k]->type->name, own);
        end += own;
        *end++ = k + 1 < count ? '+' : '\0';
    }
    return name;
}

/* NULL when memory is out. */
static ais_kernel *assemble(const cycle *made, ais_kernel *const *parts) {
    size_t bytes = (size_t)made->count * sizeof(ais_kernel *);
    cycle *all = malloc(sizeof *all);
    ais_kernel **part = malloc(bytes);
    char *name = joined_name(parts, made->count);
    if (!all || !part || !name) {
        free(all);
        free(part);
        free(name);
        return NULL;
    }
    memcpy(part, parts, bytes);
    *all = *made;
    all->part = part;
    all->name = name;
    all->type.name = name;
    all->kernel.type = &all->type;
    return &all->kernel;
}

ais_status ais_kernel_cycle(ais_context *context, ais_kernel *const *parts, int count, ais_kernel **kernel) {
    cycle made = {.type = {.init = init, .step = step, .persist = persist, .free = release}, .count = count};
    ais_status status = check_parts(context, parts, count, &made);
    *kernel = status == AIS_OK ? assemble(&made, parts) : NULL;
    if (status == AIS_OK && !*kernel) status = ais_fail_memory(context, "a cycle", sizeof made);
    if (status != AIS_OK) free_parts(parts, count);
    return status;
}
