#include "base/sort.h"

static void swap(double *x, size_t a, size_t b) {
    double kept = x[a];
    x[a] = x[b];
    x[b] = kept;
}

static double middle_of(double a, double b, double c) {
    if (a > b) return c > a ? a : c > b ? c : b;
    return c > b ? b : c > a ? c : a;
}

double ais_select(size_t n, double *x, size_t k) {
    size_t first = 0, end = n;
    while (end - first > 1) {
        double pivot = middle_of(x[first], x[first + (end - first) / 2], x[end - 1]);
        /* [first, low) below the pivot, [low, at) equal to it, [high, end) above: draws of chains that stay are many
         * that are equal. */
        size_t low = first, high = end;
        for (size_t at = first; at < high;) {
            if (x[at] < pivot)
                swap(x, low++, at++);
            else if (x[at] > pivot)
                swap(x, at, --high);
            else
                at++;
        }
        if (k >= low && k < high) return x[k];
        if (k < low)
            end = low;
        else
            first = high;
    }
    return x[k];
}
