/* Man pages, in the macros that man(7) has everywhere. */
#include <ctype.h>
#include <string.h>

#include "help/help.h"

/* Text of one line: hyphens that can be copied, and nothing that roff takes for its own. */
static void put(const char *text) {
    if (*text == '.' || *text == '\'') fputs("\\&", stdout);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void put_line(const char *text) {
    put(text);
    putchar('\n');
}

static void put_upper(const char *text) {
    for (; *text; text++) putchar(toupper((unsigned char)*text));
}

static void head(const char *name, const char *summary) {
    fputs(".TH AISAMPLER", stdout);
    if (*name) putchar('-'), put_upper(name);
    /* no date: the version says which it is, and equal sources give equal pages */
    printf(" 1 \"\" \"aisampler %s\" \"aisampler manual\"\n.SH NAME\naisampler%s", ais_version(), *name ? "\\-" : "");
    put(name);
    fputs(" \\- ", stdout);
    put_line(summary);
}

void man_begin(const char *name, const char *summary) { head(name, summary); }

/* Capitals and what is in brackets are the user's to fill in. */
static void page(const char *usage, const char *text, const option *options) {
    fputs(".SH SYNOPSIS\n.B aisampler ", stdout);
    int name = (int)strcspn(usage, " ");
    printf("%.*s\n", name, usage);
    if (usage[name]) {
        fputs(".I ", stdout);
        put_line(usage + name + 1);
    }
    puts(".SH DESCRIPTION");
    put_line(text);
    puts(".SH OPTIONS");
    for (; options->name; options++) {
        puts(".TP");
        if (options->letter) printf("\\fB\\-%c\\fR, ", options->letter);
        fputs("\\fB\\-\\-", stdout);
        put(options->name);
        fputs("\\fR", stdout);
        if (*option_value(options)) {
            fputs(" \\fI", stdout);
            put(option_value(options));
            fputs("\\fR", stdout);
        }
        putchar('\n');
        put_line(options->help);
    }
}

static void list(const char *heading, const help_entry *entries) {
    fputs(".SH ", stdout);
    put_upper(heading);
    putchar('\n');
    for (; entries->name; entries++) {
        fputs(".TP\n.B ", stdout);
        put_line(entries->name);
        put_line(entries->text);
    }
}

const help_style help_as_man = {page, list};

void man_end(const subcommand *all) {
    puts(".SH EXIT STATUS");
    put_line(exit_codes);
    fputs(".SH SEE ALSO\n.BR aisampler (1)", stdout);
    for (; all->name; all++) {
        fputs(",\n.BR aisampler\\-", stdout);
        put(all->name);
        fputs(" (1)", stdout);
    }
    putchar('\n');
}

void man_overview(const subcommand *all) {
    head("", "draws samples from densities known up to a constant");
    puts(".SH SYNOPSIS\n.B aisampler\n.I COMMAND\n.RI [ options ]\n.SH COMMANDS");
    for (const subcommand *at = all; at->name; at++) {
        fputs(".TP\n.BR aisampler\\-", stdout);
        put(at->name);
        puts(" (1)");
        put_line(at->summary);
    }
    man_end(all);
}
