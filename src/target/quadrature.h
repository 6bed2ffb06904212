/* Integrals in one dimension, for references. */
#ifndef AIS_TARGET_QUADRATURE_H
#define AIS_TARGET_QUADRATURE_H

/* Of f over [a, b] by 16-point Gauss-Legendre on equal panels: exact to rounding when f is smooth
 * and changes little over a panel. Put kinks at the ends. */
double ais_integrate(double (*f)(double, const void *), const void *data, double a, double b, int panels);

#endif
