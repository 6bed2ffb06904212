/* The report for people: a table, a few lines on the run, warnings, verdict. It fits 80 columns, unless names are long.
 * With fewer columns the table is printed in blocks of columns, each with the names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "report/clean_text.h"
#include "report/verdict.h"

/* Columns on the screen; numbers stand to the right, one space apart at least. Names take what the longest one
 * needs, up to NAME. */
enum { NAME = 18, PLACE = 9, SD = 8, ERROR = 8, ESS = 9, RHAT = 6, SCREEN = 80 };

/* Writes value up to the first digit that its error makes uncertain, in less than width columns. */
static void cell(FILE *file, int width, double value, double error) {
    char buffer[64] = "-";
    if (isinf(value)) snprintf(buffer, sizeof buffer, value > 0 ? "inf" : "-inf");
    if (isfinite(value)) {
        bool plain = error > 0 && isfinite(error);
        int decimals = plain ? -(int)floor(log10(error)) : 0;
        int digits = plain && value != 0 ? (int)floor(log10(fabs(value))) + decimals + 1 : 4;
        if (decimals < 0) decimals = 0;
        digits = digits < 1 ? 1 : digits > 7 ? 7 : digits;
        if (plain && decimals <= 6)
            snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
        else
            snprintf(buffer, sizeof buffer, "%.*g", digits, value);
        for (digits = digits < 5 ? digits : 5; strlen(buffer) >= (size_t)width && digits > 0; digits--)
            snprintf(buffer, sizeof buffer, "%.*g", digits, value);
        if (buffer[0] == '-' && strtod(buffer, NULL) == 0) memmove(buffer, buffer + 1, strlen(buffer));
    }
    fprintf(file, "%*s", width, buffer);
}

static void whole(FILE *file, int width, double value) {
    char buffer[64] = "-";
    if (isfinite(value)) snprintf(buffer, sizeof buffer, fabs(value) < 1e7 ? "%.0f" : "%.1e", value);
    fprintf(file, "%*s", width, buffer);
}

static void rhat_cell(FILE *file, int width, double value) {
    char buffer[64] = "-";
    if (!isnan(value))
        snprintf(buffer, sizeof buffer, value < 9.9995 ? "%.3f" : value < 9999 ? "%.0f" : "large", value);
    fprintf(file, "%*s", width, buffer);
}

/* Every byte that does not continue a UTF-8 character is a column. cut becomes the place where column `last` starts,
 * where the text reaches that far. */
static int columns_of(const char *text, int last, size_t *cut) {
    int columns = 0;
    for (size_t i = 0; text[i]; i++) {
        if (((unsigned char)text[i] & 0xC0) == 0x80) continue;
        if (columns == last) *cut = i;
        columns++;
    }
    return columns;
}

/* A name of any length in width columns. */
static void name_cell(FILE *file, int width, const char *name) {
    size_t cut = 0;
    int columns = columns_of(name, width - 1, &cut);
    if (columns <= width)
        fprintf(file, "%s%*s", name, width - columns, "");
    else
        fprintf(file, "%.*s…", (int)cut, name);
}

static const struct {
    const char *heading;
    int width;
    enum { VALUE, ITS_ERROR, WHOLE, RATIO } kind;
} column[] = {{"mean", PLACE, VALUE},   {"sd", SD, VALUE},        {"mcse", ERROR, ITS_ERROR},
              {"q5", PLACE, VALUE},     {"q50", PLACE, VALUE},    {"q95", PLACE, VALUE},
              {"ess_bulk", ESS, WHOLE}, {"ess_tail", ESS, WHOLE}, {"rhat", RHAT, RATIO}};
enum { COLUMNS = sizeof column / sizeof *column };

static void column_cell(FILE *file, int k, const ais_parameter_summary *p) {
    const double value[COLUMNS] = {p->mean, p->sd, p->mcse, p->q5, p->q50, p->q95, p->ess_bulk, p->ess_tail, p->rhat};
    const int width = column[k].width;
    if (column[k].kind == WHOLE)
        whole(file, width, value[k]);
    else if (column[k].kind == RATIO)
        rhat_cell(file, width, value[k]);
    else if (column[k].kind == ITS_ERROR)
        cell(file, width, value[k], value[k] > 0 ? value[k] / 10 : NAN);
    else
        cell(file, width, value[k], p->mcse);
}

static int screen_of(const ais_report_run *run) {
    enum { FEWEST = 40 };
    if (!run || run->columns <= 0 || run->columns >= SCREEN) return SCREEN;
    return run->columns > FEWEST ? run->columns : FEWEST;
}

typedef struct place {
    double ess;
    int index;
} place;

static int by_ess(const void *a, const void *b) {
    const place *p = a, *q = b;
    if (p->ess != q->ess) return p->ess < q->ess ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

static int by_index(const void *a, const void *b) {
    const place *p = a, *q = b;
    return (p->index > q->index) - (p->index < q->index);
}

/* The `rows` parameters with the smallest ESS, in their own order. What has none comes first. */
static ais_status table(ais_context *context, const ais_diagnosis *diagnosis, int rows, int screen, FILE *file) {
    size_t dim = (size_t)diagnosis->dim;
    int shown = rows > 0 && rows < diagnosis->dim ? rows : diagnosis->dim;
    place *places = calloc(dim, sizeof *places);
    if (!places) return ais_fail_memory(context, "a table", dim * sizeof *places);
    for (int i = 0; i < diagnosis->dim; i++) {
        const ais_parameter_summary *p = &diagnosis->parameter[i];
        double ess = fmin(fmin(p->ess_bulk, p->ess_tail), p->ess_square);
        places[i] = (place){isnan(ess) ? -1 : ess, i};
    }
    qsort(places, dim, sizeof *places, by_ess);
    qsort(places, (size_t)shown, sizeof *places, by_index);
    int name_width = (int)strlen("name");
    for (int i = 0; i < shown; i++) {
        size_t cut;
        int columns = columns_of(diagnosis->parameter[places[i].index].name, -1, &cut);
        if (columns > name_width) name_width = columns < NAME ? columns : NAME;
    }
    for (int first = 0, last = 0; first < COLUMNS; first = last) {
        int width = name_width + column[last++].width;
        while (last < COLUMNS && (screen == SCREEN || width + column[last].width <= screen))
            width += column[last++].width;
        fprintf(file, "%s%-*s", first ? "\n" : "", name_width, "name");
        for (int k = first; k < last; k++) fprintf(file, "%*s", column[k].width, column[k].heading);
        fputc('\n', file);
        for (int i = 0; i < shown; i++) {
            const ais_parameter_summary *p = &diagnosis->parameter[places[i].index];
            name_cell(file, name_width, p->name);
            for (int k = first; k < last; k++) column_cell(file, k, p);
            fputc('\n', file);
        }
    }
    if (shown < diagnosis->dim)
        fprintf(file, "and %d more parameter%s with a larger ESS\n", diagnosis->dim - shown,
                diagnosis->dim - shown > 1 ? "s" : "");
    free(places);
    return AIS_OK;
}

/* A sentence over as many lines as it takes, broken at spaces; all but the first are indented. */
static void sentence(FILE *file, int screen, const char *text) {
    size_t unused;
    for (int at = 0; *text;) {
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " "), text);
        int columns = columns_of(word, -1, &unused);
        bool wrap = at > 0 && at + 1 + columns > screen;
        fprintf(file, "%s%s", wrap ? "\n    " : at > 0 ? " " : "", word);
        at = wrap ? 4 + columns : at + (at > 0) + columns;
        text += strlen(word);
        text += strspn(text, " ");
    }
    fputc('\n', file);
}

/* One line of the text after the other. */
static void sentences(FILE *file, int screen, const char *text) {
    char line[1024];
    while (ais_next_line(&text, line, sizeof line)) sentence(file, screen, line);
}

static void heading(FILE *file, const ais_diagnosis *diagnosis, const ais_report_run *run) {
    double acceptance = ais_report_acceptance(diagnosis, run);
    if (run && run->target) fprintf(file, "%s", run->target);
    if (run && run->sampler) fprintf(file, "%sby %s", run->target ? " " : "", run->sampler);
    if (run && (run->target || run->sampler)) fprintf(file, ": ");
    fprintf(file, "%d chain%s of %d draw%s", diagnosis->chains, diagnosis->chains > 1 ? "s" : "", diagnosis->draws,
            diagnosis->draws > 1 ? "s" : "");
    if (!isnan(acceptance)) fprintf(file, ", acceptance %.3g", acceptance);
    if (run && run->result && !isnan(run->result->involution_error))
        fprintf(file, ", involution error %.2g", run->result->involution_error);
    fputc('\n', file);
    if (run && run->about && run->about[0]) fprintf(file, "%s\n", run->about);
    if (!run || !run->result) return;
    fprintf(file, "seconds: ");
    if (run->train_seconds > 0) fprintf(file, "%.3g of training, ", run->train_seconds);
    fprintf(file, "%.3g of warm-up, %.3g of sampling\n", run->result->warmup_seconds, run->result->sample_seconds);
    const ais_evaluations *count = &run->evaluations;
    fprintf(file, "evaluations: %ld densities, %ld gradients\n", count->densities, count->gradients);
    fprintf(file, "of these: %ld to start", count->start);
    if (count->learning > 0) fprintf(file, ", %ld to learn", count->learning);
    fprintf(file, ", %ld to draw", count->drawing);
    if (count->judging > 0) fprintf(file, ", %ld to judge", count->judging);
    fputc('\n', file);
}

/* "before value after" where there is a value. */
static void say(FILE *file, const char *before, double value, const char *after) {
    char number[32];
    if (isnan(value)) return;
    ais_report_number(value, number);
    fprintf(file, "%s%s%s", before, number, after);
}

static void footing(FILE *file, const ais_diagnosis *diagnosis, const ais_report_run *run) {
    if (isnan(diagnosis->worst_ess))
        fprintf(file, "\nworst ESS: unknown\n");
    else {
        double rate = ais_report_rate(diagnosis, run), whole_rate = ais_report_rate_with_training(diagnosis, run);
        say(file, "\nworst ESS: ", diagnosis->worst_ess, " per chain");
        fprintf(file, " (%s)", diagnosis->worst_ess_function);
        say(file, ", Song ", diagnosis->worst_ess_song, "");
        say(file, ", error ", diagnosis->worst_ess_error, "");
        say(file, "\nspeed: worst ESS ", rate, " per second");
        if (!isnan(whole_rate))
            say(file, ", ", whole_rate, run->train_seconds > 0 ? " with training" : " with warm-up");
        fputc('\n', file);
    }
    double log_z_error, log_z = ais_report_log_z(diagnosis, run, &log_z_error);
    if (isfinite(log_z) && isfinite(log_z_error)) {
        char number[32];
        ais_report_log(log_z, log_z_error, number);
        fprintf(file, "log Z: %s +- %.2g\n", number, log_z_error);
    }
    if (!isnan(diagnosis->round_trips)) {
        fprintf(file, "ladder: %.0f round trips of replicas", diagnosis->round_trips);
        say(file, ", barrier ", diagnosis->barrier, "");
        fputc('\n', file);
    }
    if (diagnosis->mode_share)
        fprintf(file, "modes: a chain visited at least %d of %d, KL of their shares %.3g\n", diagnosis->fewest_modes,
                diagnosis->modes, diagnosis->mode_kl);
    if (!isnan(diagnosis->total_variation))
        fprintf(file, "total variation to the target: %.3g\n", diagnosis->total_variation);
}

/* The lines that write prints, broken where they are too long. */
static ais_status lines(ais_context *context, void (*write)(FILE *, const ais_diagnosis *, const ais_report_run *),
                        const ais_diagnosis *diagnosis, const ais_report_run *run, FILE *file) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory) write(memory, diagnosis, run);
    bool written = memory && fclose(memory) == 0;
    if (written) sentences(file, screen_of(run), text);
    free(text);
    return written ? AIS_OK : ais_fail_memory(context, "a report", 4096);
}

ais_status ais_report_text(ais_context *context, const ais_diagnosis *diagnosis, const ais_report_run *run, int rows,
                           FILE *file) {
    char verdict[256], warning[300];
    const int screen = screen_of(run);
    if (rows < 0) return ais_fail(context, AIS_BAD_ARGUMENT, "rows is %d, but must be 0 (all) or more", rows);
    ais_status status = lines(context, heading, diagnosis, run, file);
    if (status == AIS_OK) status = table(context, diagnosis, rows, screen, file);
    if (status == AIS_OK) status = lines(context, footing, diagnosis, run, file);
    if (status != AIS_OK) return status;
    for (int i = 0; i < diagnosis->warnings; i++) {
        snprintf(warning, sizeof warning, "warning: %s", diagnosis->warning[i]);
        sentence(file, screen, warning);
    }
    ais_report_verdict(diagnosis, verdict);
    sentence(file, screen, verdict);
    if (fflush(file) != 0 || ferror(file))
        return ais_fail(context, AIS_FILE_ERROR, "the report cannot be written: is the disk full?");
    return AIS_OK;
}
