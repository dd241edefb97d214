/* cases.c - runs case files: `cases PATH...`, files or folders (*.json in them); prints what differs and how
 * many passed.
 *
 * A file is an array of cases. Only templates ("source") and YAML cases are run here; others belong to other
 * programs and are skipped.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "lib/yaml_cases.h"

typedef struct totals {
    int passed, failed;
} totals_t;

/* Runs a case by its kind, and adds what differs to `why`. False: a kind that other programs run. */
static bool
run_case(const json_t *c, buf_t *why)
{
    if (value_get(c, "source") != NULL)
        run_jinja_case(c, why);
    else if (is_yaml_case(c))
        run_yaml_case(c, why);
    else
        return false;
    return true;
}

/* Runs a file's cases and prints the failures. 0, or -1 when it is not a case file. */
static int
run_file(const char *path, totals_t *t)
{
    json_error_t error;
    json_auto_t *cases = json_load_file(path, JSON_ALLOW_NUL, &error);
    if (!json_is_array(cases)) {
        printf("%s: %s\n", path, cases == NULL ? error.text : "no array of cases");
        return -1;
    }
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);
        buf_auto_t why = BUF_INIT;
        if (!run_case(c, &why))
            continue;
        if (why.len > 0)
            printf("%s: %s\n%s", path, value_str(c, "name", "?"), buf_str(&why));
        t->failed += why.len > 0;
        t->passed += why.len == 0;
    }
    return 0;
}

/* Runs a file, or a folder's files and folders in the order of their names. 0 or -1. */
static int
run_path(const char *path, totals_t *t)
{
    struct stat st;
    if (stat(path, &st) < 0) {
        perror(path);
        return -1;
    }
    if (!S_ISDIR(st.st_mode))
        return str_ends(path, ".json") ? run_file(path, t) : 0;
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
