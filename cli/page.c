/* report.html beside the draws, and what a page says of how they were made. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

/* null, false and 0 are values that were not set; a seed may be 0. */
static bool unset(const char *key, const json_t *value) {
    if (json_is_number(value)) return json_number_value(value) == 0 && strcmp(key, "seed") != 0;
    return json_is_null(value) || json_is_false(value);
}

static void free_lines(char **lines) {
    for (char **at = lines; at && *at; at++) free(*at);
    free(lines);
}

/* "key = value" for every value that is set; ends with NULL. Freed by free_lines; NULL when memory is out. */
static char **lines_of(const json_t *configuration) {
    size_t count = 0;
    const char *key;
    json_t *value;
    char **lines = calloc(json_object_size(configuration) + 1, sizeof *lines);
    bool whole = lines && json_is_whole(configuration);
    json_object_foreach((json_t *)configuration, key, value) {
        if (!whole || unset(key, value)) continue;
        char *text = json_is_string(value) ? strdup(json_string_value(value))
                                           : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        size_t size = text ? strlen(key) + strlen(text) + 4 : 0;
        char *line = text ? malloc(size) : NULL;
        whole = line != NULL;
        if (whole) {
            snprintf(line, size, "%s = %s", key, text);
            lines[count++] = line;
        }
        free(text);
    }
    if (whole && json_is_whole(configuration)) return lines;
    free_lines(lines);
    return NULL;
}

static bool end_page(output_file *output, ais_status status, const ais_context *context) {
    if (status == AIS_OK) return output_commit(output);
    output_abandon(output);
    failed(context);
    return false;
}

bool write_page(const char *directory, const char *name, const ais_figure_data *data, const ais_report_run *run) {
    output_file output;
    ais_context context = {0};
    if (!output_open(&output, directory, name)) return false;
    return end_page(&output, ais_report_html(&context, data, run, &(ais_report_page){0}, output.file), &context);
}

bool write_run_page(const char *directory, const char *name, const ais_run_result *result, const ais_run_page *page,
                    const json_t *configuration) {
    output_file output;
    ais_context context = {0};
    char **lines = lines_of(configuration);
    if (!lines) {
        complain(EXIT_FAILED, "cannot write %s/%s: out of memory", directory, name);
        return false;
    }
    if (!output_open(&output, directory, name)) {
        free_lines(lines);
        return false;
    }
    ais_run_page whole = *page;
    whole.configuration = (const char *const *)lines;
    ais_status status = ais_run_html(&context, result, &whole, output.file);
    free_lines(lines);
    return end_page(&output, status, &context);
}

bool figure_format(const char *word, ais_figure_format *format) {
    static const char *const words[] = {[AIS_SVG] = "svg", [AIS_PNG] = "png", [AIS_PDF] = "pdf"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(word, words[i]) != 0) continue;
        *format = (ais_figure_format)i;
        return true;
    }
    return false;
}

int write_figure(const char *directory, const char *name, const ais_figure *figure, ais_figure_format format) {
    output_file output;
    ais_context context = {0};
    if (!output_open(&output, directory, name)) return EXIT_FAILED;
    if (ais_figure_write(&context, figure, format, output.file) == AIS_OK)
        return output_commit(&output) ? 0 : EXIT_FAILED;
    output_abandon(&output);
    return failed(&context);
}
