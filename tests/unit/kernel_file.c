/* The kernel file: what is saved is loaded, and everything else is refused with a sentence. */
#include "support.h"

#include <unistd.h>

#include <aisampler/draws.h>

#include "kernel/learned.h"

static char path[] = "/tmp/aisampler-kernel-XXXXXX";

static const ais_shape shapes[] = {
    {.map = AIS_HENON, .dim = 3, .activation = AIS_TANH},
    {.map = AIS_REALNVP, .dim = 2, .joint = true, .marginal_bins = 5},
    {.map = AIS_REALNVP, .dim = 4, .reversal = AIS_SWAP, .depth = -1},
    {.map = AIS_SPLINE, .dim = 2, .reversal = AIS_SWAP, .bins = 7, .bound = 3.5, .permutation = 99},
};

static double never_called(const double *x, void *data) {
    (void)x, (void)data;
    return 0;
}

static void round_trip(void **state) {
    (void)state;
    ais_context context = {0};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int dim = shapes[s].dim;
        ais_target target = {.name = "t", .dim = dim, .logp = never_called};
        ais_kernel *made, *loaded;
        assert_ok(context, ais_kernel_learned(&context, &shapes[s], 5, &made));
        double mean[4] = {0.1, -2, 3, 4}, factor[16] = {0};
        for (int i = 0; i < dim; i++) factor[i * dim + i] = 1 + i, factor[i * dim] += 0.25;
        assert_ok(context, ais_kernel_whiten(&context, made, mean, factor));
        ais_kernel_set_test(made, AIS_BARKER);
        assert_ok(context, ais_kernel_save(&context, made, &target, path));
        assert_ok(context, ais_kernel_load(&context, path, &target, &loaded));
        assert_string_equal(ais_kernel_name(loaded), ais_kernel_name(made));
        assert_int_equal(((ais_learned *)loaded)->test, AIS_BARKER);
        double z[8], image[2][8];
        for (int i = 0; i < 8; i++) z[i] = odd(3, (uint64_t)i, -2, 2);
        assert_ok(context, ais_kernel_involution(&context, made, 1, z, image[0], NULL));
        assert_ok(context, ais_kernel_involution(&context, loaded, 1, z, image[1], NULL));
        assert_memory_equal(image[0], image[1], 2 * (size_t)dim * sizeof(double));
        ais_kernel_free(made);
        ais_kernel_free(loaded);
    }
}

static void wrong_target(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *made, *loaded = NULL;
    const char *const names[] = {"a", "b", "c"}, *const others[] = {"a", "B", "c"};
    ais_target target = {.name = "mine", .dim = 3, .logp = never_called, .names = names};
    assert_ok(context, ais_kernel_learned(&context, &shapes[0], 5, &made));
    assert_ok(context, ais_kernel_save(&context, made, &target, path));
    ais_target larger = {.name = "larger", .dim = 4, .logp = never_called};
    assert_int_equal(ais_kernel_load(&context, path, &larger, &loaded), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "dimension 3"));
    target.names = others;
    assert_int_equal(ais_kernel_load(&context, path, &target, &loaded), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "parameter 2 is b"));
    assert_ok(context, ais_kernel_load(&context, path, NULL, &loaded));
    ais_kernel_free(loaded);
    ais_kernel_free(made);
}

static size_t slurp(unsigned char *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    size_t count = fread(bytes, 1, room, file);
    fclose(file);
    return count;
}

/* Names that JSON cannot hold are not compared, rather than making the file unusable for its own target. */
static void names_in_another_encoding(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *kernel, *loaded;
    const char *const names[] = {"a", "gr\xF6\xDF"
                                      "e"};
    ais_target target = {.name = "mine", .dim = 2, .logp = never_called, .names = names};
    ais_shape shape = {.map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = 2};
    assert_int_equal(ais_kernel_learned(&context, &shape, 5, &kernel), AIS_OK);
    assert_int_equal(ais_kernel_save(&context, kernel, &target, path), AIS_OK);
    assert_int_equal(ais_kernel_load(&context, path, &target, &loaded), AIS_OK);
    ais_kernel_free(loaded);
    ais_kernel_free(kernel);
}

static void spill(const unsigned char *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    fwrite(bytes, 1, count, file);
    fclose(file);
}

/* Puts a right checksum under hostile content, which must then be refused for what it says. */
static void seal(unsigned char *bytes, size_t count) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < count - 8; i++) hash = (hash ^ bytes[i]) * 0x100000001b3;
    memcpy(bytes + count - 8, &hash, 8);
}

static void refused(ais_context *context, const char *why) {
    ais_kernel *loaded = NULL;
    ais_status status = ais_kernel_load(context, path, NULL, &loaded);
    if (status == AIS_OK) fail_msg("%s was accepted", why);
    assert_null(loaded);
    assert_true(strlen(context->message) > 20);
    assert_non_null(strstr(context->message, path));
}

static void damage(bool empirical) {
    ais_context context = {0};
    ais_kernel *made;
    assert_ok(context, ais_kernel_learned(&context, &shapes[3], 5, &made));
    if (empirical) assert_ok(context, ais_learned_add_ratio(&context, made, 9, 2, 0));
    assert_ok(context, ais_kernel_save(&context, made, NULL, path));
    static unsigned char whole[1 << 16], bytes[1 << 16];
    size_t count = slurp(whole, sizeof whole);
    if (count <= 1000 || count >= sizeof whole) {
        fail_msg("the file has %zu bytes", count);
        return; /* so that the compiler knows, too */
    }
    for (size_t cut = 0; cut < count; cut += cut < 400 ? 1 : 97) {
        spill(whole, cut);
        refused(&context, "a truncated file");
    }
    for (size_t at = 0; at < count; at += at < 400 ? 1 : 89) {
        memcpy(bytes, whole, count);
        bytes[at] ^= 0x10;
        spill(bytes, count);
        refused(&context, "a flipped bit");
    }
    /* sealed, so that only the content can be refused: every byte of the head changed in turn */
    int accepted = 0;
    const char *part = empirical ? strstr((const char *)whole + 16, "\"discriminator\"") : (const char *)whole + 8;
    assert_non_null(part);
    size_t first = (size_t)(part - (const char *)whole), changed = empirical ? 60 : 392;
    for (size_t at = first; at < first + changed; at++)
        for (int change = 1; change < 256; change <<= 1) {
            memcpy(bytes, whole, count);
            bytes[at] = (unsigned char)(bytes[at] ^ change);
            seal(bytes, count);
            spill(bytes, count);
            ais_kernel *loaded = NULL; /* some changes are harmless, none may crash */
            if (ais_kernel_load(&context, path, NULL, &loaded) == AIS_OK) accepted++;
            ais_kernel_free(loaded);
        }
    assert_true(accepted < (int)changed * 8 / 2);
    memcpy(bytes, whole, count);
    bytes[8] = empirical ? 1 : 2; /* the version of the other kind */
    seal(bytes, count);
    spill(bytes, count);
    refused(&context, "a discriminator too many or too few");
    memcpy(bytes, whole, count);
    bytes[count - 9] = bytes[count - 10] = 0xff; /* the last weight becomes NaN */
    seal(bytes, count);
    spill(bytes, count);
    refused(&context, "a weight that is not a number");
    assert_non_null(strstr(context.message, "finite"));
    ais_kernel_free(made);
}

static void damaged(void **state) {
    (void)state;
    damage(false);
    damage(true);
}

/* The file of a kernel learned from draws brings its discriminator back, and fits targets of its kind only. */
static void discriminator(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *made, *loaded = NULL;
    ais_draws draws = {.dim = 2};
    ais_target density = {.name = "smooth", .dim = 2, .logp = never_called}, data = density;
    data.draws = &draws;
    assert_ok(context, ais_kernel_learned(&context, &shapes[3], 5, &made));
    assert_ok(context, ais_kernel_save(&context, made, NULL, path));
    assert_int_equal(ais_kernel_load(&context, path, &data, &loaded), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "has no density"));
    assert_ok(context, ais_learned_add_ratio(&context, made, 9, 2, 0));
    ais_ratio *ratio = &((ais_learned *)made)->ratio;
    for (size_t i = 0; i < ratio->count; i++) ratio->weights[i] = (float)odd(4, i, -1, 1);
    assert_ok(context, ais_kernel_save(&context, made, &data, path));
    assert_int_equal(ais_kernel_load(&context, path, &density, &loaded), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "learned from draws"));
    assert_null(loaded);
    assert_ok(context, ais_kernel_load(&context, path, &data, &loaded));
    const ais_ratio *again = &((ais_learned *)loaded)->ratio;
    assert_int_equal(again->count, ratio->count);
    assert_memory_equal(again->weights, ratio->weights, ratio->count * sizeof(float));
    assert_true(loaded->empirical);
    ais_kernel_free(loaded);
    ais_kernel_free(made);
    assert_ok(context, ais_kernel_learned(&context, &shapes[0], 5, &made));
    assert_int_equal(ais_learned_add_ratio(&context, made, 9, 2, 0), AIS_BAD_ARGUMENT);
    ais_kernel_free(made);
}

static void cannot_write_or_read(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *made, *loaded;
    assert_ok(context, ais_kernel_learned(&context, &shapes[0], 5, &made));
    assert_int_equal(ais_kernel_save(&context, made, NULL, "/nonexistent/k.ais"), AIS_FILE_ERROR);
    assert_non_null(strstr(context.message, "/nonexistent/k.ais"));
    assert_int_equal(ais_kernel_load(&context, "/nonexistent/k.ais", NULL, &loaded), AIS_FILE_ERROR);
    assert_int_equal(ais_kernel_load(&context, "/tmp", NULL, &loaded), AIS_FILE_ERROR);
    ais_kernel_free(made);
    assert_ok(context, ais_kernel_rwm(&context, &(ais_rwm_options){0}, &made));
    assert_int_equal(ais_kernel_save(&context, made, NULL, path), AIS_BAD_ARGUMENT);
    ais_kernel_free(made);
}

static void impossible_shapes(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *made;
    const struct {
        ais_shape shape;
        const char *says;
    } bad[] = {
        {{.map = AIS_HENON, .dim = 0}, "dim is 0"},
        {{.map = AIS_HENON, .dim = 2, .layers = -1}, "layers is -1"},
        {{.map = AIS_HENON, .dim = 2, .depth = -1}, "depth is -1"},
        {{.map = AIS_HENON, .dim = 2, .joint = true}, "joint"},
        {{.map = AIS_HENON, .dim = 2, .marginal_bins = 4}, "marginal"},
        {{.map = AIS_SPLINE, .dim = 2, .bins = 65}, "bins is 65"},
        {{.map = AIS_SPLINE, .dim = 2, .bound = -1}, "bound is -1"},
        {{.map = (ais_map)7, .dim = 2}, "map is 7"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(ais_kernel_learned(&context, &bad[i].shape, 1, &made), AIS_BAD_ARGUMENT);
        if (!strstr(context.message, bad[i].says)) fail_msg("%s: %s", bad[i].says, context.message);
    }
    assert_ok(context, ais_kernel_learned(&context, &shapes[0], 5, &made));
    const double mean[3] = {0}, singular[9] = {1, 2, 3, 2, 4, 6, 0, 0, 1};
    assert_int_equal(ais_kernel_whiten(&context, made, mean, singular), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "singular"));
    ais_kernel_free(made);
}

static int make_file(void **state) {
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(wrong_target),
        cmocka_unit_test(names_in_another_encoding),
        cmocka_unit_test(damaged),
        cmocka_unit_test(cannot_write_or_read),
        cmocka_unit_test(impossible_shapes),
        cmocka_unit_test(discriminator),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
