#include "target/together.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST = AIS_TOGETHER_POINTS };

typedef struct meeting {
    const ais_target *target;
    int count;
    const double *point, *value;
    double by_gradient[MOST]; /* logp as grad returns it */
    bool alone;
    atomic_int arrived; /* at the door of a round */
    atomic_bool over;   /* an answer was different */
    atomic_int found;
    double answer;
} meeting;

typedef struct guest {
    meeting *at;
    int number; /* 0, 1 */
    double *room;
} guest;

void ais_together_cost(const ais_target *target, int count, long *densities, long *gradients) {
    int n = count < MOST ? count : MOST;
    *densities = 2L * n * (target->batch ? 2 : 1);
    *gradients = target->grad ? 3L * n : 0;
}

static void compare(meeting *at, int k, double answer, double wanted) {
    if (fabs(answer - wanted) <= 1e-9 * fmax(1, fabs(wanted)) || atomic_exchange(&at->over, true)) return;
    at->answer = answer;
    atomic_store(&at->found, k);
}

/* Both begin a round at the same moment, as far as the machine allows. */
static void meet(meeting *at, int round) {
    if (at->alone) return;
    atomic_fetch_add(&at->arrived, 1);
    for (long spins = 0; atomic_load(&at->arrived) < 2 * (round + 1) && !atomic_load(&at->over); spins++)
        if (spins % 1024 == 1023) sched_yield();
}

static void ask_points(const guest *who) {
    meeting *at = who->at;
    const ais_target *target = at->target;
    size_t dim = (size_t)target->dim;
    for (int j = 0; j < at->count; j++) {
        int k = who->number ? at->count - 1 - j : j;
        compare(at, k, target->logp(at->point + (size_t)k * dim, target->data), at->value[k]);
    }
}

static void ask_batch(const guest *who) {
    meeting *at = who->at;
    size_t dim = (size_t)at->target->dim, n = (size_t)at->count;
    double result[MOST];
    for (size_t c = 0; c < n; c++)
        for (size_t i = 0; i < dim; i++) who->room[i * n + c] = at->point[(who->number ? n - 1 - c : c) * dim + i];
    at->target->batch(n, who->room, result, at->target->data);
    for (size_t c = 0; c < n; c++) {
        size_t k = who->number ? n - 1 - c : c;
        compare(at, (int)k, result[c], at->value[k]);
    }
}

static void ask_gradients(const guest *who) {
    meeting *at = who->at;
    const ais_target *target = at->target;
    for (int j = 0; j < at->count; j++) {
        int k = who->number ? at->count - 1 - j : j;
        double logp = target->grad(at->point + (size_t)k * (size_t)target->dim, who->room, target->data);
        compare(at, k, logp, at->by_gradient[k]);
    }
}

static void *visit(void *data) {
    const guest *who = data;
    meeting *at = who->at;
    int round = 0;
    meet(at, round++);
    ask_points(who);
    if (at->target->batch) {
        meet(at, round++);
        ask_batch(who);
    }
    if (at->target->grad) {
        meet(at, round);
        ask_gradients(who);
    }
    return NULL;
}

bool ais_ask_together(const ais_target *target, int count, const double *point, const double *value,
                      const ais_check *how, int *found, double *answer) {
    size_t dim = (size_t)target->dim;
    meeting at = {.target = target,
                  .count = count < MOST ? count : MOST,
                  .point = point,
                  .value = value,
                  .alone = how->threads == 1,
                  .found = -1};
    double *room = malloc(2 * MOST * dim * sizeof *room);
    *found = -1;
    if (!room) return false;
    guest who[2] = {{&at, 0, room}, {&at, 1, room + MOST * dim}};
    for (int k = 0; target->grad && k < at.count; k++)
        at.by_gradient[k] = target->grad(point + (size_t)k * dim, room, target->data);
    pthread_t second;
    if (!at.alone && pthread_create(&second, NULL, visit, &who[1]) != 0) at.alone = true;
    if (at.alone) visit(&who[1]);
    visit(&who[0]);
    if (!at.alone) pthread_join(second, NULL);
    free(room);
    *found = atomic_load(&at.found);
    *answer = at.answer;
    return true;
}
