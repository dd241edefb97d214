/* cases.c - runs case files: `cases PATH...`, files or folders; prints what differs and how many passed. */
#include <dirent.h>
#include <sys/stat.h>

#include "lib/jinja_cases.h"

typedef struct totals {
    int passed, failed;
} totals_t;

static int
run_path(const char *path, totals_t *t)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        perror(path);
        return -1;
    }
    if (!S_ISDIR(st.st_mode)) {
        if (!str_ends(path, ".json"))
            return 0;
        int failed = run_case_file(path, &t->passed);
        t->failed += failed > 0 ? failed : 0;
        return failed < 0 ? -1 : 0;
    }
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort), rc = 0;
    for (int i = 0; i < n; i++) {
        char *inner AUTO_FREE = xasprintf("%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && run_path(inner, t) < 0)
            rc = -1;
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return rc;
}

int
main(int argc, char **argv)
{
    totals_t t = { 0, 0 };
    int rc = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: cases PATH...\n");
        return 2;
    }
    setenv("TZ", "UTC", 1);
    for (int i = 1; i < argc; i++)
        if (run_path(argv[i], &t) < 0)
            rc = 1;
    printf("%d passed, %d failed\n", t.passed, t.failed);
    return rc != 0 || t.failed > 0;
}
