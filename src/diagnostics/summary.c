/* The numbers of a parameter. A new one is a field of ais_parameter_summary and a row here. */
#include <string.h>

#include <aisampler/diagnostics.h>

#define ROW(name, compute)                                                                                             \
    { #name, offsetof(ais_parameter_summary, name), compute }
static const ais_summary_number table[] = {
    ROW(mean, NULL),   ROW(sd, NULL),         ROW(mcse, NULL),           ROW(q5, NULL),
    ROW(q50, NULL),    ROW(q95, NULL),        ROW(ess_bulk, NULL),       ROW(ess_tail, NULL),
    ROW(rhat, NULL),   ROW(ess_square, NULL), ROW(ess_song, NULL),       ROW(ess_song_square, NULL),
    ROW(z_mean, NULL), ROW(z_square, NULL),   ROW(mcse_sd, ais_mcse_sd),
};

const ais_summary_number *ais_summary_builtin(int i) {
    return i >= 0 && i < (int)(sizeof table / sizeof *table) ? &table[i] : NULL;
}

double ais_summary_value(const ais_parameter_summary *parameter, const ais_summary_number *number) {
    double value;
    memcpy(&value, (const char *)parameter + number->offset, sizeof value);
    return value;
}
