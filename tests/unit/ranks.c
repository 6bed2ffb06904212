/* Ranks without MPI: threads of this process that exchange through shared memory. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "nn/batch.h"

enum { MOST_RANKS = 7, BLOCKS = 11, COUNT = 1500 };

/* ---- a messenger ----------------------------------------------------------------------------------- */

typedef struct party {
    int size;
    pthread_barrier_t barrier;
    void *of[MOST_RANKS];
    bool backwards; /* sums in the other order */
} party;

typedef struct member {
    party *party;
    ais_ranks ranks;
} member;

static void combine(member *m, double *value, size_t count, bool sum) {
    party *p = m->party;
    double *result = malloc(count * sizeof *result);
    p->of[m->ranks.rank] = value;
    pthread_barrier_wait(&p->barrier);
    for (size_t i = 0; i < count; i++) {
        result[i] = sum ? 0 : -INFINITY;
        for (int k = 0; k < p->size; k++) {
            double other = ((double *)p->of[p->backwards ? p->size - 1 - k : k])[i];
            result[i] = sum ? result[i] + other : fmax(result[i], other);
        }
    }
    pthread_barrier_wait(&p->barrier);
    memcpy(value, result, count * sizeof *value);
    free(result);
}

static bool sum(void *data, double *value, size_t count) {
    combine(data, value, count, true);
    return true;
}

static bool largest(void *data, double *value, size_t count) {
    combine(data, value, count, false);
    return true;
}

static bool first(void *data, void *value, size_t bytes) {
    member *m = data;
    m->party->of[m->ranks.rank] = value;
    pthread_barrier_wait(&m->party->barrier);
    if (m->ranks.rank > 0) memcpy(value, m->party->of[0], bytes);
    pthread_barrier_wait(&m->party->barrier);
    return true;
}

static bool share(void *data, void *base, const size_t *bytes) {
    member *m = data;
    m->party->of[m->ranks.rank] = base;
    pthread_barrier_wait(&m->party->barrier);
    size_t at = 0;
    for (int r = 0; r < m->party->size; at += bytes[r++])
        if (r != m->ranks.rank) memcpy((char *)base + at, (char *)m->party->of[r] + at, bytes[r]);
    pthread_barrier_wait(&m->party->barrier);
    return true;
}

static bool collect(void *data, void *base, const size_t *bytes) {
    member *m = data;
    m->party->of[m->ranks.rank] = base;
    pthread_barrier_wait(&m->party->barrier);
    size_t at = 0;
    for (int r = 0; m->ranks.rank == 0 && r < m->party->size; at += bytes[r++])
        if (r > 0) memcpy((char *)base + at, m->party->of[r], bytes[r]);
    pthread_barrier_wait(&m->party->barrier);
    return true;
}

static void with_ranks(int size, bool backwards, void *(*job)(void *)) {
    party p = {.size = size, .backwards = backwards};
    member m[MOST_RANKS];
    pthread_t thread[MOST_RANKS];
    pthread_barrier_init(&p.barrier, NULL, (unsigned)size);
    for (int r = 0; r < size; r++) {
        m[r] = (member){.party = &p};
        m[r].ranks = (ais_ranks){r, size, sum, largest, first, share, collect, &m[r]};
        pthread_create(&thread[r], NULL, job, &m[r].ranks);
    }
    for (int r = 0; r < size; r++) pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&p.barrier);
}

/* ---- parts ----------------------------------------------------------------------------------------- */

static void parts_cover_everything_once(void **state) {
    (void)state;
    for (int size = 1; size <= MOST_RANKS; size++)
        for (int count = 0; count < 20; count++) {
            ais_ranks ranks = {.size = size};
            int next = 0;
            for (ranks.rank = 0; ranks.rank < size; ranks.rank++) {
                ais_part part = ais_ranks_part(&ranks, count);
                assert_int_equal(part.first, next);
                assert_true(part.end >= part.first && part.end - part.first <= count / size + 1);
                next = part.end;
            }
            assert_int_equal(next, count);
        }
    assert_int_equal(ais_ranks_part(NULL, 9).end, 9);
}

/* ---- sums ------------------------------------------------------------------------------------------ */

/* Terms of very different size, so that the order of an ordinary sum shows. */
static double term(int b, size_t i) {
    ais_stream stream = {.seed = 3, .step = i, .chain = (uint32_t)b, .purpose = AIS_FOR_BATCH};
    double u = ais_random_uniform(&stream, 0), v = ais_random_uniform(&stream, 1);
    return (u - 0.5) * exp(20 * v - 15);
}

static bool poisoned;

static void fill_block(void *data, int b, ais_real *gradient, double *loss) {
    (void)data;
    for (size_t i = 0; i < COUNT; i++) gradient[i] = (ais_real)term(b, i);
    *loss = term(b, COUNT);
    if (poisoned && b == BLOCKS - 1) gradient[COUNT - 1] = (ais_real)NAN;
}

static ais_real answer[COUNT];
static double answer_loss;

static void *sum_batch(void *argument) {
    const ais_ranks *ranks = argument;
    ais_arena arena = {0};
    ais_context context;
    ais_pool *pool = NULL;
    ais_batch batch;
    ais_pool_new(&context, 2, &pool);
    ais_pool_join(pool, ranks);
    ais_batch_new(&batch, pool, BLOCKS, COUNT, &arena);
    double loss = ais_batch_run(&batch, fill_block, NULL);
    if (!ranks || ranks->rank == ranks->size - 1) {
        memcpy(answer, batch.gradient, sizeof answer);
        answer_loss = loss;
    }
    ais_pool_free(pool);
    ais_arena_free(&arena);
    return NULL;
}

static void sums_do_not_depend_on_ranks(void **state) {
    (void)state;
    ais_real wanted[COUNT];
    sum_batch(NULL);
    memcpy(wanted, answer, sizeof wanted);
    double wanted_loss = answer_loss;
    for (size_t i = 0; i < COUNT; i++) {
        double plain = 0, top = 0;
        for (int b = 0; b < BLOCKS; b++) {
            plain += (double)(ais_real)term(b, i);
            top = fmax(top, fabs(plain));
        }
        assert_true(fabs((double)wanted[i] - plain) <= 1e-7 * top + 1e-8 * 150);
    }
    for (int size = 1; size <= MOST_RANKS; size++)
        for (int backwards = 0; backwards < 2; backwards++) {
            memset(answer, 0, sizeof answer);
            with_ranks(size, backwards, sum_batch);
            assert_memory_equal(answer, wanted, sizeof wanted);
            assert_true(answer_loss == wanted_loss);
        }
    /* an ordinary sum of floats would have been caught */
    int differ = 0;
    for (size_t i = 0; i < COUNT; i++) {
        ais_real up = 0, down = 0;
        for (int b = 0; b < BLOCKS; b++) {
            up += (ais_real)term(b, i);
            down += (ais_real)term(BLOCKS - 1 - b, i);
        }
        differ += up != down;
    }
    assert_true(differ > COUNT / 10);
}

static void what_is_not_finite_gives_no_sum(void **state) {
    (void)state;
    poisoned = true;
    for (int size = 1; size <= 3; size++) {
        with_ranks(size, false, sum_batch);
        assert_true(isnan(answer_loss) && isnan(answer[0]));
    }
    poisoned = false;
}

/* ---- failures -------------------------------------------------------------------------------------- */

static ais_status outcome[MOST_RANKS];
static char said[MOST_RANKS][64];

static void *fail_on_two(void *argument) {
    const ais_ranks *ranks = argument;
    ais_context context = {0};
    ais_status status = AIS_OK;
    if (ranks->rank == 2) status = ais_fail(&context, AIS_BAD_DENSITY, "two");
    if (ranks->rank == 4) status = ais_fail(&context, AIS_FILE_ERROR, "four");
    outcome[ranks->rank] = ais_ranks_agree(&context, ranks, status);
    snprintf(said[ranks->rank], sizeof said[0], "%.60s", context.message);
    return NULL;
}

static void all_fail_as_the_first_does(void **state) {
    (void)state;
    with_ranks(5, false, fail_on_two);
    for (int r = 0; r < 5; r++) {
        assert_int_equal(outcome[r], AIS_BAD_DENSITY);
        assert_string_equal(said[r], "two");
    }
    with_ranks(2, false, fail_on_two);
    assert_int_equal(outcome[0], AIS_OK);
    ais_context context = {0};
    assert_int_equal(ais_ranks_agree(&context, NULL, AIS_STOPPED), AIS_STOPPED);
}

static bool nobody(void *data, double *value, size_t count) {
    (void)data, (void)value, (void)count;
    return false;
}

static void a_lost_rank_stops_the_job(void **state) {
    (void)state;
    ais_context context = {0};
    double value = 1;
    ais_ranks ranks = {.size = 2, .sum = nobody, .largest = nobody};
    assert_int_equal(ais_ranks_sum(&context, &ranks, &value, 1), AIS_STOPPED);
    assert_int_equal(ais_ranks_agree(&context, &ranks, AIS_OK), AIS_STOPPED);
    assert_string_equal(context.message, "another rank was lost");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_cover_everything_once),     cmocka_unit_test(sums_do_not_depend_on_ranks),
        cmocka_unit_test(what_is_not_finite_gives_no_sum), cmocka_unit_test(all_fail_as_the_first_does),
        cmocka_unit_test(a_lost_rank_stops_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
