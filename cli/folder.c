#include "folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool add_path(run_folder *folder, const char *directory, const char *name) {
    size_t size = strlen(directory) + strlen(name) + 2;
    char **more = realloc(folder->path, ((size_t)folder->count + 1) * sizeof *more), *path = malloc(size);
    if (more) folder->path = more;
    if (!more || !path) {
        free(path);
        complain(EXIT_FAILED, "out of memory");
        return false;
    }
    snprintf(path, size, "%s/%s", directory, name);
    folder->path[folder->count++] = path;
    return true;
}

static bool there(const char *directory, const char *name) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static bool find_draws(run_folder *folder, const char *directory) {
    if (there(directory, "draws.nc")) return add_path(folder, directory, "draws.nc");
    for (int chain = 1;; chain++) {
        char name[32];
        snprintf(name, sizeof name, "draws-%d.csv", chain);
        if (!there(directory, name)) break;
        if (!add_path(folder, directory, name)) return false;
    }
    if (folder->count) return true;
    complain(EXIT_FAILED, "%s has neither draws.nc nor draws-1.csv: name the folder of a run, or files of draws",
             directory);
    return false;
}

/* null is no number. */
static double number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void read_curve(run_folder *folder) {
    const json_t *curve = json_object_get(json_object_get(folder->record, "training"), "curve");
    size_t points = json_array_size(curve);
    if (points == 0 || points > 1000000) return;
    folder->curve = calloc(points, sizeof *folder->curve);
    for (size_t i = 0; folder->curve && i < points; i++) {
        const json_t *point = json_array_get(curve, i);
        const char *stage = json_string_value(json_object_get(point, "stage"));
        double beta = number(point, "beta");
        folder->curve[i] = (ais_train_point){.stage = stage ? stage : "",
                                             .seconds = number(point, "seconds"),
                                             .loss = number(point, "loss"),
                                             .discriminator_loss = number(point, "discriminator_loss"),
                                             .acceptance = number(point, "acceptance"),
                                             .worst_ess = number(point, "worst_ess"),
                                             .beta = beta > 0 ? beta : 0};
    }
    folder->points = folder->curve ? (int)points : 0;
}

static void read_rungs(run_folder *folder) {
    const json_t *ladder = json_object_get(json_object_get(folder->record, "training"), "ladder");
    const json_t *beta = json_object_get(ladder, "beta"), *rejection = json_object_get(ladder, "rejection");
    size_t count = json_array_size(beta);
    if (count < 2 || count > AIS_MOST_RUNGS || json_array_size(rejection) != count - 1) return;
    for (size_t k = 0; k < count; k++) folder->rungs.beta[k] = json_number_value(json_array_get(beta, k));
    for (size_t k = 0; k + 1 < count; k++) folder->rungs.rejection[k] = json_number_value(json_array_get(rejection, k));
    folder->rungs.count = (int)count;
}

bool folder_open(run_folder *folder, const char *directory) {
    char path[4200];
    json_error_t error;
    *folder = (run_folder){0};
    if (!find_draws(folder, directory)) return false;
    if (!there(directory, "run.json")) return true;
    snprintf(path, sizeof path, "%s/run.json", directory);
    folder->record = json_load_file(path, 0, &error);
    if (!folder->record) {
        complain(EXIT_FAILED, "%s cannot be read: %s in line %d", path, error.text, error.line);
        return false;
    }
    read_curve(folder);
    read_rungs(folder);
    return true;
}

void folder_close(run_folder *folder) {
    for (int i = 0; i < folder->count; i++) free(folder->path[i]);
    free(folder->path);
    free(folder->curve);
    json_decref(folder->record);
    *folder = (run_folder){0};
}

const char *folder_target(const run_folder *folder) {
    const char *name = json_string_value(json_object_get(json_object_get(folder->record, "configuration"), "target"));
    if (!name) return NULL;
    size_t length = strcspn(name, ":");
    for (int i = 0; ais_target_builtin(i); i++) {
        const char *known = ais_target_builtin(i)->name;
        if (strlen(known) == length && strncmp(name, known, length) == 0) return name;
    }
    return NULL;
}
