/* Names, options and regression files: what opens, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aisampler/target.h>

static char folder[] = "/tmp/aisampler-test-XXXXXX";

static ais_target *opened(const char *spec) {
    ais_context context = {0};
    ais_target *target;
    if (ais_target_open(&context, spec, &target) != AIS_OK) fail_msg("%s: %s", spec, context.message);
    assert_string_equal(context.message, "");
    return target;
}

static void refused(const char *spec, ais_status status, const char *words) {
    ais_context context = {0};
    ais_target *target = (ais_target *)folder;
    ais_status got = ais_target_open(&context, spec, &target);
    if (got != status) fail_msg("%s: status %d, %s", spec, got, context.message);
    if (!strstr(context.message, words)) fail_msg("%s: '%s' is not in: %s", spec, words, context.message);
    assert_null(strchr(context.message, '\n'));
    assert_null(target);
}

static void unknown_names(void **state) {
    (void)state;
    refused("mog7", AIS_BAD_ARGUMENT, "there is no target 'mog7' (did you mean 'mog");
    refused("hart", AIS_BAD_ARGUMENT, "(did you mean 'heart'?)");
    refused("Funnel", AIS_BAD_ARGUMENT, "(did you mean 'funnel'?)");
    refused("rng5:sd=2", AIS_BAD_ARGUMENT, "(did you mean 'ring5'?)");
    refused("bananas", AIS_BAD_ARGUMENT, "'aisampler targets' lists them");
    refused("something else", AIS_BAD_ARGUMENT, "there is no target 'something else'; 'aisampler targets'");
    refused("data.csv", AIS_BAD_ARGUMENT, "blr:FILE.csv");
    refused("", AIS_BAD_ARGUMENT, "no target is named");
    refused("blr", AIS_BAD_ARGUMENT, "blr needs a file");
    refused("blr:", AIS_BAD_ARGUMENT, "blr needs a file");
    refused("nowhere.c", AIS_FILE_ERROR, "cannot open nowhere.c");
    refused("nowhere.so", AIS_FILE_ERROR, "cannot open nowhere.so");
}

static void unknown_keys_and_bad_values(void **state) {
    (void)state;
    refused("mog2:ds=1", AIS_BAD_ARGUMENT, "mog2 has no option 'ds' (did you mean 'sd'?); it takes sd=0.5");
    refused("mog2:dim=1", AIS_BAD_ARGUMENT, "mog2 has no option 'dim'");
    refused("twomodes:distanec=3", AIS_BAD_ARGUMENT, "(did you mean 'distance'?)");
    refused("ring:sd=1", AIS_BAD_ARGUMENT, "ring takes no options, but got 'sd'");
    refused("mog2:sd=0", AIS_BAD_ARGUMENT, "mog2: sd is '0', but must be a number from 0.001 to 1000");
    refused("mog2:sd=-1", AIS_BAD_ARGUMENT, "sd is '-1'");
    refused("mog2:sd=nan", AIS_BAD_ARGUMENT, "sd is 'nan'");
    refused("mog2:sd=inf", AIS_BAD_ARGUMENT, "sd is 'inf'");
    refused("mog2:sd=1x", AIS_BAD_ARGUMENT, "sd is '1x'");
    refused("mog2:sd=", AIS_BAD_ARGUMENT, "sd is ''");
    refused("mog2:sd", AIS_BAD_ARGUMENT, "'sd' is not of the form key=value");
    refused("mog2:", AIS_BAD_ARGUMENT, "'' is not of the form key=value");
    refused("mog2:sd=1,", AIS_BAD_ARGUMENT, "'' is not of the form key=value");
    refused("mog2:sd=1,sd=1", AIS_BAD_ARGUMENT, "option 'sd' is given twice");
    refused("gaussian:dim=2.5", AIS_BAD_ARGUMENT, "dim is '2.5', but must be a whole number from 1 to 10000");
    refused("gaussian:dim=1e9", AIS_BAD_ARGUMENT, "dim is '1e9'");
    refused("funnel:dim=1", AIS_BAD_ARGUMENT, "from 2 to");
    refused("heart:rows=2", AIS_BAD_ARGUMENT, "rows is '2', but must be all or a number from 0.001 to 1");
    refused("heart:rows=some", AIS_BAD_ARGUMENT, "rows is 'some'");
    refused("heart:label=3", AIS_BAD_ARGUMENT, "heart has no option 'label'");
}

static void closing_nothing(void **state) {
    (void)state;
    ais_target_close(NULL);
    ais_target own = {.name = "own"};
    ais_target_close(&own);
}

static void parameter_names(void **state) {
    (void)state;
    char buffer[32];
    ais_target *target = opened("mog2");
    assert_string_equal(ais_target_parameter(target, 1, buffer), "x.2");
    ais_target_close(target);
    target = opened("heart");
    assert_string_equal(ais_target_parameter(target, 0, buffer), "bias");
    assert_string_equal(ais_target_parameter(target, 13, buffer), "x13");
    ais_target_close(target);
    target = opened("funnel:dim=3");
    assert_string_equal(ais_target_parameter(target, 0, buffer), "v");
    assert_string_equal(ais_target_parameter(target, 2, buffer), "x.2");
    ais_target_close(target);
}

static const char *file(const char *name, const char *text) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    return path;
}

/* blr:FILE with these contents and options. */
static const char *table(const char *name, const char *text, const char *options) {
    static char spec[300];
    snprintf(spec, sizeof spec, "blr:%s%s%s", file(name, text), *options ? ":" : "", options);
    return spec;
}

static void bad_tables(void **state) {
    (void)state;
    refused("blr:/nowhere/at all.csv", AIS_FILE_ERROR, "cannot open /nowhere/at all.csv: No such file");
    refused(table("a.csv", "", ""), AIS_BAD_FORMAT, "a.csv: the file is empty");
    refused(table("a.csv", "x,y\n1,0\n2,1,3\n", ""), AIS_BAD_FORMAT, "a.csv:3: the row has 3 fields");
    refused(table("a.csv", "x,y\n1,0\nzwei,1\n", ""), AIS_BAD_FORMAT, "a.csv:3: column 1 is 'zwei'");
    refused(table("a.csv", "x,y\n1,0\n# c\nnan,1\n", ""), AIS_BAD_FORMAT, "a.csv:4: column x is nan");
    refused(table("a.csv", "1,0\n-inf,1\n", ""), AIS_BAD_FORMAT, "a.csv:2: column 1 is -inf");
    refused(table("a.csv", "age,same,y\n1,4,0\n2,4,1\n", ""), AIS_BAD_FORMAT, "column same is 4 in every row");
    refused(table("a.csv", "1,0.1,0\n2,0.1,1\n", ""), AIS_BAD_FORMAT, "column 2 is 0.1 in every row");
    refused(table("a.csv", "x,y\n1,0\n2,1\n3,2\n", ""), AIS_BAD_FORMAT,
            "a.csv:4: the label (column y) is 2 after 0 and 1, but must have two values");
    refused(table("a.csv", "x,y\n1,7\n2,7\n", ""), AIS_BAD_FORMAT, "the label (column y) is 7 in every row");
    refused(table("a.csv", "1\n0\n", ""), AIS_BAD_FORMAT, "there is one column");
    refused(table("a.csv", "x,y\n1,0\n2,1\n", "label=z"), AIS_BAD_ARGUMENT, "there is no column 'z' for the label");
    refused(table("a.csv", "1,0\n2,1\n", "label=y"), AIS_BAD_ARGUMENT, "the file has no header");
    refused(table("a.csv", "1,0\n2,1\n", "label=3"), AIS_BAD_ARGUMENT, "number from 1 to 2");
    refused(table("a.csv", "1,0\n2,1\n", "lable=2"), AIS_BAD_ARGUMENT, "(did you mean 'label'?)");
    refused(table("a.csv", "1,0\n2,1\n", "prior=0"), AIS_BAD_ARGUMENT, "blr: prior is '0'");
}

static double softplus(double z) { return z > 0 ? z + log1p(exp(-z)) : log1p(exp(z)); }

/* The density by its definition, on a table small enough to write out. */
static void the_definition(void **state) {
    (void)state;
    const char *text = "dose,dead,age\n1,2,30\n2,2,50\n4,5,40\n5,2,20\n";
    ais_target *target = opened(table("odd name: a=b, 'c'.csv", text, "label=dead,prior=2.5"));
    char buffer[32];
    assert_int_equal(target->dim, 3);
    assert_string_equal(target->name, "blr:odd name: a=b, 'c'.csv");
    assert_string_equal(ais_target_parameter(target, 1, buffer), "dose");
    assert_string_equal(ais_target_parameter(target, 2, buffer), "age");
    const double dose[] = {1, 2, 4, 5}, age[] = {30, 50, 40, 20}, dead[] = {0, 0, 1, 0}, w[] = {0.3, -1.25, 2.385};
    double expected = -1.5 * log(2 * acos(-1) * 6.25);
    for (int i = 0; i < 3; i++) expected -= w[i] * w[i] / 12.5;
    for (int r = 0; r < 4; r++) {
        double z = w[0] + w[1] * (dose[r] - 3) / sqrt(2.5) + w[2] * (age[r] - 35) / sqrt(125);
        expected -= softplus(dead[r] > 0 ? -z : z);
    }
    assert_true(fabs(target->logp(w, target->data) - expected) < 1e-12);
    assert_null(target->reference);
    ais_target_close(target);
    /* The first three rows only, still standardised over all four. */
    target = opened(table("b.csv", text, "rows=0.75,label=2,prior=2.5"));
    double z = w[0] + w[1] * (dose[3] - 3) / sqrt(2.5) + w[2] * (age[3] - 35) / sqrt(125);
    assert_true(fabs(target->logp(w, target->data) - expected - softplus(z)) < 1e-12);
    ais_target_close(target);
}

static void the_embedded_data_are_the_files(void **state) {
    (void)state;
    const char *name[] = {"heart", "german", "australian"};
    for (int k = 0; k < 3; k++) {
        char spec[64];
        snprintf(spec, sizeof spec, "blr:data/%s.csv:rows=0.9", name[k]);
        ais_target *inside = opened(name[k]), *outside = opened(spec);
        double w[32], g[32], h[32];
        for (int i = 0; i < 32; i++) w[i] = 0.1 * (i % 7) - 0.25;
        assert_int_equal(inside->dim, outside->dim);
        assert_true(inside->grad(w, g, inside->data) == outside->grad(w, h, outside->data));
        assert_memory_equal(g, h, (size_t)inside->dim * sizeof *g);
        assert_non_null(inside->reference);
        assert_null(inside->reference->draw);
        assert_null(outside->reference);
        ais_target_close(inside);
        ais_target_close(outside);
    }
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_names),
        cmocka_unit_test(unknown_keys_and_bad_values),
        cmocka_unit_test(closing_nothing),
        cmocka_unit_test(parameter_names),
        cmocka_unit_test(bad_tables),
        cmocka_unit_test(the_definition),
        cmocka_unit_test(the_embedded_data_are_the_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
