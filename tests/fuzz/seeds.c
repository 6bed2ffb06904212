/* fuzz_seeds FOLDER: files to begin attacks with, as the library writes them today, in FOLDER/kernel, training, drawing
 * and netcdf. Formats may change; these follow. */
#include "checkpoints.h"

#include <sys/stat.h>

#include "file/kernel_file.h"

static const char *folder;

static void save(const char *kind, int number, const void *bytes, size_t count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/seed-%d", folder, kind, number);
    fuzz_write(path, bytes, count);
}

static unsigned char *read_file(const char *path, size_t *count) {
    enum { MOST = 1 << 20 };
    unsigned char *bytes = malloc(MOST);
    FILE *file = fopen(path, "rb");
    must(bytes);
    *count = file ? fread(bytes, 1, MOST, file) : 0;
    if (file) fclose(file);
    return bytes;
}

/* ---- kernels ------------------------------------------------------------------------------------- */

static void save_kernel(int number, ais_kernel *kernel, const ais_target *target) {
    size_t count = 0;
    unsigned char *bytes = ais_kernel_encode(kernel, target, &count);
    must(bytes);
    save("kernel", number, bytes, count);
    free(bytes);
    ais_kernel_free(kernel);
}

static ais_kernel *learned(ais_shape shape) {
    ais_context context;
    ais_kernel *kernel = NULL;
    shape.dim = 2;
    if (shape.map != AIS_AFFINE) shape.hidden = 3;
    must(ais_kernel_learned(&context, &shape, 1, &kernel) == AIS_OK);
    return kernel;
}

static void save_kernels(void) {
    ais_context context;
    patience of = {0};
    const ais_target target = fuzz_target(&of, true);
    const double mean[] = {0, 1, 2, -1}, unit[] = {1, 0, 0, 1, 1, 0, 0, 1}, angle[] = {20, 90};
    ais_kernel *kernel;
    int n = 0;
    for (int which = 1; which <= 4; which++) save_kernel(n++, fuzz_kernel(which), NULL);
    save_kernel(n++, learned((ais_shape){.map = AIS_AFFINE, .reversal = AIS_SWAP}), &target);
    save_kernel(n++, learned((ais_shape){.map = AIS_REALNVP, .joint = true}), NULL);
    save_kernel(n++, learned((ais_shape){.map = AIS_REALNVP, .reversal = AIS_SWAP, .depth = -1, .marginal_bins = 3}),
                NULL);
    save_kernel(n++, learned((ais_shape){.map = AIS_SPLINE, .reversal = AIS_SWAP, .bins = 3, .pivot = 1}), &target);
    save_kernel(n++, learned((ais_shape){.map = AIS_REALNVP, .reversal = AIS_SWAP, .depth = -1, .neck = 3}), NULL);
    kernel = learned((ais_shape){.map = AIS_SPLINE, .reversal = AIS_SWAP, .bins = 3});
    must(ais_kernel_set_angles(&context, kernel, 2, angle) == AIS_OK);
    save_kernel(n++, kernel, NULL);
    must(ais_kernel_mixture(&context, &(ais_mixture_options){.dim = 2, .count = 2, .mean = mean, .factor = unit},
                            &kernel) == AIS_OK);
    save_kernel(n++, kernel, NULL);
    must(ais_kernel_anice(&context, &(ais_anice_shape){.dim = 2, .hidden = 3}, 1, &kernel) == AIS_OK);
    save_kernel(n++, kernel, NULL);
}

/* ---- checkpoints --------------------------------------------------------------------------------- */

typedef struct watch {
    const char *path;
    int which, number, moments;
    ino_t last;
    off_t size;
} watch;

/* A file of every size that comes up, and not more than a few: others have the same sections. */
static void look(void *data) {
    enum { MOST_MOMENTS = 4, LARGEST = 250000 };
    watch *this = data;
    struct stat status;
    if (this->moments == MOST_MOMENTS || stat(this->path, &status) != 0 || status.st_ino == this->last ||
        status.st_size == this->size || status.st_size > LARGEST)
        return;
    this->last = status.st_ino;
    this->size = status.st_size;
    size_t count;
    unsigned char *bytes = read_file(this->path, &count), *all = malloc(count + 1);
    must(all);
    all[0] = (unsigned char)this->which;
    memcpy(all + 1, bytes, count);
    save("training", this->number++, all, count + 1);
    this->moments++;
    free(all);
    free(bytes);
}

static void save_trainings(void) {
    watch this = {.path = strdup(fuzz_path("training"))};
    for (this.which = 0; this.which < TRAININGS; this.which++) {
        patience of = {.left = 10000000, .look = look, .data = &this};
        unlink(this.path);
        this.moments = 0;
        (void)fuzz_train(this.which, this.path, &of);
        look(&this);
        if (!this.moments) fprintf(stderr, "training %d: no checkpoint of a seed's size\n", this.which);
    }
    free((void *)(uintptr_t)this.path);
}

static void save_drawing(int number, int which, const char *path, const char *journal) {
    size_t count, draws;
    unsigned char *bytes = read_file(path, &count), *after = read_file(journal, &draws),
                  *all = malloc(5 + count + draws);
    must(all && count > 0);
    uint32_t length = (uint32_t)count;
    all[0] = (unsigned char)which;
    memcpy(all + 1, &length, sizeof length);
    memcpy(all + 5, bytes, count);
    memcpy(all + 5 + count, after, draws);
    save("drawing", number, all, 5 + count + draws);
    free(bytes);
    free(after);
    free(all);
}

static void save_drawings(void) {
    char *path = strdup(fuzz_path("drawing")), *journal = strdup(fuzz_path("drawing.journal"));
    for (int which = 0; which < DRAWINGS; which++) {
        patience stopped = {.left = 300}, whole = {.left = 1000000};
        unlink(path);
        unlink(journal);
        (void)fuzz_draw(which, path, &stopped, 0);
        if (access(path, F_OK) == 0) save_drawing(3 * which, which, path, journal);
        must(fuzz_draw(which, path, &whole, 0) == AIS_OK);
        save_drawing(3 * which + 1, which, path, journal);
        save_drawing(3 * which + 2, which + DRAWINGS, path, journal);
    }
    free(path);
    free(journal);
}

/* ---- draws --------------------------------------------------------------------------------------- */

static void save_netcdf(void) {
    ais_context context;
    patience of = {.left = 1000000};
    ais_target target = fuzz_target(&of, true);
    const char *path = fuzz_path("draws.nc");
    for (int which = 0; which < 2; which++) {
        ais_kernel *kernel = fuzz_kernel(which);
        ais_sink *sink;
        must(ais_sink_netcdf(&context, fuzz_folder, &sink) == AIS_OK);
        ais_sample_options options = {
            .chains = 2, .warmup = 5, .draws = 6, .threads = 1, .seed = 1, .save_warmup = which == 1};
        must(ais_sample(&context, &target, kernel, &options, &sink, 1, NULL) == AIS_OK);
        size_t count;
        unsigned char *bytes = read_file(path, &count);
        save("netcdf", which, bytes, count);
        free(bytes);
        ais_sink_free(sink);
        ais_kernel_free(kernel);
    }
}

int main(int count, char **argument) {
    if (count != 2) return 2;
    folder = argument[1];
    save_kernels();
    save_trainings();
    save_drawings();
    save_netcdf();
    return 0;
}
