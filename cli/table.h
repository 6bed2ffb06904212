/* A table of texts, shown in several forms (table.c). */
#ifndef AIS_CLI_TABLE_H
#define AIS_CLI_TABLE_H

#include "cli.h"

enum { TABLE_COLUMNS = 20, TABLE_ROWS = 64, TABLE_CELL = 32 };

typedef struct table {
    const char *title;
    char note[1600]; /* what the numbers are and how they were made */
    int columns, rows;
    const char *heading[TABLE_COLUMNS];
    char cell[TABLE_ROWS][TABLE_COLUMNS][TABLE_CELL];
} table;

/* Headings end with NULL. */
void table_begin(table *to, const char *title, const char *const *headings);

/* A new row with its heading, the other cells "-"; NULL when the table is full. */
char (*table_row(table *to, const char *heading))[TABLE_CELL];

/* A number with `digits` significant digits; whole ones from 10^digits on. "-" for NAN, "never" is the caller's. */
void cell_number(char cell[TABLE_CELL], double value, int digits);

/* A number with `digits` digits after the point; "-" for NAN. */
void cell_fixed(char cell[TABLE_CELL], double value, int decimals);

void table_text(const table *from, FILE *file);     /* columns aligned, broken into groups that fit the width */
void table_markdown(const table *from, FILE *file); /* GitHub's */
void table_html(const table *from, FILE *file);     /* heading, table, note */

#endif
