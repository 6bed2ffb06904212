/* Work in a process of its own: what it says comes back, and whatever becomes of it is a status with a sentence. */
#include "support.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/apart.h"
#include "base/memory_file.h"

typedef struct task {
    int number;
    const char *ending;
} task;

static ais_status work(ais_context *context, void *data) {
    task *this = data;
    this->number = 42; /* there, not here */
    if (strcmp(this->ending, "crash") == 0) raise(SIGSEGV);
    if (strcmp(this->ending, "abort") == 0) abort();
    if (strcmp(this->ending, "exit") == 0) _exit(0);
    if (strcmp(this->ending, "print") == 0) fprintf(stderr, "nobody reads this\n");
    for (volatile long k = 0; strcmp(this->ending, "loop") == 0; k++) continue;
    if (strcmp(this->ending, "fail") == 0) return ais_fail(context, AIS_BAD_FORMAT, "line 7 is odd");
    return AIS_OK;
}

static bool give(void *data, int descriptor) {
    return ais_apart_write(descriptor, &((task *)data)->number, sizeof(int));
}

static ais_status take(ais_context *context, void *data, int descriptor) {
    int *number = &((task *)data)->number;
    return ais_apart_read(descriptor, number, sizeof *number) ? AIS_OK : ais_fail(context, AIS_FILE_ERROR, "cut off");
}

static ais_status run(ais_context *context, task *this, bool hands_over) {
    const ais_apart_job job = {.doing = "read it",
                               .death = "it died",
                               .blame = AIS_FILE_ERROR,
                               .seconds = 0.5,
                               .work = work,
                               .give = hands_over ? give : NULL,
                               .take = hands_over ? take : NULL,
                               .data = this};
    return ais_apart(context, &job);
}

static void what_it_says(void **state) {
    (void)state;
    ais_context context = {0};
    task this = {.ending = ""};
    assert_ok(context, run(&context, &this, false));
    assert_int_equal(this.number, 0);
    assert_ok(context, run(&context, &this, true));
    assert_int_equal(this.number, 42);
    this.ending = "print";
    assert_ok(context, run(&context, &this, true));
    this.ending = "fail";
    assert_int_equal(run(&context, &this, true), AIS_BAD_FORMAT);
    assert_string_equal(context.message, "line 7 is odd");
}

static void how_it_ends(void **state) {
    (void)state;
    static const char *const endings[] = {"crash", "abort", "exit", "loop"};
    for (int k = 0; k < 4; k++) {
        ais_context context = {0};
        task this = {.ending = endings[k]};
        assert_int_equal(run(&context, &this, true), AIS_FILE_ERROR);
        assert_string_equal(context.message, "cannot read it: it died");
    }
}

static void serve(void *data, int descriptor) {
    int *shared = data, next;
    while (ais_apart_read(descriptor, &next, sizeof next)) {
        if (next < 0) abort();
        *shared += next;
        if (!ais_apart_write(descriptor, &next, sizeof next)) return;
    }
}

/* It lives until it is let go, and its death is noticed without a signal here. */
static void a_servant(void **state) {
    (void)state;
    int *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), answer;
    assert_true(shared != MAP_FAILED);
    ais_servant servant;
    assert_true(ais_apart_begin(&servant, serve, shared));
    for (int next = 1; next <= 3; next++) {
        assert_true(ais_apart_write(servant.descriptor, &next, sizeof next));
        assert_true(ais_apart_read(servant.descriptor, &answer, sizeof answer));
        assert_int_equal(answer, next);
    }
    assert_int_equal(*shared, 6);
    int last = -1;
    assert_true(ais_apart_write(servant.descriptor, &last, sizeof last));
    assert_false(ais_apart_read(servant.descriptor, &answer, sizeof answer));
    (void)ais_apart_write(servant.descriptor, &last, sizeof last);
    ais_apart_end(&servant);
    ais_apart_end(&servant);
    munmap(shared, sizeof *shared);
}

/* A file in memory gives all or nothing: one that lacks a part is NULL. */
static void a_file_in_memory(void **state) {
    (void)state;
    ais_memory_file file;
    size_t count;
    assert_non_null(ais_memory_open(&file));
    for (int k = 0; k < 10000; k++) fprintf(file.file, "%d\n", k % 10);
    assert_int_equal(ftell(file.file), 20000);
    char *text = ais_memory_close(&file, &count);
    assert_non_null(text);
    assert_int_equal(count, 20000);
    assert_int_equal(strlen(text), 20000);
    free(text);
    assert_non_null(ais_memory_open(&file));
    fputs("whole", file.file);
    file.failed = true; /* as when realloc fails */
    assert_null(ais_memory_close(&file, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says),
        cmocka_unit_test(how_it_ends),
        cmocka_unit_test(a_servant),
        cmocka_unit_test(a_file_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
