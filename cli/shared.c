#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "guard.h"
#include "ranks.h"

/* ---- Ctrl-C: the first one finishes the step and leaves complete files, the second one gives up a density that does
 * not return, or kills; the next one kills in any case ------------------------------------------------------------- */

static volatile sig_atomic_t stop_asked, terminated;
enum { PATIENCE = 15 }; /* seconds after SIGTERM, which is soon followed by a kill */

void ask_to_stop(void) { stop_asked = 1; }

/* Abandons a call of the density if it can. Otherwise the command ends, with the checkpoint as it is: with a guarded
 * density it is known that none of its calls is under way. */
static void lose_patience(int number) {
#define LATE(what)                                                                                                     \
    "aisampler: " what " had not ended 15 s after SIGTERM: the command ends without it, and --resume continues from "  \
    "the last checkpoint, if there is one\n"
    static const char within[] = LATE("a computation between calls of the density (the fit of a map, for instance)"),
                      anywhere[] = LATE("a computation (the fit of a map, for instance) or a call of the density");
#undef LATE
    (void)number;
    if (guard_insist()) return;   // NOLINT(bugprone-signal-handler): it is made for handlers
    bool known = guard_watches(); // NOLINT(bugprone-signal-handler): it reads a pointer
    ssize_t done =
        known ? write(STDERR_FILENO, within, sizeof within - 1) : write(STDERR_FILENO, anywhere, sizeof anywhere - 1);
    (void)done; /* where it cannot be said it ends all the same */
    _exit(EXIT_FAILED);
}

static void interrupted(int number) {
    bool again = stop_asked != 0;
    stop_asked = 1;
    if (number == SIGTERM && !terminated) {
        terminated = 1;
        signal(SIGALRM, lose_patience);
        alarm(PATIENCE);
    }
    if (!again) return;
    signal(number, SIG_DFL);
    if (!guard_insist()) raise(number);
}

void catch_interrupts(void) {
    stop_asked = guard_tripped();
    struct sigaction action = {.sa_handler = interrupted};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void release_interrupts(void) {
    if (terminated && !guard_tripped()) alarm(0); /* what is left is to write files */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

bool was_terminated(void) {
    const ais_ranks *ranks = ranks_all();
    double anywhere = terminated;
    if (ranks && !ranks->largest(ranks->data, &anywhere, 1)) return true;
    return anywhere != 0;
}

double wall_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

json_t *json_text(const char *text) {
    json_t *string = text ? json_string(text) : json_null();
    if (string) return string;
    char plain[1024];
    size_t n = 0;
    for (; n < sizeof plain - 1 && text[n]; n++) plain[n] = (unsigned char)text[n] < 128 ? text[n] : '?';
    return json_stringn(plain, n);
}

static atomic_bool json_lacks; /* something, because memory was out */

static void *json_memory(size_t bytes) {
    void *made = malloc(bytes);
    if (!made) json_lacks = true;
    return made;
}

void watch_json(void) { json_set_alloc_funcs(json_memory, free); }

bool json_is_whole(const json_t *json) { return json && !json_lacks; }

static int lacks(void) { return complain(EXIT_FAILED, "out of memory for JSON"); }

int print_json(const json_t *json, size_t flags) {
    if (!json_is_whole(json)) return lacks();
    (void)json_dumpf(json, stdout, flags); /* main checks whether stdout took it */
    putchar('\n');
    return json_lacks ? lacks() : 0;
}

bool write_json(const char *directory, const char *name, const json_t *json, size_t flags) {
    output_file output;
    bool whole = json_is_whole(json);
    if (whole) {
        if (!output_open(&output, directory, name)) return false;
        (void)json_dumpf(json, output.file, flags); /* the commit checks whether the file took it */
        whole = !json_lacks;
        if (!whole) output_abandon(&output);
    }
    if (!whole) {
        complain(EXIT_FAILED, "cannot write %s/%s: out of memory", directory, name);
        return false;
    }
    fputc('\n', output.file);
    return output_commit(&output);
}

const volatile sig_atomic_t *stop_flag(void) { return &stop_asked; }

int complain(int code, const char *format, ...) {
    char line[4096] = "aisampler: ";
    size_t length = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    if (ranks_lead())
        fprintf(stderr, "%s\n", line);
    else
        ranks_hold(line);
    return code;
}

void tell_of_errors(const ais_target *target) {
    char text[400];
    ais_target_tell(target, text, sizeof text);
    if (text[0] && ranks_lead()) complain(0, "%s", text);
}

int failed(const ais_context *context) {
    if (guard_message()) return complain(EXIT_FAILED, "%s", guard_message());
    return complain(context->status == AIS_BAD_ARGUMENT ? EXIT_USAGE : EXIT_FAILED, "%s", context->message);
}

int tell(const ais_diagnosis *diagnosis, const ais_report_run *run, bool json, bool quiet, int rows) {
    ais_context context = {0};
    ais_status status = AIS_OK;
    ais_report_run shown = run ? *run : (ais_report_run){.train_seconds = NAN};
    shown.columns = screen_columns(stdout, 80);
    if (json)
        status = ais_report_json(&context, diagnosis, run, stdout);
    else if (!quiet)
        status = ais_report_text(&context, diagnosis, &shown, rows, stdout);
    if (status != AIS_OK) return failed(&context);
    if (fflush(stdout) != 0) return complain(EXIT_FAILED, "cannot write to standard output: %s", strerror(errno));
    return diagnosis->warnings ? EXIT_DISTRUST : 0;
}

bool output_open(output_file *output, const char *directory, const char *name) {
    int length = snprintf(output->path, sizeof output->path, "%s/%s", directory, name);
    snprintf(output->part, sizeof output->part, "%s.part", output->path);
    output->file = length < (int)sizeof output->path ? fopen(output->part, "w") : NULL;
    if (!output->file) complain(EXIT_FAILED, "cannot write %s: %s", output->path, strerror(errno));
    return output->file != NULL;
}

bool output_commit(output_file *output) {
    bool whole = fflush(output->file) == 0 && !ferror(output->file);
    whole = fclose(output->file) == 0 && whole;
    if (whole && rename(output->part, output->path) == 0) return true;
    complain(EXIT_FAILED, "cannot write %s: %s", output->path, strerror(errno));
    unlink(output->part);
    return false;
}

void output_abandon(output_file *output) {
    fclose(output->file);
    remove(output->part);
}
