/* aisampler help: what --help says, and the same as man pages and completions. */
#include "help/help.h"

#include <string.h>

const char exit_codes[] = "0 good, 1 failed, 2 wrong usage, 3 the diagnostics say that the draws cannot be trusted.";

/* ---- text ------------------------------------------------------------------------------------------------------ */

const char *option_value(const option *at) {
    if (at->kind == OPTION_FLAG) return "";
    return at->choices ? at->choices : at->kind == OPTION_TEXT ? "TEXT" : "N";
}

static void text_page(const char *usage, const char *text, const option *options) {
    enum { HELP = 32 }; /* the column where explanations start */
    printf("usage: aisampler %s\n\n", usage);
    print_wrapped(stdout, 0, 0, text);
    puts("\noptions:");
    for (; options->name; options++) {
        char left[128], letter[8] = "    ";
        if (options->letter) snprintf(letter, sizeof letter, "-%c, ", options->letter);
        snprintf(left, sizeof left, "  %s--%s %s", letter, options->name, option_value(options));
        if (strlen(left) >= HELP) printf("%s\n", left);
        printf("%-*s", HELP, strlen(left) < HELP ? left : "");
        print_wrapped(stdout, HELP, HELP, options->help);
    }
}

static void text_list(const char *heading, const help_entry *entries) {
    enum { HELP = 20 };
    printf("\n%s:\n", heading);
    for (; entries->name; entries++) {
        printf("  %-*s", HELP - 2, entries->name);
        print_wrapped(stdout, HELP, HELP, entries->text);
    }
}

static const help_style help_as_text = {text_page, text_list};

/* A subcommand's --help is where its options are: what it prints there is for this variable to say. */
static const help_style *style = &help_as_text;

void print_help(const char *usage, const char *text, const option *options) { style->page(usage, text, options); }
void print_help_list(const char *heading, const help_entry *entries) { style->list(heading, entries); }

/* ---- the subcommand -------------------------------------------------------------------------------------------- */

static int describe(const subcommand *command, const help_style *as) {
    char name[32], flag[] = "--help", *argv[] = {name, flag, NULL};
    snprintf(name, sizeof name, "%s", command->name);
    style = as;
    int code = command->run(2, argv);
    style = &help_as_text;
    return code;
}

static int describe_all(const help_style *as) {
    int code = 0;
    for (const subcommand *at = subcommands; at->name && code == 0; at++) code = describe(at, as);
    return code;
}

static int write_man(const subcommand *command) {
    if (!command) {
        man_overview(subcommands);
        return 0;
    }
    man_begin(command->name, command->summary);
    int code = describe(command, &help_as_man);
    man_end(subcommands);
    return code;
}

static int write_completion(bool bash) {
    if (bash)
        bash_begin(subcommands);
    else
        zsh_begin(subcommands);
    int code = describe_all(bash ? &help_as_bash : &help_as_zsh);
    if (bash)
        bash_end();
    else
        zsh_end();
    return code;
}

int run_help(int argc, char **argv) {
    const char *as = "text", *word = NULL;
    bool help = false;
    const option options[] = {
        {"as", 0, OPTION_CHOICE, &as, "text|man|bash|zsh|names",
         "text; a man page; a completion of bash or zsh, of all commands; the commands' names (text)"},
        {"help", 'h', OPTION_FLAG, &help, NULL, "this text"},
        {0}};
    int words = parse_options(argc, argv, options, &word, 1);
    if (words < 0) return EXIT_USAGE;
    if (help) {
        print_help("help [COMMAND] [options]",
                   "Prints the usage of COMMAND, or the list of commands. 'make install' puts man pages and "
                   "completions where shells look for them; without it: eval \"$(aisampler help --as bash)\".",
                   options);
        return 0;
    }
    const subcommand *command = word ? find_subcommand(word) : NULL;
    if (word && !command) return EXIT_USAGE;
    bool whole = strcmp(as, "text") != 0 && strcmp(as, "man") != 0;
    if (word && whole) return complain(EXIT_USAGE, "--as %s covers all commands: leave out '%s'", as, word);
    if (strcmp(as, "man") == 0) return write_man(command);
    if (strcmp(as, "names") == 0) {
        for (const subcommand *at = subcommands; at->name; at++) puts(at->name);
        return 0;
    }
    if (whole) return write_completion(strcmp(as, "bash") == 0);
    return command ? describe(command, &help_as_text) : print_usage(stdout);
}
