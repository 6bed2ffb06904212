/* fuzz_NAME [SECONDS] [DICTIONARY] FOLDER...: gives the attack every file of the folders, then files that are made of
 * them by chance, for so many seconds. The same seed always: what fails fails again. The file that was given last is in
 * replay-NAME.bytes, when the program ends otherwise than by itself. */
#include "fuzz.h"

#include <dirent.h>
#include <time.h>

enum { MOST_FILES = 4096, MOST_BYTES = 1 << 16, MOST_WORDS = 256 };

typedef struct bytes {
    unsigned char *data;
    size_t count;
} bytes;

static bytes file[MOST_FILES], word[MOST_WORDS];
static int files, words;
static uint64_t state = 1;
static char last[256];

static uint64_t chance(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? state % below : 0;
}

static bytes read_file(const char *path) {
    bytes made = {malloc(MOST_BYTES), 0};
    FILE *from = fopen(path, "rb");
    must(made.data);
    if (from) {
        made.count = fread(made.data, 1, MOST_BYTES, from);
        fclose(from);
    }
    return made;
}

static void read_folder(const char *folder) {
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && files < MOST_FILES && (entry = readdir(list));) {
        char path[4096];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        file[files++] = read_file(path);
    }
    if (list) closedir(list);
}

/* Lines "text", with \xAB and \\ and \" in it, as libFuzzer reads them. */
static void read_words(const char *path) {
    FILE *from = fopen(path, "r");
    char line[1024];
    while (from && words < MOST_WORDS && fgets(line, sizeof line, from)) {
        const char *at = strchr(line, '"');
        if (line[0] == '#' || !at) continue;
        bytes made = {malloc(sizeof line), 0};
        must(made.data);
        for (at++; *at && *at != '"'; at++) {
            unsigned value = (unsigned char)*at;
            if (*at == '\\' && at[1] == 'x' && sscanf(at + 2, "%2x", &value) == 1)
                at += 3;
            else if (*at == '\\' && at[1])
                value = (unsigned char)*++at;
            made.data[made.count++] = (unsigned char)value;
        }
        word[words++] = made;
    }
    if (from) fclose(from);
}

static void insert(bytes *to, size_t at, const unsigned char *data, size_t count) {
    if (to->count + count > MOST_BYTES) return;
    memmove(to->data + at + count, to->data + at, to->count - at);
    memcpy(to->data + at, data, count);
    to->count += count;
}

static void cut(bytes *to, size_t at, size_t count) {
    memmove(to->data + at, to->data + at + count, to->count - at - count);
    to->count -= count;
}

static void change(bytes *to) {
    static const unsigned char odd[] = {0, 0xff, 0x7f, 0x80, 1, '0', ',', '"'};
    size_t at = (size_t)chance(to->count + 1), left = to->count - at, some = (size_t)chance(left < 32 ? left : 32);
    const bytes *other = &file[chance((uint64_t)files)], *of = words ? &word[chance((uint64_t)words)] : NULL;
    switch (chance(7)) {
    case 0:
        if (left) to->data[at] ^= (unsigned char)(1u << chance(8));
        break;
    case 1:
        if (left) to->data[at] = odd[chance(sizeof odd)];
        break;
    case 2:
        cut(to, at, some);
        break;
    case 3:
        insert(to, at, other->data, other->count < 64 ? other->count : (size_t)chance(64));
        break;
    case 4:
        if (of) insert(to, at, of->data, of->count);
        break;
    case 5:
        if (of && of->count <= left) memcpy(to->data + at, of->data, of->count);
        break;
    default:
        if (left >= 8) {
            uint64_t number = chance(2) ? chance(256) : chance(0) | state;
            memcpy(to->data + at, &number, (size_t)1 << chance(4));
        }
    }
}

static void give(const bytes *one) {
    FILE *to = fopen(last, "wb"); /* in memory: /dev/shm */
    must(to && fwrite(one->data, 1, one->count, to) == one->count && fclose(to) == 0);
    unsigned char *exact = fuzz_copy(one->data, one->count);
    (void)LLVMFuzzerTestOneInput(exact, one->count);
    free(exact);
}

int main(int count, char **argument) {
    const char *slash = strrchr(argument[0], '/');
    double seconds = count > 1 ? strtod(argument[1], NULL) : 0;
    long given = 0;
    snprintf(last, sizeof last, "/dev/shm/replay-%s.bytes", slash ? slash + 1 : argument[0]);
    for (int i = 2; i < count; i++) {
        size_t length = strlen(argument[i]);
        if (length > 5 && strcmp(argument[i] + length - 5, ".dict") == 0)
            read_words(argument[i]);
        else
            read_folder(argument[i]);
    }
    must(files > 0);
    for (int i = 0; i < files; i++, given++) give(&file[i]);
    bytes made = {malloc(MOST_BYTES), 0};
    must(made.data);
    for (time_t end = time(NULL) + (time_t)seconds; time(NULL) < end; given++) {
        const bytes *from = &file[chance((uint64_t)files)];
        memcpy(made.data, from->data, made.count = from->count);
        for (uint64_t changes = 1 + chance(4); changes > 0; changes--) change(&made);
        give(&made);
    }
    printf("%s: %d files, %ld executions\n", slash ? slash + 1 : argument[0], files, given);
    free(made.data);
    for (int i = 0; i < files; i++) free(file[i].data);
    for (int i = 0; i < words; i++) free(word[i].data);
    unlink(last);
    return 0;
}
