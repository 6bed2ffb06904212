/* The trainings of A-NICE-MC. Each runs on one thread and they take most of the time, so as many go on at once as there
 * are threads, the longest first, before anything else is measured. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reproduce/reproduce.h"

static const struct {
    const char *experiment, *target;
    int draws;
} wanted[] = {{"regressions", "german", REGRESSION_DRAWS},
              {"regressions", "australian", REGRESSION_DRAWS},
              {"regressions", "heart", REGRESSION_DRAWS},
              {"plane", "mog6", PLANE_DRAWS},
              {"plane", "mog2", PLANE_DRAWS},
              {"plane", "ring", PLANE_DRAWS},
              {"plane", "ring5", PLANE_DRAWS},
              {"triangle", "triangle", PLANE_DRAWS}};
enum { JOBS = sizeof wanted / sizeof *wanted };

struct baselines {
    const reproduction *set;
    pthread_mutex_t lock;
    int next, code; /* the first job that is not taken; of the first one that failed */
    bool skipped[JOBS];
    entry made[JOBS];
};

static int train(const reproduction *set, int job, entry *made) {
    ais_context context = {0};
    ais_target *target = NULL;
    if (ais_target_open(&context, wanted[job].target, &target) != AIS_OK) return failed(&context);
    const contest how = trial_contest(set, target, wanted[job].draws);
    int code = entry_make(&how, find_contestant("anice"), made);
    ais_target_close(target);
    if (code == 0 && !set->quiet) fprintf(stderr, "  A-NICE-MC on %s: %.0f s\n", wanted[job].target, made->seconds);
    return code;
}

/* The next job, or JOBS when there is none or one has failed. */
static int take_job(baselines *all) {
    pthread_mutex_lock(&all->lock);
    while (all->next < JOBS && all->skipped[all->next]) all->next++;
    int job = all->code != 0 || all->next >= JOBS ? JOBS : all->next++;
    pthread_mutex_unlock(&all->lock);
    return job;
}

static void *work(void *data) {
    baselines *all = data;
    for (int job; (job = take_job(all)) < JOBS;) {
        int code = train(all->set, job, &all->made[job]);
        pthread_mutex_lock(&all->lock);
        if (all->code == 0) all->code = code;
        pthread_mutex_unlock(&all->lock);
    }
    return NULL;
}

int baselines_make(reproduction *set, const char *only) {
    enum { MOST = JOBS };
    pthread_t thread[MOST];
    long cores = set->threads > 0 ? set->threads : sysconf(_SC_NPROCESSORS_ONLN), helpers = 0;
    baselines *all = calloc(1, sizeof *all);
    if (!all) return complain(EXIT_FAILED, "out of memory");
    set->anice = all;
    all->set = set;
    bool any = false;
    for (int job = 0; job < JOBS; job++) {
        all->skipped[job] = only && strcmp(only, wanted[job].experiment) != 0;
        any |= !all->skipped[job];
    }
    if (any && !set->quiet) fprintf(stderr, "A-NICE-MC: its trainings\n");
    pthread_mutex_init(&all->lock, NULL);
    while (helpers + 1 < cores && helpers < MOST && pthread_create(&thread[helpers], NULL, work, all) == 0) helpers++;
    work(all);
    while (helpers > 0) pthread_join(thread[--helpers], NULL);
    return all->code;
}

entry baselines_take(reproduction *set, const char *target) {
    entry made = {0};
    for (int job = 0; job < JOBS; job++) {
        if (strcmp(wanted[job].target, target) != 0) continue;
        made = set->anice->made[job];
        set->anice->made[job] = (entry){0};
    }
    return made;
}

void baselines_free(reproduction *set) {
    if (!set->anice) return;
    for (int job = 0; job < JOBS; job++) entry_free(&set->anice->made[job]);
    pthread_mutex_destroy(&set->anice->lock);
    free(set->anice);
    set->anice = NULL;
}
