#include "report/clean_text.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the UTF-8 character at text, 0 when there is none: overlong forms, surrogates, what is cut. */
static size_t character(const unsigned char *text) {
    unsigned char first = text[0];
    if (first < 0x80) return 1;
    size_t length = first >= 0xF0 && first <= 0xF4 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xC2 ? 2 : 0;
    if (first > 0xF4 || length == 0) return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    bool overlong = (first == 0xE0 && text[1] < 0xA0) || (first == 0xF0 && text[1] < 0x90);
    bool surrogate = first == 0xED && text[1] >= 0xA0;
    bool beyond = first == 0xF4 && text[1] >= 0x90;
    bool not_a_character = first == 0xEF && text[1] == 0xBF && text[2] >= 0xBE;
    return overlong || surrogate || beyond || not_a_character ? 0 : length;
}

/* One character to write for what stands at *text, which moves on. */
static size_t next(const unsigned char **text, const char **shown) {
    size_t length = character(*text);
    *shown = (const char *)*text;
    if (length == 0) {
        *shown = "\xEF\xBF\xBD"; /* U+FFFD */
        *text += 1;
        return 3;
    }
    if (length == 1 && (**text < 0x20 || **text == 0x7F)) *shown = " ";
    *text += length;
    return length;
}

void ais_clean_text(const char *from, char *to, size_t size) {
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)(from ? from : ""); *at;) {
        const char *shown;
        size_t length = next(&at, &shown);
        if (used + length + 1 > size) break;
        memcpy(to + used, shown, length);
        used += length;
    }
    to[used] = 0;
}

void ais_ascii_text(const char *from, char *to, size_t size) {
    static const struct {
        const char *sign, *plain;
    } known[] = {{"−", "-"}, {"…", "..."}, {"×", "x"}, {"·", "*"}, {"±", "+-"}};
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹", "⁻"};
    size_t used = 0;
    bool power = false;
    for (const unsigned char *at = (const unsigned char *)from; *at;) {
        const char *shown, *plain = "?";
        char one[3] = "";
        size_t length = next(&at, &shown), digit = 0;
        while (digit < 11 && strncmp(shown, raised[digit], length) != 0) digit++;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strncmp(shown, known[i].sign, length) == 0) plain = known[i].plain;
        if (length == 1 || digit < 11) {
            char letter = length == 1 ? *shown : (char)(digit < 10 ? '0' + (char)digit : '-');
            snprintf(one, sizeof one, "%s%c", digit < 11 && !power ? "^" : "", letter);
            plain = one;
        }
        power = digit < 11;
        if (used + strlen(plain) + 1 > size) break;
        used += (size_t)snprintf(to + used, size - used, "%s", plain);
    }
    to[used] = '\0';
}

void ais_html_text(FILE *file, const char *text) {
    for (const unsigned char *at = (const unsigned char *)(text ? text : ""); *at;) {
        const char *shown;
        size_t length = next(&at, &shown);
        switch (*shown) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        case '\'':
            fputs("&#39;", file);
            break;
        default:
            fwrite(shown, 1, length, file);
        }
    }
}

bool ais_next_line(const char **text, char *line, size_t size) {
    size_t length = strcspn(*text, "\n");
    if (**text == '\0') return false;
    snprintf(line, size, "%.*s", (int)(length < size ? length : size - 1), *text);
    *text += length + ((*text)[length] == '\n');
    return true;
}
