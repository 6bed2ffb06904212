/* The command. Public headers only; one file per subcommand. */
#ifndef AIS_CLI_H
#define AIS_CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include <aisampler/aisampler.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_DISTRUST = 3 };

/* ---- options (options.c) ------------------------------------------------------------------------ */

typedef enum option_kind {
    OPTION_FLAG,
    OPTION_COUNT,
    OPTION_SEED,
    OPTION_NUMBER,
    OPTION_TEXT,
    OPTION_CHOICE
} option_kind;

/* One option of a subcommand; the parser writes through `to`. */
typedef struct option {
    const char *name; /* without the dashes */
    char letter;      /* one-letter form, or 0 */
    option_kind kind;
    void *to;            /* bool, int, uint64_t, double, const char *, const char * */
    const char *choices; /* OPTION_CHOICE: "a|b|c"; otherwise how help calls the value, or NULL */
    const char *help;
} option;

/* Options in any order; what is not an option goes to words. Options end with a NULL name. Returns
 * the number of words, or -1 after one line on stderr. */
int parse_options(int argc, char **argv, const option *options, const char **words, int most_words);

/* The help of a subcommand, on stdout: how to call it, what it does, its options (help.c). It may be requested as a man
 * page or a completion: a subcommand prints nothing else there. */
void print_help(const char *usage, const char *text, const option *options);

/* After it: names with a line each, that end with a NULL name. */
typedef struct help_entry {
    const char *name, *text;
} help_entry;
void print_help_list(const char *heading, const help_entry *entries);

/* The width of the terminal behind a file, up to `most`; `most` if it is not a terminal. */
int screen_columns(FILE *file, int most);

/* Text from column `column` on, broken at spaces to stay within 80 columns and the terminal, further lines indented to
 * `indent`; ends the line. Where the terminal leaves too little room, the text begins on the next line. */
void print_wrapped(FILE *file, int column, int indent, const char *text);

/* ---- shared (shared.c) -------------------------------------------------------------------------- */

/* "aisampler: message" on stderr; returns code. */
int complain(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Complains about a library failure. The exit code: a wrong value is wrong usage, the rest has failed. */
int failed(const ais_context *context);

/* Prints where the density could not be computed, if the target reports it. */
void tell_of_errors(const ais_target *target);

typedef struct subcommand {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} subcommand;

/* main.c: all of them, ended by a NULL name; one by its name, NULL after a complaint; the overview. */
extern const subcommand subcommands[];
const subcommand *find_subcommand(const char *name);
int print_usage(FILE *file);

/* The command as it was typed (command_line.c): main gives it; then as a line for a shell, with --resume. */
void remember_command(int argc, char **argv);
void command_to_resume(char *text, size_t size);

/* The diagnosis as text on stdout, or as JSON there; the exit code that follows from it. */
int tell(const ais_diagnosis *diagnosis, const ais_report_run *run, bool json, bool quiet, int rows);

/* Around a long job: the first Ctrl-C sets the flag, a second one abandons a density that does not return (guard.h) or
 * kills; afterwards Ctrl-C kills again. SIGTERM sets the flag, too, and its sender will not wait long: a density that
 * does not return within 15 s is abandoned, or the command ends without it. */
void catch_interrupts(void);
void release_interrupts(void);
const volatile sig_atomic_t *stop_flag(void);
bool was_terminated(void); /* by SIGTERM, here or on another rank: all ranks must call it */
void ask_to_stop(void);    /* as the first Ctrl-C does */

/* Since some moment in the past. */
double wall_seconds(void);

/* A JSON string; bytes that are not UTF-8 become question marks. */
json_t *json_text(const char *text);

/* jansson leaves out what it has no memory for, and most callers would not notice: after this was called, nothing is
 * written that may be incomplete. */
void watch_json(void);
bool json_is_whole(const json_t *json);

/* JSON on stdout, or as DIRECTORY/NAME; flags are jansson's. An exit code; false: both after complaining. */
int print_json(const json_t *json, size_t flags);
bool write_json(const char *directory, const char *name, const json_t *json, size_t flags);

int run_targets(int argc, char **argv);
int run_sample(int argc, char **argv);
int run_diagnose(int argc, char **argv);
int run_plot(int argc, char **argv);
int run_train(int argc, char **argv);
int run_run(int argc, char **argv);
int run_bench(int argc, char **argv);
int run_compare(int argc, char **argv);
int run_reproduce(int argc, char **argv);
int run_help(int argc, char **argv);

/* ---- progress (progress.c) ---------------------------------------------------------------------- */

typedef struct progress_view {
    bool terminal; /* redraw in place; else a line now and then */
    bool drawn;
    double last_line; /* seconds */
    double rate_from; /* seconds, and evaluations then */
    long rate_count;
    int columns;
    char stage[16];          /* of training, the last one shown */
    unsigned filled, chosen; /* columns of training that have had a value, and those that are shown; a bit each */
} progress_view;

void progress_begin(progress_view *view);
void progress_show(const ais_progress *progress, void *view);

/* ---- files (shared.c) ------------------------------------------------------------------------------- */

/* Opens PATH.part for writing; commit closes it and renames it to PATH, and complains when the disk
 * did not take it all. Both return false after complaining. abandon closes and removes it instead. */
typedef struct output_file {
    char path[4096], part[4104];
    FILE *file;
} output_file;
bool output_open(output_file *output, const char *directory, const char *name);
bool output_commit(output_file *output);
void output_abandon(output_file *output);

#endif
