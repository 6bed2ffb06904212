#include "help/help.h"

#include <ctype.h>
#include <string.h>

static bool begins(const char *text, int length, const char *word) {
    return (size_t)length >= strlen(word) && strncmp(text, word, strlen(word)) == 0;
}

static value_kind kind_of(const char *text, int length) {
    if (islower((unsigned char)*text)) return VALUE_WORD;
    if (begins(text, length, "TARGET")) return VALUE_TARGET;
    if (begins(text, length, "FIGURE")) return VALUE_FIGURE;
    if (begins(text, length, "DIR")) return VALUE_FOLDER;
    if (begins(text, length, "FILE") || begins(text, length, "K.ais")) return VALUE_FILE;
    return VALUE_OTHER;
}

bool next_value(const char **at, value_part *part) {
    if (!*at || !**at) return false;
    int length = (int)strcspn(*at, "|");
    *part = (value_part){kind_of(*at, length), *at, length};
    *at += length;
    if (**at == '|') ++*at;
    return true;
}

value_kind usage_words(const char *usage) {
    const char *word = usage + strcspn(usage, " ");
    word += strspn(word, " ");
    return *word && *word != '[' ? kind_of(word, (int)strcspn(word, " ")) : VALUE_OTHER;
}

const char *target_word(int i) {
    static const char *const prefix[] = {"blr:", "linear:", "poisson:", "stan:", "data:"};
    int builtins = 0;
    while (ais_target_builtin(builtins)) builtins++;
    if (i < builtins) return ais_target_builtin(i)->name;
    return i - builtins < (int)(sizeof prefix / sizeof *prefix) ? prefix[i - builtins] : NULL;
}

const char *figure_word(int i) { return ais_figure_builtin(i) ? ais_figure_builtin(i)->name : NULL; }
