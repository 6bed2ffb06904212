/* Reads records "chains draws probability" and chains x draws doubles (the host's raw bytes: two
 * 32-bit integers, then doubles) from standard input and prints every one-quantity number of each
 * record as a line of JSON, non-finite numbers as strings. tests/cli/arviz_diagnostics.sh compares. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <aisampler/diagnostics.h>

static void number(const char *name, double value, const char *after) {
    if (isnan(value))
        printf("\"%s\": \"nan\"%s", name, after);
    else if (isinf(value))
        printf("\"%s\": \"%sinf\"%s", name, value < 0 ? "-" : "", after);
    else
        printf("\"%s\": %.17g%s", name, value, after);
}

static void probe(const double *x, int chains, int draws, double p) {
    printf("{");
    number("ess_bulk", ais_ess_bulk(x, chains, draws), ", ");
    number("ess_tail", ais_ess_tail(x, chains, draws), ", ");
    number("ess_mean", ais_ess_mean(x, chains, draws), ", ");
    number("ess_sd", ais_ess_sd(x, chains, draws), ", ");
    number("ess_quantile", ais_ess_quantile(x, chains, draws, p), ", ");
    number("rhat_rank", ais_rhat(x, chains, draws), ", ");
    number("rhat_split", ais_rhat_split(x, chains, draws), ", ");
    number("rhat_folded", ais_rhat_folded(x, chains, draws), ", ");
    number("rhat_z_scale", ais_rhat_bulk(x, chains, draws), ", ");
    number("mcse_mean", ais_mcse_mean(x, chains, draws), ", ");
    number("mcse_sd", ais_mcse_sd(x, chains, draws), ", ");
    number("mcse_quantile", ais_mcse_quantile(x, chains, draws, p), ", ");
    number("mean", ais_mean(x, (size_t)chains * (size_t)draws), ", ");
    number("variance", ais_variance(x, (size_t)chains * (size_t)draws), ", ");
    number("quantile", ais_quantile(x, (size_t)chains * (size_t)draws, p), ", ");
    number("bfmi", ais_ebfmi(x, draws), "}\n");
}

int main(void) {
    int32_t shape[2];
    double p;
    while (fread(shape, sizeof shape, 1, stdin) == 1) {
        size_t n = (size_t)shape[0] * (size_t)shape[1];
        double *x = malloc(n * sizeof *x);
        if (!x || fread(&p, sizeof p, 1, stdin) != 1 || fread(x, sizeof *x, n, stdin) != n) {
            fprintf(stderr, "diagnostics_probe: a record is cut short\n");
            free(x);
            return 1;
        }
        probe(x, shape[0], shape[1], p);
        free(x);
    }
    return 0;
}
