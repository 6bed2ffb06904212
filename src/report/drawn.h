/* Drawing in a process of its own (base/apart.h). */
#ifndef AIS_REPORT_DRAWN_H
#define AIS_REPORT_DRAWN_H

#include <stdio.h>

#include "base/status.h"

/* Calls draw there, with a file of memory; what it wrote is written to `file` here. panels: how many will be drawn. */
ais_status ais_draw_apart(ais_context *context, ais_status (*draw)(ais_context *context, const void *data, FILE *file),
                          const void *data, int panels, FILE *file);

#endif
