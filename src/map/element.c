#include "map/element.h"

static int affine_params(int bins) {
    (void)bins;
    return AIS_AFFINE_PARAMS;
}

const ais_element ais_affine_element = {.params = affine_params,
                                        .map = AIS_EVERY(ais_affine_map),
                                        .backward = AIS_EVERY(ais_affine_backward),
                                        .scales = true};
const ais_element ais_rational_element = {
    .params = ais_spline_params, .map = AIS_EVERY(ais_spline_map), .backward = AIS_EVERY(ais_spline_backward)};
