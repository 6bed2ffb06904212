/* The command as it was typed, with what makes it continue. */
#include <string.h>

#include "cli.h"

static struct {
    int count;
    char **word;
} typed;

void remember_command(int argc, char **argv) {
    typed.count = argc;
    typed.word = argv;
}

static bool is_plain(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
    return *word && strspn(word, plain) == strlen(word);
}

/* In single quotes where a shell would see more than letters. */
static void add(char *text, size_t size, const char *word) {
    size_t used = strlen(text);
    if (is_plain(word)) {
        snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
        return;
    }
    used += (size_t)snprintf(text + used, size - used, "%s'", used ? " " : "");
    for (; *word && used + 6 < size; word++)
        used += (size_t)snprintf(text + used, size - used, *word == '\'' ? "'\\''" : "%c", *word);
    if (used + 1 < size) snprintf(text + used, size - used, "'");
}

void command_to_resume(char *text, size_t size) {
    bool resumes = false;
    *text = '\0';
    add(text, size, "aisampler");
    for (int i = 1; i < typed.count; i++) {
        const char *word = typed.word[i];
        if (strcmp(word, "--extend") == 0) i++; /* and its number: what was extended is resumed without it */
        if (strncmp(word, "--extend", 8) == 0) continue;
        resumes = resumes || strcmp(word, "--resume") == 0;
        add(text, size, word);
    }
    if (!resumes) add(text, size, "--resume");
}
