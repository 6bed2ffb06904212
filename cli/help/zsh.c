/* The completion of zsh: _arguments with a specification for every option. */
#include <string.h>

#include "help/help.h"

/* Inside of single quotes; brackets and colons mean something to _arguments, the latter to _describe as well. */
static void put(const char *text, int length) {
    for (int i = 0; i < length && text[i]; i++) {
        if (text[i] == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", text[i]))
            printf("\\%c", text[i]);
        else
            putchar(text[i]);
    }
}

static void put_all(const char *text) { put(text, (int)strlen(text)); }

void zsh_begin(const subcommand *all) {
    puts("#compdef aisampler\n# Completion of zsh for aisampler, by: aisampler help --as zsh\n"
         "_aisampler_targets() {");
    fputs("    compadd --", stdout);
    for (int i = 0; target_word(i); i++)
        if (!strchr(target_word(i), ':')) printf(" %s", target_word(i));
    fputs("\n    compadd -S '' --", stdout);
    for (int i = 0; target_word(i); i++)
        if (strchr(target_word(i), ':')) printf(" %s", target_word(i));
    puts("\n    compset -P '*:'\n    _files\n}");
    fputs("_aisampler_figures() {\n    _values -s , figure", stdout);
    for (int i = 0; figure_word(i); i++) printf(" %s", figure_word(i));
    puts("\n}\n_aisampler() {\n    local -a commands\n    commands=(");
    for (const subcommand *at = all; at->name; at++) {
        printf("        '%s:", at->name);
        put_all(at->summary);
        puts("'");
    }
    puts("    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    local command=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $command in");
}

static const char *function_of(value_kind kind) {
    return kind == VALUE_FILE     ? "_files"
           : kind == VALUE_FOLDER ? "_files -/"
           : kind == VALUE_TARGET ? "_aisampler_targets"
           : kind == VALUE_FIGURE ? "_aisampler_figures"
                                  : NULL;
}

/* :value:action */
static void put_value(const option *this) {
    value_part part;
    const char *at = this->choices;
    bool words = false, action = false;
    putchar(':');
    put_all(option_value(this));
    putchar(':');
    while (next_value(&at, &part)) words = words || part.kind == VALUE_WORD;
    at = this->choices;
    fputs("{ ", stdout);
    if (words) fputs("compadd --", stdout);
    while (words && next_value(&at, &part))
        if (part.kind == VALUE_WORD) printf(" %.*s", part.length, part.text);
    at = this->choices;
    action = words;
    while (next_value(&at, &part)) {
        if (!function_of(part.kind)) continue;
        printf("%s%s", action ? "; " : "", function_of(part.kind));
        action = true;
    }
    puts(action ? " }' \\" : "_message value }' \\");
}

/* One form of an option, which rules the other one out. */
static void put_option(const option *this, bool letter) {
    fputs("            '", stdout);
    if (this->letter) printf("(-%c --%s)", this->letter, this->name);
    if (letter)
        printf("-%c%s[", this->letter, this->kind == OPTION_FLAG ? "" : "+");
    else
        printf("--%s%s[", this->name, this->kind == OPTION_FLAG ? "" : "=");
    put_all(this->help);
    putchar(']');
    if (this->kind == OPTION_FLAG)
        puts("' \\");
    else
        put_value(this);
}

static void page(const char *usage, const char *text, const option *options) {
    (void)text;
    printf("    %.*s)\n        _arguments -s \\\n", (int)strcspn(usage, " "), usage);
    for (; options->name; options++) {
        if (options->letter) put_option(options, true);
        put_option(options, false);
    }
    const char *words = function_of(usage_words(usage));
    if (strncmp(usage, "help ", 5) == 0) words = "compadd -- ${commands%%:*}";
    if (words)
        printf("            '*:word:{ %s }'\n        ;;\n", words);
    else
        puts("            && return\n        ;;");
}

static void list(const char *heading, const help_entry *entries) {
    (void)heading;
    (void)entries;
}

const help_style help_as_zsh = {page, list};

void zsh_end(void) { puts("    esac\n}\n_aisampler \"$@\""); }
