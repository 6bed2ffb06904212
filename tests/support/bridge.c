/* A library as BridgeStan 2.4 makes them, written by hand: those functions and no others. The program would be
 *
 *     data { int N; vector[N] y; }
 *     parameters { real mu; real<lower=0> sigma; }
 *     transformed parameters { real twice = 2 * mu; }
 *     model { mu ~ normal(0, 3); sigma ~ exponential(1); y ~ normal(mu, sigma); if (mu > 4) reject("mu above 4"); }
 *     generated quantities { real y_rep = normal_rng(mu, sigma); }
 *
 * It is not made for threads, and counts it as a crime to be called by two at once. BRIDGE_THREADS: the same made for
 * threads, in which a thread has to call for a gradient before anything else, as in BridgeStan. */
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bs_model {
    int n;
    double y[100];
} bs_model;
typedef struct bs_rng {
    unsigned long long state;
} bs_rng;

int bs_major_version = 2, bs_minor_version = 4, bs_patch_version = 0;
static void (*printer)(const char *, size_t);

#ifdef BRIDGE_THREADS
static _Thread_local bool stack;
static void begin(void) {
    if (!stack) abort();
}
static void end(void) {}
#else
static atomic_int inside;
static void begin(void) {
    if (atomic_fetch_add(&inside, 1) > 0) abort();
}
static void end(void) { atomic_fetch_sub(&inside, 1); }
#endif

/* In BridgeStan's words: the call, with the data if they were given, then Stan's own. */
static int complain_of(char **message, const char *call, const char *text) {
    size_t size = strlen(call) + strlen(text) + 40;
    if (message) *message = malloc(size);
    if (message && *message) snprintf(*message, size, "%s failed with exception: %s\n", call, text);
    return -1;
}
static int complain(char **message, const char *text) { return complain_of(message, "log_density()", text); }

void bs_free_error_msg(char *message) { free(message); }

/* {"N": 3, "y": [1, 2, 3]} and nothing more general. */
bs_model *bs_model_construct(const char *data, unsigned seed, char **message) {
    bs_model *model = calloc(1, sizeof *model);
    const char *n = data ? strstr(data, "\"N\":") : NULL, *y = data ? strstr(data, "\"y\":") : NULL;
    if (!n || !y) {
        char call[200];
        snprintf(call, sizeof call, "construct(%.100s, %u)", data ? data : "", seed);
        complain_of(message, call,
                    "Exception: variable does not exist; processing stage=data initialization;\n"
                    " variable name=y; base type=double (in 'bridge.stan', line 2)");
        free(model);
        return NULL;
    }
    model->n = atoi(n + 4);
    const char *at = strchr(y, '[') + 1;
    for (int i = 0; i < model->n; i++) {
        char *after;
        model->y[i] = strtod(at, &after);
        at = after + strspn(after, " ,");
    }
    return model;
}

void bs_model_destruct(bs_model *model) { free(model); }
const char *bs_name(const bs_model *model) { return model ? "bridge_model" : ""; }

const char *bs_model_info(const bs_model *model) {
    (void)model;
#ifdef BRIDGE_THREADS
    return "Stan C++ Defines:\n\tSTAN_THREADS=true\n\tSTAN_MPI=false\n";
#else
    return "Stan C++ Defines:\n\tSTAN_THREADS=false\n\tSTAN_MPI=false\n";
#endif
}

const char *bs_param_names(const bs_model *model, bool transformed, bool generated) {
    (void)model;
    return transformed && generated ? "mu,sigma,twice,y_rep"
           : transformed            ? "mu,sigma,twice"
           : generated              ? "mu,sigma,y_rep"
                                    : "mu,sigma";
}

const char *bs_param_unc_names(const bs_model *model) {
    (void)model;
    return "mu,sigma";
}

int bs_param_num(const bs_model *model, bool transformed, bool generated) {
    (void)model;
    return 2 + transformed + generated;
}

int bs_param_unc_num(const bs_model *model) {
    (void)model;
    return 2;
}

static double uniform(bs_rng *rng) {
    rng->state = rng->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return ((double)(rng->state >> 33) + 0.5) / 2147483648.0;
}

int bs_param_constrain(const bs_model *model, bool transformed, bool generated, const double *x, double *value,
                       bs_rng *rng, char **message) {
    (void)model;
    begin();
    int used = 2, code = 0;
    value[0] = x[0];
    value[1] = exp(x[1]);
    if (transformed) value[used++] = 2 * x[0];
    if (generated && !rng) code = complain(message, "generated quantities need an rng");
    if (generated && rng && x[0] > 2.5) code = complain(message, "Exception: y_rep: mu is above 2.5");
    if (generated && code == 0)
        value[used] = x[0] + value[1] * sqrt(-2 * log(uniform(rng))) * cos(6.283185307179586 * uniform(rng));
    end();
    return code;
}

int bs_param_unconstrain(const bs_model *model, const double *value, double *x, char **message) {
    (void)model, (void)message;
    x[0] = value[0];
    x[1] = log(value[1]);
    return 0;
}

/* With everything that does not depend on the parameters, unless propto. */
static int density(const bs_model *model, bool propto, bool jacobian, const double *x, double *logp, double *gradient,
                   char **message) {
    const double half_log = 0.91893853320467274;
    double mu = x[0], sigma = exp(x[1]);
    if (mu > 4) return complain(message, "Exception: mu above 4 (in 'bridge.stan', line 6)\n");
    double sum = -mu * mu / 18 - sigma + (jacobian ? x[1] : 0), by_mu = -mu / 9, by_sigma = -sigma + (jacobian ? 1 : 0);
    if (!propto) sum -= half_log + log(3) + half_log * model->n;
    for (int i = 0; i < model->n; i++) {
        double z = (model->y[i] - mu) / sigma;
        sum += -0.5 * z * z - x[1];
        by_mu += z / sigma;
        by_sigma += z * z - 1;
    }
    if (printer)
        printer("printed\n", 8);
    else
        puts("printed");
    *logp = sum;
    if (gradient) gradient[0] = by_mu, gradient[1] = by_sigma;
    return 0;
}

int bs_log_density(const bs_model *model, bool propto, bool jacobian, const double *x, double *logp, char **message) {
    begin();
    int code = density(model, propto, jacobian, x, logp, NULL, message);
    end();
    return code;
}

int bs_log_density_gradient(const bs_model *model, bool propto, bool jacobian, const double *x, double *logp,
                            double *gradient, char **message) {
#ifdef BRIDGE_THREADS
    stack = true;
#endif
    begin();
    int code = density(model, propto, jacobian, x, logp, gradient, message);
    end();
    return code;
}

bs_rng *bs_rng_construct(unsigned seed, char **message) {
    bs_rng *rng = malloc(sizeof *rng);
    if (!rng)
        complain(message, "out of memory");
    else
        rng->state = seed;
    return rng;
}

void bs_rng_destruct(bs_rng *rng) { free(rng); }

int bs_set_print_callback(void (*callback)(const char *, size_t), char **message) {
    (void)message;
    printer = callback;
    return 0;
}
