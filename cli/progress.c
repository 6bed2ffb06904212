/* The live table of a long job: redrawn in place on a terminal, a line every two seconds elsewhere. */
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

static const double line_every = 1.9; /* seconds, when there is no terminal: a report comes every tenth of one */
static const double rate_over = 5;    /* seconds that a rate is taken over, at least */

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

/* "12.3 k evaluations, 4.5 k/s": of the last seconds, or of all when the run is over. */
static void write_evaluations(const ais_progress *progress, progress_view *view, char text[64]) {
    char count[16], rate[16];
    double since = progress->over ? 0 : view->rate_from, before = progress->over ? 0 : (double)view->rate_count;
    write_rate((double)progress->evaluations, count);
    write_rate(((double)progress->evaluations - before) / fmax(progress->seconds - since, 1e-9), rate);
    snprintf(text, 64, "%s evaluations, %s/s", count, rate);
    if (progress->seconds - view->rate_from < rate_over) return;
    view->rate_from = progress->seconds;
    view->rate_count = progress->evaluations;
}

static void write_facts(const ais_progress *progress, progress_view *view, char facts[200]) {
    char elapsed[16], left[16], evaluations[64], acceptance[16] = "-";
    write_time(progress->seconds, elapsed);
    write_time(progress->seconds_left, left);
    write_evaluations(progress, view, evaluations);
    if (!isnan(progress->acceptance)) snprintf(acceptance, sizeof acceptance, "%.2f", progress->acceptance);
    int used = progress->over ? snprintf(facts, 200, "done in %s, ", elapsed)
                              : snprintf(facts, 200, "%s left, %s so far, ", left, elapsed);
    used += snprintf(facts + used, 200 - (size_t)used, "%s, acceptance %s", evaluations, acceptance);
    if (progress->divergences > 0)
        used += snprintf(facts + used, 200 - (size_t)used, ", %ld divergent", progress->divergences);
    if (progress->effective > 0) snprintf(facts + used, 200 - (size_t)used, ", worst ESS %.0f", progress->effective);
}

void progress_show(const ais_progress *progress, void *data) {
    progress_view *view = data;
    char row[2][128], facts[200];
    if (!view->terminal && progress->seconds - view->last_line < line_every && !(progress->over && view->drawn)) return;
    write_facts(progress, view, facts);
    if (!view->terminal) {
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
