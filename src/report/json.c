/* summary.json. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "base/status.h"
#include "report/clean_text.h"
#include "report/verdict.h"

/* JSON has no NaN and no infinity: null stands for them. */
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* Text that is not UTF-8 (a name cut in the middle, a file in another encoding) gets ? for what is
 * not ASCII, rather than being lost. */
static json_t *text(const char *value) {
    if (!value) return json_null();
    json_t *string = json_string(value);
    if (string) return string;
    char plain[256];
    size_t n = 0;
    bool odd = false;
    for (; n < sizeof plain - 1 && value[n]; n++) {
        odd |= (unsigned char)value[n] >= 128;
        plain[n] = (unsigned char)value[n] < 128 ? value[n] : '?';
    }
    return odd ? json_stringn(plain, n) : NULL; /* ASCII is refused when memory is out */
}

/* jansson's integers have a sign; a seed beyond them is written as text, to lose no digit. */
static json_t *seed_of(const ais_report_run *run) {
    char digits[24];
    if (!run) return json_null();
    if (run->seed <= INT64_MAX) return json_integer((json_int_t)run->seed);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)run->seed);
    return json_string(digits);
}

typedef struct field {
    const char *key;
    json_t *value; /* NULL when memory is out */
} field;

/* Takes the values over; NULL if one of them or the object could not be made. */
static json_t *object(const field *fields, size_t count) {
    json_t *result = json_object();
    bool complete = result != NULL;
    for (size_t i = 0; i < count; i++) /* set_new refuses NULL, and releases the value if it fails */
        complete = json_object_set_new(result, fields[i].key, fields[i].value) == 0 && complete;
    if (complete) return result;
    json_decref(result);
    return NULL;
}

/* NULL when memory is out. */
static json_t *parameter(const ais_parameter_summary *p) {
    json_t *row = json_object();
    const ais_summary_number *at;
    bool complete = row && json_object_set_new(row, "name", text(p->name)) == 0;
    for (int k = 0; complete && (at = ais_summary_builtin(k)); k++)
        complete = json_object_set_new(row, at->name, number(ais_summary_value(p, at))) == 0;
    if (complete) return row;
    json_decref(row);
    return NULL;
}

/* Takes the value over. The list is freed if one of its values could not be made. */
static json_t *append(json_t *list, json_t *value) {
    if (json_array_append_new(list, value) == 0) return list;
    json_decref(list);
    return NULL;
}

static json_t *parameters(const ais_diagnosis *diagnosis) {
    json_t *list = json_array();
    for (int i = 0; list && i < diagnosis->dim; i++) {
        const ais_parameter_summary *p = &diagnosis->parameter[i];
        list = append(list, parameter(p));
    }
    return list;
}

static json_t *shares(const ais_diagnosis *diagnosis) {
    json_t *list = diagnosis->mode_share ? json_array() : json_null();
    for (int k = 0; list && diagnosis->mode_share && k < diagnosis->modes; k++)
        list = append(list, number(diagnosis->mode_share[k]));
    return list;
}

static json_t *warnings(const ais_diagnosis *diagnosis) {
    json_t *list = json_array();
    for (int i = 0; list && i < diagnosis->warnings; i++) list = append(list, text(diagnosis->warning[i]));
    return list;
}

static json_t *checks(const ais_diagnosis *diagnosis) {
    json_t *list = json_array();
    for (int i = 0; list && i < diagnosis->checks; i++) {
        const ais_diagnosis_check *check = &diagnosis->check[i];
        field fields[] = {
            {"name", text(check->name)}, {"passed", json_boolean(check->passed)}, {"text", text(check->text)}};
        list = append(list, object(fields, sizeof fields / sizeof *fields));
    }
    return list;
}

static json_t *evaluations(const ais_evaluations *count) {
    field fields[] = {
        {"densities", json_integer(count->densities)},
        {"gradients", json_integer(count->gradients)},
        {"start", json_integer(count->start)},
        {"learning", json_integer(count->learning)},
        {"drawing", json_integer(count->drawing)},
        {"judging", json_integer(count->judging)},
        {"total", json_integer(count->densities + count->gradients)},
    };
    return object(fields, sizeof fields / sizeof *fields);
}

/* Lines of a text; null for none. */
static json_t *lines(const char *text) {
    json_t *list = text ? json_array() : json_null();
    char line[512];
    while (list && text && ais_next_line(&text, line, sizeof line)) list = append(list, json_string(line));
    return list;
}

static json_t *summary(const ais_diagnosis *diagnosis, const ais_report_run *run) {
    const ais_sample_result *result = run ? run->result : NULL;
    double log_z_error, log_z = ais_report_log_z(diagnosis, run, &log_z_error);
    bool modes = diagnosis->mode_share != NULL;
    char verdict[256];
    ais_report_verdict(diagnosis, verdict);
    field fields[] = {
        {"target", text(run ? run->target : NULL)},
        {"dim", json_integer(diagnosis->dim)},
        {"priors", lines(run ? run->about : NULL)},
        {"sampler", text(run ? run->sampler : NULL)},
        {"chains", json_integer(diagnosis->chains)},
        {"draws", json_integer(diagnosis->draws)},
        {"seed", seed_of(run)},
        {"acceptance", number(ais_report_acceptance(diagnosis, run))},
        {"involution_error", number(result ? result->involution_error : NAN)},
        {"train_seconds", number(run ? run->train_seconds : NAN)},
        {"warmup_seconds", number(result ? result->warmup_seconds : NAN)},
        {"sample_seconds", number(result ? result->sample_seconds : NAN)},
        {"ended", text(result ? ais_ending_name[result->ended] : NULL)},
        {"evaluations", result ? evaluations(&run->evaluations) : json_null()},
        {"worst_ess", number(diagnosis->worst_ess)},
        {"worst_ess_function", isnan(diagnosis->worst_ess) ? json_null() : text(diagnosis->worst_ess_function)},
        {"worst_ess_song", number(diagnosis->worst_ess_song)},
        {"worst_ess_error", number(diagnosis->worst_ess_error)},
        {"mean_ess_song", number(diagnosis->mean_ess_song)},
        {"ess_per_second", number(ais_report_rate(diagnosis, run))},
        {"ess_per_second_with_training", number(ais_report_rate_with_training(diagnosis, run))},
        {"worst_rhat", number(diagnosis->worst_rhat)},
        {"cross_chain_mean", number(diagnosis->cross_chain_mean)},
        {"cross_chain_largest", number(diagnosis->cross_chain_largest)},
        {"lowest_ebfmi", number(diagnosis->lowest_ebfmi)},
        {"divergences", json_integer(diagnosis->divergences)},
        {"round_trips", number(diagnosis->round_trips)},
        {"barrier", number(diagnosis->barrier)},
        {"modes", modes ? json_integer(diagnosis->modes) : json_null()},
        {"mode_share", shares(diagnosis)},
        {"mode_kl", number(diagnosis->mode_kl)},
        {"fewest_modes", modes ? json_integer(diagnosis->fewest_modes) : json_null()},
        {"total_variation", number(diagnosis->total_variation)},
        {"log_z", number(log_z)},
        {"log_z_error", number(log_z_error)},
        {"parameters", parameters(diagnosis)},
        {"warnings", warnings(diagnosis)},
        {"checks", checks(diagnosis)},
        {"trust", json_boolean(diagnosis->warnings == 0)},
        {"verdict", json_string(verdict)},
    };
    return object(fields, sizeof fields / sizeof *fields);
}

ais_status ais_report_json(ais_context *context, const ais_diagnosis *diagnosis, const ais_report_run *run,
                           FILE *file) {
    json_t *root = summary(diagnosis, run);
    if (!root) return ais_fail_memory(context, "summary.json", (size_t)diagnosis->dim * 1024);
    int failed = json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(root);
    if (failed || fputc('\n', file) == EOF || fflush(file) != 0)
        return ais_fail(context, AIS_FILE_ERROR, "the summary cannot be written: is the disk full?");
    return AIS_OK;
}
