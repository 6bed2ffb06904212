/* What a run left in its folder (folder.c). */
#ifndef AIS_CLI_FOLDER_H
#define AIS_CLI_FOLDER_H

#include "cli.h"

typedef struct run_folder {
    char **path; /* of the draws, count of them, each malloced */
    int count;
    json_t *record;         /* run.json, or NULL */
    ais_train_point *curve; /* its training curve, points of it; the stages' names belong to the record */
    int points;
    ais_rungs rungs; /* of its ladder; count 0: none */
} run_folder;

bool is_folder(const char *path);

/* Finds draws.nc, else draws-1.csv, draws-2.csv, ..., and run.json. False after a complaint. */
bool folder_open(run_folder *folder, const char *directory);
void folder_close(run_folder *folder);

/* The target named in run.json where it is a built-in one, which can be opened without running foreign code; else NULL.
 */
const char *folder_target(const run_folder *folder);

#endif
