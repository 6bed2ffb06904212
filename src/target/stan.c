/* A Stan program's density, what is shown of a draw, and the report of its errors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/stan_model.h"

/* ---- calls --------------------------------------------------------------------------------------- */

pthread_mutex_t ais_stan_alone = PTHREAD_MUTEX_INITIALIZER;

/* The library for which this thread has a stack of derivatives. */
static _Thread_local const void *settled;

static void settle(const ais_stan *stan) {
    double *room = calloc(2 * (size_t)stan->dim, sizeof *room), value;
    char *message = NULL;
    if (!room) return;
    stan->bridge.gradient(stan->model, stan->propto, true, room, &value, room + stan->dim, &message);
    if (message) stan->bridge.free_message(message);
    free(room);
    settled = stan->bridge.library;
}

static void enter(const ais_stan *stan) {
    if (stan->alone) pthread_mutex_lock(&ais_stan_alone);
    if (stan->settles && settled != stan->bridge.library) settle(stan);
}

static void leave(const ais_stan *stan) {
    if (stan->alone) pthread_mutex_unlock(&ais_stan_alone);
}

/* Counts a failure; takes the message over. */
static void fail_at(ais_stan *stan, ais_stan_failures *of, const double *x, const char *why, char *message) {
    double distance = 0;
    for (int i = 0; i < stan->dim; i++) distance += x[i] * x[i];
    ais_stan_record_lock(stan->record);
    if (atomic_load(&of->count) == 0 || distance < of->distance ||
        (distance == of->distance && memcmp(x, of->x, (size_t)stan->dim * sizeof *x) < 0)) {
        of->distance = distance;
        memcpy(of->x, x, (size_t)stan->dim * sizeof *x);
        ais_bridge_line(message ? message : why, of->message, sizeof of->message);
    }
    atomic_fetch_add(&of->count, 1);
    ais_stan_record_unlock(stan->record);
}

static double settle_value(ais_stan *stan, const double *x, int code, double value, char *message) {
    bool good = code == 0 && !isnan(value) && value < INFINITY;
    if (!good)
        fail_at(stan, &stan->record->density, x,
                code == 0 ? isnan(value) ? "the log density is NaN" : "the log density is infinite" : "no reason given",
                message);
    if (message) stan->bridge.free_message(message);
    return good ? value : -INFINITY;
}

double ais_stan_logp(const double *x, void *data) {
    ais_stan *stan = data;
    double value = NAN;
    char *message = NULL;
    atomic_fetch_add_explicit(&stan->record->points, 1, memory_order_relaxed);
    enter(stan);
    int code = stan->bridge.density(stan->model, stan->propto, true, x, &value, &message);
    leave(stan);
    return settle_value(stan, x, code, value, message);
}

double ais_stan_grad(const double *x, double *gradient, void *data) {
    ais_stan *stan = data;
    double value = NAN;
    char *message = NULL;
    atomic_fetch_add_explicit(&stan->record->points, 1, memory_order_relaxed);
    enter(stan);
    int code = stan->bridge.gradient(stan->model, stan->propto, true, x, &value, gradient, &message);
    leave(stan);
    value = settle_value(stan, x, code, value, message);
    if (value == -INFINITY) memset(gradient, 0, (size_t)stan->dim * sizeof *gradient);
    return value;
}

/* ---- what is shown of a draw ---------------------------------------------------------------------- */

/* The bits of a number mixed: neighbours have nothing in common (SplitMix64's finaliser). */
static unsigned mixed(uint64_t number) {
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
    number = (number ^ number >> 27) * 0x94d049bb133111eb;
    return (unsigned)(number >> 32);
}

/* If generated quantities fail the rest stays valid; if transformed parameters fail, the parameters do. */
static void show_row(ais_stan *stan, const double *x, bs_rng *rng, double *value) {
    char *message = NULL;
    int depth = 3, code = stan->bridge.constrain(stan->model, true, rng != NULL, x, value, rng, &message);
    if (code == 0 && (rng || stan->values[2] == stan->values[1])) return;
    if (code == 0) depth = 2; /* there was no memory for a generator */
    fail_at(stan, &stan->record->shown, x, "memory is out", message);
    while (code != 0 && --depth > 0) {
        if (message) stan->bridge.free_message(message);
        message = NULL;
        code = stan->bridge.constrain(stan->model, depth > 1, false, x, value, NULL, &message);
    }
    if (message) stan->bridge.free_message(message);
    for (int i = code == 0 ? stan->values[depth - 1] : 0; i < stan->values[2]; i++) value[i] = NAN;
}

static bs_rng *new_rng(const ais_stan *stan, uint64_t stream) {
    char *message = NULL;
    bs_rng *rng = stan->bridge.rng(mixed(stream), &message);
    if (message) stan->bridge.free_message(message);
    return rng;
}

/* A generator for every row: random values must not depend on how draws are divided among calls. Starting one takes 20
 * us in newer versions of Stan, so programs without random numbers get none. */
void ais_stan_show(size_t n, const double *x, uint64_t stream, double *value, double *slope, void *data) {
    ais_stan *stan = data;
    bs_rng *rng = NULL;
    for (size_t r = 0; r < n; r++) {
        enter(stan);
        if (stan->values[2] > stan->values[1] && !rng) rng = new_rng(stan, stream + r);
        show_row(stan, x + r * (size_t)stan->dim, rng, value + r * (size_t)stan->values[2]);
        if (rng && (stan->random || r + 1 == n)) {
            stan->bridge.free_rng(rng);
            rng = NULL;
        }
        leave(stan);
        slope[r] = 0; /* lp__ is Stan's: of the unconstrained parameters */
    }
}

/* ---- what is reported at the end ------------------------------------------------------------------ */

/* "mu = 1.5, tau = -3 and 8 more" */
static void write_point(const ais_stan *stan, const double *x, char *text, size_t size) {
    enum { most = 3 };
    size_t used = 0;
    for (int i = 0; i < stan->dim && i < most && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.20s = %.4g", i ? ", " : "", stan->names[i], x[i]);
    if (stan->dim > most && used < size) snprintf(text + used, size - used, " and %d more", stan->dim - most);
}

static size_t tell_failures(const ais_stan *stan, const ais_stan_failures *of, const char *what, char *text,
                            size_t size) {
    char point[140] = "";
    write_point(stan, of->x, point, sizeof point);
    int used = snprintf(text, size, "%s, for instance \"%s\" where unconstrained %s", what, of->message, point);
    return used < 0 ? 0 : (size_t)used < size ? (size_t)used : size - 1;
}

void ais_stan_tell(char *text, size_t size, void *data) {
    ais_stan *stan = data;
    char what[140];
    size_t used = 0;
    text[0] = '\0';
    long failed = atomic_load(&stan->record->density.count), unshown = atomic_load(&stan->record->shown.count);
    ais_stan_record_lock(stan->record);
    if (failed > 0) {
        snprintf(what, sizeof what, "the Stan program failed at %ld of %ld points, which have log density -inf", failed,
                 atomic_load(&stan->record->points));
        used = tell_failures(stan, &stan->record->density, what, text, size);
    }
    if (unshown > 0) {
        snprintf(what, sizeof what, "%swhat it computes from %ld draws failed and is NaN",
                 used ? "; " : "in the Stan program ", unshown);
        tell_failures(stan, &stan->record->shown, what, text + used, size - used);
    }
    ais_stan_record_unlock(stan->record);
}
