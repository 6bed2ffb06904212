/* The data of a Stan program, into which the compiled program is put: what was a JSON object is one with one more
 * member. This program plays the compiler. */
#include "fuzz.h"

#include <dlfcn.h>
#include <jansson.h>

#include "target/stan_program.h"

char *stanli_stan_to_mir_with_opts(const char *program, const char *const *folders, size_t count, int fast,
                                   char *message, size_t size);
void stanli_string_free(char *text);
const char *stanli_build_id(void);

char *stanli_stan_to_mir_with_opts(const char *program, const char *const *folders, size_t count, int fast,
                                   char *message, size_t size) {
    (void)folders;
    (void)count;
    (void)fast;
    if (program[0]) return strdup(program);
    snprintf(message, size, "Syntax error in 'model.stan', line 1, column 0:\nthere is no program");
    return NULL;
}

void stanli_string_free(char *text) { free(text); }
const char *stanli_build_id(void) { return "1.0 \"fuzz\""; }

/* The program, a zero byte, the data. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ais_context context;
    ais_arena arena = {0};
    char *program = fuzz_text(data, size), *text = program + strlen(program), *joined = NULL;
    if (text < program + size) text++;
    ais_bridge bridge = {.library = dlopen(NULL, RTLD_NOW)};
    must(bridge.library);
    json_t *plain = json_loads(text, 0, NULL), *compiled = json_string(program);
    ais_status status = ais_stanli_compile(&context, &bridge, "model.stan", program, ".", text, &arena, &joined);
    if (json_is_object(plain) && compiled) { /* a program that is no UTF-8 is the compiler's affair */
        must((status == AIS_OK) == (program[0] != '\0'));
        json_t *both = status == AIS_OK ? json_loads(joined, 0, NULL) : NULL;
        must(status != AIS_OK || json_equal(json_object_get(json_object_get(both, "__stanli"), "mir"), compiled));
        json_decref(both);
    }
    json_decref(plain);
    json_decref(compiled);
    ais_arena_free(&arena);
    dlclose(bridge.library);
    free(program);
    return 0;
}
