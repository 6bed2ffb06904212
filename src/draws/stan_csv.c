/* The lines are those of CmdStan, whose tools look up num_samples, num_warmup, save_warmup, thin, id,
 * seed and max_depth by name and take the last one. Our own carry the prefix `aisampler.`, so that
 * none of them is taken for one of Stan's. */
#include "draws/stan_csv.h"

#include <inttypes.h>
#include <string.h>

/* Control characters would end the comment. */
static void write_text(FILE *file, const char *text) {
    for (; *text; text++) fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
}

static void write_algorithm(FILE *file, const ais_run_header *header) {
    if (strcmp(header->sampler, "nuts") == 0) {
        fputs("#     algorithm = hmc (Default)\n#       hmc\n#         engine = nuts (Default)\n#           nuts\n",
              file);
    } else if (strcmp(header->sampler, "hmc") == 0) {
        fputs("#     algorithm = hmc (Default)\n#       hmc\n#         engine = static\n", file);
    } else {
        fputs("#     algorithm = ", file);
        write_text(file, header->sampler);
        fputs("\n#       engine = metropolis\n", file);
    }
    if (header->max_depth)
        fprintf(file, "#             max_depth = %d%s\n", header->max_depth,
                header->max_depth == 10 ? " (Default)" : "");
}

static void write_header(FILE *file, const ais_run_header *header, const ais_columns *columns) {
    int field[AIS_INFO_COUNT], fields = ais_info_fields(header->info, field);
    fputs("lp__", file);
    for (int i = 0; i < fields; i++) fprintf(file, ",%s", ais_info_name[field[i]]);
    for (int i = 0; i < columns->dim; i++) fprintf(file, ",%s", columns->name[i]);
    fputc('\n', file);
}

void ais_csv_write_head(FILE *file, const ais_run_header *header, const ais_columns *columns, int id,
                        ais_csv_counts *counts) {
    fputs("# stan_version_major = 2\n# stan_version_minor = 37\n# stan_version_patch = 0\n", file);
    fputs(AIS_CSV_MARK "\n", file);
    fprintf(file, "# aisampler_version = %s\n# model = ", ais_version());
    write_text(file, header->target);
    if (header->about) {
        fputs("\n# aisampler.priors = ", file);
        write_text(file, header->about);
    }
    fputs("\n# method = sample (Default)\n#   sample (Default)\n#     num_samples = ", file);
    counts->num_samples = ftell(file);
    fprintf(file, "%d\n#     num_warmup = ", header->draws);
    counts->num_warmup = ftell(file);
    fprintf(file, "%d\n#     save_warmup = %d\n#     thin = 1 (Default)\n", header->warmup, header->save_warmup);
    write_algorithm(file, header);
    fprintf(file, "#     num_chains = %d\n# id = %d\n", header->chains, id);
    fprintf(file, "# random\n#   seed = %" PRIu64 "\n# output\n#   file = draws-%d.csv\n#   sig_figs = 17\n",
            header->seed, id);
    fprintf(file, "# aisampler.thin = %d\n", header->thin ? header->thin : 1);
    for (const char *const *line = header->config; line && *line; line++) {
        fputs("# aisampler.", file);
        write_text(file, *line);
        fputc('\n', file);
    }
    write_header(file, header, columns);
}
