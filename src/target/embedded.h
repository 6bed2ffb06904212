/* The files of data/, written into the library at build time (cmake/embed.cmake). */
#ifndef AIS_TARGET_EMBEDDED_H
#define AIS_TARGET_EMBEDDED_H

#include <stddef.h>

extern const unsigned char ais_embedded_heart[], ais_embedded_german[], ais_embedded_australian[];
extern const size_t ais_embedded_heart_size, ais_embedded_german_size, ais_embedded_australian_size;

#endif
