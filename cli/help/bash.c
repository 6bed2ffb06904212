/* The completion of bash: a function with a case for every command, whose options and values come from its table. */
#include <string.h>

#include "help/help.h"

void bash_begin(const subcommand *all) {
    puts("# Completion of bash for aisampler, by: aisampler help --as bash\n"
         "_aisampler_add() { local word; while IFS= read -r word; do COMPREPLY+=(\"$word\"); done; }\n"
         "_aisampler_words() { _aisampler_add < <(compgen -W \"$1\" -- \"$cur\"); }\n"
         "_aisampler_files() { compopt -o filenames 2> /dev/null; _aisampler_add < <(compgen -f -- \"$cur\"); }\n"
         "_aisampler_folders() { compopt -o filenames 2> /dev/null; _aisampler_add < <(compgen -d -- \"$cur\"); }\n"
         "_aisampler_figures() { # a list with commas\n"
         "    local before=''\n"
         "    case $cur in *,*) before=${cur%,*}, ;; esac");
    fputs("    _aisampler_add < <(compgen -P \"$before\" -W '", stdout);
    for (int i = 0; figure_word(i); i++) printf("%s ", figure_word(i));
    puts("' -- \"${cur##*,}\")\n}\n_aisampler_targets() {");
    fputs("    _aisampler_words '", stdout);
    for (int i = 0; target_word(i); i++) printf("%s ", target_word(i));
    puts("'\n"
         "    case ${#COMPREPLY[@]}$COMPREPLY in 1*:) compopt -o nospace 2> /dev/null ;; esac\n"
         "    [ ${#COMPREPLY[@]} -gt 0 ] || _aisampler_files\n"
         "}\n"
         "_aisampler() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} option=''\n"
         "    COMPREPLY=()\n"
         "    # bash breaks words at = and at the colon of blr:FILE\n"
         "    if [ \"$cur\" = : ] || [ \"$previous\" = : ]; then\n"
         "        cur=${cur#:}\n"
         "        _aisampler_files\n"
         "        return\n"
         "    fi\n"
         "    case $cur in =) option=$previous cur='' ;; esac\n"
         "    case $previous in =) option=${COMP_WORDS[COMP_CWORD - 2]} ;; -*) option=${option:-$previous} ;; esac\n"
         "    if [ \"$COMP_CWORD\" = 1 ]; then");
    fputs("        _aisampler_words '", stdout);
    for (const subcommand *at = all; at->name; at++) printf("%s ", at->name);
    puts("--help --version'\n        return\n    fi\n    case ${COMP_WORDS[1]} in");
}

static void put_kind(value_kind kind) {
    static const char *const function[] = {
        [VALUE_FILE] = "files", [VALUE_FOLDER] = "folders", [VALUE_TARGET] = "targets", [VALUE_FIGURE] = "figures"};
    if (kind < VALUE_OTHER && function[kind]) printf(" _aisampler_%s;", function[kind]);
}

static void put_values(const char *values) {
    value_part part;
    bool words = false;
    for (const char *at = values; next_value(&at, &part);) {
        if (part.kind != VALUE_WORD) continue;
        printf("%s%.*s", words ? " " : " _aisampler_words '", part.length, part.text);
        words = true;
    }
    if (words) fputs("';", stdout);
    for (const char *at = values; next_value(&at, &part);) put_kind(part.kind);
}

static void page(const char *usage, const char *text, const option *options) {
    (void)text;
    printf("    %.*s)\n        case $option in\n", (int)strcspn(usage, " "), usage);
    for (const option *at = options; at->name; at++) {
        if (at->kind == OPTION_FLAG) continue;
        printf("        --%s", at->name);
        if (at->letter) printf(" | -%c", at->letter);
        putchar(')');
        put_values(at->choices);
        puts(" return ;;");
    }
    fputs("        esac\n        case $cur in\n        -*) _aisampler_words '", stdout);
    for (const option *at = options; at->name; at++) printf("--%s ", at->name);
    fputs("' ;;\n        *)", stdout);
    if (strncmp(usage, "help ", 5) == 0)
        fputs(" _aisampler_words \"$(aisampler help --as names 2> /dev/null)\";", stdout);
    put_kind(usage_words(usage));
    puts(" ;;\n        esac\n        ;;");
}

static void list(const char *heading, const help_entry *entries) {
    (void)heading;
    (void)entries; /* values are completed where options take them */
}

const help_style help_as_bash = {page, list};

void bash_end(void) { puts("    esac\n}\ncomplete -F _aisampler aisampler"); }
