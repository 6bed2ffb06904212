/* The picture of compare (compare_picture.c). */
#ifndef AIS_CLI_COMPARE_PICTURE_H
#define AIS_CLI_COMPARE_PICTURE_H

#include "contest.h"

/* The draws of `count` samplers over the target, those without draws left out; *figure NULL when the target is not in
 * the plane. An exit code. */
int compare_picture(const ais_target *target, int count, const contestant *const *who, const outcome *out,
                    ais_figure **figure);

#endif
