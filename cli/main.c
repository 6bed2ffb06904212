/* aisampler: the command. */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "guard.h"
#include "help/help.h"
#include "ranks.h"

const subcommand subcommands[] = {
    {"targets", "the built-in targets", run_targets},
    {"run", "learn a kernel, draw with it, judge the draws: the main job", run_run},
    {"train", "learn a kernel for a target", run_train},
    {"sample", "draw from a target with a given kernel or a classical sampler", run_sample},
    {"compare", "several samplers on one target, in one table", run_compare},
    {"diagnose", "judge the draws of any sampler", run_diagnose},
    {"reproduce", "the paper's tables and figures, ours beside the printed numbers", run_reproduce},
    {"bench", "how fast this machine samples", run_bench},
    {"plot", "figures from draws: corner plot, traces, training and more", run_plot},
    {"help", "help on a command, as text, man page or shell completion", run_help},
    {0},
};

int print_usage(FILE *file) {
    fputs("aisampler draws samples from densities known up to a constant.\n\nusage: aisampler COMMAND [options]\n\n",
          file);
    for (const subcommand *at = subcommands; at->name; at++) fprintf(file, "  %-10s %s\n", at->name, at->summary);
    fputc('\n', file);
    char text[256];
    snprintf(text, sizeof text, "'aisampler COMMAND --help' says more. Exit codes: %s", exit_codes);
    print_wrapped(file, 0, 0, text);
    return file == stdout ? 0 : EXIT_USAGE;
}

const subcommand *find_subcommand(const char *name) {
    const char *known[sizeof subcommands / sizeof *subcommands];
    int count = 0;
    for (const subcommand *at = subcommands; at->name; at++) {
        if (strcmp(name, at->name) == 0) return at;
        known[count++] = at->name;
    }
    known[count] = NULL;
    const char *near = ais_nearest(name, known);
    if (near)
        complain(EXIT_USAGE, "unknown command '%s'; did you mean '%s'?", name, near);
    else
        complain(EXIT_USAGE, "unknown command '%s'; see aisampler --help", name);
    return NULL;
}

static int run(int argc, char **argv) {
    if (argc < 2) return print_usage(stderr);
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return print_usage(stdout);
    if (strcmp(word, "--version") == 0) {
        printf("aisampler %s\n", ais_version());
        return 0;
    }
    const subcommand *found = find_subcommand(word);
    return found ? found->run(argc - 1, argv + 1) : EXIT_USAGE;
}

int main(int argc, char **argv) {
    remember_command(argc, argv);
    watch_json();
    signal(SIGXFSZ, SIG_IGN); /* a file size limit becomes a write error with a sentence */
    if (!ranks_lead() && !freopen("/dev/null", "w", stdout)) return EXIT_FAILED; /* only rank 0 prints */
    int code = run(argc, argv);
    bool whole = fflush(stdout) == 0 && !ferror(stdout);
    if (!whole && code != EXIT_FAILED)
        code = complain(EXIT_FAILED, "cannot write to standard output: %s", strerror(errno));
    return guard_close(ranks_close(code));
}
