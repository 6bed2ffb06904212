/* No step of any kernel, classical or learned, allocates or frees, in warm-up or after. The allocator's functions are
 * replaced by counting ones (under AddressSanitizer: its hooks). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include <aisampler/anice.h>

#include "brief.h"
#include "classical.h"
#include "simd/isa.h"

static volatile long calls; /* volatile: compilers take it that free changes no variable */

#ifdef __SANITIZE_ADDRESS__
/* From sanitizer/allocator_interface.h, which gcc does not always bring along. */
int __sanitizer_install_malloc_and_free_hooks(void (*allocation)(const volatile void *, size_t),
                                              void (*release)(const volatile void *));

static void count_allocation(const volatile void *memory, size_t size) { (void)memory, (void)size, calls++; }
static void count_release(const volatile void *memory) { (void)memory, calls++; }
static void install(void) { __sanitizer_install_malloc_and_free_hooks(count_allocation, count_release); }
#else
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size) { return calls++, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return calls++, __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return calls++, __libc_realloc(memory, size); }
void *aligned_alloc(size_t alignment, size_t size) { return calls++, __libc_memalign(alignment, size); }
void free(void *memory) {
    calls++;
    __libc_free(memory);
}
static void install(void) {}
#endif

/* The counter sees this program's calls and the library's. */
static void the_counter_counts(void **unused) {
    (void)unused;
    void *(*volatile allocate)(size_t) = malloc; /* volatile: not to be optimised away */
    long before = calls;
    void *memory = allocate(100);
    long after = calls;
    free(memory);
    assert_true(after > before && calls > after);
    before = calls;
    memory = ais_allocate(100);
    after = calls;
    free(memory);
    assert_true(after > before);
    ais_context context = {0};
    ais_state *state;
    before = calls;
    ais_state_new(&context, &law_targets[0].target, 1, 0, 3, 0, NULL, &state);
    assert_true(calls > before);
    ais_state_free(state);
}

/* Steps of warm-up, with two windows at whose ends a metric is learned (in brief: one), and after. */
static uint64_t warmup_steps(void) { return brief() ? 24 : 200; }
static uint64_t all_steps(void) { return warmup_steps() + (brief() ? 6 : 30); }

/* Warm-up and after; the kernel is freed. */
static void count_steps(const char *name, const ais_target *target, ais_kernel *kernel) {
    ais_context context = {0};
    ais_state *state;
    ais_info info[20];
    void *own;
    long in_steps = 0, before = calls;
    assert_int_equal(ais_state_new(&context, target, 1, 0, 20, warmup_steps(), NULL, &state), AIS_OK);
    assert_int_equal(kernel->type->init(&context, kernel, state, &own), AIS_OK);
    assert_true(calls > before);
    for (; state->step < all_steps(); state->step++) {
        before = calls;
        ais_status status = kernel->type->step(&context, kernel, state, own, info);
        in_steps += calls - before;
        assert_int_equal(status, AIS_OK);
    }
    if (in_steps) fail_msg("%s: %ld calls of the allocator in steps", name, in_steps);
    ais_state_free(state);
    ais_kernel_free(kernel);
}

static void classical_steps(void **unused) {
    (void)unused;
    law_kernel law;
    for (int k = 0; (law = law_kernel_at(k)).name; k++)
        for (int t = 0; t < LAW_TARGETS; t++) count_steps(law.name, &law_targets[t].target, law_make(&law));
}

static void learned_steps(void **unused) {
    (void)unused;
    for (int t = 0; t < LAW_TARGETS; t++)
        for (int map = AIS_HENON; map <= AIS_AFFINE; map++)
            for (int reversal = AIS_FLIP; reversal <= AIS_SWAP; reversal++) {
                const ais_target *target = &law_targets[t].target;
                ais_shape shape = {.map = (ais_map)map, .reversal = (ais_reversal)reversal, .dim = target->dim};
                if (map == AIS_AFFINE && reversal == AIS_FLIP) continue; /* there is none */
                ais_context context = {0};
                ais_kernel *kernel;
                assert_int_equal(ais_kernel_learned(&context, &shape, 1, &kernel), AIS_OK);
                count_steps(ais_kernel_name(kernel), target, kernel);
                const double angles[2] = {10, 60};
                assert_int_equal(ais_kernel_learned(&context, &shape, 1, &kernel), AIS_OK);
                if (ais_kernel_set_angles(&context, kernel, 2, angles) == AIS_OK)
                    count_steps("reflections", target, kernel);
                else
                    ais_kernel_free(kernel);
            }
    for (int t = 0; t < LAW_TARGETS; t++) {
        ais_context context = {0};
        ais_kernel *kernel;
        const ais_anice_shape shape = {.dim = law_targets[t].target.dim, .hidden = 20};
        assert_int_equal(ais_kernel_anice(&context, &shape, 1, &kernel), AIS_OK);
        count_steps("anice", &law_targets[t].target, kernel);
    }
}

/* Classical kernels in latent spaces, alone and in a cycle with the map, which makes them compute z again. */
static void latent_steps(void **unused) {
    (void)unused;
    ais_kernel *(*const inner[])(void) = {tuned_rwm, tuned_hmc, tuned_nuts, tuned_nuts_dense};
    for (int t = 0; t < LAW_TARGETS; t++)
        for (int map = AIS_REALNVP; map <= AIS_AFFINE; map++)
            for (size_t k = 0; k < sizeof inner / sizeof *inner; k++)
                for (int cycled = 0; cycled < 2; cycled++) {
                    const ais_target *target = &law_targets[t].target;
                    ais_shape shape = {.map = (ais_map)map, .reversal = AIS_SWAP, .dim = target->dim};
                    if (map != AIS_AFFINE) /* small, but wide enough to take points alone */
                        shape.layers = 2, shape.hidden = AIS_LANES, shape.bins = 4;
                    ais_context context = {0};
                    ais_kernel *part, *kernel;
                    assert_int_equal(ais_kernel_learned(&context, &shape, 1, &part), AIS_OK);
                    assert_int_equal(ais_kernel_latent(&context, part, inner[k](), &kernel), AIS_OK);
                    if (cycled) {
                        assert_int_equal(ais_kernel_learned(&context, &shape, 2, &part), AIS_OK);
                        kernel = make_cycle(kernel, part, NULL);
                    }
                    count_steps(ais_kernel_name(kernel), target, kernel);
                }
}

static void ladder_steps(void **unused) {
    (void)unused;
    static const double beta[3] = {0, 0.3, 1}, scale[3] = {0, 0.5, 0.3};
    for (int t = 0; t < LAW_TARGETS; t++)
        for (int leapfrogs = 0; leapfrogs < 3; leapfrogs += 2) {
            const ais_target *target = &law_targets[t].target;
            const ais_shape shape = {
                .map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = target->dim, .layers = 1, .hidden = AIS_LANES};
            const ais_ladder_options options = {.rungs = 3, .beta = beta, .scale = scale, .leapfrogs = leapfrogs};
            ais_context context = {0};
            ais_kernel *map, *kernel;
            assert_int_equal(ais_kernel_learned(&context, &shape, 1, &map), AIS_OK);
            assert_int_equal(ais_kernel_ladder(&context, map, &options, &kernel), AIS_OK);
            count_steps("ladder", target, kernel);
        }
}

static void mixture_steps(void **unused) {
    (void)unused;
    for (int t = 0; t < LAW_TARGETS; t++)
        for (int heavy = 0; heavy < 2; heavy++) {
            const ais_target *target = &law_targets[t].target;
            size_t dim = (size_t)target->dim;
            double *mean = calloc(2 * dim, sizeof *mean), *factor = calloc(2 * dim * dim, sizeof *factor);
            for (size_t k = 0; k < 2; k++)
                for (size_t i = 0; i < dim; i++) factor[(k * dim + i) * dim + i] = 1 + (double)k;
            ais_mixture_options options = {
                .dim = target->dim, .count = 2, .mean = mean, .factor = factor, .freedom = heavy ? 1.5 : INFINITY};
            ais_context context = {0};
            ais_kernel *kernel;
            assert_int_equal(ais_kernel_mixture(&context, &options, &kernel), AIS_OK);
            free(mean);
            free(factor);
            count_steps("mixture", target, kernel);
        }
}

int main(void) {
    install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_counts), cmocka_unit_test(classical_steps), cmocka_unit_test(learned_steps),
        cmocka_unit_test(mixture_steps),      cmocka_unit_test(latent_steps),    cmocka_unit_test(ladder_steps),
    };
    return cmocka_run_group_tests_name("allocation", tests, NULL, NULL);
}
