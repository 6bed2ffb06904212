#include "table.h"

#include <math.h>
#include <string.h>

void table_begin(table *to, const char *title, const char *const *headings) {
    *to = (table){.title = title};
    for (; headings[to->columns] && to->columns < TABLE_COLUMNS; to->columns++)
        to->heading[to->columns] = headings[to->columns];
}

char (*table_row(table *to, const char *heading))[TABLE_CELL] {
    if (to->rows == TABLE_ROWS) return NULL;
    char(*row)[TABLE_CELL] = to->cell[to->rows++];
    snprintf(row[0], TABLE_CELL, "%s", heading);
    for (int k = 1; k < to->columns; k++) snprintf(row[k], TABLE_CELL, "-");
    return row;
}

void cell_number(char cell[TABLE_CELL], double value, int digits) {
    if (isnan(value))
        snprintf(cell, TABLE_CELL, "-");
    else if (fabs(value) >= pow(10, digits) && fabs(value) < 1e7)
        snprintf(cell, TABLE_CELL, "%.0f", value);
    else
        snprintf(cell, TABLE_CELL, "%.*g", digits, value);
}

void cell_fixed(char cell[TABLE_CELL], double value, int decimals) {
    if (isnan(value))
        snprintf(cell, TABLE_CELL, "-");
    else
        snprintf(cell, TABLE_CELL, "%.*f", decimals, value);
}

static int width_of(const table *from, int column) {
    size_t width = strlen(from->heading[column]);
    for (int i = 0; i < from->rows; i++)
        if (strlen(from->cell[i][column]) > width) width = strlen(from->cell[i][column]);
    return (int)width;
}

static void text_line(const table *from, int row, int first, int last, FILE *file) {
    fprintf(file, "  %-*s", width_of(from, 0), row < 0 ? from->heading[0] : from->cell[row][0]);
    for (int k = first; k < last; k++)
        fprintf(file, "  %*s", width_of(from, k), row < 0 ? from->heading[k] : from->cell[row][k]);
    fputc('\n', file);
}

void table_text(const table *from, FILE *file) {
    const int screen = screen_columns(file, 118);
    fprintf(file, "%s\n", from->title);
    for (int first = 1; first < from->columns;) {
        int last = first, width = 2 + width_of(from, 0);
        do width += 2 + width_of(from, last++);
        while (last < from->columns && width + 2 + width_of(from, last) <= screen);
        for (int i = -1; i < from->rows; i++) text_line(from, i, first, last, file);
        if (last < from->columns) fputc('\n', file);
        first = last;
    }
    if (from->note[0]) print_wrapped(file, 0, 0, from->note);
}

void table_markdown(const table *from, FILE *file) {
    fprintf(file, "## %s\n\n", from->title);
    for (int i = -2; i < from->rows; i++) {
        for (int k = 0; k < from->columns; k++)
            fprintf(file, "%s %s", k ? " |" : "|",
                    i == -2   ? from->heading[k]
                    : i == -1 ? (k ? "---:" : "---")
                              : from->cell[i][k]);
        fputs(" |\n", file);
    }
    if (from->note[0]) fprintf(file, "\n%s\n", from->note);
    fputc('\n', file);
}

void table_html(const table *from, FILE *file) {
    const char *cell[TABLE_ROWS * TABLE_COLUMNS];
    int count = 0;
    for (int i = 0; i < from->rows; i++)
        for (int k = 0; k < from->columns; k++) cell[count++] = from->cell[i][k];
    ais_document_heading(file, from->title);
    ais_document_table(file, from->heading, cell, from->rows, from->columns);
    if (from->note[0]) ais_document_note(file, from->note);
}
