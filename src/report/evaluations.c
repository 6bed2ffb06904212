#include <aisampler/report.h>

ais_evaluations ais_evaluations_of(const ais_check *check, const ais_training *training,
                                   const ais_sample_result *result, long judging) {
    ais_evaluations sum = {.densities = judging, .judging = judging};
    if (check) {
        sum.densities += check->densities;
        sum.gradients += check->gradients;
        sum.start = check->densities + check->gradients;
    }
    if (training) {
        sum.densities += training->densities;
        sum.gradients += training->gradients;
        sum.start += training->start_evaluations;
        sum.learning = training->densities + training->gradients - training->start_evaluations;
    }
    if (result) {
        sum.densities += result->densities;
        sum.gradients += result->gradients;
        sum.start += result->start_evaluations;
        sum.drawing = result->densities + result->gradients - result->start_evaluations;
    }
    return sum;
}
