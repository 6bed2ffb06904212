/* Tables of text: what is read, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/nearest.h"

static ais_status parse(const char *text, ais_table *table, ais_context *context) {
    *context = (ais_context){0};
    return ais_csv_parse(context, "file.csv", text, strlen(text), table);
}

static void numbers_without_a_header(void **state) {
    (void)state;
    ais_context context;
    ais_table table;
    assert_int_equal(parse("1,2.385,-3e-2\n4,5,6\n", &table, &context), AIS_OK);
    assert_int_equal(table.rows, 2);
    assert_int_equal(table.columns, 3);
    assert_null(table.names);
    assert_string_equal(table.cell[1], "2.385");
    assert_string_equal(table.cell[5], "6");
    assert_int_equal(table.line[1], 2);
    ais_table_free(&table);
}

static void header_comments_quotes_and_line_ends(void **state) {
    (void)state;
    ais_context context;
    ais_table table;
    const char *text = "\xEF\xBB\xBF# made by hand\r\n\r\n\"age, years\" , weight\r\n 1 ,\t\"2\"\r\n# note\r\n\n3,-inf";
    assert_int_equal(parse(text, &table, &context), AIS_OK);
    assert_int_equal(table.rows, 2);
    assert_int_equal(table.columns, 2);
    assert_string_equal(table.names[0], "age, years");
    assert_string_equal(table.names[1], "weight");
    assert_string_equal(table.cell[0], "1");
    assert_string_equal(table.cell[1], "2");
    assert_string_equal(table.cell[3], "-inf");
    assert_int_equal(table.line[0], 4);
    assert_int_equal(table.line[1], 7);
    ais_table_free(&table);
}

static void cells(const char *text, size_t rows, int columns, const char *const *cell) {
    ais_context context;
    ais_table table;
    if (parse(text, &table, &context) != AIS_OK) fail_msg("%s", context.message);
    assert_int_equal(table.rows, rows);
    assert_int_equal(table.columns, columns);
    for (size_t i = 0; i < rows * (size_t)columns; i++) assert_string_equal(table.cell[i], cell[i]);
    ais_table_free(&table);
}

static void separators_quotes_and_empty_cells(void **state) {
    (void)state;
    const char *const four[] = {"1,5", "x y", "", "2"}, *const quoted[] = {"a,b", "say \"no\"", "two\nlines",
                                                                           "5\" nail"};
    cells("a;b\n1,5;x y\n;2\n", 2, 2, four);
    cells("a\tb\n1,5\tx y\n\t2", 2, 2, four);
    cells("a,b\n\"1,5\", x y \r\n ,2", 2, 2, four);
    cells("1,5;x y\n;2", 2, 2, four);
    cells("p,q,r,s\n\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",5\" nail\n", 1, 4, quoted);
    const char *const last[] = {"1", "", "3", ""};
    cells("1,\n3,", 2, 2, last);
    double value;
    assert_true(ais_cell_number("1,5", ';', &value) && value == 1.5);
    assert_true(ais_cell_number("-1e3", ',', &value) && value == -1000);
    assert_false(ais_cell_number("1,5", ',', &value));
    assert_false(ais_cell_number("1,234.5", ';', &value));
    assert_false(ais_cell_number("", ';', &value));
}

/* A quoted cell with a line end in it counts both lines for what comes after. */
static void lines_are_those_of_the_file(void **state) {
    (void)state;
    ais_context context;
    ais_table table;
    assert_int_equal(parse("a,b\n1,\"x\ny\"\n# c\n2,3\n", &table, &context), AIS_OK);
    assert_int_equal(table.line[0], 2);
    assert_int_equal(table.line[1], 5);
    ais_table_free(&table);
}

static void refused(const char *text, const char *words) {
    ais_context context;
    ais_table table;
    assert_int_equal(parse(text, &table, &context), AIS_BAD_FORMAT);
    if (!strstr(context.message, words)) fail_msg("'%s' is not in: %s", words, context.message);
}

static void what_is_wrong_is_refused(void **state) {
    (void)state;
    refused("", "file.csv: the file is empty");
    refused("# only a comment\n\n", "file.csv: the file is empty");
    refused("a,b\n", "file.csv: there is a header but no row");
    refused("1,2\n3,4,5\n", "file.csv:2: the row has 3 fields, the first line has 2");
    refused("a,b\n\n1\n", "file.csv:3: the row has 1 fields, the first line has 2");
    refused("a;b\n1;2;3\n", "file.csv:2: the row has 3 fields, the first line has 2");
    refused("a,b\n1,2\n\"3,4\n", "file.csv:3: a quote is opened in this row and never closed");
    ais_context context = {0};
    ais_table table;
    assert_int_equal(ais_csv_parse(&context, "file.csv", "1\0002\n", 4, &table), AIS_BAD_FORMAT);
    assert_non_null(strstr(context.message, "binary"));
}

static void files_that_cannot_be_read(void **state) {
    (void)state;
    ais_context context = {0};
    ais_table table;
    assert_int_equal(ais_csv_read(&context, "tests/no-such.csv", &table), AIS_FILE_ERROR);
    assert_string_equal(context.message, "cannot open tests/no-such.csv: No such file or directory");
    assert_int_equal(ais_csv_read(&context, "tests", &table), AIS_FILE_ERROR);
    assert_non_null(strstr(context.message, "cannot read tests: Is a directory"));
}

static void the_data_files_have_their_shape(void **state) {
    (void)state;
    const struct {
        const char *path;
        size_t rows;
        int columns;
    } file[] = {{"data/heart.csv", 270, 14}, {"data/german.csv", 1000, 25}, {"data/australian.csv", 690, 15}};
    for (size_t k = 0; k < 3; k++) {
        ais_context context = {0};
        ais_table table;
        assert_int_equal(ais_csv_read(&context, file[k].path, &table), AIS_OK);
        assert_int_equal(table.rows, file[k].rows);
        assert_int_equal(table.columns, file[k].columns);
        ais_table_free(&table);
    }
}

static void numbers_do_not_depend_on_the_locale(void **state) {
    (void)state;
    const char *with_comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
    for (size_t k = 0; k < 4 && !setlocale(LC_NUMERIC, with_comma[k]); k++) continue;
    char *end;
    assert_true(ais_number("2.385e1z", &end) == 23.85);
    assert_int_equal(*end, 'z');
    setlocale(LC_NUMERIC, "C");
}

static const char *word(const void *list, int i) { return ((const char *const *)list)[i]; }

static void the_nearest_word(void **state) {
    (void)state;
    const char *const list[] = {"mog2", "mog6", "ring", "ring5", "triangle", "gaussian", NULL};
    assert_int_equal(ais_word_distance("kitten", "sitting"), 3);
    assert_int_equal(ais_word_distance("", "abc"), 3);
    assert_int_equal(ais_word_distance("Ring", "rign"), 1);
    assert_string_equal(ais_nearest_word("mgo6", word, list), "mog6");
    assert_string_equal(ais_nearest_word("trangle", word, list), "triangle");
    assert_string_equal(ais_nearest_word("gausian", word, list), "gaussian");
    assert_null(ais_nearest_word("posterior", word, list));
    assert_null(ais_nearest_word("zz", word, list));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_without_a_header),
        cmocka_unit_test(header_comments_quotes_and_line_ends),
        cmocka_unit_test(separators_quotes_and_empty_cells),
        cmocka_unit_test(lines_are_those_of_the_file),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(the_data_files_have_their_shape),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(the_nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
