/* The scale is a quadratic Bezier curve in OKLab (Ottosson 2020), run through at constant speed: uniform by
 * construction. It goes from dark blue through teal to light yellow, so that it varies in lightness and along blue to
 * yellow, which red-green colour-blind eyes see. The palette is Okabe and Ito's (2008) without black and
 * yellow, which is too pale on white, and with a blue that is seen on dark pages as well. */
#include "report/colour.h"

#include <math.h>

#include <aisampler/figure.h>

enum { SHADES = 1000, PIECES = 64 };

static const double begin[3] = {0.27, 0.015, -0.115}, middle[3] = {0.60, -0.135, -0.02}, end[3] = {0.94, -0.035, 0.145};

static double encode(double linear) {
    linear = fmin(fmax(linear, 0), 1);
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

static double decode(double value) { return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4); }

static ais_colour from_oklab(const double lab[3]) {
    double l = lab[0] + 0.3963377774 * lab[1] + 0.2158037573 * lab[2];
    double m = lab[0] - 0.1055613458 * lab[1] - 0.0638541728 * lab[2];
    double s = lab[0] - 0.0894841775 * lab[1] - 1.2914855480 * lab[2];
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return (ais_colour){encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                        encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                        encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

void ais_colour_oklab(ais_colour colour, double lab[3]) {
    double r = decode(colour.red), g = decode(colour.green), b = decode(colour.blue);
    double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
    lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
    lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

static void curve(double t, double lab[3]) {
    for (int i = 0; i < 3; i++) lab[i] = (1 - t) * (1 - t) * begin[i] + 2 * t * (1 - t) * middle[i] + t * t * end[i];
}

/* The t at which this share of the curve's length has been run through. */
static double parameter_at(double share) {
    double length[PIECES + 1] = {0}, last[3], here[3];
    curve(0, last);
    for (int k = 1; k <= PIECES; k++) {
        curve((double)k / PIECES, here);
        length[k] = length[k - 1] + hypot(hypot(here[0] - last[0], here[1] - last[1]), here[2] - last[2]);
        for (int i = 0; i < 3; i++) last[i] = here[i];
    }
    double wanted = share * length[PIECES];
    int k = 1;
    while (k < PIECES && length[k] < wanted) k++;
    return (k - 1 + (wanted - length[k - 1]) / (length[k] - length[k - 1])) / PIECES;
}

ais_colour ais_colour_scale(double share) {
    double lab[3];
    curve(parameter_at(fmin(fmax(isnan(share) ? 0 : share, 0), 1)), lab);
    return from_oklab(lab);
}

int ais_series_colour(int i, int n) {
    if (n <= AIS_COLOURS) return i;
    return SHADES + (int)((SHADES - 1) * (double)i / (n - 1));
}

ais_colour ais_colour_of(int colour) {
    static const ais_colour palette[AIS_COLOURS] = {
        {0.12, 0.53, 0.80},    /* blue */
        {0.902, 0.624, 0.0},   /* orange */
        {0.0, 0.620, 0.451},   /* bluish green */
        {0.835, 0.369, 0.0},   /* vermilion */
        {0.337, 0.706, 0.914}, /* sky blue */
        {0.800, 0.475, 0.655}, /* reddish purple */
    };
    /* The middle of the scale only: both ends would vanish, on white or on dark. */
    if (colour >= SHADES) return ais_colour_scale(0.25 + 0.5 * (colour - SHADES) / (SHADES - 1));
    if (colour >= 0) return palette[colour % AIS_COLOURS];
    return (ais_colour){0.2, 0.2, 0.2};
}
