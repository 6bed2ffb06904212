#include "map/element.h"

#define ELEMENT(name, count, closes)                                                                                   \
    static int name##_params(int bins) {                                                                               \
        (void)bins;                                                                                                    \
        return count;                                                                                                  \
    }                                                                                                                  \
    const ais_element ais_##name##_element = {.params = name##_params,                                                 \
                                              .map = AIS_EVERY(ais_##name##_map),                                      \
                                              .backward = AIS_EVERY(ais_##name##_backward),                            \
                                              .scales = closes};
AIS_ELEMENTS(ELEMENT)

#define FAMILY(its_name, its_layers, its_element) {.name = its_name, .layers = its_layers, .element = its_element},
const ais_family ais_families[] = {AIS_FAMILIES(FAMILY){0}};
