/* main.c - replays a fuzz target's corpus with a plain compiler, so that every test run covers old finds:
 * replay_NAME FOLDER. Prints one TAP line.
 */
#include <dirent.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "salt/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs one input. It is copied to a block of exactly its size, so that a sanitizer sees a read past the
 * end. */
static int
replay(const char *path, FILE *out)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t text = BUF_INIT;

    if (fs_read(path, LIMIT_FILE_READ, &text, &err) < 0) {
        fprintf(out, "# %s\n", fail_text(&err));
        return -1;
    }
    AUTO_FREE uint8_t *exact = malloc(text.len ? text.len : 1);
    if (!exact)
        return -1;
    if (text.len > 0)
        memcpy(exact, text.data, text.len);
    /* Print the path first: a crash ends the program. */
    fprintf(out, "# %s\n", path);
    (void) fflush(out);
    return LLVMFuzzerTestOneInput(exact, text.len);
}

int
main(int argc, char **argv)
{
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    /* Some targets redirect stdout, so keep a copy. */
    FILE *out = fdopen(dup(STDOUT_FILENO), "w");
    struct dirent *e;
    size_t n = 0, bad = 0;

    if (!dir || !out) {
        printf("not ok 1 - %s: no folder of inputs\n", argc == 2 ? argv[1] : "usage: replay FOLDER");
        return 1;
    }
    while ((e = readdir(dir))) {
        AUTO_FREE char *path = fs_join(argv[1], e->d_name);
        if (e->d_name[0] == '.')
            continue;
        n++;
        bad += replay(path, out) != 0;
    }
    (void) closedir(dir);
    fprintf(out, "%s 1 - %zu inputs replayed\n", n > 0 && bad == 0 ? "ok" : "not ok", n);
    (void) fclose(out);
    return n > 0 && bad == 0 ? 0 : 1;
}
