#include "map/families.h"

#define ROW(its_name, its_layers, its_element) {.name = its_name, .layers = its_layers, .element = its_element},
const ais_family ais_families[] = {AIS_FAMILIES(ROW){0}};
