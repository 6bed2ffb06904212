#include "target/stan_bridge.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* print() in a program is for debugging; here it would write to standard output at every evaluation. */
static void drop(const char *text, size_t size) {
    (void)text;
    (void)size;
}

static const struct {
    const char *name;
    size_t place;
} symbols[] = {
    {"bs_model_construct", offsetof(ais_bridge, construct)},
    {"bs_model_destruct", offsetof(ais_bridge, destruct)},
    {"bs_free_error_msg", offsetof(ais_bridge, free_message)},
    {"bs_model_info", offsetof(ais_bridge, info)},
    {"bs_param_names", offsetof(ais_bridge, names)},
    {"bs_param_unc_names", offsetof(ais_bridge, free_names)},
    {"bs_param_num", offsetof(ais_bridge, count)},
    {"bs_param_unc_num", offsetof(ais_bridge, free_count)},
    {"bs_param_constrain", offsetof(ais_bridge, constrain)},
    {"bs_log_density", offsetof(ais_bridge, density)},
    {"bs_log_density_gradient", offsetof(ais_bridge, gradient)},
    {"bs_rng_construct", offsetof(ais_bridge, rng)},
    {"bs_rng_destruct", offsetof(ais_bridge, free_rng)},
    {"bs_set_print_callback", offsetof(ais_bridge, print)},
};

static ais_status bind(ais_context *context, const char *shown, ais_bridge *bridge) {
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(bridge->library, symbols[i].name);
        if (!symbol && dlsym(bridge->library, "aisampler_density"))
            return ais_fail(
                context, AIS_BAD_ARGUMENT,
                "%.300s is a density of aisampler's own kind, not a Stan program: name it without stan:", shown);
        if (!symbol)
            return ais_fail(context, AIS_BAD_ARGUMENT,
                            "%.300s has no %s: it is not a library made by BridgeStan 2.4 or later", shown,
                            symbols[i].name);
        memcpy((char *)bridge + symbols[i].place, &symbol, sizeof symbol);
    }
    char *message = NULL;
    bridge->print(drop, &message);
    if (message) bridge->free_message(message);
    return AIS_OK;
}

ais_status ais_bridge_load(ais_context *context, const char *shown, const char *path, bool stay, ais_bridge *bridge) {
    bridge->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | (stay ? RTLD_NODELETE : 0));
    if (!bridge->library) {
        const char *error = dlerror();
        return ais_fail(context, AIS_BAD_ARGUMENT, "%.300s cannot be loaded: %.600s", shown,
                        error ? error : "no reason given");
    }
    ais_status status = bind(context, shown, bridge);
    if (status != AIS_OK) ais_bridge_unload(bridge);
    return status;
}

void ais_bridge_unload(ais_bridge *bridge) {
    if (bridge->library) dlclose(bridge->library);
    bridge->library = NULL;
}

/* ---- messages ------------------------------------------------------------------------------------ */

/* A line of the picture that Stan's compiler draws: a ruler, "  7:  y ~ normal(mu);", or an arrow below it. */
static bool is_picture(const char *line, size_t length) {
    size_t i = 0;
    while (i < length && line[i] == ' ') i++;
    size_t begin = i;
    while (i < length && (line[i] == '-' || line[i] == '^' || line[i] == ' ')) i++;
    if (i == length) return true;
    for (i = begin; i < length && isdigit((unsigned char)line[i]);) i++;
    return begin > 0 && i > begin && line[i] == ':';
}

/* "log_density() failed with exception: "; construct's has all of the data between the brackets. */
static const char *skip_call(const char *message) {
    static const char words[] = ") failed with exception: ";
    size_t name = strspn(message, "abcdefghijklmnopqrstuvwxyz_");
    const char *end = name && message[name] == '(' ? strstr(message, words) : NULL;
    return end ? end + strlen(words) : message;
}

/* Where the part of a message begins that a user understands. */
static const char *skip_prefixes(const char *message) {
    message = skip_call(message);
    static const char *const prefix[] = {
        "Exception: ", "embedded __stanli manifest: ", "stanli compile: ", "stanli prepare_data: "};
    for (size_t k = 0; k < sizeof prefix / sizeof *prefix; k++)
        if (strncmp(message, prefix[k], strlen(prefix[k])) == 0) message += strlen(prefix[k]);
    if (*message == '[') { /* [json.exception.parse_error.101] */
        const char *end = strstr(message, "] ");
        if (strncmp(message, "[json.exception", 15) == 0 && end) message = end + 2;
    }
    return message;
}

void ais_bridge_line(const char *message, char *line, size_t size) {
    size_t used = 0;
    message = skip_prefixes(message);
    while (*message) {
        size_t length = strcspn(message, "\n"), i = 0;
        bool skipped = is_picture(message, length);
        if (!skipped && used && used + 1 < size && line[used - 1] != ' ') line[used++] = ' ';
        for (; !skipped && i < length && used + 1 < size; i++) {
            /* The program reached the compiler as text, and is called so: the file's name stands before the message. */
            if (strncmp(message + i, "'string', ", 10) == 0) i += 10;
            unsigned char letter = (unsigned char)message[i];
            if (isspace(letter) || iscntrl(letter)) letter = ' ';
            if (letter == ' ' && (used == 0 || line[used - 1] == ' ')) continue;
            line[used++] = (char)letter;
        }
        message += length + (message[length] == '\n');
    }
    while (used && (line[used - 1] == ' ' || line[used - 1] == '.')) used--;
    line[used] = '\0';
}
