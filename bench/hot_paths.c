/* The hot paths' rates and ratios (include/aisampler/bench.h). Words: only=PART of a name, seconds=S per path and
 * instruction set. Networks are counted by their own multiply-adds, two operations each, biases and activations left
 * out; henon with flip evaluates V 2 n - 1 times for n layers, and that is what is counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aisampler/bench.h>

int main(int argc, char **argv) {
    const char *only = NULL;
    double seconds = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "only=", 5) == 0)
            only = argv[i] + 5;
        else if (strncmp(argv[i], "seconds=", 8) == 0)
            seconds = atof(argv[i] + 8);
        else {
            fprintf(stderr, "hot_paths: '%s' is not only=NAME or seconds=S\n", argv[i]);
            return 2;
        }
    }
    ais_context context = {0};
    ais_bench_limits limits;
    static ais_bench_entry entry[AIS_BENCH_MOST];
    int count;
    if (ais_bench_hot_paths(&context, only, seconds, &limits, entry, &count) != AIS_OK) {
        fprintf(stderr, "hot_paths: %s\n", context.message);
        return 1;
    }
    printf("%s: %.1f GFLOP/s of float multiply-adds, %.1f GB/s copied\n", limits.isa, 1e-9 * limits.fma_per_second,
           1e-9 * limits.bytes_per_second);
    printf("%-28s %12s %-13s %16s %12s\n", "hot path", "per second", "", "of the limit", "of base");
    for (int k = 0; k < count; k++) {
        char share[32] = "-";
        if (entry[k].peak) snprintf(share, sizeof share, "%.1f%% of %s", 100 * entry[k].peak_ratio, entry[k].peak);
        printf("%-28s %12.4g %-13s %16s %11.2fx\n", entry[k].name, entry[k].rate, entry[k].unit, share,
               entry[k].scalar_ratio);
    }
    return 0;
}
