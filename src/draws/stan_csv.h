/* The head of a Stan CSV file as we write it. */
#ifndef AIS_DRAWS_STAN_CSV_H
#define AIS_DRAWS_STAN_CSV_H

#include <stdio.h>

#include "draws/columns.h"

/* The first line that tells our files from others: older ones of ours may be replaced. */
#define AIS_CSV_MARK "# written_by = aisampler"

/* Where the two counts stand that an early stop makes smaller. */
typedef struct ais_csv_counts {
    long num_samples, num_warmup; /* byte offsets, the same in the files of all chains */
} ais_csv_counts;

/* The configuration lines and the header of chain `id` (from 1). */
void ais_csv_write_head(FILE *file, const ais_run_header *header, const ais_columns *columns, int id,
                        ais_csv_counts *counts);

#endif
