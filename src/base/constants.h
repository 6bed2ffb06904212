/* Numbers of mathematics, to all the digits of a double. */
#ifndef AIS_BASE_CONSTANTS_H
#define AIS_BASE_CONSTANTS_H

#define AIS_PI           3.14159265358979323846
#define AIS_LOG_2PI      1.83787706640934548356
#define AIS_LOG_ROOT_2PI 0.91893853320467274178
#define AIS_ROOT_2PI     2.50662827463100050242

#endif
