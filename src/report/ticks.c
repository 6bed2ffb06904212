#include "report/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ais_ticks_range(double *low, double *high, bool log) {
    static const double largest = 1e300;
    if (!isfinite(*low) || !isfinite(*high) || *low > *high) {
        *low = log ? 1 : 0;
        *high = log ? 10 : 1;
    }
    *low = fmin(fmax(*low, log ? 1e-300 : -largest), largest);
    *high = fmin(fmax(*high, log ? 1e-300 : -largest), largest);
    if (log) {
        if (*high / *low > 1 + 1e-9) return;
        *low /= 2;
        *high *= 2;
        return;
    }
    double size = fmax(fabs(*low), fabs(*high)); /* below 1e-9 of it, labels would need ten digits */
    if (*high - *low > 1e-9 * size && *high - *low > 1e-300) return;
    double half = size > 1e-290 ? 0.05 * size : 0.5;
    double middle = *low + 0.5 * (*high - *low);
    *low = middle - half;
    *high = middle + half;
}

/* The smallest of 1, 2, 5 times a power of ten that is at least `least`. */
static double round_step(double least) {
    double power = pow(10, floor(log10(least)));
    static const double factor[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (factor[i] * power >= least * (1 - 1e-9)) return factor[i] * power;
    return 10 * power;
}

static void superscript(int exponent, char *text, size_t size) {
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    snprintf(plain, sizeof plain, "%d", exponent);
    size_t used = 0;
    for (const char *at = plain; *at; at++) {
        const char *shown = *at == '-' ? "⁻" : digit[*at - '0'];
        if (used + strlen(shown) + 1 > size) break;
        memcpy(text + used, shown, strlen(shown) + 1);
        used += strlen(shown);
    }
}

/* Labels with the same number of decimals; very large or small ones are divided by a power of ten, and those that
 * differ only in their last digits count from the first one. */
static void write_labels(double step, ais_ticks *ticks) {
    double largest = 0, shift = 0, unit = 1;
    for (int i = 0; i < ticks->count; i++) largest = fmax(largest, fabs(ticks->at[i]));
    if (largest > 0 && step / largest < 1e-5) {
        shift = ticks->at[0];
        largest = ticks->at[ticks->count - 1] - shift;
    }
    int exponent = largest > 0 ? (int)floor(log10(largest) + 1e-9) : 0;
    bool scaled = exponent >= 5 || exponent <= -4;
    if (scaled) unit = pow(10, exponent);
    int decimals = (int)-floor(log10(step / unit) + 1e-9);
    decimals = decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
    for (int i = 0; i < ticks->count; i++) {
        double value = (ticks->at[i] - shift) / unit;
        char plain[64];
        snprintf(plain, sizeof plain, "%.*f", decimals, fabs(value) < 0.5 * step / unit ? 0 : value);
        snprintf(ticks->label[i], sizeof ticks->label[i], "%s%.16s", plain[0] == '-' ? "−" : "",
                 plain + (plain[0] == '-'));
    }
    char power[32] = "", offset[24] = "";
    if (scaled) superscript(exponent, power, sizeof power);
    if (shift != 0) snprintf(offset, sizeof offset, " + %.9g", shift);
    snprintf(ticks->factor, sizeof ticks->factor, "%s%.20s%s", scaled ? "×10" : "", power, offset);
}

void ais_ticks_linear(double low, double high, int most, bool whole, ais_ticks *ticks) {
    *ticks = (ais_ticks){0};
    most = most < 2 ? 2 : most > AIS_MOST_TICKS ? AIS_MOST_TICKS : most;
    double step = round_step((high - low) / most);
    if (whole && step < 1) step = 1;
    for (int tries = 0; tries < 4; tries++) {
        double first = ceil(low / step - 1e-9), last = floor(high / step + 1e-9);
        if (last - first + 1 > most) { /* both ends hit a tick */
            step = round_step(step * 1.5);
            continue;
        }
        for (double k = first; k <= last && ticks->count < most; k++) ticks->at[ticks->count++] = k * step;
        break;
    }
    if (ticks->count == 0) ticks->at[ticks->count++] = whole ? round(0.5 * (low + high)) : 0.5 * (low + high);
    write_labels(step, ticks);
}

static void add(ais_ticks *ticks, double value, double low, double high, int most) {
    if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9) || ticks->count == most) return;
    char *label = ticks->label[ticks->count];
    int exponent = (int)floor(log10(value) + 1e-9);
    if (exponent > -4 && exponent < 5) {
        snprintf(label, sizeof ticks->label[0], "%.*f", exponent < 0 ? -exponent : 0, value);
    } else {
        char power[16] = "";
        superscript(exponent, power, sizeof power);
        double lead = round(value / pow(10, exponent));
        if (lead == 1)
            snprintf(label, sizeof ticks->label[0], "10%s", power);
        else
            snprintf(label, sizeof ticks->label[0], "%.0f·10%.10s", lead, power);
    }
    ticks->at[ticks->count++] = value;
}

void ais_ticks_log(double low, double high, int most, ais_ticks *ticks) {
    most = most < 2 ? 2 : most > AIS_MOST_TICKS ? AIS_MOST_TICKS : most;
    int first = (int)floor(log10(low) + 1e-9), last = (int)floor(log10(high) + 1e-9);
    double decades = log10(high) - log10(low);
    *ticks = (ais_ticks){0};
    if (decades < 0.7) { /* no room for round powers: as on a linear axis */
        ais_ticks_linear(low, high, most, false, ticks);
        return;
    }
    int per_decade = decades * 3 <= most ? 3 : 1, every = (int)ceil(decades / (most - 1));
    every = every < 1 ? 1 : every;
    for (int k = first; k <= last; k++) {
        if ((k % every + every) % every != 0) continue;
        static const double factor[] = {1, 2, 5};
        for (int i = 0; i < per_decade; i++) add(ticks, factor[i] * pow(10, k), low, high, most);
    }
    if (ticks->count == 0) ais_ticks_linear(low, high, most, false, ticks);
}
