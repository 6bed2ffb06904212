/* The ranks of an mpirun, for the command (ranks.c). */
#ifndef AIS_CLI_RANKS_H
#define AIS_CLI_RANKS_H

#include <aisampler/ranks.h>

/* Joins the other ranks when mpirun started this process; false after one line on stderr. */
bool ranks_open(void);

/* NULL when this process is alone. */
const ais_ranks *ranks_all(void);

/* Rank 0 writes the files and prints. May be called before ranks_open. */
bool ranks_lead(void);

/* Keeps a line of another rank than 0 for ranks_close: mostly rank 0 says the same. */
void ranks_hold(const char *line);

/* The end of the process: tells what only this rank knew, ends the job when another rank still waits for this one.
 * The exit code of the process. */
int ranks_close(int code);

#endif
