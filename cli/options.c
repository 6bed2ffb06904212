#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

/* ---- values ------------------------------------------------------------------------------------- */

static bool one_of(const char *value, const char *choices) {
    size_t length = strcspn(value, "|");
    if (value[length]) return false; /* two of them are not one */
    for (const char *at = choices; at; at = strchr(at, '|'), at = at ? at + 1 : NULL)
        if (strncmp(at, value, length) == 0 && (at[length] == '|' || at[length] == 0)) return true;
    return false;
}

/* strtod accepts these, but users do not mean them. */
static bool is_hexadecimal(const char *text) { return strpbrk(text, "xX") != NULL; }

/* Whole numbers may be written 1000, 1e3 or 10_000. */
static bool whole_number(const char *text, double *value) {
    char plain[64];
    size_t used = 0;
    for (const char *at = text; *at && used < sizeof plain - 1; at++)
        if (*at != '_') plain[used++] = *at;
    plain[used] = 0;
    char *end;
    *value = strtod(plain, &end);
    return used > 0 && *end == 0 && isdigit((unsigned char)plain[0]) && !is_hexadecimal(plain) &&
           *value == floor(*value);
}

static bool set_value(const option *at, const char *text) {
    double number = 0;
    char *end;
    switch (at->kind) {
    case OPTION_FLAG:
        *(bool *)at->to = true;
        return true;
    case OPTION_TEXT:
        *(const char **)at->to = text;
        return true;
    case OPTION_CHOICE:
        *(const char **)at->to = text;
        if (one_of(text, at->choices)) return true;
        complain(EXIT_USAGE, "--%s takes one of %s, not '%s'", at->name, at->choices, text);
        return false;
    case OPTION_COUNT:
        if (whole_number(text, &number) && number <= 2e9) {
            *(int *)at->to = (int)number;
            return true;
        }
        complain(EXIT_USAGE, "--%s takes a whole number from 0 to 2e9, not '%s'", at->name, text);
        return false;
    case OPTION_SEED:
        errno = 0;
        *(uint64_t *)at->to = strtoull(text, &end, 10);
        if (isdigit((unsigned char)*text) && *end == 0 && errno == 0) return true;
        complain(EXIT_USAGE, "--%s takes a whole number from 0 to 2^64 - 1, not '%s'", at->name, text);
        return false;
    case OPTION_NUMBER:
        *(double *)at->to = strtod(text, &end);
        if (*text && *end == 0 && isfinite(*(double *)at->to) && !is_hexadecimal(text)) return true;
        complain(EXIT_USAGE, "--%s takes a number, not '%s'", at->name, text);
        return false;
    }
    return false;
}

/* ---- the parser --------------------------------------------------------------------------------- */

static const option *find(const option *options, const char *name, size_t length) {
    for (; options->name; options++)
        if (strlen(options->name) == length && strncmp(options->name, name, length) == 0) return options;
    return NULL;
}

/* Options that have another name now: one name, one meaning in all subcommands. */
static const struct {
    const char *command, *was, *is;
} renamed[] = {{"run", "--kernel", "--map"},   {"run", "-k", "--map"},   {"run", "--scale", "--start-scale"},
               {"train", "--kernel", "--map"}, {"train", "-k", "--map"}, {"train", "--scale", "--start-scale"},
               {"bench", "--figure", "--out"}, {"bench", "-f", "--out"}};

static bool complain_renamed(const char *command, const char *word) {
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        const size_t length = word[1] == '-' ? strcspn(word, "=") : 2;
        if (strcmp(command, renamed[i].command) != 0 || strlen(renamed[i].was) != length ||
            strncmp(word, renamed[i].was, length) != 0)
            continue;
        complain(EXIT_USAGE, "'%s %s' is now '%s %s'", command, renamed[i].was, command, renamed[i].is);
        return true;
    }
    return false;
}

static void complain_unknown(const option *options, const char *word) {
    const char *known[64];
    int count = 0;
    for (const option *at = options; at->name && count < 63; at++) known[count++] = at->name;
    known[count] = NULL;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *near = ais_nearest(name, known);
    if (near)
        complain(EXIT_USAGE, "unknown option --%s; did you mean --%s?", name, near);
    else
        complain(EXIT_USAGE, "unknown option --%s; see --help", name);
}

static const option *option_of(const char *command, const option *options, const char *word, const char **value) {
    *value = NULL;
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        if (equals) *value = equals + 1;
        const option *found = find(options, word + 2, equals ? (size_t)(equals - word - 2) : strlen(word + 2));
        if (!found && !complain_renamed(command, word)) complain_unknown(options, word);
        return found;
    }
    for (const option *at = options; at->name; at++)
        if (at->letter && at->letter == word[1]) {
            if (word[2]) *value = word + 2;
            return at;
        }
    if (!complain_renamed(command, word)) complain(EXIT_USAGE, "unknown option %s; see --help", word);
    return NULL;
}

int parse_options(int argc, char **argv, const option *options, const char **words, int most_words) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == 0) {
            if (count == most_words) {
                complain(EXIT_USAGE, "'%s' is one argument too many; see --help", argv[i]);
                return -1;
            }
            words[count++] = argv[i];
            continue;
        }
        const char *value;
        const option *found = option_of(argv[0], options, argv[i], &value);
        if (!found) return -1;
        if (found->kind == OPTION_FLAG && value) {
            complain(EXIT_USAGE, "--%s takes no value", found->name);
            return -1;
        }
        if (found->kind != OPTION_FLAG && !value) {
            if (i + 1 == argc) {
                complain(EXIT_USAGE, "--%s needs a value; see --help", found->name);
                return -1;
            }
            value = argv[++i];
        }
        if (!set_value(found, value)) return -1;
    }
    return count;
}

int screen_columns(FILE *file, int most) {
    enum { FEWEST = 40 };
    struct winsize size = {0};
    if (!isatty(fileno(file)) || ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return most;
    return size.ws_col >= most ? most : size.ws_col > FEWEST ? size.ws_col : FEWEST;
}

void print_wrapped(FILE *file, int column, int indent, const char *text) {
    enum { ENOUGH = 24 }; /* columns to read a text in */
    const int screen = screen_columns(file, 80);
    if (screen - indent < ENOUGH) {
        indent = 6;
        column = fprintf(file, "\n%*s", indent, "") - 1;
    }
    for (bool first = true; *text; first = false) {
        int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > screen)
            column = fprintf(file, "\n%*s", indent, "") - 1;
        else if (!first)
            column += fprintf(file, " ");
        column += fprintf(file, "%.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', file);
}
