/* What a reader wants to know first: whether to trust the draws, why, and the numbers behind it. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "report/clean_text.h"
#include "report/page.h"
#include "report/verdict.h"

static void item(FILE *file, const char *text) {
    fputs("<li>", file);
    ais_html_text(file, text);
    fputs("</li>\n", file);
}

/* The checks behind the verdict. */
static void checks(const ais_page *page) {
    const ais_diagnosis *diagnosis = page->data->diagnosis;
    if (!diagnosis->checks) return;
    fputs("<p class=\"about\">The checks behind this verdict:</p>\n<ul class=\"about\">\n", page->file);
    for (int i = 0; i < diagnosis->checks; i++) {
        const ais_diagnosis_check *check = &diagnosis->check[i];
        char line[640];
        snprintf(line, sizeof line, "%s %s: %s", check->passed ? "✓" : "✗", check->name, check->text);
        item(page->file, line);
    }
    fputs("</ul>\n", page->file);
}

void ais_page_verdict(const ais_page *page) {
    const ais_diagnosis *diagnosis = page->data->diagnosis;
    bool good = diagnosis->warnings == 0;
    char verdict[256];
    ais_report_verdict(diagnosis, verdict);
    verdict[0] = (char)toupper((unsigned char)verdict[0]);
    fprintf(page->file, "<section class=\"verdict %s\">\n<strong>", good ? "good" : "bad");
    ais_html_text(page->file, verdict);
    fputs(".</strong>\n", page->file);
    if (!good) {
        fputs("<ul>\n", page->file);
        for (int i = 0; i < diagnosis->warnings; i++) item(page->file, diagnosis->warning[i]);
        fputs("</ul>\n", page->file);
    }
    checks(page);
    fputs("</section>\n", page->file);
}

/* A tile, where there is a value; small may be NULL. */
static void tile(const ais_page *page, const char *name, const char *value, const char *small) {
    fputs("<div><dt>", page->file);
    ais_html_text(page->file, name);
    fputs("</dt><dd>", page->file);
    ais_html_text(page->file, value);
    if (small && *small) {
        fputs("<small>", page->file);
        ais_html_text(page->file, small);
        fputs("</small>", page->file);
    }
    fputs("</dd></div>\n", page->file);
}

static void number_tile(const ais_page *page, const char *name, double value, const char *small) {
    char number[32];
    if (isnan(value)) return;
    ais_report_number(value, number);
    if (isinf(value)) snprintf(number, sizeof number, value > 0 ? "∞" : "−∞");
    tile(page, name, number, small);
}

static void time_tile(const ais_page *page) {
    const ais_report_run *run = page->run;
    char value[64], small[96] = "";
    if (!run || !run->result) return;
    double sampling = run->result->warmup_seconds + run->result->sample_seconds;
    double training = run->train_seconds > 0 ? run->train_seconds : 0;
    snprintf(value, sizeof value, "%.3g s", sampling + training);
    snprintf(small, sizeof small, "%.3g warm-up, %.3g sampling", run->result->warmup_seconds,
             run->result->sample_seconds);
    if (training > 0)
        snprintf(small, sizeof small, "%.3g training, %.3g warm-up, %.3g sampling", training,
                 run->result->warmup_seconds, run->result->sample_seconds);
    tile(page, "time", value, small);
}

static void evaluations_tile(const ais_page *page) {
    const ais_report_run *run = page->run;
    char value[64], small[160];
    if (!run || !run->result) return;
    const ais_evaluations *count = &run->evaluations;
    snprintf(value, sizeof value, "%ld", count->densities + count->gradients);
    snprintf(small, sizeof small, "%ld densities, %ld gradients; %ld to start, %ld to learn, %ld to draw, %ld to judge",
             count->densities, count->gradients, count->start, count->learning, count->drawing, count->judging);
    tile(page, "evaluations", value, small);
}

static void known_truth_tiles(const ais_page *page) {
    const ais_diagnosis *diagnosis = page->data->diagnosis;
    char small[96];
    number_tile(page, "worst ESS, Song", diagnosis->worst_ess_song, "per chain, with known moments");
    number_tile(page, "worst ESS, error", diagnosis->worst_ess_error, "per chain, by the error of chain means");
    if (diagnosis->mode_share) {
        snprintf(small, sizeof small, "of %d, by the chain with the fewest", diagnosis->modes);
        number_tile(page, "modes visited", diagnosis->fewest_modes, small);
        number_tile(page, "KL of mode shares", diagnosis->mode_kl, "0: same as the target's");
    }
    number_tile(page, "total variation", diagnosis->total_variation, "to the target, 0 to 1");
}

static void priors(FILE *file, const char *text) {
    fputs("<p class=\"about\">Target, priors and bounds:</p>\n<ul class=\"about\">\n", file);
    char line[512];
    while (ais_next_line(&text, line, sizeof line)) item(file, line);
    fputs("</ul>\n", file);
}

void ais_page_numbers(const ais_page *page) {
    const ais_diagnosis *diagnosis = page->data->diagnosis;
    const ais_report_run *run = page->run;
    char value[64], small[160];
    fputs("<dl class=\"numbers\">\n", page->file);
    snprintf(value, sizeof value, "%d × %d", diagnosis->chains, diagnosis->draws);
    tile(page, "chains × draws", value, NULL);
    snprintf(small, sizeof small, "per chain of %d; of %.60s", diagnosis->draws, diagnosis->worst_ess_function);
    number_tile(page, "worst ESS", diagnosis->worst_ess, small);
    snprintf(value, sizeof value, "%.4f", diagnosis->worst_rhat);
    snprintf(small, sizeof small, "1 if chains agree; at most %g", AIS_MOST_RHAT);
    if (!isnan(diagnosis->worst_rhat)) tile(page, "largest R-hat", value, small);
    number_tile(page, "acceptance", ais_report_acceptance(diagnosis, run), NULL);
    number_tile(page, "worst ESS per second", ais_report_rate(diagnosis, run), "all chains, sampling alone");
    if (run && run->train_seconds > 0)
        number_tile(page, "the same with training", ais_report_rate_with_training(diagnosis, run), NULL);
    time_tile(page);
    evaluations_tile(page);
    double log_z_error, log_z = ais_report_log_z(diagnosis, run, &log_z_error);
    if (isfinite(log_z)) {
        ais_report_log(log_z, log_z_error, value);
        snprintf(small, sizeof small, "± %.2g", log_z_error);
        tile(page, "log Z", value, small);
    }
    if (run && run->result)
        number_tile(page, "involution error", run->result->involution_error, "largest round trip accepted");
    if (diagnosis->divergences) number_tile(page, "divergences", (double)diagnosis->divergences, NULL);
    snprintf(small, sizeof small, "of the ladder's replicas; at least %d", AIS_LEAST_TRIPS);
    number_tile(page, "round trips", diagnosis->round_trips, small);
    number_tile(page, "barrier", diagnosis->barrier, "of the ladder: sum of its swaps' rejection rates");
    snprintf(small, sizeof small, "below %g: energy is explored slowly", AIS_LEAST_EBFMI);
    number_tile(page, "lowest E-BFMI", diagnosis->lowest_ebfmi, small);
    known_truth_tiles(page);
    fputs("</dl>\n", page->file);
    if (run && run->about) priors(page->file, run->about);
}
