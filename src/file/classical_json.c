#include "file/classical_json.h"

#include <string.h>

#include "classical/classical.h"

json_t *ais_classical_to_json(const ais_kernel *kernel) {
    ais_rwm_options rwm;
    ais_hmc_options hmc;
    ais_nuts_options nuts;
    if (ais_rwm_options_of(kernel, &rwm))
        return json_pack("{ss sf sf}", "kernel", "rwm", "scale", rwm.scale, "target_accept", rwm.target_accept);
    if (ais_hmc_options_of(kernel, &hmc))
        return json_pack("{ss sf si sf sf}", "kernel", "hmc", "step_size", hmc.step_size, "leapfrogs", hmc.leapfrogs,
                         "target_accept", hmc.target_accept, "jitter", hmc.jitter);
    if (ais_nuts_options_of(kernel, &nuts))
        return json_pack("{ss sf sf si sb}", "kernel", "nuts", "step_size", nuts.step_size, "target_accept",
                         nuts.target_accept, "max_depth", nuts.max_depth, "dense", (int)nuts.dense);
    return NULL;
}

/* jansson stores what was unpacked only for keys that are there and of their kind; `!` refuses others. */
ais_status ais_classical_from_json(ais_context *context, const json_t *json, ais_kernel **kernel) {
    const char *name = json_string_value(json_object_get(json, "kernel"));
    json_t *from = (json_t *)json; /* which jansson does not change */
    ais_rwm_options rwm = {0};
    ais_hmc_options hmc = {0};
    ais_nuts_options nuts = {0};
    int dense;
    *kernel = NULL;
    if (name && strcmp(name, "rwm") == 0 &&
        json_unpack(from, "{s:s s:F s:F !}", "kernel", &name, "scale", &rwm.scale, "target_accept",
                    &rwm.target_accept) == 0)
        return ais_kernel_rwm(context, &rwm, kernel);
    if (name && strcmp(name, "hmc") == 0 &&
        json_unpack(from, "{s:s s:F s:i s:F s:F !}", "kernel", &name, "step_size", &hmc.step_size, "leapfrogs",
                    &hmc.leapfrogs, "target_accept", &hmc.target_accept, "jitter", &hmc.jitter) == 0)
        return ais_kernel_hmc(context, &hmc, kernel);
    if (name && strcmp(name, "nuts") == 0 &&
        json_unpack(from, "{s:s s:F s:F s:i s:b !}", "kernel", &name, "step_size", &nuts.step_size, "target_accept",
                    &nuts.target_accept, "max_depth", &nuts.max_depth, "dense", &dense) == 0) {
        nuts.dense = dense != 0;
        return ais_kernel_nuts(context, &nuts, kernel);
    }
    return ais_fail(context, AIS_BAD_ARGUMENT, "an inner kernel that is not rwm, hmc or nuts with all its options");
}
