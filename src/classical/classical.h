/* The table of classical kernels. A new one is a file with an ais_classical, and its name in the list here. */
#ifndef AIS_CLASSICAL_CLASSICAL_H
#define AIS_CLASSICAL_CLASSICAL_H

#include "kernel/kernel.h"

#define AIS_CLASSICAL_KERNELS(each) each(rwm) each(hmc) each(nuts) each(slice)

typedef struct ais_classical {
    ais_classical_entry entry;
    const ais_kernel_type *type;
    ais_status (*make)(ais_context *, const ais_classical_options *, ais_kernel **);
    /* Options that make the same kernel again, for a file. */
    ais_classical_options (*options)(const ais_kernel *);
} ais_classical;

#define AIS_CLASSICAL_DECLARE(name) extern const ais_classical ais_classical_##name;
AIS_CLASSICAL_KERNELS(AIS_CLASSICAL_DECLARE)
#undef AIS_CLASSICAL_DECLARE

/* The row of a kernel, or of a name; NULL when there is none. */
const ais_classical *ais_classical_of(const ais_kernel *kernel);
const ais_classical *ais_classical_find(const char *name);

/* The fields of ais_classical_options by name; ends with a NULL key. */
typedef enum ais_field_kind { AIS_FIELD_NUMBER, AIS_FIELD_COUNT, AIS_FIELD_FLAG } ais_field_kind;
typedef struct ais_classical_field {
    const char *key;
    ais_field_kind kind;
    size_t offset;
} ais_classical_field;
extern const ais_classical_field ais_classical_fields[];

/* The k-th option that a kernel takes, in the order of its entry; NULL past the last. */
const ais_classical_field *ais_classical_option(const ais_classical *row, int k);

/* "rwm, hmc or nuts" */
void ais_classical_list(const char *last, char *text, size_t size);

/* A kernel in memory of its own, copied from `made`, a struct that begins with an ais_kernel; free is for its type. */
ais_status ais_classical_keep(ais_context *context, const ais_kernel *made, size_t size, ais_kernel **kernel);
void ais_classical_free(ais_kernel *kernel);

#endif
