/* Compiling a density's C file into the cache.
 *
 * The object's name is a hash of what the preprocessor makes of the file, the compiler and the flags:
 * a change in any header it includes makes a new object. It is written under a name of its own and
 * renamed, so that runs side by side do not disturb each other. The compiler is started without a
 * shell; its output goes to a log file, never to the caller's terminal. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/csv.h"
#include "target/own.h"

enum { MOST_WORDS = 64, MOST_EXTRA = 128 };
static const char *const flags[] = {"-std=gnu17", "-O3", "-fPIC", "-shared"};
static const char *const debug_flags[] = {"-std=gnu17", "-O0", "-g", "-fPIC", "-shared"};

/* Words of a command line, ended by a NULL. */
typedef struct words {
    const char *word[MOST_EXTRA + 1];
    int count;
} words;

typedef struct compilation {
    const char *source;
    char folder[PATH_MAX - 128];             /* the cache */
    char include[PATH_MAX - 128];            /* where aisampler/density.h is */
    char compiler[1024];                     /* $CC, its words ended by NULs */
    char *word[MOST_WORDS + 3 * MOST_EXTRA]; /* of the command, NULL-terminated */
    int words;                               /* of the compiler alone */
    char text[PATH_MAX];                     /* preprocessed source */
    char made[PATH_MAX];                     /* the object before it is renamed */
    char log[PATH_MAX];                      /* what the compiler said */
    words flags, link;                       /* in front of the source and behind it */
    ais_arena arena;                         /* of these words */
} compilation;

/* Whether we alone, or the system's administrator, can put something else at this path: no folder on the way is
 * another user's, nor may others write into one, unless its sticky bit keeps them from renaming what is not theirs. */
static bool ours_all_the_way(const char *resolved) {
    char folder[PATH_MAX];
    for (const char *slash = resolved; slash; slash = strchr(slash + 1, '/')) {
        int length = slash > resolved ? (int)(slash - resolved) : 1;
        struct stat info;
        snprintf(folder, sizeof folder, "%.*s", length, resolved);
        if (lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) return false;
        if (info.st_uid != 0 && info.st_uid != geteuid()) return false;
        if ((info.st_mode & (S_IWGRP | S_IWOTH)) && !(info.st_mode & S_ISVTX)) return false;
    }
    return true;
}

/* Makes folder and those above it, and resolves links in its path. It must be ours alone to write into, because what is
 * in it will be run. */
static bool make_folder(char *folder, size_t size) {
    for (char *p = folder + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        int result = mkdir(folder, 0700);
        *p = '/';
        if (result && errno != EEXIST) return false;
    }
    struct stat info;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return false;
    if (lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
        (info.st_mode & (S_IWGRP | S_IWOTH)) || access(folder, W_OK | X_OK) != 0)
        return false;
    char *resolved = realpath(folder, NULL);
    bool safe = resolved && strlen(resolved) < size && ours_all_the_way(resolved);
    if (safe) snprintf(folder, size, "%s", resolved);
    free(resolved);
    return safe;
}

static bool try_folder(compilation *job, const char *above, const char *name) {
    int length = snprintf(job->folder, sizeof job->folder, "%s%s", above, name);
    return length < (int)sizeof job->folder && make_folder(job->folder, sizeof job->folder);
}

static ais_status find_folder(ais_context *context, compilation *job) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *temporary = getenv("TMPDIR");
    char own[40];
    if (cache && cache[0] == '/' && try_folder(job, cache, "/aisampler")) return AIS_OK;
    if (home && home[0] == '/' && try_folder(job, home, "/.cache/aisampler")) return AIS_OK;
    snprintf(own, sizeof own, "/aisampler-%ld", (long)geteuid());
    if (try_folder(job, temporary && temporary[0] == '/' ? temporary : "/tmp", own)) return AIS_OK;
    return ais_fail(
        context, AIS_FILE_ERROR,
        "there is no folder for compiled densities: %.300s cannot be created, or others may write into it or "
        "into a folder above it; set XDG_CACHE_HOME to a folder of your own",
        job->folder);
}

static bool has_header(const char *include) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/aisampler/density.h", include);
    return length < (int)sizeof path && access(path, R_OK) == 0;
}

/* ../include seen from the folder of a file (the library, the command). */
static bool beside(compilation *job, const char *file) {
    const char *slash = strrchr(file, '/');
    if (!slash) return false;
    int length = (int)(slash - file);
    if (length > (int)sizeof job->include - 16) return false;
    snprintf(job->include, sizeof job->include, "%.*s/../include", length, file);
    return has_header(job->include);
}

/* Those that belong to this library, as it is installed or built; else where this build found its headers. */
static ais_status find_include(ais_context *context, compilation *job) {
    const char *wish = getenv("AIS_INCLUDE_DIR");
    Dl_info library;
    char command[PATH_MAX];
    /* `flags` is an address inside of this library. */
    if (!wish && dladdr((const void *)flags, &library) && library.dli_fname && beside(job, library.dli_fname))
        return AIS_OK;
    const char *candidate[] = {wish, AIS_INCLUDE_DIR, "/usr/local/include", "/usr/include"};
    for (size_t i = 0; i < sizeof candidate / sizeof *candidate; i++) {
        if (!candidate[i] || strlen(candidate[i]) >= sizeof job->include || !has_header(candidate[i])) continue;
        snprintf(job->include, sizeof job->include, "%s", candidate[i]);
        return AIS_OK;
    }
    ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);
    if (length > 0) {
        command[length] = '\0';
        if (beside(job, command)) return AIS_OK;
    }
    return ais_fail(context, AIS_FILE_ERROR,
                    "cannot find aisampler/density.h; set AIS_INCLUDE_DIR to the folder that holds aisampler/");
}

static ais_status find_compiler(ais_context *context, compilation *job) {
    const char *wish = getenv("CC");
    if (!wish || !*wish) wish = "cc";
    if (strlen(wish) >= sizeof job->compiler)
        return ais_fail(context, AIS_BAD_ARGUMENT, "CC is longer than %zu characters", sizeof job->compiler - 1);
    snprintf(job->compiler, sizeof job->compiler, "%s", wish);
    char *rest = NULL;
    for (char *word = strtok_r(job->compiler, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        if (job->words == MOST_WORDS)
            return ais_fail(context, AIS_BAD_ARGUMENT, "CC has more than %d words", MOST_WORDS);
        job->word[job->words++] = word;
    }
    if (job->words == 0) {
        snprintf(job->compiler, sizeof job->compiler, "cc");
        job->word[job->words++] = job->compiler;
    }
    return AIS_OK;
}

/* Runs the compiler with these words behind its own. 0, its exit status, or -errno when it could not
 * be started. */
static int run(compilation *job, const char *const *argument) {
    int n = job->words;
    while (*argument) job->word[n++] = (char *)(uintptr_t)*argument++;
    job->word[n] = NULL;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) return -ENOMEM;
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, job->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    pid_t child;
    int problem = posix_spawnp(&child, job->word[0], &actions, NULL, job->word, environ), status = 0;
    posix_spawn_file_actions_destroy(&actions);
    if (problem) return -problem;
    while (waitpid(child, &status, 0) < 0) /* ECHILD: the caller ignores SIGCHLD; the result will tell */
        if (errno != EINTR) return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Whether a line of the log says what is wrong: "collect2: error" only says that the linker said it. */
static bool tells(const char *line) {
    return (strstr(line, "error") && !strstr(line, "collect2")) || strstr(line, "ld: ");
}

/* The lines of the log that say what is wrong, or all of them, joined into one as far as they fit. */
static void errors_of(const char *log, char *line, size_t size) {
    ais_context ignored;
    char *text;
    size_t length, used = 0;
    line[0] = '\0';
    if (ais_file_read(&ignored, log, &text, &length) != AIS_OK) return;
    bool any = (strstr(text, "error: ") && !strstr(text, "collect2: error")) || strstr(text, "ld: ");
    char *rest = NULL;
    for (char *p = strtok_r(text, "\n", &rest); p && used + 1 < size; p = strtok_r(NULL, "\n", &rest)) {
        if (any && !tells(p)) continue;
        used += (size_t)snprintf(line + used, size - used, "%s%s", used ? "; " : "", p);
    }
    free(text);
}

/* Keeps the log under the source's name, so that the last one of a file is where it was before. */
static void keep_log(compilation *job) {
    char kept[PATH_MAX];
    const char *slash = strrchr(job->source, '/');
    int length = snprintf(kept, sizeof kept, "%s/%s.log", job->folder, slash ? slash + 1 : job->source);
    if (length < (int)sizeof kept && rename(job->log, kept) == 0) snprintf(job->log, sizeof job->log, "%s", kept);
}

static ais_status failed(ais_context *context, compilation *job, int result) {
    if (result < 0)
        return ais_fail(context, AIS_FILE_ERROR, "cannot start the compiler %s for %.200s: %s; set CC to a C compiler",
                        job->word[0], job->source, strerror(-result));
    char line[700];
    keep_log(job);
    errors_of(job->log, line, sizeof line);
    return ais_fail(context, AIS_BAD_FORMAT, "%.100s does not compile (all the compiler says: %.150s): %s", job->source,
                    job->log, line);
}

static uint64_t hash(uint64_t h, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
    return h ^ h >> 29;
}

/* ---- words for compiler and linker ------------------------------------------------------------------ */

static ais_status add_words(ais_context *context, compilation *job, words *to, const char *text, size_t length) {
    while (length > 0) {
        size_t blanks = strspn(text, " \t"), size = strcspn(text + (blanks < length ? blanks : length), " \t");
        if (blanks >= length) return AIS_OK;
        if (blanks + size > length) size = length - blanks;
        char *copy = ais_arena_take(&job->arena, size + 1);
        if (!copy) return ais_fail_memory(context, "the compiler's command", size);
        if (to->count == MOST_EXTRA)
            return ais_fail(context, AIS_BAD_ARGUMENT, "%.200s: more than %d words for the compiler", job->source,
                            MOST_EXTRA);
        to->word[to->count++] = memcpy(copy, text + blanks, size);
        text += blanks + size;
        length -= blanks + size;
    }
    return AIS_OK;
}

/* "// aisampler: link WORDS" and "flags WORDS", up to the end of the line or comment. */
static ais_status words_of_source(ais_context *context, compilation *job) {
    static const char mark[] = "aisampler: ";
    char *text;
    size_t length;
    ais_status status = ais_file_read(context, job->source, &text, &length);
    if (status != AIS_OK) return status;
    for (const char *at = text; status == AIS_OK && (at = strstr(at, mark));) {
        at += sizeof mark - 1;
        bool link = strncmp(at, "link ", 5) == 0, flag = strncmp(at, "flags ", 6) == 0;
        if (!link && !flag) continue;
        at += link ? 5 : 6;
        size_t end = strcspn(at, "\r\n");
        const char *close = strstr(at, "*/");
        if (close && (size_t)(close - at) < end) end = (size_t)(close - at);
        status = add_words(context, job, link ? &job->link : &job->flags, at, end);
    }
    free(text);
    return status;
}

static ais_status find_words(ais_context *context, compilation *job, const ais_own_build *build) {
    const char *const *usual = build->debug ? debug_flags : flags;
    size_t count = build->debug ? sizeof debug_flags / sizeof *debug_flags : sizeof flags / sizeof *flags;
    for (size_t i = 0; i < count; i++) job->flags.word[job->flags.count++] = usual[i];
    ais_status status = words_of_source(context, job);
    if (status == AIS_OK && build->flags)
        status = add_words(context, job, &job->flags, build->flags, strlen(build->flags));
    if (status == AIS_OK && build->link) status = add_words(context, job, &job->link, build->link, strlen(build->link));
    return status;
}

static uint64_t hash_words(uint64_t h, const words *of) {
    for (int i = 0; i < of->count; i++) h = hash(h, of->word[i], strlen(of->word[i]) + 1);
    return hash(h, "", 1);
}

/* With -march=native the same words give other code on another machine, and home directories are shared between
 * machines. */
static uint64_t hash_machine(uint64_t h, const words *of) {
    bool native = false;
    for (int i = 0; i < of->count; i++) native |= strstr(of->word[i], "=native") != NULL;
    FILE *file = native ? fopen("/proc/cpuinfo", "r") : NULL;
    char line[4096];
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "flags", 5) != 0 && strncmp(line, "Features", 8) != 0) continue;
        h = hash(h, line, strlen(line));
        break;
    }
    if (file) fclose(file);
    return h;
}

/* Two hashes of 64 bits over the preprocessed text, the compiler's words and the flags. */
static ais_status name_object(ais_context *context, compilation *job, const ais_own_build *build, char *object,
                              size_t size) {
    /* With -g lines count: an object of an earlier text would lead gdb astray. */
    const char *others[] = {"-E", build->debug ? "-g" : "-P", "-I", job->include, "-o", job->text, job->source, NULL};
    const char *argument[MOST_EXTRA + 8] = {0};
    int n = 0;
    for (int i = 0; i < job->flags.count; i++)
        if (strcmp(job->flags.word[i], "-shared") != 0) argument[n++] = job->flags.word[i];
    for (const char **at = others; *at; at++) argument[n++] = *at;
    int result = run(job, argument);
    if (result != 0) return failed(context, job, result);
    char *text;
    size_t length;
    ais_status status = ais_file_read(context, job->text, &text, &length);
    if (status != AIS_OK) return status;
    uint64_t half[2] = {14695981039346656037u, 1469598103934665603u};
    for (int k = 0; k < 2; k++) {
        half[k] = hash(half[k], text, length);
        for (int i = 0; i < job->words; i++) half[k] = hash(half[k], job->word[i], strlen(job->word[i]) + 1);
        half[k] = hash_words(hash_words(hash_machine(half[k], &job->flags), &job->flags), &job->link);
    }
    free(text);
    snprintf(object, size, "%s/%016" PRIx64 "%016" PRIx64 "-%d.so", job->folder, half[0], half[1], AIS_DENSITY_VERSION);
    return AIS_OK;
}

static ais_status make_object(ais_context *context, compilation *job, const char *object) {
    const char *argument[2 * MOST_EXTRA + 8] = {0};
    const char *others[] = {"-I", job->include, "-o", job->made, job->source};
    int n = 0;
    for (int i = 0; i < job->flags.count; i++) argument[n++] = job->flags.word[i];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) argument[n++] = others[i];
    for (int i = 0; i < job->link.count; i++) argument[n++] = job->link.word[i];
    argument[n++] = "-lm";
    int result = run(job, argument);
    if (result != 0 || access(job->made, R_OK) != 0) return failed(context, job, result);
    /* Whatever the umask, no other user may change what we will run. */
    if (chmod(job->made, 0700) != 0 || rename(job->made, object) != 0)
        return ais_fail(context, AIS_FILE_ERROR, "cannot write %.300s: %s", object, strerror(errno));
    return AIS_OK;
}

/* Whether the object exists and belongs to this user alone. */
static bool usable(const char *object) {
    struct stat info;
    return lstat(object, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 && access(object, R_OK) == 0;
}

/* Names of temporary files that no other run, and no other thread of this one, uses. */
static void name_files(compilation *job) {
    char unique[48];
    snprintf(unique, sizeof unique, "%ld-%" PRIxPTR, (long)getpid(), (uintptr_t)job);
    snprintf(job->text, sizeof job->text, "%s/%s.i", job->folder, unique);
    snprintf(job->made, sizeof job->made, "%s/%s.tmp", job->folder, unique);
    snprintf(job->log, sizeof job->log, "%s/%s.log", job->folder, unique);
}

ais_status ais_own_compile(ais_context *context, const char *source, const ais_own_build *build, bool fresh,
                           char *object, size_t size) {
    compilation *job = calloc(1, sizeof *job);
    if (!job) return ais_fail_memory(context, "the compiler's command", sizeof *job);
    job->source = source;
    ais_status status = find_folder(context, job);
    if (status == AIS_OK) status = find_include(context, job);
    if (status == AIS_OK) status = find_compiler(context, job);
    if (status == AIS_OK) status = find_words(context, job, build);
    if (status == AIS_OK) {
        name_files(job);
        status = name_object(context, job, build, object, size);
        if (status == AIS_OK && (fresh || !usable(object))) status = make_object(context, job, object);
        unlink(job->text);
        unlink(job->made);
        if (status != AIS_BAD_FORMAT) unlink(job->log);
    }
    ais_arena_free(&job->arena);
    free(job);
    return status;
}
