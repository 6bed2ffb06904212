/* What each kind of parameter (parameters.h) does between x, which runs over the whole line, and theta. */
#ifndef AIS_TARGET_PARAMETER_KINDS_H
#define AIS_TARGET_PARAMETER_KINDS_H

#include <stdbool.h>

#include <aisampler/target.h>

/* One element; theta grows with x, but where a circle closes. */
typedef struct ais_element {
    double theta;
    double log_slope; /* log d theta / dx; of a circle with log of the share that this image of theta has */
    double bend;      /* d log_slope / dx; of kinds without a prior, and of circles, only */
} ais_element;

typedef struct ais_kind_type {
    const char *name;      /* as in text: uniform(0, 10) */
    const char *arguments; /* their names, separated by ", "; their number is that of the commas and one, or 0 */
    bool prior;
    void (*element)(const double *argument, double x, ais_element *element); /* NULL for those of several elements */
    const char *(*wrong)(const ais_parameter *parameter); /* what is wrong with the arguments, or NULL */
} ais_kind_type;
extern const ais_kind_type ais_kind_types[AIS_KIND_COUNT];

/* How many arguments a kind takes. */
int ais_kind_arguments(ais_kind kind);

/* How many x a parameter of `count` elements has. */
int ais_kind_free(ais_kind kind, int count);

/* theta of the parameter's x. Adds log N(x), or log of the Jacobian where there is no prior, to *log_term, and the
 * logarithm of the Jacobian to *log_slope. */
void ais_parameter_forward(const ais_parameter *parameter, const double *x, double *theta, double *log_term,
                           double *log_slope, void *data);

/* The gradient by x of log_term and of a function of theta whose gradient by theta is given. Not for AIS_KIND_CUBE. */
void ais_parameter_backward(const ais_parameter *parameter, const double *x, const double *theta,
                            const double *by_theta, double *by_x);

/* Refuses impossible arguments and counts, and a missing name. */
ais_status ais_parameter_check(ais_context *context, const ais_parameter *parameter);

#endif
