#include "target/stan_program.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef char *compile_function(const char *program, const char *const *folders, size_t count, int fast_math,
                               char *message, size_t size);

typedef struct stanli {
    compile_function *compile;
    void (*free_text)(char *);
    const char *(*build)(void);
} stanli;

/* Its compiler is one for the process and wants one caller at a time. */
static pthread_mutex_t compiling = PTHREAD_MUTEX_INITIALIZER;

static bool find(void *library, const char *name, void *place) {
    void *symbol = dlsym(library, name);
    memcpy(place, &symbol, sizeof symbol);
    return symbol != NULL;
}

static ais_status find_functions(ais_context *context, void *library, stanli *functions) {
    const char *missing = NULL;
    if (!find(library, "stanli_stan_to_mir_with_opts", &functions->compile)) missing = "stanli_stan_to_mir_with_opts";
    if (!find(library, "stanli_string_free", &functions->free_text)) missing = "stanli_string_free";
    if (!find(library, "stanli_build_id", &functions->build)) missing = "stanli_build_id";
    if (!missing) return AIS_OK;
    return ais_fail(context, AIS_BAD_ARGUMENT, "this stanli is too old (it has no %s): 'pip install -U stanli'",
                    missing);
}

/* Text as JSON has it between quotes. to NULL: only counts. */
static size_t quote(const char *text, char *to) {
    size_t used = 0;
    for (; *text; text++) {
        char piece[8];
        unsigned char letter = (unsigned char)*text;
        int length = letter == '"' || letter == '\\' ? snprintf(piece, sizeof piece, "\\%c", letter)
                     : letter < 0x20                 ? snprintf(piece, sizeof piece, "\\u%04x", letter)
                                                     : snprintf(piece, sizeof piece, "%c", letter);
        if (to) memcpy(to + used, piece, (size_t)length);
        used += (size_t)length;
    }
    return used;
}

static size_t append(char *to, size_t used, const char *text, size_t length) {
    memcpy(to + used, text, length);
    return used + length;
}

/* The data with the program as one variable more, the last: so that places in messages about the data are right. */
static ais_status join(ais_context *context, const char *data, const char *build, const char *compiled,
                       ais_arena *arena, char **joined) {
    size_t open = strspn(data, " \t\r\n"), end = strlen(data);
    while (end > open && strchr(" \t\r\n", data[end - 1])) end--;
    if (data[open] != '{' || end < open + 2 || data[end - 1] != '}')
        return ais_fail(context, AIS_BAD_ARGUMENT,
                        "the data of a Stan program must be a JSON object: {\"N\": 3, \"y\": [1, 2, 3]}");
    end--;
    bool empty = open + 1 + strspn(data + open + 1, " \t\r\n") == end;
    static const char head[] = "\"__stanli\": {\"name\": \"model\", \"build_id\": \"", middle[] = "\", \"mir\": \"",
                      tail[] = "\"}}";
    size_t bytes = end + sizeof head + quote(build, NULL) + sizeof middle + quote(compiled, NULL) + sizeof tail + 2;
    char *text = *joined = ais_arena_take(arena, bytes);
    if (!text) return ais_fail_memory(context, "the data of a Stan program", bytes);
    size_t used = append(text, 0, data, end);
    if (!empty) used = append(text, used, ", ", 2);
    used = append(text, used, head, sizeof head - 1);
    used += quote(build, text + used);
    used = append(text, used, middle, sizeof middle - 1);
    used += quote(compiled, text + used);
    append(text, used, tail, sizeof tail); /* with the end of the string */
    return AIS_OK;
}

ais_status ais_stanli_compile(ais_context *context, const ais_bridge *bridge, const char *shown, const char *program,
                              const char *folder, const char *data, ais_arena *arena, char **joined) {
    stanli functions;
    ais_status status = find_functions(context, bridge->library, &functions);
    if (status != AIS_OK) return status;
    char message[8192] = "", line[900];
    pthread_mutex_lock(&compiling);
    char *compiled = functions.compile(program, &folder, 1, 0, message, sizeof message);
    pthread_mutex_unlock(&compiling);
    if (!compiled) {
        ais_bridge_line(message, line, sizeof line);
        return ais_fail(context, AIS_BAD_ARGUMENT, "%.100s does not compile: %s", shown, line);
    }
    status = join(context, data, functions.build(), compiled, arena, joined);
    functions.free_text(compiled);
    return status;
}
