/* What a density's file gives, and what it gets.
 *
 * A built-in target is one const ais_target_type: its row of the table (name, summary, options), the
 * ranges of its options and a function that opens it. A new density is a new file and a row in
 * target.c. Opening fills home->target and home->reference; all memory comes from home->arena. */
#ifndef AIS_TARGET_BUILTIN_H
#define AIS_TARGET_BUILTIN_H

#include <stdbool.h>

#include <aisampler/target.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"

/* Everything an opened target owns. */
typedef struct ais_home {
    ais_target target; /* first, so that a pointer to it is a pointer to the home */
    ais_reference reference;
    ais_arena arena;
    void *library;           /* of dlopen, or NULL */
    ais_density *density;    /* of that library, after its open; or NULL */
    struct ais_draws *draws; /* of an empirical target, or NULL */
    struct ais_stan *stan;   /* of a Stan program, or NULL */
} ais_home;

typedef struct ais_option {
    const char *name;
    double value;     /* the default */
    double low, high; /* both allowed */
    bool whole;       /* an integer */
    bool text;        /* any word: value, low and high do not count */
    const char *word; /* a word that stands for the number `high`, or NULL */
} ais_option;

typedef struct ais_value {
    double number;
    const char *text; /* as written, or NULL when not given */
} ais_value;

typedef struct ais_target_type {
    ais_target_entry entry;
    const ais_option *option; /* ends with a NULL name */
    /* value[k] belongs to option[k]; file is what stands between the colons of blr:FILE, else NULL. */
    ais_status (*open)(ais_context *context, const ais_value *value, const char *file, ais_home *home);
} ais_target_type;

enum { AIS_MAX_OPTIONS = 8 };

extern const ais_target_type ais_target_mog2, ais_target_mog6, ais_target_triangle, ais_target_twomodes;
extern const ais_target_type ais_target_ring, ais_target_ring5;
extern const ais_target_type ais_target_gaussian, ais_target_funnel, ais_target_banana;
extern const ais_target_type ais_target_heart, ais_target_german, ais_target_australian;
extern const ais_target_type ais_target_blr, ais_target_linear, ais_target_poisson;

/* Values for type's options from "key=value,key=value" (NULL: none), which is taken apart in place. */
ais_status ais_options_parse(ais_context *context, const ais_target_type *type, char *text, ais_value *value);

/* What a target that has all three functions is made of; `data` is handed to them. */
static inline void ais_home_functions(ais_home *home, int dim, ais_logp *logp, ais_logp_batch *batch, ais_grad *grad,
                                      void *data) {
    home->target.dim = dim;
    home->target.logp = logp;
    home->target.batch = batch;
    home->target.grad = grad;
    home->target.data = data;
}

/* The moments of home's reference, ready to be filled in. */
typedef struct ais_moments {
    double *mean, *variance, *square_mean, *square_variance;
} ais_moments;

/* Takes memory for them, hooks them and the reference up; false when memory is out. */
bool ais_moments_take(ais_home *home, int dim, ais_moments *moments);

/* Coordinate i from E x, E x^2 about the mean (the variance), E x^2 and E x^4. */
void ais_moments_set(const ais_moments *moments, int i, double mean, double variance, double square, double fourth);

/* The stream of exact draw `index`. Uniforms that go with its normals use indices from
 * AIS_DRAW_UNIFORM on, where normals do not come. */
#define AIS_DRAW_UNIFORM 0x80000000u
static inline ais_stream ais_draw_stream(uint64_t seed, uint64_t index) {
    return (ais_stream){.seed = seed, .step = index & 0xFFFFFFFFFFFFFFu, .purpose = AIS_FOR_EXACT};
}

/* Log densities of `count` points, a multiple of AIS_HALF or of AIS_LANES; coordinate i of point c is
 * x[i * stride + c]. */
typedef void ais_blocks(const void *data, size_t count, size_t stride, const double *x, double *logp);

/* A batch of any n by blocks of `width` points, with results that do not depend on n. */
void ais_batch_by_blocks(ais_blocks *blocks, size_t width, const void *data, size_t n, int dim, const double *x,
                         double *logp);

/* value, or -INFINITY where overflow (inf - inf) made a NaN from coordinates that are numbers: so
 * far out there is no density. */
double ais_settle(double value, const double *x, int dim);

#endif
