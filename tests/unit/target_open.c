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
    refused("", AIS_BAD_ARGUMENT, "no target was given");
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
    refused(table("a.csv", "x,y\n1,0\nzwei,1\n", ""), AIS_BAD_FORMAT, "a.csv:3: column x is 'zwei', but a number");
    refused(table("a.csv", "1,0\n-inf,1\n", "label=2"), AIS_BAD_FORMAT, "a.csv:2: column 1 is -inf");
    refused(table("a.csv", "x,y\nNA,0\n1,?\n", "label=y"), AIS_BAD_FORMAT, "every row has a missing value");
    refused(table("a.csv", "age,same,y\n1,4,0\n2,4,1\n", ""), AIS_BAD_FORMAT, "column same is 4 in every row");
    refused(table("a.csv", "age,same,y\n1,b,0\n2,b,1\n", ""), AIS_BAD_FORMAT, "column same is b in every row");
    refused(table("a.csv", "1,0.1,0\n2,0.1,1\n", "label=3"), AIS_BAD_FORMAT, "column 2 is 0.1 in every row");
    refused(table("a.csv", "x,y\n1,0\n2,1\n3,2\n", "label=y"), AIS_BAD_FORMAT,
            "the outcome (column y) has 3 values (0, 1, 2), but must have two");
    refused(table("a.csv", "x,y\n1,7\n2,7\n", "label=y"), AIS_BAD_FORMAT, "the outcome (column y) is 7 in every row");
    refused(table("a.csv", "1\n0\n", ""), AIS_BAD_FORMAT, "there is one column");
    refused(table("a.csv", "id,x,y\na,1,0\nb,2,1\nc,4,1\n", ""), AIS_BAD_FORMAT,
            "column id is text with 3 different values in 3 rows; leave it out with drop=id");
    refused(table("a.csv", "x,y\n1,0\n2,1\n", "label=z"), AIS_BAD_ARGUMENT, "there is no column 'z' for label");
    refused(table("a.csv", "x,y\n1,0\n2,1\n", "drop=z"), AIS_BAD_ARGUMENT, "there is no column 'z' for drop");
    refused(table("a.csv", "x,y\n1,0\n2,1\n", "drop=y,label=y"), AIS_BAD_ARGUMENT,
            "cannot be the label and be dropped");
    refused(table("a.csv", "1,0\n2,1\n", "label=y"), AIS_BAD_ARGUMENT, "the file has no header");
    refused(table("a.csv", "1,0\n2,1\n", "label=3"), AIS_BAD_ARGUMENT, "number from 1 to 2");
    refused(table("a.csv", "x,y\n1,0\n2,1\n", "intercept=no"), AIS_BAD_ARGUMENT,
            "intercept is 'no', but must be on or off");
    refused(table("a.csv", "x,y\n1,0\n2,1\n", "intercept=off,intercept_prior=2"), AIS_BAD_ARGUMENT, "has no effect");
    refused(table("a.csv", "1,0\n2,1\n", "lable=2"), AIS_BAD_ARGUMENT, "(did you mean 'label'?)");
    refused(table("a.csv", "1,0\n2,1\n", "prior=0"), AIS_BAD_ARGUMENT, "blr: prior is '0'");
}

/* The outcome is asked for unless it is obvious. */
static void which_outcome(void **state) {
    (void)state;
    /* the last column is not binary */
    refused(table("o.csv", "y,age\n0,1\n1,2\n1,3\n", ""), AIS_BAD_ARGUMENT,
            "o.csv: which column is the outcome of blr? The last one, age, does not have two values; add label=NAME "
            "after the file. Candidates: y");
    /* two that could be, none called like one */
    refused(table("o.csv", "a,smokes,dead\n4,0,1\n1,1,1\n2,0,0\n", ""), AIS_BAD_ARGUMENT,
            "dead, is not the only candidate; add label=NAME after the file. Candidates: smokes, dead");
    refused(table("o.csv", "4,0,1\n1,1,1\n2,0,0\n", ""), AIS_BAD_ARGUMENT, "Candidates: 2, 3");
    /* one elsewhere that is called like one */
    refused(table("o.csv", "Outcome,age,dead\n4,2,1\n1,1,1\n2,0,0\n", ""), AIS_BAD_ARGUMENT,
            "Candidates: Outcome, dead");
    refused(table("o.csv", "a,b\n1,2\n2,3\n3,4\n", ""), AIS_BAD_ARGUMENT, "no column can be the outcome of blr");
    refused("linear:/nowhere.csv", AIS_FILE_ERROR, "cannot open");
    ais_target_close(opened(table("o.csv", "age,smokes,class\n4,0,1\n1,1,1\n2,0,0\n", "")));
    ais_target_close(opened(table("o.csv", "1,5,0\n2,7,1\n3,1,1\n", "")));
    ais_target_close(opened(table("o.csv", "4,0,1\n1,1,1\n2,0,0\n", "label=last")));
}

static double softplus(double z) { return z > 0 ? z + log1p(exp(-z)) : log1p(exp(z)); }

/* The density by its definition, on a table small enough to write out. */
static void the_definition(void **state) {
    (void)state;
    const char *text = "dose,dead,age\n1,2,30\n2,2,50\n4,5,40\n5,2,20\n";
    ais_target *target = opened(table("odd name: a=b, 'c'.csv", text, "label=dead,prior=2.5"));
    char buffer[32];
    assert_int_equal(target->dim, 3);
    char name[400];
    snprintf(name, sizeof name,
             "blr:%s/odd name: a=b, 'c'.csv:label=dead,prior=2.5,rows=all,intercept=on,intercept_prior=2.5", folder);
    assert_string_equal(target->name, name);
    assert_non_null(strstr(target->about, "regression of dead (1 stands for 5, 1 of 4 rows; 0 for 2) on 2 columns"));
    assert_non_null(
        strstr(target->about, "coefficients ~ normal(0, 2.5): the change in log odds per standard deviation"));
    assert_non_null(strstr(target->about, "bias, the intercept ~ normal(0, 2.5): the log odds where every column is"));
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

/* Text becomes levels, rows with missing values go, and both are told. The same density by hand. */
static void factors_and_missing_values(void **state) {
    (void)state;
    const char *text = "\"\";colour;size;y\n1;red;1,5;no\n2;blue;2;yes\n3;;9;yes\n4;green;4,5;yes\n5;red;NA;no\n"
                       "6;blue;3;no\n7;red;1;yes\n8;green;2,5;no\n";
    ais_target *target = opened(table("f.csv", text, ""));
    char buffer[32];
    assert_int_equal(target->dim, 4);
    assert_string_equal(ais_target_parameter(target, 1, buffer), "colour[green]");
    assert_string_equal(ais_target_parameter(target, 2, buffer), "colour[red]");
    assert_string_equal(ais_target_parameter(target, 3, buffer), "size");
    assert_non_null(strstr(target->about, "of y (1 stands for yes, 3 of 6 rows; 0 for no) on 2 columns of f.csv"));
    assert_non_null(strstr(target->about, "2 of 8 rows have a missing value and were dropped"));
    assert_non_null(strstr(target->about, "left out as row names"));
    const double green[] = {0, 0, 1, 0, 0, 1}, red[] = {1, 0, 0, 0, 1, 0}, size[] = {1.5, 2, 4.5, 3, 1, 2.5};
    const double yes[] = {0, 1, 1, 0, 1, 0}, w[] = {0.3, -1.25, 2.385, -0.7};
    double third = sqrt(2) / 3, mean = 14.5 / 6, square = 0, expected = -2 * log(2 * acos(-1));
    for (int r = 0; r < 6; r++) square += pow(size[r] - mean, 2) / 6;
    for (int i = 0; i < 4; i++) expected -= w[i] * w[i] / 2;
    for (int r = 0; r < 6; r++) {
        double z = w[0] + w[1] * (green[r] - 1.0 / 3) / third + w[2] * (red[r] - 1.0 / 3) / third +
                   w[3] * (size[r] - mean) / sqrt(square);
        expected -= softplus(yes[r] > 0 ? -z : z);
    }
    assert_true(fabs(target->logp(w, target->data) - expected) < 1e-12);
    /* The view has the same predictor from the data as they are. */
    double value[8], slope;
    assert_int_equal(target->view->count, 8);
    assert_string_equal(target->view->names[4], "raw_intercept");
    assert_string_equal(target->view->names[5], "raw_colour[green]");
    target->view->show(1, w, 0, value, &slope, target->data);
    assert_memory_equal(value, w, sizeof w);
    double inner = w[0] + w[1] * (1 - 1.0 / 3) / third - w[2] / 3 / third + w[3] * (4.5 - mean) / sqrt(square);
    assert_true(fabs(value[4] + value[5] + value[7] * 4.5 - inner) < 1e-12);
    ais_target_close(target);
    /* Without an intercept every level has a coefficient, and nothing is centred. */
    target = opened(table("f.csv", text, "intercept=off"));
    assert_int_equal(target->dim, 4);
    assert_string_equal(ais_target_parameter(target, 0, buffer), "colour[blue]");
    target->view->show(1, w, 0, value, &slope, target->data);
    assert_true(fabs(value[4] - w[0] / third) < 1e-12);
    assert_non_null(strstr(target->about, "no intercept: columns are divided"));
    ais_target_close(target);
    /* Numbers that are levels. */
    target = opened(table("g.csv", "arm,y\n1,0\n2,1\n10,1\n1,1\n2,0\n10,0\n", "factor=arm"));
    assert_string_equal(ais_target_parameter(target, 1, buffer), "arm[2]");
    assert_string_equal(ais_target_parameter(target, 2, buffer), "arm[10]");
    ais_target_close(target);
}

/* log p on the data's scale by its definition, with the priors said in words. */
static void other_regressions(void **state) {
    (void)state;
    ais_context context = {0};
    char spec[400];
    const double x[] = {1, 2, 4, 5, 3}, y[] = {2, 0, 3, 7, 1}, root = sqrt(2), two_pi = 2 * acos(-1);
    const char *path = file("c.csv", "x,y\n1,2\n2,0\n4,3\n5,7\n3,1\n");
    snprintf(spec, sizeof spec, "poisson:%s:intercept_prior=4", path);
    ais_target *target = opened(spec);
    const double w[] = {0.4, 0.7, -0.3};
    double expected = -0.5 * log(two_pi * 16) - 0.16 / 32 - 0.5 * log(two_pi) - 0.49 / 2;
    for (int r = 0; r < 5; r++) {
        double z = w[0] + w[1] * (x[r] - 3) / root;
        expected += y[r] * z - exp(z) - lgamma(y[r] + 1);
    }
    assert_true(fabs(target->logp(w, target->data) - expected) < 1e-12);
    if (ais_target_check(&context, target, 1, NULL) != AIS_OK) fail_msg("%s", context.message);
    ais_target_close(target);

    snprintf(spec, sizeof spec, "linear:%s:prior=2,intercept_prior=3", path);
    target = opened(spec);
    assert_int_equal(target->dim, 3);
    double mean = 2.6, square = 0, sigma = exp(w[2]), value[6], slope;
    for (int r = 0; r < 5; r++) square += pow(y[r] - mean, 2) / 5;
    double sd = sqrt(square);
    expected = -0.5 * log(two_pi * 9) - 0.16 / 18 - 0.5 * log(two_pi * 4) - 0.49 / 8 - sigma + w[2];
    target->view->show(1, w, 0, value, &slope, target->data);
    assert_string_equal(target->view->names[5], "sigma");
    assert_true(fabs(value[5] - sigma * sd) < 1e-12);
    for (int r = 0; r < 5; r++) {
        double miss = y[r] - value[3] - value[4] * x[r], by_hand = y[r] - mean - sd * (w[0] + w[1] * (x[r] - 3) / root);
        assert_true(fabs(miss - by_hand) < 1e-12);
        expected -= 0.5 * log(two_pi * pow(sigma * sd, 2)) + 0.5 * pow(miss / (sigma * sd), 2);
    }
    assert_true(fabs(target->logp(w, target->data) - expected) < 1e-12);
    if (ais_target_check(&context, target, 1, NULL) != AIS_OK) fail_msg("%s", context.message);
    assert_non_null(strstr(target->about, "exp(log_sigma) ~ exponential(1)"));
    ais_target_close(target);
    /* The intercept's own prior in blr, alone and in batches. */
    target = opened(table("i.csv", "x,y\n1,0\n2,1\n4,0\n5,1\n", "intercept_prior=5"));
    if (ais_target_check(&context, target, 1, NULL) != AIS_OK) fail_msg("%s", context.message);
    ais_target *same = opened(table("i.csv", "x,y\n1,0\n2,1\n4,0\n5,1\n", ""));
    double change = target->logp(w, target->data) - same->logp(w, same->data);
    assert_true(fabs(change - (0.16 / 2 - 0.16 / 50 - log(5))) < 1e-12);
    ais_target_close(same);
    ais_target_close(target);
}

static void the_embedded_data_are_the_files(void **state) {
    (void)state;
    const char *name[] = {"heart", "german", "australian"};
    for (int k = 0; k < 3; k++) {
        char spec[64];
        snprintf(spec, sizeof spec, "blr:data/%s.csv:rows=0.9,label=last", name[k]);
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
        cmocka_unit_test(unknown_names),     cmocka_unit_test(unknown_keys_and_bad_values),
        cmocka_unit_test(closing_nothing),   cmocka_unit_test(parameter_names),
        cmocka_unit_test(bad_tables),        cmocka_unit_test(which_outcome),
        cmocka_unit_test(the_definition),    cmocka_unit_test(factors_and_missing_values),
        cmocka_unit_test(other_regressions), cmocka_unit_test(the_embedded_data_are_the_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
