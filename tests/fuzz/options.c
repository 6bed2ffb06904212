/* Options of the command, a word per line. */
#include "fuzz.h"

#include <math.h>

#include "../../cli/cli.h"
#include "complain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 64 };
    bool flag = false;
    int count = 0;
    uint64_t seed = 0;
    double number = 0;
    const char *text = NULL, *choice = NULL, *words[4];
    const option options[] = {{"quiet", 'q', OPTION_FLAG, &flag, NULL, ""},
                              {"chains", 'c', OPTION_COUNT, &count, NULL, ""},
                              {"seed", 's', OPTION_SEED, &seed, NULL, ""},
                              {"scale", 0, OPTION_NUMBER, &number, NULL, ""},
                              {"out", 'o', OPTION_TEXT, &text, NULL, ""},
                              {"format", 'f', OPTION_CHOICE, &choice, "csv|netcdf|both", ""},
                              {0}};
    char *all = fuzz_text(data, size), *rest = NULL, *argument[MOST + 1] = {"aisampler"};
    int arguments = 1;
    for (char *word = strtok_r(all, "\n", &rest); word && arguments < MOST; word = strtok_r(NULL, "\n", &rest))
        argument[arguments++] = word;
    int found = parse_options(arguments, argument, options, words, 4);
    must(found >= -1 && found <= 4);
    if (found >= 0) {
        must(count >= 0 && isfinite(number));
        must(!choice || !strcmp(choice, "csv") || !strcmp(choice, "netcdf") || !strcmp(choice, "both"));
    }
    free(all);
    return 0;
}
