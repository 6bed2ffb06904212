/* What the parts of `aisampler bench` share (bench.c, parts.c). */
#ifndef AIS_CLI_BENCH_BENCH_H
#define AIS_CLI_BENCH_BENCH_H

#include "cli.h"

typedef struct bench {
    const char *target, *kernel_file; /* of the parts that take one; NULL: the part's own */
    double seconds;                   /* of one measurement */
    bool quiet;                       /* no table */
} bench;

/* A part measures, prints its table unless quiet, and returns what it found; NULL after a complaint. */
typedef struct bench_part {
    const char *name, *summary;
    bool asked_for; /* takes long: only when it is named */
    json_t *(*measure)(const bench *set);
} bench_part;
extern const bench_part bench_parts[]; /* ends with a NULL name */
json_t *measure_ranks(const bench *set);

/* How what a part found is drawn: rows of numbers under these keys, on logarithmic axes. */
enum { BENCH_LINES = 4 };
typedef struct bench_drawing {
    const char *part, *title;
    const char *key, *across, *up; /* of x; the axes' labels */
    struct {
        const char *key, *label; /* NULL: no line; not in the legend */
    } line[BENCH_LINES];
} bench_drawing;
const bench_drawing *bench_drawing_of(const char *part); /* NULL: it is not drawn */
void bench_panel(ais_figure *figure, const bench_drawing *drawing, bool titled, const json_t *rows);
double bench_number(const json_t *row, const char *key); /* NAN where there is none */

/* By the end of its name: .svg, .png or .pdf; false: another. */
bool bench_figure_format(const char *path, ais_figure_format *format);
/* Draws the parts of `found` that can be drawn; an exit code. */
int bench_draw(const char *path, const json_t *found);

/* Chain-steps per second of a kernel: the best of several short runs, since other work on the machine only slows. 0
 * after a complaint. */
double steps_per_second(const bench *set, const ais_target *target, const ais_kernel *kernel, int chains, int threads);

#endif
