/* Reading draws: one function a format, each giving the draws of one file. */
#ifndef AIS_DRAWS_READ_H
#define AIS_DRAWS_READ_H

#include <stdio.h>

#include <aisampler/draws.h>

#include "base/status.h"

/* A whole Stan CSV or plain CSV file, one chain. The file stands at its beginning. */
ais_status ais_read_stan_csv(ais_context *context, const char *path, FILE *file, ais_draws **draws);

/* The posterior group of a netCDF file, all its chains. */
ais_status ais_read_netcdf(ais_context *context, const char *path, ais_draws **draws);

#endif
