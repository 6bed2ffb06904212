/* Text of any origin, made fit for pictures and pages. */
#ifndef AIS_REPORT_CLEAN_TEXT_H
#define AIS_REPORT_CLEAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* from as valid UTF-8 without control characters, in at most size bytes with the zero: what is not UTF-8 becomes
 * U+FFFD, a line break or tab a space. Cut between characters. */
void ais_clean_text(const char *from, char *to, size_t size);

/* The same in ASCII, for a font that has nothing else: 10^-3 for a power of ten, ? for what has no like. */
void ais_ascii_text(const char *from, char *to, size_t size);

/* The next line of *text, as much of it as fits, and *text moves on; false at the end. */
bool ais_next_line(const char **text, char *line, size_t size);

/* The text of an HTML or XML element or attribute. NULL writes nothing. */
void ais_html_text(FILE *file, const char *text);

#endif
