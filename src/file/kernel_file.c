/* The kernel file (docs/formats.md): magic, version, length of the head, a JSON head with the shape,
 * then mean, factor, weights and those of a discriminator as they lie in memory (little-endian), then a
 * checksum of all before. Version 2 has a discriminator, version 1 none; version 3 is A-NICE-MC's kernel, which has
 * weights only; version 4 is a map that moves otherwise than by its reversal: by angles, or by a classical kernel in
 * its latent space, which the head describes; version 5 is a mixture: weights, means and factors, doubles; version 6 is
 * version 4 with a classical kernel, and a mixture that proposes behind the rest. A reader trusts nothing: every length
 * is checked against the file's before it is used. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/csv.h"
#include "file/classical_json.h"
#include "file/json_text.h"
#include "file/kernel_file.h"
#include "learned/ladder.h"
#include "learned/latent.h"
#include "learned/mixture.h"
#include "learned/nice.h"
#include "map/element.h"

static const char magic[8] = {'a', 'i', 's', 'k', 'e', 'r', 'n', '\n'};
enum {
    VERSION = 1,
    EMPIRICAL_VERSION = 2,
    NICE_VERSION = 3,
    MOVED_VERSION = 4,
    MIXTURE_VERSION = 5,
    PROPOSED_VERSION = 6
};
enum { FIXED_HEAD = 16, CHECKSUM = 8, LARGEST_HEAD = 1 << 24 };

#define NAME(name, layers, element) name,
static const char *const map_names[] = {AIS_FAMILIES(NAME) NULL};
static const char *const reversal_names[] = {"flip", "swap", NULL};
static const char *const activation_names[] = {"relu", "tanh", NULL};
static const char *const test_names[] = {"metropolis", "barker", NULL};

static size_t payload_bytes(const ais_learned *learned) {
    size_t dim = (size_t)learned->shape.dim;
    return (dim + dim * dim) * sizeof(double) + (learned->weight_count + learned->ratio.count) * sizeof(float);
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* Parts of a file as they lie in memory, one after the other. */
typedef struct content {
    uint32_t version;
    json_t *head;
    struct {
        const void *from;
        size_t bytes;
    } part[7];
} content;

/* Takes the value over; the head is gone when it could not be added. */
static json_t *with(json_t *head, const char *key, json_t *value) {
    if (json_object_set_new(head, key, value) == 0) return head;
    json_decref(head);
    return NULL;
}

/* NULL when memory is out. */
static json_t *numbers_of(const double *value, int count) {
    json_t *list = json_array();
    for (int k = 0; list && k < count; k++)
        if (json_array_append_new(list, json_real(value[k])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

static json_t *head_of(const ais_learned *learned) {
    const ais_shape *shape = &learned->shape;
    json_t *head =
        json_pack("{ss ss si si si si ss si si sb si sf sI ss sf sI}", "map", map_names[shape->map], "reversal",
                  reversal_names[shape->reversal], "dim", shape->dim, "layers", shape->layers, "hidden", shape->hidden,
                  "depth", shape->depth, "activation", activation_names[shape->activation], "bins", shape->bins,
                  "marginal_bins", shape->marginal_bins, "joint", (int)shape->joint, "pivot", shape->pivot, "bound",
                  shape->bound, "permutation", (json_int_t)shape->permutation, "test", test_names[learned->test],
                  "tolerance", learned->tolerance, "weights", (json_int_t)learned->weight_count);
    if (shape->neck) head = with(head, "neck", json_integer(shape->neck));
    if (learned->angles.count) head = with(head, "angles", numbers_of(learned->angles.degree, learned->angles.count));
    const ais_ratio *ratio = &learned->ratio;
    if (ratio->weights)
        head = with(head, "discriminator",
                    json_pack("{si si sI}", "hidden", ratio->net.hidden, "depth", ratio->net.depth, "weights",
                              (json_int_t)ratio->count));
    return head;
}

static content learned_content(const ais_learned *learned) {
    size_t dim = (size_t)learned->shape.dim;
    return (content){.version = learned->ratio.weights  ? EMPIRICAL_VERSION
                                : learned->angles.count ? MOVED_VERSION
                                                        : VERSION,
                     .head = head_of(learned),
                     .part = {{learned->whitening.mean, dim * sizeof(double)},
                              {learned->whitening.factor, dim * dim * sizeof(double)},
                              {learned->weights, learned->weight_count * sizeof(float)},
                              {learned->ratio.weights, learned->ratio.count * sizeof(float)}}};
}

static size_t mixture_doubles(size_t dim, size_t count) { return count * (1 + dim + dim * dim); }

/* JSON has no infinity: null stands for the freedom of normals. */
static content mixture_content(const ais_mixture_kernel *mixture) {
    const ais_components *of = &mixture->components;
    size_t dim = (size_t)of->dim, count = (size_t)of->count;
    json_t *freedom = isinf(of->freedom) ? json_null() : json_real(of->freedom);
    return (content){.version = MIXTURE_VERSION,
                     .head = json_pack("{ss si si so ss}", "map", "mixture", "dim", of->dim, "count", of->count,
                                       "freedom", freedom, "test", test_names[mixture->test]),
                     .part = {{of->weight, count * sizeof(double)},
                              {of->mean, count * dim * sizeof(double)},
                              {of->factor, count * dim * dim * sizeof(double)}}};
}

static content latent_content(const ais_latent *latent) {
    content made = learned_content(ais_as_learned(latent->map));
    made.version = MOVED_VERSION;
    made.head = with(made.head, "inner", ais_classical_to_json(latent->inner));
    made.head = with(made.head, "proposals", json_integer(latent->proposals));
    if (!latent->source) return made;
    enum { OF_MAP = 4, OF_MIXTURE = 3 };
    content mixture = mixture_content(ais_as_mixture(latent->source));
    made.version = PROPOSED_VERSION;
    made.head = with(made.head, "source", mixture.head);
    memcpy(made.part + OF_MAP, mixture.part, OF_MIXTURE * sizeof *mixture.part);
    return made;
}

static content ladder_content(const ais_ladder *ladder) {
    content made = learned_content(ais_as_learned(ladder->map));
    json_t *described = json_pack("{so so si}", "beta", numbers_of(ladder->beta, ladder->rungs), "scale",
                                  numbers_of(ladder->scale, ladder->rungs), "leapfrogs", ladder->leapfrogs);
    made.version = MOVED_VERSION;
    made.head = with(made.head, "ladder", described);
    return made;
}

static content nice_content(const ais_nice_kernel *nice) {
    const ais_anice_shape *shape = &nice->shape;
    return (content){.version = NICE_VERSION,
                     .head = json_pack("{ss si si si si sI}", "map", "anice", "dim", shape->dim, "velocities",
                                       shape->velocities, "hidden", shape->hidden, "depth", shape->depth, "weights",
                                       (json_int_t)nice->nice.weights),
                     .part = {{nice->weights, nice->nice.weights * sizeof(float)}}};
}

/* JSON has only UTF-8: other names are left out, and not compared on loading. */
static bool is_ascii(const char *text) {
    while (*text && (unsigned char)*text < 128) text++;
    return !*text;
}

static json_t *with_name(json_t *head, const char *name) {
    json_t *text = json_string(name);
    return text || is_ascii(name) ? with(head, "target", text) : head;
}

static json_t *with_target(json_t *head, const ais_target *target) {
    json_t *names = json_array();
    char buffer[32];
    bool plain = true, memory = names != NULL;
    for (int i = 0; i < target->dim && memory && plain; i++) {
        const char *name = ais_target_parameter(target, i, buffer);
        json_t *text = json_string(name);
        plain = text || is_ascii(name);
        if (plain) memory = json_array_append_new(names, text) == 0;
    }
    head = with_name(head, target->name);
    if (memory && plain) return with(head, "names", names);
    json_decref(names);
    if (memory) return head;
    json_decref(head);
    return NULL;
}

/* The whole file in memory; NULL when memory is out. Takes the head over. */
static unsigned char *encode(const content *from, const ais_target *target, size_t *count) {
    enum { PARTS = sizeof from->part / sizeof *from->part };
    json_t *json = from->head && target ? with_target(from->head, target) : from->head;
    char *head = ais_json_text(json);
    json_decref(json);
    if (!head) return NULL;
    size_t head_bytes = strlen(head);
    *count = FIXED_HEAD + head_bytes + CHECKSUM;
    for (int i = 0; i < PARTS; i++) *count += from->part[i].bytes;
    unsigned char *bytes = malloc(*count), *at = bytes;
    if (bytes) {
        uint32_t numbers[2] = {from->version, (uint32_t)head_bytes};
        const void *text = head; /* without its final zero */
        memcpy(at, magic, sizeof magic);
        memcpy(at + sizeof magic, numbers, sizeof numbers);
        memcpy(at + FIXED_HEAD, text, head_bytes);
        at += FIXED_HEAD + head_bytes;
        for (int i = 0; i < PARTS; at += from->part[i++].bytes)
            if (from->part[i].bytes) memcpy(at, from->part[i].from, from->part[i].bytes);
        uint64_t sum = ais_checksum(bytes, (size_t)(at - bytes));
        memcpy(at, &sum, CHECKSUM);
    }
    free(head);
    return bytes;
}

unsigned char *ais_kernel_encode(const ais_kernel *kernel, const ais_target *target, size_t *count) {
    const ais_learned *learned = ais_as_learned(kernel);
    const ais_latent *latent = ais_as_latent(kernel);
    const ais_ladder *ladder = ais_as_ladder(kernel);
    const ais_mixture_kernel *mixture = ais_as_mixture(kernel);
    const content from = learned   ? learned_content(learned)
                         : latent  ? latent_content(latent)
                         : ladder  ? ladder_content(ladder)
                         : mixture ? mixture_content(mixture)
                                   : nice_content(ais_as_nice(kernel));
    return encode(&from, target, count);
}

ais_status ais_kernel_save(ais_context *context, const ais_kernel *kernel, const ais_target *target, const char *path) {
    if (!ais_as_learned(kernel) && !ais_as_latent(kernel) && !ais_as_ladder(kernel) && !ais_as_mixture(kernel) &&
        !ais_as_nice(kernel))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s cannot be saved: only learned and latent kernels, ladders and mixtures can",
                        kernel->type->name);
    size_t count = 0, length = strlen(path) + sizeof ".part";
    unsigned char *bytes = ais_kernel_encode(kernel, target, &count);
    char *part = malloc(length);
    ais_status status = AIS_OK;
    if (!bytes || !part) {
        status = ais_fail_memory(context, "a kernel file", count);
    } else {
        snprintf(part, length, "%s.part", path);
        FILE *file = fopen(part, "wb");
        bool written = file && fwrite(bytes, 1, count, file) == count;
        if (file) written = fclose(file) == 0 && written;
        if (!written || rename(part, path) != 0) {
            status = ais_fail(context, AIS_FILE_ERROR, "cannot write %s: %s", path, strerror(errno));
            unlink(part);
        }
    }
    free(bytes);
    free(part);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------- */

static ais_status damaged(ais_context *context, const char *path, const char *what) {
    return ais_fail(context, AIS_BAD_FORMAT, "%s is not a usable kernel file: %s", path, what);
}

static int word_of(const json_t *head, const char *key, const char *const *words) {
    const char *text = json_string_value(json_object_get(head, key));
    for (int i = 0; text && words[i]; i++)
        if (strcmp(text, words[i]) == 0) return i;
    return -1;
}

static bool int_of(const json_t *head, const char *key, int *value) {
    const json_t *json = json_object_get(head, key);
    json_int_t number = json_integer_value(json);
    if (!json_is_integer(json) || number < -1000000000 || number > 1000000000) return false;
    *value = (int)number;
    return true;
}

static bool shape_of(const json_t *head, ais_shape *shape) {
    int map = word_of(head, "map", map_names), reversal = word_of(head, "reversal", reversal_names);
    int activation = word_of(head, "activation", activation_names);
    const json_t *joint = json_object_get(head, "joint"), *permutation = json_object_get(head, "permutation");
    const json_t *pivot = json_object_get(head, "pivot");
    *shape = (ais_shape){.joint = json_is_true(joint),
                         .pivot = json_is_true(pivot), /* so it was written when it could be only one */
                         .bound = json_number_value(json_object_get(head, "bound")),
                         .permutation = (uint64_t)json_integer_value(permutation)};
    if (map < 0 || reversal < 0 || activation < 0 || !json_is_boolean(joint) || !json_is_integer(permutation))
        return false;
    shape->map = (ais_map)map;
    shape->reversal = (ais_reversal)reversal;
    shape->activation = (ais_activation)activation;
    return int_of(head, "dim", &shape->dim) && int_of(head, "layers", &shape->layers) &&
           int_of(head, "hidden", &shape->hidden) && int_of(head, "depth", &shape->depth) &&
           int_of(head, "bins", &shape->bins) && int_of(head, "marginal_bins", &shape->marginal_bins) &&
           (!json_is_integer(pivot) || int_of(head, "pivot", &shape->pivot)) &&
           (!json_object_get(head, "neck") || int_of(head, "neck", &shape->neck));
}

/* A kernel is refused for a target whose dimension or parameters differ from those it was made for. */
static ais_status check_target(ais_context *context, const char *path, const json_t *head, int dim,
                               const ais_target *target) {
    const char *made_for = json_string_value(json_object_get(head, "target"));
    if (!made_for) made_for = "an unnamed target";
    if (dim != target->dim)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s was made for %s of dimension %d, but %s has dimension %d: train a kernel for it", path,
                        made_for, dim, target->name, target->dim);
    const json_t *names = json_object_get(head, "names");
    char buffer[32];
    for (int i = 0; names && i < dim; i++) {
        const char *name = json_string_value(json_array_get(names, (size_t)i));
        const char *wanted = ais_target_parameter(target, i, buffer);
        if (!name || strcmp(name, wanted) != 0)
            return ais_fail(context, AIS_BAD_ARGUMENT,
                            "%s was made for %s whose parameter %d is %s, but in %s it is %s: train a kernel for it",
                            path, made_for, i + 1, name ? name : "missing", target->name, wanted);
    }
    return AIS_OK;
}

/* Gives the kernel the discriminator that the head of a version 2 file describes. The payload holds `left` bytes
 * beyond what the map needs. */
static ais_status add_discriminator(ais_context *context, const char *path, const json_t *head, size_t left,
                                    ais_kernel *kernel) {
    const json_t *json = json_object_get(head, "discriminator");
    json_int_t weights = json_integer_value(json_object_get(json, "weights"));
    int hidden, depth;
    if (!int_of(json, "hidden", &hidden) || !int_of(json, "depth", &depth))
        return damaged(context, path, "its head lacks a discriminator");
    if (weights <= 0 || (uint64_t)weights != left / sizeof(float) || left % sizeof(float))
        return damaged(context, path, "its sizes do not agree");
    ais_status status = ais_learned_add_ratio(context, kernel, hidden, depth, (size_t)weights);
    return status == AIS_BAD_ARGUMENT ? damaged(context, path, "its head describes no possible discriminator") : status;
}

/* Takes over weights that must be numbers. */
static ais_status take_weights(ais_context *context, const char *path, const unsigned char *from, size_t count,
                               ais_real *to) {
    if (count) memcpy(to, from, count * sizeof *to);
    for (size_t i = 0; i < count; i++)
        if (!(to[i] - to[i] == 0)) return damaged(context, path, "it has a weight that is not a finite number");
    return AIS_OK;
}

static ais_status decode(ais_context *context, const char *path, const unsigned char *bytes, size_t count,
                         const json_t *head, size_t head_bytes, bool empirical, ais_kernel **kernel) {
    size_t payload = count - FIXED_HEAD - head_bytes - CHECKSUM;
    ais_shape shape;
    if (!shape_of(head, &shape)) return damaged(context, path, "its head lacks a field or has one of the wrong kind");
    json_int_t weights = json_integer_value(json_object_get(head, "weights"));
    if (weights < 0 || (weights == 0) != (shape.map == AIS_AFFINE) || (uint64_t)weights > payload / sizeof(float))
        return damaged(context, path, "its sizes do not agree");
    ais_kernel *made = NULL;
    ais_status status = ais_learned_new(context, &shape, (size_t)weights, &made);
    if (status == AIS_BAD_ARGUMENT) return damaged(context, path, "its head describes no possible kernel");
    if (status != AIS_OK) return status;
    ais_learned *learned = (ais_learned *)made;
    size_t needed = payload_bytes(learned);
    if (empirical && needed < payload)
        status = add_discriminator(context, path, head, payload - needed, made);
    else if (empirical || needed != payload)
        status = damaged(context, path, "its sizes do not agree");
    if (status != AIS_OK) {
        ais_kernel_free(made);
        return status;
    }
    size_t dim = (size_t)shape.dim;
    const unsigned char *at = bytes + FIXED_HEAD + head_bytes;
    double *numbers = malloc((dim + dim * dim) * sizeof *numbers);
    if (!numbers) {
        ais_kernel_free(made);
        return ais_fail_memory(context, "a kernel's whitening", dim * dim * sizeof *numbers);
    }
    memcpy(numbers, at, (dim + dim * dim) * sizeof *numbers);
    status = ais_whitening_set(context, &learned->whitening, numbers, numbers + dim);
    at += (dim + dim * dim) * sizeof *numbers;
    free(numbers);
    if (status == AIS_OK) status = take_weights(context, path, at, learned->weight_count, learned->weights);
    at += learned->weight_count * sizeof(float);
    if (status == AIS_OK) status = take_weights(context, path, at, learned->ratio.count, learned->ratio.weights);
    learned->test = word_of(head, "test", test_names) == AIS_BARKER ? AIS_BARKER : AIS_METROPOLIS;
    double tolerance = json_number_value(json_object_get(head, "tolerance"));
    if (tolerance > 0) learned->tolerance = tolerance;
    if (status == AIS_OK)
        *kernel = made;
    else
        ais_kernel_free(made);
    return status;
}

/* The angles of a version 4 file. */
static ais_status add_angles(ais_context *context, const char *path, const json_t *angles, ais_kernel *kernel) {
    double degree[AIS_MOST_ANGLES];
    size_t count = json_array_size(angles); /* 0 of what is no array */
    for (size_t k = 0; k < count && count <= AIS_MOST_ANGLES; k++)
        degree[k] = json_number_value(json_array_get(angles, k)); /* 0, which is refused, of what is no number */
    ais_status status = AIS_BAD_ARGUMENT;
    if (count > 0 && count <= AIS_MOST_ANGLES) status = ais_kernel_set_angles(context, kernel, (int)count, degree);
    return status == AIS_BAD_ARGUMENT ? damaged(context, path, "its head has impossible angles") : status;
}

static bool numbers_from(const json_t *list, size_t count, double *value) {
    bool all = json_array_size(list) == count; /* 0 of what is no array */
    for (size_t k = 0; all && k < count; k++) {
        all = json_is_number(json_array_get(list, k));
        value[k] = json_number_value(json_array_get(list, k));
    }
    return all;
}

/* The ladder of a version 4 file. */
static ais_status add_ladder(ais_context *context, const char *path, const json_t *described, ais_kernel **kernel) {
    double beta[AIS_MOST_RUNGS], scale[AIS_MOST_RUNGS];
    const json_t *list = json_object_get(described, "beta");
    size_t rungs = json_array_size(list);
    ais_ladder_options options = {.rungs = (int)rungs, .beta = beta, .scale = scale};
    if (rungs > AIS_MOST_RUNGS || !numbers_from(list, rungs, beta) ||
        !numbers_from(json_object_get(described, "scale"), rungs, scale) ||
        !int_of(described, "leapfrogs", &options.leapfrogs))
        return damaged(context, path, "its head describes no possible ladder");
    ais_kernel *map = *kernel;
    ais_status status = ais_kernel_ladder(context, map, &options, kernel);
    return status == AIS_BAD_ARGUMENT ? damaged(context, path, "its head describes no possible ladder") : status;
}

/* Gives a map the angles, the ladder, or the kernel in its latent space, that the head of a version 4 file has. */
static ais_status add_moves(ais_context *context, const char *path, const json_t *head, ais_kernel **kernel) {
    ais_kernel *inner = NULL, *map = *kernel;
    const json_t *angles = json_object_get(head, "angles"), *described = json_object_get(head, "inner");
    const json_t *ladder = json_object_get(head, "ladder");
    if ((angles != NULL) + (described != NULL) + (ladder != NULL) > 1)
        return damaged(context, path, "its head has more than one of angles, an inner kernel and a ladder");
    if (ladder) return add_ladder(context, path, ladder, kernel);
    if (angles) return add_angles(context, path, angles, map);
    int proposals;
    if (!int_of(head, "proposals", &proposals) || proposals < 0 || proposals > AIS_MOST_PROPOSALS)
        return damaged(context, path, "its head has no possible number of proposals");
    ais_status status = ais_classical_from_json(context, described, &inner);
    if (status == AIS_BAD_ARGUMENT) return damaged(context, path, "its head describes no possible inner kernel");
    if (status != AIS_OK) return status;
    status = ais_kernel_latent(context, map, inner, kernel);
    if (status == AIS_OK) return ais_kernel_set_proposals(context, *kernel, proposals);
    return status == AIS_BAD_ARGUMENT ? damaged(context, path, "its map has no latent space") : status;
}

static ais_status decode_nice(ais_context *context, const char *path, const unsigned char *payload, size_t bytes,
                              const json_t *head, ais_kernel **kernel) {
    ais_anice_shape shape;
    json_int_t weights = json_integer_value(json_object_get(head, "weights"));
    if (!int_of(head, "dim", &shape.dim) || !int_of(head, "velocities", &shape.velocities) ||
        !int_of(head, "hidden", &shape.hidden) || !int_of(head, "depth", &shape.depth))
        return damaged(context, path, "its head lacks a field or has one of the wrong kind");
    if (weights <= 0 || bytes % sizeof(float) || (uint64_t)weights != bytes / sizeof(float))
        return damaged(context, path, "its sizes do not agree");
    ais_kernel *made = NULL;
    ais_status status = ais_nice_new(context, &shape, (size_t)weights, &made);
    if (status == AIS_BAD_ARGUMENT) return damaged(context, path, "its head describes no possible kernel");
    if (status == AIS_OK)
        status = take_weights(context, path, payload, (size_t)weights, ((ais_nice_kernel *)made)->weights);
    if (status == AIS_OK)
        *kernel = made;
    else
        ais_kernel_free(made);
    return status;
}

static ais_status decode_mixture(ais_context *context, const char *path, const unsigned char *payload, size_t bytes,
                                 const json_t *head, ais_kernel **kernel) {
    const json_t *freedom = json_object_get(head, "freedom");
    ais_mixture_options options = {.freedom = json_is_null(freedom) ? INFINITY : json_number_value(freedom)};
    int test = word_of(head, "test", test_names);
    if (word_of(head, "map", (const char *const[]){"mixture", NULL}) < 0 || test < 0 || !freedom ||
        !int_of(head, "dim", &options.dim) || !int_of(head, "count", &options.count))
        return damaged(context, path, "its head lacks a field or has one of the wrong kind");
    if (options.dim < 1 || options.dim > AIS_COMPONENTS_MOST_DIM || options.count < 1 ||
        options.count > AIS_MIXTURE_MOST_COMPONENTS || !(options.freedom >= 1))
        return damaged(context, path, "its head describes no possible kernel");
    size_t dim = (size_t)options.dim, count = (size_t)options.count;
    if (bytes != mixture_doubles(dim, count) * sizeof(double)) return damaged(context, path, "its sizes do not agree");
    double *numbers = malloc(bytes); /* a copy, because the payload need not be aligned */
    if (!numbers) return ais_fail_memory(context, "a mixture", bytes);
    memcpy(numbers, payload, bytes);
    options.weight = numbers;
    options.mean = numbers + count;
    options.factor = numbers + count * (1 + dim);
    ais_status status = ais_kernel_mixture(context, &options, kernel);
    free(numbers);
    if (status == AIS_OK) ais_kernel_set_test(*kernel, (ais_test)test);
    if (status != AIS_BAD_ARGUMENT) return status;
    char why[sizeof context->message];
    snprintf(why, sizeof why, "%s", context->message);
    return damaged(context, path, why);
}

/* Bytes of the mixture behind a version 6 file's map; 0 where its head describes none. */
static size_t source_bytes(const json_t *head) {
    int dim, count;
    const json_t *source = json_object_get(head, "source");
    bool whole = int_of(source, "dim", &dim) && int_of(source, "count", &count) && dim >= 1 && count >= 1 &&
                 dim <= AIS_COMPONENTS_MOST_DIM && count <= AIS_MIXTURE_MOST_COMPONENTS;
    return whole ? mixture_doubles((size_t)dim, (size_t)count) * sizeof(double) : 0;
}

/* Version 6: a map with a kernel in its latent space, and the mixture that proposes. */
static ais_status decode_proposed(ais_context *context, const char *path, const unsigned char *bytes, size_t count,
                                  const json_t *head, size_t head_bytes, ais_kernel **kernel) {
    size_t tail = source_bytes(head), payload = count - FIXED_HEAD - head_bytes - CHECKSUM;
    if (!tail || tail > payload || !json_object_get(head, "inner"))
        return damaged(context, path, "its head and sizes do not agree");
    ais_kernel *made = NULL, *mixture = NULL;
    ais_status status = decode(context, path, bytes, count - tail, head, head_bytes, false, &made);
    if (status == AIS_OK) status = add_moves(context, path, head, &made);
    if (status == AIS_OK)
        status = decode_mixture(context, path, bytes + count - CHECKSUM - tail, tail, json_object_get(head, "source"),
                                &mixture);
    if (status == AIS_OK) status = ais_kernel_propose_from(context, made, mixture);
    *kernel = made; /* freed by the caller if anything failed */
    return status == AIS_BAD_ARGUMENT ? damaged(context, path, "its mixture is of another dimension") : status;
}

ais_status ais_kernel_decode(ais_context *context, const char *path, const unsigned char *bytes, size_t count,
                             const ais_target *target, ais_kernel **kernel) {
    uint32_t numbers[2];
    uint64_t sum;
    if (count < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return damaged(context, path, "it does not begin like one");
    if (count < FIXED_HEAD + CHECKSUM) return damaged(context, path, "it is cut short");
    memcpy(numbers, bytes + sizeof magic, sizeof numbers);
    if (numbers[0] < VERSION || numbers[0] > PROPOSED_VERSION)
        return ais_fail(context, AIS_BAD_FORMAT,
                        "%s has version %u of the kernel format; this library reads versions %d to %d", path,
                        numbers[0], VERSION, PROPOSED_VERSION);
    if (numbers[1] > LARGEST_HEAD || numbers[1] > count - FIXED_HEAD - CHECKSUM)
        return damaged(context, path, "it is cut short");
    memcpy(&sum, bytes + count - CHECKSUM, CHECKSUM);
    if (sum != ais_checksum(bytes, count - CHECKSUM))
        return damaged(context, path, "its checksum is wrong, so it is damaged or cut short");
    json_error_t error;
    json_t *head = json_loadb((const char *)bytes + FIXED_HEAD, numbers[1], JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(head)) {
        json_decref(head);
        return damaged(context, path, "its head is not JSON");
    }
    ais_kernel *made = NULL;
    const unsigned char *payload = bytes + FIXED_HEAD + numbers[1];
    size_t payload_count = count - FIXED_HEAD - numbers[1] - CHECKSUM;
    ais_status status =
        numbers[0] == NICE_VERSION      ? decode_nice(context, path, payload, payload_count, head, &made)
        : numbers[0] == MIXTURE_VERSION ? decode_mixture(context, path, payload, payload_count, head, &made)
        : numbers[0] == PROPOSED_VERSION
            ? decode_proposed(context, path, bytes, count, head, numbers[1], &made)
            : decode(context, path, bytes, count, head, numbers[1], numbers[0] == EMPIRICAL_VERSION, &made);
    if (status == AIS_OK && numbers[0] == MOVED_VERSION) status = add_moves(context, path, head, &made);
    if (status == AIS_OK && target) status = check_target(context, path, head, made->dim, target);
    if (status == AIS_OK && target) status = ais_kernel_fits(context, made, target);
    json_decref(head);
    if (status == AIS_OK)
        *kernel = made;
    else
        ais_kernel_free(made);
    return status;
}

ais_status ais_kernel_load(ais_context *context, const char *path, const ais_target *target, ais_kernel **kernel) {
    char *bytes = NULL;
    size_t count = 0;
    ais_status status = ais_file_read_like(context, path, magic, sizeof magic, &bytes, &count);
    if (status != AIS_OK) return status;
    status = ais_kernel_decode(context, path, (const unsigned char *)bytes, count, target, kernel);
    free(bytes);
    return status;
}
