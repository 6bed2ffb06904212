/* run.json of a folder that is looked at again, and the true values of a figure: the first byte says which. */
#include "fuzz.h"

#include "../../cli/folder.h"
#include "../../cli/shown.h"
#include "complain.h"

static void look_at_folder(void) {
    run_folder folder;
    if (folder_open(&folder, fuzz_folder)) {
        must(folder.count == 1 && folder.points >= 0 && folder.rungs.count <= AIS_MOST_RUNGS);
        const char *target = folder_target(&folder);
        must(!target || !strchr(target, '/') || strchr(target, ':'));
    }
    folder_close(&folder);
}

static void look_for_truth(const char *truths, const char *names) {
    static const char *const known[] = {"x.1", "x.2", "scale"};
    shown set = {.truths = truths, .names = names};
    (void)shown_find(&set, known, 3);
    shown_free(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char draws[] = "lp__,x\n-1,0\n-1,1\n-2,2\n-1,0.5\n";
    if (!size) return 0;
    char *text = fuzz_text(data + 1, size - 1);
    if (data[0] % 3 == 0) {
        fuzz_write(fuzz_path("draws-1.csv"), draws, sizeof draws - 1);
        fuzz_write(fuzz_path("run.json"), data + 1, size - 1);
        look_at_folder();
    } else if (data[0] % 3 == 1) {
        fuzz_write(fuzz_path("truth.json"), data + 1, size - 1);
        look_for_truth(fuzz_path("truth.json"), NULL);
    } else {
        look_for_truth(strchr(text, '=') ? text : NULL, text);
    }
    free(text);
    return 0;
}
