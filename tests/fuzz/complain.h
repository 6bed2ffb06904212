/* What the parts of the command that are attacked need of the rest: a complaint is written, and not shown. */
#ifndef TESTS_COMPLAIN_H
#define TESTS_COMPLAIN_H

#include <stdarg.h>
#include <stdio.h>

#include "../../cli/cli.h"

int complain(int code, const char *format, ...) {
    char text[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return code;
}

#endif
