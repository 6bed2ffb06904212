/* Priors and bounds as text: what was understood is written so that it is understood again, and gives a density that is
 * a number anywhere. The first byte is the number of elements. */
#include "fuzz.h"

#include <aisampler/target.h>

static double flat(const double *x, void *data) {
    (void)x;
    (void)data;
    return 0;
}

static void evaluate(const ais_parameter *parameter, int elements) {
    static const double place[] = {0, 1, -1, 8, -8, 40, -40, 1e9, -1e9, 1e300};
    ais_context context;
    ais_target density = {.name = "flat", .dim = elements, .logp = flat}, *target = NULL;
    double x[8], value[16], logp;
    if (ais_target_with(&context, &density, parameter, 1, &target) != AIS_OK) return;
    must(target->dim <= 8 && target->view && target->view->count <= 16);
    for (size_t k = 0; k < sizeof place / sizeof *place; k++) {
        for (int i = 0; i < target->dim; i++) x[i] = i % 2 ? -place[k] : place[k];
        double at = target->logp(x, target->data);
        must(at == at);
        target->view->show(1, x, 0, value, &logp, target->data);
    }
    ais_target_close(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    ais_context context;
    int elements = data[0] % 5;
    char *text = fuzz_text(data + 1, size - 1), written[200];
    ais_parameter parameter = {.name = "p", .count = elements}, again = {.name = "p"};
    if (ais_parameter_parse(&context, text, &parameter) == AIS_OK) {
        ais_parameter_text(&parameter, written, sizeof written);
        must(ais_parameter_parse(&context, written, &again) == AIS_OK && again.kind == parameter.kind);
        evaluate(&parameter, elements ? elements : 1);
    }
    free(text);
    return 0;
}
