/* aisampler targets: the built-in densities. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"

static const char *yes(bool value) { return value ? "yes" : "no"; }

static void print_row(const ais_target_entry *entry, const ais_target *target) {
    const ais_reference *reference = target->reference;
    char text[512];
    size_t used = (size_t)snprintf(text, sizeof text, "%s%s", entry->summary, entry->options[0] ? " (" : "");
    for (const char *at = entry->options; *at && used + 4 < sizeof text; at++) {
        text[used++] = *at;
        if (*at == ',') text[used++] = ' '; /* where the line may be broken */
    }
    snprintf(text + used, sizeof text - used, "%s", entry->options[0] ? ")" : "");
    int column = printf("%-10s %4d  %-8s  %-9s  %5d  ", entry->name, target->dim, yes(target->grad != NULL),
                        yes(reference && reference->mean), reference ? reference->modes : 0);
    print_wrapped(stdout, column, column, text);
}

static json_t *as_json(const ais_target_entry *entry, const ais_target *target) {
    const ais_reference *reference = target->reference;
    return json_pack("{ss si sb sb si ss ss ss?}", "name", entry->name, "dim", target->dim, "gradient",
                     target->grad != NULL, "reference", reference && reference->mean, "modes",
                     reference ? reference->modes : 0, "summary", entry->summary, "options", entry->options, "source",
                     reference ? reference->source : NULL);
}

int run_targets(int argc, char **argv) {
    bool json = false, help = false;
    const option options[] = {{"json", 0, OPTION_FLAG, &json, NULL, "print JSON instead of a table"},
                              {"help", 'h', OPTION_FLAG, &help, NULL, "this text"},
                              {0}};
    if (parse_options(argc, argv, options, NULL, 0) < 0) return EXIT_USAGE;
    if (help) {
        print_help(
            "targets [options]",
            "Lists the built-in targets. NAME:key=value,... sets the keys in parentheses, e.g. "
            "gaussian:dim=50,cond=1e4. Other targets: blr:FILE, linear:FILE and poisson:FILE (logistic, linear "
            "and Poisson regression on a table; keys behind another colon, e.g. "
            "blr:FILE:label=NAME,prior=2.5: label, the column of the outcome; prior and intercept_prior, "
            "standard deviations of normal priors; intercept=on|off; rows, a share of them; factor and drop, "
            "columns joined by +), FILE.c or "
            "FILE.so (your own density, see include/aisampler/density.h; keys: data=FILE, link=WORDS, "
            "flags=WORDS, debug=on), stan:MODEL.stan:DATA.json (a Stan program "
            "by stanli, or MODEL.so made by BridgeStan, see docs/stan.md), data:DRAWS.csv (draws instead of a "
            "density, see aisampler run --help). FILE.c, FILE.so and Stan programs are code and run with your rights: "
            "open only those that you would run.",
            options);
        return 0;
    }
    json_t *list = json_array();
    if (!json)
        printf("%-10s %4s  %-8s  %-9s  %5s  %s\n", "name", "dim", "gradient", "reference", "modes", "density (keys)");
    const ais_target_entry *entry;
    for (int i = 0; (entry = ais_target_builtin(i)); i++) {
        ais_context context = {0};
        ais_target *target;
        if (ais_target_open(&context, entry->name, &target) != AIS_OK) {
            json_decref(list);
            return failed(&context);
        }
        if (json)
            json_array_append_new(list, as_json(entry, target));
        else
            print_row(entry, target);
        ais_target_close(target);
    }
    if (!json)
        print_wrapped(
            stdout, 0, 0,
            "blr:FILE, linear:FILE and poisson:FILE are regressions on a table, FILE.c and FILE.so densities of "
            "your own, data:DRAWS draws instead of a density: aisampler targets --help has their keys.");
    int code = json ? print_json(list, JSON_INDENT(2)) : 0;
    json_decref(list);
    return code;
}
