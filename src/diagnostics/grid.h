/* Masses of two-dimensional targets on grids. */
#ifndef AIS_DIAGNOSTICS_GRID_H
#define AIS_DIAGNOSTICS_GRID_H

#include <aisampler/diagnostics.h>

ais_status ais_grid_check(ais_context *context, const ais_grid *grid);

/* The target's mass in every cell, by 5 x 5 Gauss-Legendre points a cell, and outside the grid; they sum
 * to 1. Outside is what the reference's log_z leaves over, and 0 when that is unknown. */
ais_status ais_grid_mass(ais_context *context, const ais_target *target, const ais_grid *grid, double *mass,
                         double *outside);

/* Shrinks the grid's rectangle to the cells that hold all but 1e-6 of the mass inside, and a cell
 * more on every side. mass: room for nx x ny values. */
ais_status ais_grid_shrink(ais_context *context, const ais_target *target, ais_grid *grid, double *mass);

#endif
