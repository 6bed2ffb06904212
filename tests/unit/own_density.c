/* Densities from C files and shared objects: the cache, odd paths, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aisampler/target.h>

static char folder[] = "/tmp/aisampler-test-XXXXXX";
static char cache[100];

static const char head[] = "#include <aisampler/density.h>\n"
                           "static double logp(const double *x, void *data) { (void)data; return -x[0] * x[0]; }\n";

static const char *file(const char *name, const char *first, const char *second) {
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(first, out);
    fputs(second, out);
    fclose(out);
    return path;
}

static ais_target *opened(const char *spec) {
    ais_context context = {0};
    ais_target *target;
    if (ais_target_open(&context, spec, &target) != AIS_OK) fail_msg("%s: %s", spec, context.message);
    return target;
}

static void refused(const char *spec, ais_status status, const char *words) {
    ais_context context = {0};
    ais_target *target;
    ais_status got = ais_target_open(&context, spec, &target);
    if (got != status) fail_msg("%s: status %d, %s", spec, got, context.message);
    if (!strstr(context.message, words)) fail_msg("'%s' is not in: %s", words, context.message);
    assert_null(strchr(context.message, '\n'));
}

/* Objects in the cache, and what else is left there. */
static int objects(int *others) {
    int count = 0;
    *others = 0;
    char path[200];
    snprintf(path, sizeof path, "%s/aisampler", cache);
    DIR *open = opendir(path);
    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));) {
        if (entry->d_name[0] == '.') continue;
        if (strstr(entry->d_name, ".so"))
            count++;
        else
            ++*others;
    }
    closedir(open);
    return count;
}

static void the_example(void **state) {
    (void)state;
    ais_target *target = opened("examples/03_own_density.c");
    ais_context context = {0};
    assert_int_equal(target->dim, 3);
    assert_string_equal(target->name, "examples/03_own_density.c");
    assert_string_equal(target->names[2], "log_s");
    if (ais_target_check(&context, target, 1, NULL) != AIS_OK) fail_msg("%s", context.message);
    ais_target_close(target);
}

static void compiled_once(void **state) {
    (void)state;
    int others, before = objects(&others);
    assert_int_equal(others, 0);
    for (int k = 0; k < 3; k++)
        ais_target_close(opened(file("once.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};")));
    assert_int_equal(objects(&others), before + 1);
    ais_target *target =
        opened(file("once.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp, .start_scale = 3};"));
    assert_int_equal(target->dim, 2);
    assert_true(target->start_scale == 3);
    ais_target_close(target);
    assert_int_equal(objects(&others), before + 2);
    assert_int_equal(others, 0);
}

/* A header of the caller's own is part of the content. */
static void included_files_count(void **state) {
    (void)state;
    for (int dim = 4; dim < 6; dim++) {
        char text[40];
        snprintf(text, sizeof text, "#define DIM %d\n", dim);
        file("dim.h", text, "");
        ais_target *target = opened(
            file("with.c", head, "#include \"dim.h\"\nAIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp};"));
        assert_int_equal(target->dim, dim);
        ais_target_close(target);
    }
}

static void odd_paths(void **state) {
    (void)state;
    const char *name[] = {"a b.c", "it's \"quoted\" $(x) `y`.c", "-o.c", "%s%n.c"};
    for (size_t k = 0; k < 4; k++) {
        ais_target *target = opened(file(name[k], head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};"));
        assert_non_null(strstr(target->name, name[k]));
        assert_true(target->logp((double[]){1.5}, target->data) == -2.25);
        ais_target_close(target);
    }
}

static void a_damaged_cache_is_mended(void **state) {
    (void)state;
    char command[300];
    const char *path = file("mend.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 9, .logp = logp};");
    ais_target_close(opened(path));
    snprintf(command, sizeof command, "for f in %s/aisampler/*.so; do rm $f; echo rubbish > $f; done", cache);
    assert_int_equal(system(command), 0);
    ais_target *target = opened(path);
    assert_int_equal(target->dim, 9);
    ais_target_close(target);
}

static void what_does_not_compile(void **state) {
    (void)state;
    refused(file("bad.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dmi = 1, .logp = logp};"), AIS_BAD_FORMAT,
            "bad.c:3:");
    refused(file("bad.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dmi = 1, .logp = logp};"), AIS_BAD_FORMAT, "error");
    char log[200];
    snprintf(log, sizeof log, "%s/aisampler/bad.c.log", cache);
    refused(file("bad.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dmi = 1, .logp = logp};"), AIS_BAD_FORMAT, log);
    struct stat info;
    assert_int_equal(stat(log, &info), 0);
    assert_true(info.st_size > 50);
    refused(file("bad.c", "#include <no/such.h>\n", ""), AIS_BAD_FORMAT, "no/such.h");
}

static void what_is_not_a_density(void **state) {
    (void)state;
    refused(file("n1.c", "int x;\n", ""), AIS_BAD_DENSITY, "there is no aisampler_density in it");
    refused(file("n2.c", head, "AIS_DENSITY = {.version = 7, .size = 1, .dim = 1, .logp = logp};"), AIS_BAD_DENSITY,
            "version is 7, but this library needs 1");
    refused(file("n3.c", head, "AIS_DENSITY = {.version = 1, .size = 12, .dim = 1, .logp = logp};"), AIS_BAD_DENSITY,
            "size is 12, but");
    refused(file("n4.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .logp = logp};"), AIS_BAD_DENSITY,
            "dim is 0, but must be 1 or more");
    refused(
        file("n5.c", head, "double (*p)(const double *, void *) = logp; AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1};"),
        AIS_BAD_DENSITY, "logp is missing");
    refused(file("n6.c", head,
                 "static const char *const n[] = {\"a\", 0};\n"
                 "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 2, .logp = logp, .names = n};"),
            AIS_BAD_DENSITY, "names[1] is missing");
    refused(file("n7.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp, .start_scale = -2};"),
            AIS_BAD_DENSITY, "start_scale is -2");
    refused(file("n8.so", "not an object", ""), AIS_BAD_FORMAT, "cannot be loaded");
    refused(file("n9.c", head,
                 "double undefined_function(void);\nstatic double f(const double *x, void *d) { (void)d; return x[0] * "
                 "undefined_function() + logp(x, d); }\nAIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = f};"),
            AIS_BAD_FORMAT, "undefined_function");
}

static void a_shared_object(void **state) {
    (void)state;
    char command[500], path[200];
    file("made.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 6, .logp = logp};");
    snprintf(command, sizeof command, "cc -shared -fPIC -I include -o %s/made.so %s/made.c", folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/made.so", folder);
    ais_target *target = opened(path);
    assert_int_equal(target->dim, 6);
    assert_string_equal(target->name, path);
    ais_target_close(target);
}

/* path:options */
static const char *with(const char *path, const char *options) {
    static char spec[1000];
    snprintf(spec, sizeof spec, "%s:%s", path, options);
    return spec;
}

static const char reads[] =
    "#include <stdio.h>\n#include <stdlib.h>\n"
    "static double weigh(const double *x, void *data) { return -*(double *)data * x[0] * x[0]; }\n"
    "static int read(const char *file, ais_density *density, char *message, size_t size) {\n"
    "    if (!file) return snprintf(message, size, \"which table?\");\n"
    "    double *factor = malloc(sizeof *factor);\n"
    "    FILE *in = fopen(file, \"r\");\n"
    "    int got = in ? fscanf(in, \"%d %lf\", &density->dim, factor) : 0;\n"
    "    if (in) fclose(in);\n"
    "    density->data = factor;\n"
    "    if (got == 2) return 0;\n"
    "    free(factor);\n"
    "    return snprintf(message, size, \"two numbers are wanted\");\n"
    "}\n"
    "static void done(ais_density *density) { free(density->data); }\n"
    "AIS_DENSITY = {AIS_DENSITY_HEAD, .logp = weigh, .open = read, .close = done};";

static void data_of_a_file(void **state) {
    (void)state;
    char source[300], option[400], given[1000];
    snprintf(option, sizeof option, "data=%s", file("numbers.txt", "3 2.5", "\n"));
    snprintf(source, sizeof source, "%s", file("reads.c", head, reads));
    snprintf(given, sizeof given, "%s", with(source, option));
    ais_target *target = opened(given);
    assert_int_equal(target->dim, 3);
    assert_string_equal(target->name, given); /* the whole of it */
    assert_true(target->logp((double[]){2, 0, 0}, target->data) == -10);
    ais_target_close(target);
    refused(source, AIS_BAD_DENSITY, "reads.c without data=FILE: which table?");
    refused(with(source, "data=/no/such/file"), AIS_FILE_ERROR,
            "reads.c: cannot open data=/no/such/file: No such file");
    snprintf(option, sizeof option, "data=%s", file("short.txt", "3", "\n"));
    refused(with(source, option), AIS_BAD_DENSITY, "short.txt: two numbers are wanted");
    refused(with(source, "date=x"), AIS_BAD_ARGUMENT, "(did you mean 'data'?)");
    refused(with(source, "debug=yes"), AIS_BAD_ARGUMENT, "debug is 'yes', but must be on or off");
    const char *plain = file("plain.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};");
    refused(with(plain, option), AIS_BAD_ARGUMENT, "plain.c takes no data: it has no .open");
}

/* Libraries, flags and -g, from the command and from the file itself; each combination is an object of its own. */
static void words_for_the_compiler(void **state) {
    (void)state;
    int others;
    const char *text =
        "#ifndef DIM\n#define DIM 1\n#endif\n#ifdef __OPTIMIZE__\n#define SCALE 2\n#else\n#define SCALE 3\n#endif\n"
        "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp, .start_scale = SCALE};";
    char source[300];
    snprintf(source, sizeof source, "%s", file("words.c", head, text));
    int before = objects(&others);
    ais_target *target = opened(with(source, "flags=-DDIM=4 -Wall"));
    assert_int_equal(target->dim, 4);
    assert_true(target->start_scale == 2);
    ais_target_close(target);
    target = opened(with(source, "debug=on"));
    assert_int_equal(target->dim, 1);
    assert_true(target->start_scale == 3);
    ais_target_close(target);
    assert_int_equal(objects(&others), before + 2);
    refused(with(source, "link=-lno_such_library_here"), AIS_BAD_FORMAT, "no_such_library_here");
    char both[2000];
    snprintf(both, sizeof both, "/* aisampler: flags -DDIM=5 */ // aisampler: link -lm\n%s", head);
    target = opened(file("says.c", both, text));
    assert_int_equal(target->dim, 5);
    ais_target_close(target);
    snprintf(both, sizeof both, "// aisampler: link -lno_such_library_here\n%s", head);
    refused(file("says.c", both, text), AIS_BAD_FORMAT, "no_such_library_here");
    refused(with(file("n8.so", "not an object", ""), "link=-lm"), AIS_BAD_ARGUMENT, "it takes data=FILE");
}

/* Objects made with the struct as it was before `parameters`. */
static void earlier_structs(void **state) {
    (void)state;
    ais_target *target =
        opened(file("early.c", head,
                    "#include <stddef.h>\nAIS_DENSITY = {.version = 1, .size = (int)offsetof(ais_density, "
                    "parameters), .dim = 7, .logp = logp};"));
    assert_int_equal(target->dim, 7);
    ais_target_close(target);
}

static void the_compiler_is_chosen(void **state) {
    (void)state;
    const char *path = file("choose.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = DIM, .logp = logp};");
    setenv("CC", "/no/such/compiler", 1);
    refused(path, AIS_FILE_ERROR, "cannot start the compiler /no/such/compiler");
    setenv("CC", "cc -DDIM=11", 1);
    ais_target *target = opened(path);
    assert_int_equal(target->dim, 11);
    ais_target_close(target);
    unsetenv("CC");
}

/* Without a home the cache is in TMPDIR, and a folder that others may write into is refused. */
static void where_the_cache_is(void **state) {
    (void)state;
    char private[200];
    const char *path = file("where.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    setenv("TMPDIR", folder, 1);
    snprintf(private, sizeof private, "%s/aisampler-%ld", folder, (long)geteuid());
    ais_target_close(opened(path));
    assert_int_equal(access(private, R_OK), 0);
    chmod(private, 0777);
    refused(path, AIS_FILE_ERROR, "others may write into it");
    chmod(private, 0700);
    setenv("XDG_CACHE_HOME", cache, 1);
}

/* What another user of the machine could put something into is not used: a folder above that others may write into, an
 * object that they may change, a link. */
static void the_cache_is_ours(void **state) {
    (void)state;
    char open[200], inner[300], object[600];
    const char *path = file("ours.c", head, "AIS_DENSITY = {AIS_DENSITY_HEAD, .dim = 1, .logp = logp};");
    snprintf(open, sizeof open, "%s/open", folder);
    snprintf(inner, sizeof inner, "%s/inner", open);
    mkdir(open, 0700);
    unsetenv("HOME");
    setenv("TMPDIR", inner, 1);
    setenv("XDG_CACHE_HOME", inner, 1);
    ais_target_close(opened(path));
    chmod(open, 0777);
    refused(path, AIS_FILE_ERROR, "or into a folder above it");
    chmod(open, 0777 | S_ISVTX); /* like /tmp: nobody renames what is not his */
    ais_target_close(opened(path));
    chmod(open, 0700);

    snprintf(object, sizeof object, "%s/aisampler", inner);
    DIR *list = opendir(object);
    assert_non_null(list);
    struct dirent *entry = readdir(list);
    while (entry && !strstr(entry->d_name, ".so")) entry = readdir(list);
    assert_non_null(entry);
    snprintf(object, sizeof object, "%s/aisampler/%.200s", inner, entry->d_name);
    closedir(list);
    struct stat before, after;
    assert_int_equal(stat(object, &before), 0);
    assert_int_equal(before.st_mode & 077, 0);
    ais_target_close(opened(path));
    assert_int_equal(stat(object, &after), 0);
    assert_true(after.st_ino == before.st_ino && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec); /* as it was */
    chmod(object, 0777);
    ais_target_close(opened(path));
    assert_int_equal(stat(object, &after), 0);
    assert_int_equal(after.st_mode & 077, 0); /* made anew */

    char elsewhere[200], link[300];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    snprintf(link, sizeof link, "%s/aisampler-%ld", elsewhere, (long)geteuid());
    mkdir(elsewhere, 0700);
    assert_int_equal(symlink(open, link), 0);
    unsetenv("XDG_CACHE_HOME");
    setenv("TMPDIR", elsewhere, 1);
    refused(path, AIS_FILE_ERROR, "others may write into it");
    if (geteuid() == 0) { /* another user's folder */
        unlink(link);
        mkdir(link, 0700);
        assert_int_equal(chown(link, 65534, 65534), 0);
        refused(path, AIS_FILE_ERROR, "others may write into it");
    }
    setenv("XDG_CACHE_HOME", cache, 1);
}

static int begin(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(cache, sizeof cache, "%s/cache", folder);
    return setenv("XDG_CACHE_HOME", cache, 1);
}

static int end(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void) {
    unsetenv("CC");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example),
        cmocka_unit_test(compiled_once),
        cmocka_unit_test(included_files_count),
        cmocka_unit_test(odd_paths),
        cmocka_unit_test(a_damaged_cache_is_mended),
        cmocka_unit_test(what_does_not_compile),
        cmocka_unit_test(what_is_not_a_density),
        cmocka_unit_test(a_shared_object),
        cmocka_unit_test(data_of_a_file),
        cmocka_unit_test(words_for_the_compiler),
        cmocka_unit_test(earlier_structs),
        cmocka_unit_test(the_compiler_is_chosen),
        cmocka_unit_test(where_the_cache_is),
        cmocka_unit_test(the_cache_is_ours),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
