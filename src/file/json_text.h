/* JSON as one line of text. */
#ifndef AIS_FILE_JSON_TEXT_H
#define AIS_FILE_JSON_TEXT_H

#include <jansson.h>

/* Freed by free(); NULL without JSON and when memory is out. json_dumps leaves a part out then, and says nothing
 * (jansson 2.14). */
char *ais_json_text(const json_t *json);

#endif
