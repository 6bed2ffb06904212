#include "classical/tuning.h"

#include <math.h>
#include <string.h>

ais_status ais_check_tuning_options(ais_context *context, const char *kernel, const ais_tuning_options *options) {
    if (!(options->step_size >= 0 && options->step_size < INFINITY))
        return ais_fail(context, AIS_BAD_ARGUMENT, "%s: step_size is %g, but must be positive, or 0 to have it tuned",
                        kernel, options->step_size);
    if (!(options->target_accept > 0 && options->target_accept < 1))
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s: target_accept is %g, but must lie between 0 and 1 (0 itself means the default)", kernel,
                        options->target_accept);
    return AIS_OK;
}

/* What one leapfrog step from start does to the energy; +infinity when it diverges. */
static ais_status energy_growth(ais_context *context, const ais_target *target, const ais_metric *metric,
                                const ais_phase *start, ais_phase *scratch, double step_size, double *growth) {
    ais_phase_copy(scratch, start, target->dim);
    ais_status status = ais_leapfrog(context, target, metric, step_size, scratch);
    if (status == AIS_OK) *growth = ais_phase_energy(scratch, target->dim) - ais_phase_energy(start, target->dim);
    return status;
}

ais_status ais_find_step_size(ais_context *context, const ais_target *target, const ais_metric *metric,
                              const ais_stream *stream, ais_phase *start, ais_phase *scratch, double *step_size) {
    const double limit = -log(0.8);
    double size = *step_size, growth = 0;
    ais_phase_kick(metric, stream, start);
    ais_status status = energy_growth(context, target, metric, start, scratch, size, &growth);
    bool grow = growth < limit;
    while (status == AIS_OK && (grow ? growth < limit : growth > limit)) {
        size *= grow ? 2 : 0.5;
        if (size > 1e100)
            return ais_fail(context, AIS_BAD_DENSITY,
                            "chain %u: target %.100s accepts leapfrog steps of any size: is its integral finite?",
                            stream->chain + 1, target->name ? target->name : "");
        if (size < 1e-100)
            return ais_fail(context, AIS_BAD_DENSITY,
                            "chain %u: no leapfrog step of target %.100s is small enough to be accepted: is its "
                            "gradient right, and its density continuous?",
                            stream->chain + 1, target->name ? target->name : "");
        status = energy_growth(context, target, metric, start, scratch, size, &growth);
    }
    *step_size = size;
    return status;
}

static ais_status search(ais_context *context, const ais_state *state, ais_tuned_chain *chain, int lane,
                         const ais_tuning_options *options, uint64_t step, ais_phase *start, ais_phase *scratch) {
    ais_state at = *state;
    at.step = step;
    ais_stream stream = ais_state_stream(&at, lane, AIS_FOR_STEP_SIZE);
    ais_status status =
        ais_find_step_size(context, state->target, &chain->metric, &stream, start, scratch, &chain->step_size);
    /* Ten times the found size: larger steps are tried first, being cheaper (Hoffman and Gelman). */
    ais_dual_averaging_restart(&chain->averaging, AIS_STAN_GAMMA, options->target_accept, log(10 * chain->step_size));
    return status;
}

static ais_status first_gradient(ais_context *context, const ais_state *state, ais_tuned_chain *chain, int lane,
                                 ais_phase *phase) {
    chain->version = state->version[lane] - 1;
    ais_status status = ais_tuned_chain_load(context, state, chain, lane, phase);
    for (int i = 0; status == AIS_OK && i < state->target->dim; i++)
        if (!isfinite(phase->gradient[i]))
            return ais_fail(context, AIS_BAD_DENSITY,
                            "coordinate %d of the gradient of target %.100s is %g where chain %u starts, at a point of "
                            "positive density (that coordinate is %.17g there): the gradient must be finite",
                            i + 1, state->target->name ? state->target->name : "", phase->gradient[i],
                            state->chain + (uint32_t)lane + 1, phase->x[i]);
    return status;
}

static ais_status chain_new(ais_context *context, ais_state *state, const ais_tuning_options *options, int lane,
                            ais_phase *start, ais_phase *scratch, ais_tuned_chain *chain) {
    int dim = state->target->dim;
    bool tuned = options->step_size == 0;
    chain->left = tuned && state->warmup > state->step ? state->warmup - state->step : 0;
    chain->windows = ais_windows_new(options->unit ? 0 : chain->left);
    chain->gradient = AIS_TAKE(&state->arena, double, dim);
    if (!chain->gradient || !ais_metric_take(&chain->metric, &state->arena, dim, options->dense) ||
        (chain->left && !ais_welford_take(&chain->welford, &state->arena, dim, options->dense)))
        return ais_fail_memory(context, "a chain's metric",
                               (size_t)dim * (options->dense ? (size_t)dim : 1) * sizeof(double));
    ais_status status = first_gradient(context, state, chain, lane, start);
    chain->step_size = tuned ? 1 : options->step_size;
    if (status != AIS_OK || !tuned) return status;
    return search(context, state, chain, lane, options, state->step, start, scratch);
}

ais_status ais_tuned_chains_new(ais_context *context, const ais_kernel *kernel, ais_state *state,
                                const ais_tuning_options *options, ais_phase *start, ais_phase *scratch,
                                ais_tuned_chain **out) {
    const ais_target *target = state->target;
    const char *name = kernel->type->name;
    if (!target->grad)
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "%s needs the gradient of the log density, and target %.100s has none: give it one, or use "
                        "rwm or a learned kernel",
                        name, target->name ? target->name : "");
    ais_tuned_chain *chains = AIS_TAKE(&state->arena, ais_tuned_chain, state->chains);
    if (!chains) return ais_fail_memory(context, "chains", (size_t)state->chains * sizeof *chains);
    *out = chains;
    ais_status status = AIS_OK;
    for (int c = 0; status == AIS_OK && c < state->chains; c++)
        status = chain_new(context, state, options, c, start, scratch, &chains[c]);
    return status;
}

ais_status ais_tuned_chain_load(ais_context *context, const ais_state *state, ais_tuned_chain *chain, int lane,
                                ais_phase *phase) {
    size_t dim = (size_t)state->target->dim;
    for (size_t i = 0; i < dim; i++) phase->x[i] = state->x[i * (size_t)state->lanes + (size_t)lane];
    if (chain->version == state->version[lane]) {
        memcpy(phase->gradient, chain->gradient, dim * sizeof(double));
        phase->logp = chain->logp;
        return AIS_OK;
    }
    ais_status status = ais_phase_evaluate(context, state->target, phase);
    if (status != AIS_OK) return status;
    memcpy(chain->gradient, phase->gradient, dim * sizeof(double));
    chain->logp = phase->logp;
    chain->version = state->version[lane];
    return AIS_OK;
}

void ais_tuned_chain_move(ais_state *state, ais_tuned_chain *chain, int lane, const double *x, const double *gradient,
                          double logp) {
    size_t dim = (size_t)state->target->dim;
    for (size_t i = 0; i < dim; i++) state->x[i * (size_t)state->lanes + (size_t)lane] = x[i];
    memcpy(chain->gradient, gradient, dim * sizeof(double));
    state->logp[lane] = chain->logp = logp;
    chain->version = ++state->version[lane];
}

/* A window's end: its variances become the metric, and the step size is searched and averaged from the start. */
static ais_status new_metric(ais_context *context, const ais_state *state, ais_tuned_chain *chain, int lane,
                             ais_phase *start, ais_phase *scratch) {
    if (!ais_metric_learn(&chain->metric, &chain->welford))
        return ais_fail(context, AIS_BAD_DENSITY,
                        "chain %u: the variances of warm-up overflow: is the integral of target %.100s finite?",
                        state->chain + (uint32_t)lane + 1, state->target->name ? state->target->name : "");
    ais_welford_restart(&chain->welford);
    ais_tuning_options options = {.target_accept = chain->averaging.target};
    /* The next step's number: init has used this one's for its own search. */
    return search(context, state, chain, lane, &options, state->step + 1, start, scratch);
}

ais_status ais_tuned_chain_learn(ais_context *context, const ais_state *state, ais_tuned_chain *chain, int lane,
                                 double acceptance, ais_phase *start, ais_phase *scratch) {
    if (chain->left == 0) return AIS_OK;
    chain->left--;
    chain->step_size = ais_dual_averaging_next(&chain->averaging, acceptance);
    ais_window window = ais_windows_advance(&chain->windows);
    if (window != AIS_WINDOW_OUTSIDE) {
        ais_status status = ais_tuned_chain_load(context, state, chain, lane, start);
        if (status != AIS_OK) return status;
        ais_welford_add(&chain->welford, start->x);
        if (window == AIS_WINDOW_END) status = new_metric(context, state, chain, lane, start, scratch);
        if (status != AIS_OK) return status;
    }
    if (chain->left == 0) chain->step_size = ais_dual_averaging_final(&chain->averaging, chain->step_size);
    return AIS_OK;
}

void ais_tuned_chain_persist(ais_tuned_chain *chain, const ais_state *state, int lane, ais_record *record) {
    size_t dim = (size_t)state->target->dim;
    ais_record_fresh(record, &chain->version, state->version[lane]);
    ais_record_bytes(record, chain->gradient, dim * sizeof *chain->gradient);
    ais_record_bytes(record, &chain->logp, sizeof chain->logp);
    ais_record_bytes(record, &chain->step_size, sizeof chain->step_size);
    ais_record_bytes(record, &chain->left, sizeof chain->left);
    ais_record_bytes(record, &chain->averaging, sizeof chain->averaging);
    ais_record_bytes(record, &chain->windows, sizeof chain->windows);
    ais_metric_persist(&chain->metric, record);
    if (chain->welford.mean) ais_welford_persist(&chain->welford, record);
}
