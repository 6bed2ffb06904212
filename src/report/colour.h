/* Colours that colour-blind readers can tell apart. */
#ifndef AIS_REPORT_COLOUR_H
#define AIS_REPORT_COLOUR_H

typedef struct ais_colour {
    double red, green, blue; /* sRGB, 0 to 1 */
} ais_colour;

/* The scale of heat maps, at 0 (dark blue) to 1 (light yellow): equal steps look equally large, and lightness rises
 * all the way. Outside of [0, 1] the nearer end; NAN counts as 0. */
ais_colour ais_colour_scale(double share);

/* Of a style: AIS_INK, 0 to AIS_COLOURS - 1, or a shade of ais_series_colour. */
ais_colour ais_colour_of(int colour);

/* Lightness and the two axes of OKLab, where distance is difference to the eye. */
void ais_colour_oklab(ais_colour colour, double lab[3]);

#endif
