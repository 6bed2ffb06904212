/* A diagnosis as text (to the letter) and as JSON (every field). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

#include <aisampler/report.h>

#include "chains.h"

static char warning[2][256] = {"R-hat of b is 1.320, above 1.01: the chains do not agree; draw more or train longer",
                               "1 of 3 parameters never change, the first one is \xC3\xA9t\xC3\xA9"};
static double share[2] = {0.25, 0.75};
static ais_diagnosis_check made[2] = {{"chains agree", false, "largest R-hat 1.32, at most 1.01"},
                                      {"tails", true, "20 of them & more"}};

static ais_parameter_summary parameter[3] = {
    {.name = "a_name_that_is_much_too_long",
     .mean = 1.23456,
     .sd = 0.98765,
     .mcse = 0.0123,
     .q5 = -0.5,
     .q50 = 1.2,
     .q95 = 3.25,
     .ess_bulk = 3812.4,
     .ess_tail = 3500.5,
     .rhat = 1.0004,
     .ess_square = 3700,
     .ess_song = 900,
     .ess_song_square = 800,
     .z_mean = 0.5,
     .z_square = -1},
    {.name = "b",
     .mean = -1234567.8,
     .sd = 2.5e5,
     .mcse = 4000,
     .q5 = -1.6e6,
     .q50 = -1.2e6,
     .q95 = -8e5,
     .ess_bulk = 35.2,
     .ess_tail = 61,
     .rhat = 1.32,
     .ess_square = 40,
     .ess_song = NAN,
     .ess_song_square = NAN,
     .z_mean = NAN,
     .z_square = NAN},
    {.name = "\xC3\xA9t\xC3\xA9",
     .mean = 2,
     .mcse = NAN,
     .q5 = 2,
     .q50 = 2,
     .q95 = 2,
     .ess_bulk = NAN,
     .ess_tail = NAN,
     .rhat = NAN,
     .ess_square = NAN,
     .ess_song = NAN,
     .ess_song_square = NAN,
     .z_mean = NAN,
     .z_square = NAN},
};

static ais_diagnosis diagnosis_of(int warnings) {
    ais_diagnosis d = {.dim = 3, .chains = 4, .draws = 1000, .parameter = parameter, .worst_ess = 8.8};
    strcpy(d.worst_ess_function, "b");
    d.worst_ess_song = 12.25;
    d.worst_ess_error = d.total_variation = d.lowest_ebfmi = d.acceptance = d.round_trips = d.barrier = NAN;
    d.mean_ess_song = 900;
    d.worst_rhat = 1.32;
    d.cross_chain_mean = 0.02;
    d.cross_chain_largest = 0.05;
    d.modes = 2;
    d.mode_share = share;
    d.mode_kl = INFINITY;
    d.fewest_modes = 1;
    d.warnings = warnings;
    d.warning = warning;
    d.log_z = -3.25;
    d.log_z_error = NAN;
    d.checks = 2;
    d.check = made;
    return d;
}

static const ais_sample_result result = {.draws = 1000,
                                         .warmup_seconds = 0.5,
                                         .sample_seconds = 2,
                                         .acceptance = 0.875,
                                         .involution_error = 0,
                                         .densities = 4900,
                                         .gradients = 7,
                                         .start_evaluations = 100,
                                         .warmup_evaluations = 807};
static const ais_report_run run = {
    .target = "mine",
    .sampler = "spline",
    .seed = 12,
    .train_seconds = 7.5,
    .result = &result,
    .evaluations = {.densities = 5000, .gradients = 7, .start = 300, .learning = 900, .drawing = 3807}};

/* Valid until the next call. */
static const char *text_of(const ais_diagnosis *d, const ais_report_run *r, int rows) {
    static char text[8192];
    ais_context context = {0};
    memset(text, 0, sizeof text);
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    assert_int_equal(ais_report_text(&context, d, r, rows, file), AIS_OK);
    fclose(file);
    return text;
}

static void text_to_the_letter(void **state) {
    (void)state;
    ais_diagnosis d = diagnosis_of(2);
    const char *text = text_of(&d, &run, 0);
    const char *golden =
        "mine by spline: 4 chains of 1000 draws, acceptance 0.875, involution error 0\n"
        "seconds: 7.5 of training, 0.5 of warm-up, 2 of sampling\n"
        "evaluations: 5000 densities, 7 gradients\n"
        "of these: 300 to start, 900 to learn, 3807 to draw\n"
        "name                   mean      sd    mcse       q5      q50      q95 ess_bulk ess_tail  rhat\n"
        "a_name_that_is_mu…     1.23    0.99   0.012    -0.50     1.20     3.25     3812     3500 1.000\n"
        "b                  -1234568  250000    4000 -1600000 -1200000  -800000       35       61 1.320\n"
        "été                       2       0       -        2        2        2        -        -     -\n"
        "\n"
        "worst ESS: 8.8 per chain (b), Song 12.2\n"
        "speed: worst ESS 17.6 per second, 3.52 with training\n"
        "modes: a chain visited at least 1 of 2, KL of their shares inf\n"
        "warning: R-hat of b is 1.320, above 1.01: the chains do not agree; draw more or\n"
        "    train longer\n"
        "warning: 1 of 3 parameters never change, the first one is été\n"
        "do not trust these draws: 2 warnings, worst ESS 8.8 per chain and R-hat 1.320\n";
    assert_string_equal(text, golden);
}

static void text_of_good_draws_and_few_rows(void **state) {
    (void)state;
    ais_diagnosis d = diagnosis_of(0);
    d.dim = 2;
    const char *text = text_of(&d, NULL, 1); /* the row with the smallest ESS */
    assert_ptr_equal(strstr(text, "4 chains of 1000 draws\n"), text);
    assert_non_null(strstr(text, "\nb   "));
    assert_null(strstr(text, "a_name"));
    assert_non_null(strstr(text, "\nand 1 more parameter with a larger ESS\n"));
    assert_null(strstr(text, "warning:"));
    assert_non_null(strstr(text, "\ntrust these draws: no warnings, worst ESS 8.8 per chain and R-hat 1.320\n"));
    ais_context context = {0};
    assert_int_equal(ais_report_text(&context, &d, NULL, -1, stdout), AIS_BAD_ARGUMENT);
}

/* An ordinary run fits into 80 columns, without exponents, and does not speak of training that was not. */
static void text_of_an_ordinary_run(void **state) {
    (void)state;
    ais_diagnosis d = diagnosis_of(0);
    ais_parameter_summary usual = parameter[0];
    usual.name = "x.10";
    d.dim = 1;
    d.parameter = &usual;
    d.worst_ess = 2357.4;
    d.worst_ess_song = 999.7;
    d.mode_share = NULL;
    ais_report_run untrained = run;
    untrained.train_seconds = 0;
    const char *golden = "mine by spline: 4 chains of 1000 draws, acceptance 0.875, involution error 0\n"
                         "seconds: 0.5 of warm-up, 2 of sampling\n"
                         "evaluations: 5000 densities, 7 gradients\n"
                         "of these: 300 to start, 900 to learn, 3807 to draw\n"
                         "name     mean      sd    mcse       q5      q50      q95 ess_bulk ess_tail  rhat\n"
                         "x.10     1.23    0.99   0.012    -0.50     1.20     3.25     3812     3500 1.000\n"
                         "\n"
                         "worst ESS: 2360 per chain (b), Song 1000\n"
                         "speed: worst ESS 4710 per second, 3770 with warm-up\n"
                         "trust these draws: no warnings, worst ESS 2360 per chain and R-hat 1.320\n";
    assert_string_equal(text_of(&d, &untrained, 0), golden);
    untrained.train_seconds = NAN; /* not known: then neither is the rate that counts it */
    assert_null(strstr(text_of(&d, &untrained, 0), "training"));
    assert_non_null(strstr(text_of(&d, &untrained, 0), "speed: worst ESS 4710 per second\n"));
}

/* Fewer columns: the table in blocks of whole columns, each with the names, and no line is longer. */
static void text_of_a_narrow_terminal(void **state) {
    (void)state;
    ais_diagnosis d = diagnosis_of(2);
    for (int columns = 40; columns <= 80; columns += 20) {
        ais_report_run narrow = run;
        narrow.columns = columns;
        const char *text = text_of(&d, &narrow, 0);
        int names = 0;
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
            int long_ones = 0;
            for (size_t i = 0; line[i] != '\n'; i++) long_ones += ((unsigned char)line[i] & 0xC0) != 0x80;
            if (columns < 80) assert_in_range(long_ones, 0, columns);
            names += strncmp(line, "b  ", 3) == 0;
        }
        assert_int_equal(names, columns == 40 ? 5 : columns == 60 ? 2 : 1);
        assert_non_null(strstr(text, " 1.320\n"));
    }
}

/* A word longer than a line stands alone; nothing of a warning is lost. */
static void text_of_a_long_word(void **state) {
    (void)state;
    static char long_word[1][256];
    memset(long_word[0], 'w', 120);
    memcpy(long_word[0] + 60, " ", 1);
    strcpy(long_word[0] + 120, " end");
    ais_diagnosis d = diagnosis_of(1);
    d.warning = long_word;
    char golden[512];
    snprintf(golden, sizeof golden, "\nwarning: %.60s\n    %.59s end\n", long_word[0], long_word[0] + 61);
    assert_non_null(strstr(text_of(&d, &run, 0), golden));
}

/* Numbers of any size stay in their columns. */
static void rows_are_never_too_wide(void **state) {
    (void)state;
    static const double sizes[] = {0,           1e-300,      2.385e-17,   -1.234567e-5, 0.5,
                                   -99999.4321, 1234567.891, -9.87654e15, 1e300};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < SIZES * SIZES; i++) {
        double value = sizes[i % SIZES], error = fabs(sizes[i / SIZES]);
        ais_parameter_summary wide = parameter[0];
        wide.name = "x";
        wide.mean = wide.q5 = wide.q50 = wide.q95 = value;
        wide.sd = wide.ess_bulk = fabs(value);
        wide.mcse = wide.ess_tail = wide.rhat = error;
        ais_diagnosis d = diagnosis_of(0);
        d.dim = 1;
        d.parameter = &wide;
        const char *row = strstr(text_of(&d, NULL, 0), "\nx ") + 1;
        assert_int_equal(strcspn(row, "\n"), 80);
        int words = 0;
        for (size_t k = 0; row[k] != '\n'; k++) words += row[k] != ' ' && (row[k + 1] == ' ' || row[k + 1] == '\n');
        assert_int_equal(words, 10);
    }
}

static json_t *json_of(const ais_diagnosis *d, const ais_report_run *r) {
    ais_context context = {0};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_int_equal(ais_report_json(&context, d, r, file), AIS_OK);
    fclose(file);
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    if (!root) print_error("%s in line %d of:\n%s\n", error.text, error.line, text);
    assert_non_null(root);
    free(text);
    return root;
}

static void json_has_every_field(void **state) {
    (void)state;
    static const char *const fields[] = {"target",         "dim",
                                         "sampler",        "chains",
                                         "draws",          "seed",
                                         "acceptance",     "involution_error",
                                         "train_seconds",  "sample_seconds",
                                         "worst_ess",      "worst_ess_function",
                                         "worst_ess_song", "worst_ess_error",
                                         "ess_per_second", "ess_per_second_with_training",
                                         "parameters",     "warnings",
                                         "verdict"};
    static const char *const parameter_fields[] = {"name",     "mean", "sd",       "mcse",
                                                   "q5",       "q50",  "q95",      "ess_bulk",
                                                   "ess_tail", "rhat", "ess_song", "ess_song_square"};
    ais_diagnosis d = diagnosis_of(2);
    json_t *root = json_of(&d, &run);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) assert_non_null(json_object_get(root, fields[i]));
    json_t *list = json_object_get(root, "parameters");
    assert_int_equal(json_array_size(list), 3);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof parameter_fields / sizeof *parameter_fields; i++)
            assert_non_null(json_object_get(json_array_get(list, k), parameter_fields[i]));
    assert_string_equal(json_string_value(json_object_get(root, "target")), "mine");
    assert_int_equal(json_integer_value(json_object_get(root, "seed")), 12);
    assert_near(json_real_value(json_object_get(root, "ess_per_second")), 8.8 * 4 / 2, 1e-12);
    assert_near(json_real_value(json_object_get(root, "ess_per_second_with_training")), 8.8 * 4 / 10, 1e-12);
    assert_true(json_is_null(json_object_get(root, "worst_ess_error")) &&
                json_is_null(json_object_get(root, "mode_kl")));
    assert_true(json_real_value(json_object_get(json_array_get(list, 0), "mean")) == 1.23456);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 2), "name")), "\xC3\xA9t\xC3\xA9");
    assert_int_equal(json_array_size(json_object_get(root, "warnings")), 2);
    assert_true(json_real_value(json_object_get(root, "log_z")) == -3.25);
    assert_true(json_is_null(json_object_get(root, "log_z_error")));
    json_t *checks = json_object_get(root, "checks");
    assert_int_equal(json_array_size(checks), 2);
    for (size_t k = 0; k < 2; k++) {
        const json_t *check = json_array_get(checks, k);
        assert_string_equal(json_string_value(json_object_get(check, "name")), made[k].name);
        assert_string_equal(json_string_value(json_object_get(check, "text")), made[k].text);
        assert_int_equal(json_is_true(json_object_get(check, "passed")), made[k].passed);
    }
    assert_true(json_is_false(json_object_get(root, "trust")));
    json_decref(root);
}

static void json_of_odd_values(void **state) {
    (void)state;
    ais_diagnosis d = diagnosis_of(0);
    ais_report_run odd = {.target = "\xFFname", .seed = UINT64_MAX, .train_seconds = NAN};
    json_t *root = json_of(&d, &odd);
    assert_string_equal(json_string_value(json_object_get(root, "target")), "?name");
    assert_string_equal(json_string_value(json_object_get(root, "seed")), "18446744073709551615");
    assert_true(json_is_null(json_object_get(root, "ess_per_second")));
    assert_true(json_is_true(json_object_get(root, "trust")));
    json_decref(root);
    root = json_of(&d, NULL);
    assert_true(json_is_null(json_object_get(root, "target")) && json_is_null(json_object_get(root, "seed")));
    json_decref(root);
}

static void a_full_disk_is_told(void **state) {
    (void)state;
    ais_context context = {0};
    ais_diagnosis d = diagnosis_of(0);
    FILE *file = fopen("/dev/full", "w");
    if (!file) skip();
    assert_int_equal(ais_report_json(&context, &d, &run, file), AIS_FILE_ERROR);
    fclose(file);
    file = fopen("/dev/full", "w");
    assert_int_equal(ais_report_text(&context, &d, &run, 0, file), AIS_FILE_ERROR);
    fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_to_the_letter),      cmocka_unit_test(text_of_good_draws_and_few_rows),
        cmocka_unit_test(text_of_an_ordinary_run), cmocka_unit_test(text_of_a_narrow_terminal),
        cmocka_unit_test(text_of_a_long_word),     cmocka_unit_test(rows_are_never_too_wide),
        cmocka_unit_test(json_has_every_field),    cmocka_unit_test(json_of_odd_values),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
