/* The live table of a long job: redrawn in place on a terminal, a line every two seconds elsewhere. */
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

static const double line_every = 2; /* seconds, when there is no terminal */

void progress_begin(progress_view *view) {
    struct winsize size = {0};
    *view = (progress_view){.terminal = isatty(STDERR_FILENO), .columns = 80};
    if (view->terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) view->columns = size.ws_col;
}

static void write_time(double seconds, char text[16]) {
    if (!(seconds >= 0 && seconds < 360000))
        snprintf(text, 16, "-");
    else if (seconds < 10)
        snprintf(text, 16, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(text, 16, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    else
        snprintf(text, 16, "%d:%02d:%02d", (int)seconds / 3600, (int)seconds / 60 % 60, (int)seconds % 60);
}

static void write_bar(double share, char bar[21]) {
    for (int i = 0; i < 20; i++) bar[i] = i < (int)(20 * share + 0.5) ? '=' : ' ';
    bar[20] = 0;
}

/* One phase's row: name, bar, draws per chain. */
static void phase_row(const char *name, int done, int planned, char row[128]) {
    char bar[21];
    write_bar(planned > 0 ? (double)done / planned : 1, bar);
    snprintf(row, 128, "%-9s [%s] %8d of %-8d", name, bar, done, planned);
}

/* 870, 12.3 k, 4.56 M: short enough to leave room for the time. */
static void write_rate(double value, char text[16]) {
    static const char *const unit[] = {"", " k", " M", " G"};
    int i = 0;
    for (; i < 3 && value >= 999.5; i++) value /= 1000;
    snprintf(text, 16, "%.3g%s", value, unit[i]);
}

void progress_show(const ais_progress *progress, void *data) {
    progress_view *view = data;
    char elapsed[16], left[16], rate[16], row[2][128], facts[160];
    bool last = progress->draws_done == progress->draws;
    write_time(progress->seconds, elapsed);
    write_time(progress->seconds_left, left);
    write_rate((double)progress->evaluations / fmax(progress->seconds, 1e-9), rate);
    snprintf(facts, sizeof facts, "%s left, %s so far, %d chain%s, acceptance %.2f, %ld divergent, %s evaluations/s",
             left, elapsed, progress->chains, progress->chains > 1 ? "s" : "", progress->acceptance,
             progress->divergences, rate);
    if (!view->terminal) {
        if (progress->seconds - view->last_line < line_every && !(last && view->drawn)) return;
        bool sampling = progress->warmup_done == progress->warmup;
        fprintf(stderr, "%s %d of %d, %s\n", sampling ? "draws" : "warm-up",
                sampling ? progress->draws_done : progress->warmup_done, sampling ? progress->draws : progress->warmup,
                facts);
        view->last_line = progress->seconds;
        view->drawn = true;
        return;
    }
    phase_row("warm-up", progress->warmup_done, progress->warmup, row[0]);
    phase_row("sampling", progress->draws_done, progress->draws, row[1]);
    if (view->drawn) fputs("\033[3A", stderr); /* back to the table's first line */
    for (int i = 0; i < 2; i++) fprintf(stderr, "\r\033[K%.*s\n", view->columns - 1, row[i]);
    fprintf(stderr, "\r\033[K%.*s\n", view->columns - 1, facts);
    fflush(stderr);
    view->drawn = true;
}
