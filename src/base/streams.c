#include "base/streams.h"

/* Jobs. Maps and henon kernels begin with the same look. */
enum { MAPS = 1, HENON = 2, LOOK = MAPS | HENON, DATA = 4, ANICE = 8, DRAWING = 16, CHECK = 32 };

#define FOR(purpose)       (1u << AIS_FOR_##purpose)
#define DRAWS              (FOR(MIXTURE) | FOR(RADIUS))
#define EVERY              0, UINT64_C(1) << 32 /* chain */
#define BETWEEN(low, high) UINT64_C(1) << (low), (UINT64_C(1) << (high)) - (UINT64_C(1) << (low))
#define BELOW(high)        0, UINT64_C(1) << (high)
#define LAYERS(count)      ((uint64_t)(count) << 24) /* the steps of `count` layers of a map */

/* {jobs, purposes, first chain, chains, first step, steps}. These numbers determine results: if two rows overlap,
 * change the one that fewer results depend on. */
const ais_stream_use ais_stream_table[AIS_USES] = {
    [AIS_USE_NET] = {LOOK | DATA, FOR(WEIGHTS), 0, 6, 0, AIS_NET_BLOCKS},
    [AIS_USE_NET_REST] = {LOOK | DATA, FOR(WEIGHTS), 0, 6, 8192, LAYERS(1000) - 8192},
    [AIS_USE_NET_DEEP] = {LOOK | DATA, FOR(WEIGHTS), 64, 64, 0, LAYERS(1001)},
    [AIS_USE_FLOW_SPREAD] = {MAPS | DATA, FOR(WEIGHTS), 1024, 16384, 0, LAYERS(1001)},
    [AIS_USE_HENON_SPREAD] = {HENON, FOR(WEIGHTS), 0, 1, 4000, 1000},
    [AIS_USE_MIXING] = {HENON, FOR(WEIGHTS), 2, 1, 3000, 3},
    [AIS_USE_DISCRIMINATOR] = {HENON, FOR(WEIGHTS), 1, 1, LAYERS(1000), LAYERS(300)},
    [AIS_USE_RATIO] = {DATA, FOR(WEIGHTS), 7, 2, BELOW(40)},
    [AIS_USE_ANICE_NETS] = {ANICE, FOR(WEIGHTS), 0, 4, 0, 64},

    [AIS_USE_SEARCH] = {LOOK, FOR(SEARCH), EVERY, BELOW(32)},
    [AIS_USE_SEARCH_CHOICE] = {LOOK, FOR(RESAMPLE), 0, 1, BELOW(32)},
    [AIS_USE_ANNEAL] = {LOOK, FOR(ANNEAL), EVERY, BETWEEN(32, 37)},
    [AIS_USE_ANNEAL_CHOICE] = {LOOK, FOR(RESAMPLE), 0, 1, BETWEEN(32, 38)},
    [AIS_USE_POPULATION] = {LOOK, FOR(RESAMPLE), 0, 1, UINT64_C(1) << 38, 1},
    [AIS_USE_LOOK_DRAWS] = {LOOK, DRAWS, EVERY, BETWEEN(21, 33)},
    [AIS_USE_REFIT] = {LOOK, DRAWS, EVERY, BETWEEN(34, 37)},
    [AIS_USE_SWEEPS] = {LOOK, DRAWS | FOR(ANNEAL) | FOR(LOCAL), EVERY, BETWEEN(37, 38)},
    [AIS_USE_LOCAL] = {LOOK, FOR(LOCAL), EVERY, BELOW(37)},
    [AIS_USE_CLUSTERS] = {LOOK, FOR(RESAMPLE), 1, 1, BELOW(37)},

    [AIS_USE_ANYWHERE] = {MAPS, FOR(START), 0, 1, 1, UINT64_C(1) << 32},
    [AIS_USE_CHAINS] = {MAPS, FOR(RESAMPLE), 2, 1, 0, 1},
    [AIS_USE_POINTS] = {MAPS, FOR(RESAMPLE), 3, 1, 0, 1},
    [AIS_USE_WHITENING] = {MAPS, FOR(RESAMPLE), 4, 1, BELOW(32)},
    [AIS_USE_BENDS] = {MAPS, FOR(RESAMPLE), 5, 1, 0, 1},
    [AIS_USE_JUDGE] = {MAPS, DRAWS | FOR(SEARCH), EVERY, BETWEEN(33, 34)},
    [AIS_USE_WIDELY] = {MAPS, DRAWS | FOR(SEARCH), EVERY, BETWEEN(39, 41)},
    [AIS_USE_CLIMB] = {MAPS, DRAWS | FOR(SEARCH), EVERY, UINT64_C(1) << 41, 1},

    [AIS_USE_FLOW_BATCH] = {MAPS, FOR(BATCH), 0, 1, BELOW(56)},
    [AIS_USE_HENON_BATCH] = {HENON, FOR(BATCH), EVERY, BELOW(56)},
    [AIS_USE_DATA_BATCH] = {DATA, FOR(BATCH), 0, 1, BELOW(56)},
    [AIS_USE_RATIO_BATCH] = {DATA, FOR(BATCH), 1, UINT64_C(1) << 31, BELOW(56)},
    [AIS_USE_RATIO_PROPOSALS] = {DATA, DRAWS, EVERY, BELOW(56)},

    [AIS_USE_ANICE] = {ANICE, FOR(MOMENTUM) | FOR(DIRECTION) | FOR(BATCH) | FOR(RESAMPLE), 1 << 24, 64, BELOW(56)},

    [AIS_USE_CHECK_POINTS] = {CHECK, FOR(CHECK), 0, 1, 0, 100},
    [AIS_USE_CHECK_SCALES] = {CHECK, FOR(CHECK), 0, 1, 100, 10000},
    [AIS_USE_CHECK] = {CHECK, FOR(CHECK), 1, 3, BELOW(32)},

    [AIS_USE_STARTS] = {DRAWING, FOR(START), EVERY, 0, 100},
    [AIS_USE_STARTS_MIXTURE] = {DRAWING, FOR(START) | FOR(RADIUS), EVERY, UINT64_C(1) << 43, 100},
    [AIS_USE_STARTS_INSTEAD] = {DRAWING, FOR(START), EVERY, 100, 100},
    [AIS_USE_MIXTURE_STEPS] = {DRAWING | LOOK, DRAWS, EVERY, 0, AIS_MIXTURE_STEPS},
    [AIS_USE_MIXTURE_LONG] = {DRAWING | LOOK, DRAWS, EVERY, BETWEEN(44, 48)},

    [AIS_USE_FRONTIER] = {DRAWING, FOR(ANNEAL) | FOR(LOCAL), EVERY, BELOW(32)},
};

ais_stream ais_stream_for(ais_use use, uint64_t seed, uint64_t step, uint64_t chain) {
    const ais_stream_use *row = &ais_stream_table[use];
    uint32_t purpose = 0;
    while (!(row->purposes >> purpose & 1)) purpose++;
    return (ais_stream){
        .seed = seed, .step = row->step + step, .chain = (uint32_t)(row->chain + chain), .purpose = purpose};
}

uint64_t ais_stream_step(ais_use use) { return ais_stream_table[use].step; }
