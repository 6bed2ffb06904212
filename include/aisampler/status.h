/* status.h: how the functions of the library report failure.
 *
 * A function that can fail takes an ais_context first and returns an ais_status. On failure the
 * context holds one sentence: what went wrong, where, and what to do about it. The library never
 * prints, exits or aborts.
 *
 *     ais_context context = {0};
 *     ais_target *target;
 *     if (ais_target_open(&context, "mog6", &target) != AIS_OK)
 *         fprintf(stderr, "%s\n", context.message);
 *
 * Only one thread at a time may use a context. It owns nothing, so there is nothing to free.
 */
#ifndef AISAMPLER_STATUS_H
#define AISAMPLER_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ais_status {
    AIS_OK = 0,
    AIS_BAD_ARGUMENT = -1, /* the caller's values: a name, a number, a dimension */
    AIS_NO_MEMORY = -2,
    AIS_FILE_ERROR = -3,  /* a file cannot be opened, read or written; the disk is full */
    AIS_BAD_FORMAT = -4,  /* a file was read, but its content is not what it should be */
    AIS_BAD_DENSITY = -5, /* the target returned NaN or +infinity, or its parts disagree */
    AIS_STOPPED = -6,     /* the caller asked to stop; what was written is complete */
    AIS_SPENT = -7,       /* a budget of evaluations or seconds was used up before there was a result */
} ais_status;

typedef struct ais_context {
    ais_status status;  /* of the last failure */
    char message[1020]; /* one sentence without a newline; empty while nothing failed */
} ais_context;

/* "Did you mean": the word of `known` (ends with NULL) nearest to a wrong one, or NULL when none is near. */
const char *ais_nearest(const char *wrong, const char *const *known);

/* The version of the library, "MAJOR.MINOR.PATCH". */
const char *ais_version(void);

#ifdef __cplusplus
}
#endif
#endif
