#include "kernel/kernel.h"

const char *const ais_info_name[AIS_INFO_COUNT] = {
    [AIS_INFO_ACCEPT_STAT] = "accept_stat__", [AIS_INFO_STEP_SIZE] = "stepsize__",
    [AIS_INFO_TREE_DEPTH] = "treedepth__",    [AIS_INFO_N_LEAPFROG] = "n_leapfrog__",
    [AIS_INFO_DIVERGENT] = "divergent__",     [AIS_INFO_ENERGY] = "energy__",
    [AIS_INFO_ROUND_TRIP] = "round_trip__",
};

void ais_kernel_free(ais_kernel *kernel) {
    if (kernel) kernel->type->free(kernel);
}

const char *ais_kernel_name(const ais_kernel *kernel) { return kernel->type->name; }

int ais_kernel_dim(const ais_kernel *kernel) { return kernel->dim; }

unsigned ais_kernel_info(const ais_kernel *kernel) { return kernel->type->info; }
