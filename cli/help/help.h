/* One description of every subcommand, in the ways it is read: text, man page, completion of shells. A subcommand hands
 * its usage, text, options and lists to print_help and print_help_list (help.c); a style says what becomes of them. */
#ifndef AIS_CLI_HELP_HELP_H
#define AIS_CLI_HELP_HELP_H

#include "cli.h"

typedef struct help_style {
    void (*page)(const char *usage, const char *text, const option *options);
    void (*list)(const char *heading, const help_entry *entries);
} help_style;

extern const help_style help_as_man, help_as_bash, help_as_zsh;

extern const char exit_codes[]; /* in words */

/* Around the pages of all subcommands (man.c, bash.c, zsh.c). man_begin and man_end stand around one. */
void man_begin(const char *name, const char *summary);
void man_end(const subcommand *all);
void man_overview(const subcommand *all);
void bash_begin(const subcommand *all);
void bash_end(void);
void zsh_begin(const subcommand *all);
void zsh_end(void);

/* What help calls the value of an option; "" for a flag. */
const char *option_value(const option *at);

/* ---- what may stand where (values.c) ---------------------------------------------------------------------- */

typedef enum value_kind { VALUE_WORD, VALUE_FILE, VALUE_FOLDER, VALUE_TARGET, VALUE_FIGURE, VALUE_OTHER } value_kind;

/* One of the alternatives "a|b|FILE". */
typedef struct value_part {
    value_kind kind;
    const char *text; /* length letters */
    int length;
} value_part;

/* The next alternative of *at, which moves on; false at the end. Lower-case words are themselves; FILE..., DIR, TARGET
 * and FIGURE stand for what they say, with or without what follows. */
bool next_value(const char **at, value_part *part);

/* What the words of "run TARGET [options]" stand for; VALUE_OTHER where there are none. */
value_kind usage_words(const char *usage);

/* Names and prefixes that begin a target, and names of figures: number i, or NULL past the end. */
const char *target_word(int i);
const char *figure_word(int i);

#endif
