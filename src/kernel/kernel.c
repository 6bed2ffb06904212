#include "kernel/kernel.h"

void ais_kernel_free(ais_kernel *kernel) {
    if (kernel) kernel->type->free(kernel);
}

ais_status ais_kernel_fits(ais_context *context, const ais_kernel *kernel, const ais_target *target) {
    if (kernel->dim && kernel->dim != target->dim)
        return ais_fail(context, AIS_BAD_ARGUMENT, "the kernel was made for dimension %d, but %s has %d", kernel->dim,
                        target->name, target->dim);
    if (kernel->empirical == (target->draws != NULL)) return AIS_OK;
    if (kernel->empirical)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "the kernel was learned from draws and its accept test is an estimate, but %s has a density: "
                        "train a kernel for it",
                        target->name);
    return ais_fail(context, AIS_BAD_ARGUMENT,
                    "%s is a set of draws and has no density for %s to sample: train a kernel on it (aisampler train) "
                    "and use that one alone",
                    target->name, kernel->type->name);
}

const char *ais_kernel_name(const ais_kernel *kernel) { return kernel->type->name; }

int ais_kernel_dim(const ais_kernel *kernel) { return kernel->dim; }

unsigned ais_kernel_info(const ais_kernel *kernel) { return kernel->type->info; }
