/* The kernel file: what is saved is loaded, and everything else is refused with a sentence. */
#include "support.h"

#include <unistd.h>

#include <aisampler/draws.h>

#include "file/kernel_file.h"
#include "learned/learned.h"
#include "learned/mixture.h"

static char path[] = "/tmp/aisampler-kernel-XXXXXX";

static const ais_shape shapes[] = {
    {.map = AIS_HENON, .dim = 3, .activation = AIS_TANH},
    {.map = AIS_REALNVP, .dim = 2, .joint = true, .marginal_bins = 5},
    {.map = AIS_REALNVP, .dim = 4, .reversal = AIS_SWAP, .depth = -1},
    {.map = AIS_SPLINE, .dim = 2, .reversal = AIS_SWAP, .bins = 7, .bound = 3.5, .permutation = 99},
    {.map = AIS_AFFINE, .dim = 3, .reversal = AIS_SWAP},
    {.map = AIS_REALNVP, .dim = 3, .reversal = AIS_SWAP, .depth = -1, .neck = 5},
};

static double never_called(const double *x, void *data) {
    (void)x, (void)data;
    return 0;
}

static ais_kernel *learned(size_t shape) {
    ais_context context = {0};
    ais_kernel *made;
    assert_ok(context, ais_kernel_learned(&context, &shapes[shape], 5, &made));
    return made;
}

static void round_trip(void **state) {
    (void)state;
    ais_context context = {0};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int dim = shapes[s].dim;
        ais_target target = {.name = "t", .dim = dim, .logp = never_called};
        ais_kernel *made, *loaded;
        made = learned(s);
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
    made = learned(0);
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

/* Each change, a text of the head and another as long, makes a file that is refused, its checksum being right. */
static void refused_heads(const unsigned char *whole, size_t count, size_t changes, const char *change[][2]) {
    ais_context context = {0};
    unsigned char *bytes = malloc(count);
    for (size_t k = 0; k < changes; k++) {
        memcpy(bytes, whole, count);
        char *at = strstr((char *)bytes + 16, change[k][0]);
        if (!at) fail_msg("the head has no %s", change[k][0]);
        memcpy(at, change[k][1], strlen(change[k][1]));
        seal(bytes, count);
        spill(bytes, count);
        refused(&context, change[k][1]);
    }
    free(bytes);
}

static void damage(bool empirical) {
    ais_context context = {0};
    ais_kernel *made;
    made = learned(3);
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
    made = learned(3);
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
    made = learned(0);
    assert_int_equal(ais_learned_add_ratio(&context, made, 9, 2, 0), AIS_BAD_ARGUMENT);
    ais_kernel_free(made);
}

static void angles(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *made, *loaded;
    int count;
    const double degrees[3] = {7.5, 30.1, 180};
    made = learned(4);
    assert_ok(context, ais_kernel_set_angles(&context, made, 3, degrees));
    assert_ok(context, ais_kernel_save(&context, made, NULL, path));
    assert_ok(context, ais_kernel_load(&context, path, NULL, &loaded));
    assert_memory_equal(ais_kernel_angles(loaded, &count), degrees, sizeof degrees);
    assert_int_equal(count, 3);
    ais_kernel_free(loaded);
    static unsigned char whole[1 << 12], bytes[1 << 12];
    size_t length = slurp(whole, sizeof whole);
    const char *change[][2] = {{"180.0]", "181.0]"}, {"[7.5", "[0.0"}, {"[7.5,", "\"7.5,"}, {"angles", "angels"}};
    for (size_t k = 0; k < sizeof change / sizeof *change; k++) {
        memcpy(bytes, whole, length);
        char *at = strstr((char *)bytes + 16, change[k][0]);
        if (!at) fail_msg("the head has no %s", change[k][0]);
        memcpy(at, change[k][1], strlen(change[k][1]));
        seal(bytes, length);
        spill(bytes, length);
        refused(&context, change[k][1]);
    }
    ais_kernel *inner;
    assert_ok(context, ais_kernel_nuts(&context, NULL, &inner));
    assert_int_equal(ais_kernel_latent(&context, made, inner, &loaded), AIS_BAD_ARGUMENT);
    assert_non_null(strstr(context.message, "3 angles"));
}

/* ---- latent kernels ---------------------------------------------------------------------------- */

static ais_kernel *make_latent(int shape, ais_kernel *inner) {
    ais_context context = {0};
    ais_kernel *map, *kernel;
    assert_ok(context, ais_kernel_learned(&context, &shapes[shape], 5, &map));
    assert_ok(context, ais_kernel_latent(&context, map, inner, &kernel));
    return kernel;
}

static void latent_kernels(void **state) {
    (void)state;
    ais_context context = {0};
    for (int shape = 2; shape <= 4; shape++)
        for (int k = 0; k < 3; k++) {
            ais_kernel *inner, *loaded;
            if (k == 0)
                assert_ok(context, ais_kernel_rwm(&context, &(ais_rwm_options){.scale = 0.7}, &inner));
            else if (k == 1)
                assert_ok(context, ais_kernel_hmc(&context, &(ais_hmc_options){.leapfrogs = 7, .jitter = 0.1}, &inner));
            else
                assert_ok(context,
                          ais_kernel_nuts(&context, &(ais_nuts_options){.step_size = 0.3, .dense = true}, &inner));
            ais_kernel *made = make_latent(shape, inner);
            assert_ok(context, ais_kernel_set_proposals(&context, made, 3 * k));
            ais_target target = {.name = "t", .dim = ais_kernel_dim(made), .logp = never_called};
            assert_ok(context, ais_kernel_save(&context, made, &target, path));
            assert_ok(context, ais_kernel_load(&context, path, &target, &loaded));
            assert_string_equal(ais_kernel_name(loaded), ais_kernel_name(made));
            size_t counts[2];
            unsigned char *bytes[2] = {ais_kernel_encode(made, &target, &counts[0]),
                                       ais_kernel_encode(loaded, &target, &counts[1])};
            assert_int_equal(counts[0], counts[1]); /* options, whitening and weights are all in there */
            assert_memory_equal(bytes[0], bytes[1], counts[0]);
            free(bytes[0]);
            free(bytes[1]);
            ais_kernel_free(made);
            ais_kernel_free(loaded);
        }
}

/* With a right checksum: what the head says of the inner kernel must be possible and whole. */
static void damaged_latent_kernels(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *inner;
    assert_ok(context, ais_kernel_nuts(&context, NULL, &inner));
    ais_kernel *made = make_latent(4, inner);
    assert_ok(context, ais_kernel_set_proposals(&context, made, AIS_MOST_PROPOSALS));
    assert_ok(context, ais_kernel_save(&context, made, NULL, path));
    static unsigned char whole[1 << 12], bytes[1 << 12];
    size_t count = slurp(whole, sizeof whole);
    for (size_t cut = 0; cut < count; cut++) {
        spill(whole, cut);
        refused(&context, "a truncated file");
    }
    for (size_t at = 0; at < count; at++) {
        memcpy(bytes, whole, count);
        bytes[at] ^= 0x10;
        spill(bytes, count);
        refused(&context, "a flipped bit");
    }
    const char *change[][2] = {{"\"kernel\":\"nuts\"", "\"kernel\":\"nuns\""},
                               {"\"max_depth\":10", "\"max_depth\":99"},
                               {"\"max_depth\"", "\"max_death\""},
                               {"\"dense\":false", "\"dense\":1e999"},
                               {"\"inner\"", "\"outer\""},
                               {"\"proposals\":1000", "\"proposals\":1001"},
                               {"\"proposals\"", "\"disposals\""},
                               {"\"swap\"", "\"flip\""},
                               {"\"weights\":0", "\"weights\":7"}};
    refused_heads(whole, count, sizeof change / sizeof *change, change);
    memcpy(bytes, whole, count);
    bytes[8] = 1; /* the version of a map by itself, which ignores `inner`: nothing worse than another kernel */
    seal(bytes, count);
    spill(bytes, count);
    ais_kernel *loaded;
    assert_ok(context, ais_kernel_load(&context, path, NULL, &loaded));
    assert_string_equal(ais_kernel_name(loaded), "affine");
    ais_kernel_free(loaded);
    ais_kernel_free(made);
}

/* ---- ladders ----------------------------------------------------------------------------------- */

static void ladders(void **state) {
    (void)state;
    static const double beta[4] = {0, 0.125, 0.5, 1}, scale[4] = {0.5, 0.5, 0.25, 0.125};
    const ais_ladder_options options = {.rungs = 4, .beta = beta, .scale = scale, .leapfrogs = 3};
    ais_context context = {0};
    for (int shape = 2; shape <= 4; shape++) {
        ais_kernel *map, *made, *loaded;
        assert_ok(context, ais_kernel_learned(&context, &shapes[shape], 5, &map));
        assert_ok(context, ais_kernel_ladder(&context, map, &options, &made));
        assert_ok(context, ais_kernel_save(&context, made, NULL, path));
        assert_ok(context, ais_kernel_load(&context, path, NULL, &loaded));
        assert_string_equal(ais_kernel_name(loaded), "ladder");
        size_t counts[2];
        unsigned char *bytes[2] = {ais_kernel_encode(made, NULL, &counts[0]),
                                   ais_kernel_encode(loaded, NULL, &counts[1])};
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(bytes[0], bytes[1], counts[0]);
        free(bytes[0]);
        free(bytes[1]);
        ais_kernel_free(made);
        ais_kernel_free(loaded);
    }
    /* what the head says of it must be possible, right checksum or not; the file is that of the affine base */
    static unsigned char whole[1 << 12];
    size_t count = slurp(whole, sizeof whole);
    const char *change[][2] = {{"\"ladder\"", "\"lather\""},           {"0.125,0.5,1.0", "0.525,0.5,1.0"},
                               {"0.125,0.5,1.0", "0.125,0.5,0.9"},     {"[0.5,0.5,", "[0.5,-.5,"},
                               {"\"leapfrogs\":3", "\"leapfrogs\":z"}, {"\"scale\"", "\"stale\""}};
    refused_heads(whole, count, sizeof change / sizeof *change, change);
}

/* ---- mixtures ------------------------------------------------------------------------------------ */

enum { COUNT = 3, DIM = 2 };
static const double mixture_mean[COUNT * DIM] = {0.1, -2, 3, 4, 5, 6};
static const double mixture_factor[COUNT * DIM * DIM] = {1, 0.2, 0.3, 1.4, 0.5, 0, 0.25, 2, 1e-3, 0, 0, 7};
static const double mixture_weight[COUNT] = {0.7, 2.385, 1.1};

static ais_kernel *make_mixture(double freedom) {
    ais_context context = {0};
    ais_kernel *made;
    ais_mixture_options options = {.dim = DIM,
                                   .count = COUNT,
                                   .mean = mixture_mean,
                                   .factor = mixture_factor,
                                   .weight = mixture_weight,
                                   .freedom = freedom};
    assert_ok(context, ais_kernel_mixture(&context, &options, &made));
    return made;
}

/* A latent kernel with a mixture that proposes. */
static ais_kernel *make_proposed(void) {
    ais_context context = {0};
    ais_kernel *map, *inner, *made;
    assert_ok(context,
              ais_kernel_learned(&context, &(ais_shape){.map = AIS_AFFINE, .dim = DIM, .reversal = AIS_SWAP}, 5, &map));
    assert_ok(context, ais_kernel_nuts(&context, &(ais_nuts_options){.step_size = 0.3, .unit = true}, &inner));
    assert_ok(context, ais_kernel_latent(&context, map, inner, &made));
    assert_ok(context, ais_kernel_set_proposals(&context, made, 7));
    assert_ok(context, ais_kernel_propose_from(&context, made, make_mixture(4)));
    return made;
}

static void a_mixture_that_proposes(void **state) {
    (void)state;
    ais_context context = {0};
    const ais_target target = {.name = "t", .dim = DIM, .logp = never_called};
    ais_kernel *made = make_proposed(), *loaded;
    static unsigned char whole[1 << 12], bytes[1 << 12];
    assert_ok(context, ais_kernel_save(&context, made, &target, path));
    size_t count = slurp(whole, sizeof whole), again;
    assert_ok(context, ais_kernel_load(&context, path, &target, &loaded));
    assert_string_equal(ais_kernel_name(loaded), "mixture+nuts@affine");
    unsigned char *same = ais_kernel_encode(loaded, &target, &again);
    assert_int_equal(again, count);
    assert_memory_equal(same, whole, count);
    free(same);
    ais_kernel_free(loaded);
    for (size_t cut = 0; cut < count; cut++) {
        spill(whole, cut);
        refused(&context, "a truncated file");
    }
    int accepted = 0;
    for (size_t at = 8; at < count - 8; at++) /* under a right checksum: none may crash */
        for (int change = 1; change < 256; change <<= 1) {
            memcpy(bytes, whole, count);
            bytes[at] = (unsigned char)(bytes[at] ^ change);
            seal(bytes, count);
            spill(bytes, count);
            loaded = NULL;
            if (ais_kernel_load(&context, path, NULL, &loaded) == AIS_OK) accepted++;
            ais_kernel_free(loaded);
        }
    print_message("%d of %zu changes were accepted\n", accepted, 8 * (count - 16));
    ais_kernel_free(made);
}

static void mixture_round_trip(void **state) {
    (void)state;
    const double freedoms[] = {0, 1, 7.25, INFINITY};
    for (int f = 0; f < 4; f++) {
        ais_context context = {0};
        ais_target target = {.name = "t", .dim = DIM, .logp = never_called};
        ais_kernel *made = make_mixture(freedoms[f]), *loaded;
        ais_kernel_set_test(made, f % 2 ? AIS_BARKER : AIS_METROPOLIS);
        assert_ok(context, ais_kernel_save(&context, made, &target, path));
        assert_ok(context, ais_kernel_load(&context, path, &target, &loaded));
        assert_string_equal(ais_kernel_name(loaded), "mixture");
        const ais_mixture_kernel *a = ais_as_mixture(made), *b = ais_as_mixture(loaded);
        assert_int_equal(b->test, a->test);
        assert_true(b->components.freedom == a->components.freedom);
        assert_int_equal(b->components.count, COUNT);
        for (uint32_t c = 0; c < 100; c++) {
            ais_stream stream = {.seed = 3, .chain = c, .purpose = AIS_FOR_MIXTURE};
            double x[2][DIM], logq[2];
            ais_components_draw_one(&a->components, &stream, x[0]);
            ais_components_draw_one(&b->components, &stream, x[1]);
            ais_components_logq(&a->components, 1, x[0], &logq[0], NULL, NULL);
            ais_components_logq(&b->components, 1, x[1], &logq[1], NULL, NULL);
            assert_memory_equal(x[0], x[1], sizeof x[0]);
            assert_true(logq[0] == logq[1]);
        }
        ais_target larger = {.name = "larger", .dim = 3, .logp = never_called};
        ais_kernel *none = NULL;
        assert_int_equal(ais_kernel_load(&context, path, &larger, &none), AIS_BAD_ARGUMENT);
        assert_null(none);
        ais_kernel_free(made);
        ais_kernel_free(loaded);
    }
}

/* The file with one double of the payload, counted from its end, put in place of another, and a right checksum. */
static void spill_changed(const unsigned char *whole, size_t count, size_t from_end, double value) {
    unsigned char bytes[1 << 12];
    memcpy(bytes, whole, count);
    memcpy(bytes + count - 8 - from_end * sizeof value, &value, sizeof value);
    seal(bytes, count);
    spill(bytes, count);
}

static void mixture_damage(void **state) {
    (void)state;
    enum { NUMBERS = COUNT * (1 + DIM + DIM * DIM) };
    ais_context context = {0};
    ais_kernel *made = make_mixture(5);
    unsigned char whole[1 << 12], bytes[1 << 12];
    assert_ok(context, ais_kernel_save(&context, made, NULL, path));
    size_t count = slurp(whole, sizeof whole), head = count - 16 - 8 - NUMBERS * sizeof(double);
    for (size_t cut = 0; cut < count; cut++) {
        spill(whole, cut);
        refused(&context, "a truncated file");
    }
    int accepted = 0; /* changes of the head under a right checksum: some are harmless, none may crash */
    for (size_t at = 8; at < 16 + head; at++)
        for (int change = 1; change < 256; change <<= 1) {
            memcpy(bytes, whole, count);
            bytes[at] = (unsigned char)(bytes[at] ^ change);
            seal(bytes, count);
            spill(bytes, count);
            ais_kernel *loaded = NULL;
            if (ais_kernel_load(&context, path, NULL, &loaded) == AIS_OK) accepted++;
            ais_kernel_free(loaded);
        }
    print_message("%d of %zu changes of the head were accepted\n", accepted, 8 * (8 + head));
    assert_true(accepted < 40); /* other numbers of degrees of freedom */
    const struct {
        size_t from_end;
        double value;
        const char *says;
    } bad[] = {{NUMBERS, 0, "weight 1"},         {NUMBERS, -1, "weight 1"}, {NUMBERS - 2, INFINITY, "weight 3"},
               {NUMBERS - COUNT, NAN, "mean 1"}, {1, NAN, "factor 3"},      {4, 0, "factor 3"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        spill_changed(whole, count, bad[i].from_end, bad[i].value);
        refused(&context, bad[i].says);
        if (!strstr(context.message, bad[i].says)) fail_msg("%s: %s", bad[i].says, context.message);
    }
    ais_kernel_free(made);
}

static void cannot_write_or_read(void **state) {
    (void)state;
    ais_context context = {0};
    ais_kernel *made, *loaded;
    made = learned(0);
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
        {{.map = AIS_HENON, .dim = 2, .neck = 4}, "neck"},
        {{.map = AIS_REALNVP, .dim = 1, .neck = 4}, "neck"},
        {{.map = AIS_REALNVP, .dim = 2, .neck = 65}, "neck is 65"},
        {{.map = AIS_SPLINE, .dim = 2, .bins = 65}, "bins is 65"},
        {{.map = AIS_SPLINE, .dim = 2, .bound = -1}, "bound is -1"},
        {{.map = (ais_map)7, .dim = 2}, "map is 7"},
        {{.map = AIS_AFFINE, .dim = 2}, "with flip it would never move"},
        {{.map = AIS_AFFINE, .dim = 2, .reversal = AIS_SWAP, .layers = 2}, "without layers"},
        {{.map = AIS_AFFINE, .dim = 0, .reversal = AIS_SWAP}, "dim is 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(ais_kernel_learned(&context, &bad[i].shape, 1, &made), AIS_BAD_ARGUMENT);
        if (!strstr(context.message, bad[i].says)) fail_msg("%s: %s", bad[i].says, context.message);
    }
    made = learned(0);
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
        cmocka_unit_test(angles),
        cmocka_unit_test(latent_kernels),
        cmocka_unit_test(damaged_latent_kernels),
        cmocka_unit_test(ladders),
        cmocka_unit_test(mixture_round_trip),
        cmocka_unit_test(a_mixture_that_proposes),
        cmocka_unit_test(mixture_damage),
        cmocka_unit_test(cannot_write_or_read),
        cmocka_unit_test(impossible_shapes),
        cmocka_unit_test(discriminator),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
