/* Step by step, with a kernel of one's choice: a target, NUTS, draws, their diagnosis.
 *     cc -Iinclude examples/02_kernel.c -Lbuild -Wl,-rpath,$PWD/build -laisampler -o kernel-program && ./kernel-program
 */
#include <stdio.h>

#include <aisampler/aisampler.h>

int main(void) {
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_sink *memory = NULL;
    ais_draws *draws = NULL;
    ais_diagnosis *diagnosis = NULL;
    const ais_sample_options options = {.seed = 1, .chains = 4, .warmup = 1000, .draws = 1000};

    if (ais_target_open(&context, "heart", &target) == AIS_OK && ais_kernel_nuts(&context, NULL, &kernel) == AIS_OK &&
        ais_sink_memory(&context, &memory) == AIS_OK &&
        ais_sample(&context, target, kernel, &options, &memory, 1, NULL) == AIS_OK) {
        draws = ais_sink_memory_take(memory);
        if (ais_diagnose(&context, draws, target, &diagnosis) == AIS_OK)
            ais_report_text(&context, diagnosis, NULL, 0, stdout);
    }
    if (context.message[0]) fprintf(stderr, "%s\n", context.message);

    ais_diagnosis_free(diagnosis);
    ais_draws_free(draws);
    ais_sink_free(memory);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return context.message[0] != 0;
}
