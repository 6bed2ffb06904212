/* A fixed number of steps and nothing else, for counting instructions: bench/instructions.py.
 *     fixed_steps KERNEL TARGET CHAINS STEPS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/aisampler.h>

static ais_status make(ais_context *context, const char *name, int dim, ais_kernel **kernel) {
    const ais_shape henon = {.map = AIS_HENON, .dim = dim};
    const ais_shape spline = {
        .map = AIS_SPLINE, .reversal = AIS_SWAP, .dim = dim, .layers = 2, .hidden = 32, .bins = 24};
    const ais_shape realnvp = {
        .map = AIS_REALNVP, .reversal = AIS_SWAP, .dim = dim, .layers = 8, .depth = -1, .marginal_bins = 8, .bound = 5};
    if (strcmp(name, "henon") == 0) return ais_kernel_learned(context, &henon, 1, kernel);
    if (strcmp(name, "spline") == 0) return ais_kernel_learned(context, &spline, 1, kernel);
    if (strcmp(name, "realnvp") == 0) return ais_kernel_learned(context, &realnvp, 1, kernel);
    if (strcmp(name, "rwm") == 0) return ais_kernel_rwm(context, &(ais_rwm_options){.scale = 0.5}, kernel);
    if (strcmp(name, "hmc") == 0) return ais_kernel_hmc(context, &(ais_hmc_options){.step_size = 0.02}, kernel);
    return ais_kernel_nuts(context, &(ais_nuts_options){.step_size = 0.1}, kernel);
}

int main(int count, char **word) {
    if (count != 5) return 2;
    ais_context context = {0};
    ais_target *target = NULL;
    ais_kernel *kernel = NULL;
    ais_status status = ais_target_open(&context, word[2], &target);
    if (status == AIS_OK) status = make(&context, word[1], target->dim, &kernel);
    const ais_sample_options options = {
        .seed = 1, .chains = atoi(word[3]), .draws = 1, .thin = atoi(word[4]), .threads = 1};
    if (status == AIS_OK) status = ais_sample(&context, target, kernel, &options, NULL, 0, NULL);
    if (status != AIS_OK) fprintf(stderr, "%s\n", context.message);
    ais_kernel_free(kernel);
    ais_target_close(target);
    return status != AIS_OK;
}
