/* case_file.h - case files of functions and states, with what their cases share written once.
 *
 * A case file is a list of objects. When its first one is {"head": {...}}, each case has the members of the head
 * that it does not have itself. "world": [NAME, ...] in a case or in the head brings in the members of the file of
 * that name in tests/cases/world in the same way: programs, files and grains that cases of several files have in
 * common. The nearest wins: the case, its worlds from the first to the last, the head, the head's worlds. A case is
 * without a member that is null in it (but for `return`, which may be expected to be null).
 * "files": {path below the case's folder: text}, made before its "setup" runs.
 * Commands find the tree of the sources in $TEST_SOURCE_DIR.
 * "log": what the case logs, warnings and above, goes to that file, which its "check" can read.
 */
#ifndef UNIT_CASE_FILE_H
#define UNIT_CASE_FILE_H

#include "unit/unit.h"

#include <dirent.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/log.h"
#include "salt/value.h"

#define CASES_ROOT TEST_SOURCE_DIR "/tests/cases"

static inline void
case_worlds(json_t *spec, const json_t *names)
{
    json_t *name;
    size_t i;

    json_array_foreach (names, i, name) {
        AUTO_FREE char *path = xasprintf("%s/world/%s.json", CASES_ROOT, json_string_value(name));
        json_error_t why;
        json_auto_t *world = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
        if (!json_is_object(world))
            fail_msg("%s: %s", path, world == NULL ? why.text : "a world is an object");
        json_object_update_missing(spec, world);
    }
}

/* Lays the head and the worlds under a case. */
static inline void
case_complete(json_t *spec, json_t *head)
{
    json_auto_t *own = json_incref(json_object_get(spec, "world"));
    const char *key;
    json_t *value;
    void *next;

    case_worlds(spec, own);
    json_object_update_missing(spec, head);
    json_object_del(spec, "world");
    case_worlds(spec, json_object_get(head, "world"));
    json_object_foreach_safe (spec, next, key, value) {
        if (json_is_null(value) && strcmp(key, "return") != 0)
            json_object_del(spec, key);
    }
}

/* A misspelt member would be an expectation that nothing checks. */
static inline void
case_members(const char *path, size_t number, json_t *spec, const char *members)
{
    const char *key;
    json_t *value;

    json_object_foreach (spec, key, value) {
        AUTO_FREE char *word = xasprintf(" %s ", key);
        if (strstr(members, word) == NULL)
            fail_msg("%s: case %zu: '%s' is no member of a case here", path, number, key);
    }
}

/* The cases of a file, each with all that is its own. NEW list that is not empty. `members`: those that a case
 * may have, each with a blank on both sides. */
static inline json_t *
case_file_load(const char *path, const char *members)
{
    json_error_t why;
    json_t *cases = json_load_file(path, JSON_REJECT_DUPLICATES, &why), *spec;
    size_t i;

    if (!json_is_array(cases))
        fail_msg("%s:%d: %s", path, cases == NULL ? why.line : 1,
                 cases == NULL ? why.text : "not a list of cases");
    setenv("TEST_SOURCE_DIR", TEST_SOURCE_DIR, 1);
    json_auto_t *head = json_incref(json_object_get(json_array_get(cases, 0), "head"));
    if (head != NULL)
        json_array_remove(cases, 0);
    json_array_foreach (cases, i, spec) {
        case_complete(spec, head);
        case_members(path, i + 1, spec, members);
    }
    if (json_array_size(cases) == 0)
        fail_msg("%s: no cases", path);
    return cases;
}

/* Whether this host has all that the case `needs`: words with blanks between, "root" or a program on PATH. */
static inline bool
case_needs_met(json_t *spec)
{
    char **needs = str_split(value_str(spec, "needs", ""), " ", true);
    bool met = true;

    for (char **need = needs; *need != NULL; need++) {
        AUTO_FREE char *path = fs_which(*need);
        met = met && (strcmp(*need, "root") == 0 ? geteuid() == 0 : path != NULL);
    }
    strv_free(needs);
    return met;
}

static inline void
case_files(json_t *spec, const char *dir)
{
    const char *name;
    json_t *text;

    json_object_foreach (value_get(spec, "files"), name, text) {
        AUTO_FREE char *path = fs_join(dir, name);
        AUTO_FREE char *parent = xstrndup(path, (size_t) (strrchr(path, '/') - path));
        assert_int_equal(fs_mkdirs(parent, 0755, NULL), 0);
        assert_int_equal(fs_write_quick(path, json_string_value(text), json_string_length(text), 0644, NULL),
                         0);
    }
}

/* The case's programs come before the host's. NEW text of PATH as it was. */
static inline char *
case_programs(json_t *spec, const char *dir)
{
    char *before = xstrdup(getenv("PATH"));
    AUTO_FREE char *bin = fs_join(dir, "bin");
    AUTO_FREE char *path = xasprintf("%s:%s", bin, before);
    const char *name;
    json_t *text;

    json_object_foreach (value_get(spec, "programs"), name, text) {
        AUTO_FREE char *file = fs_join(bin, name);
        assert_int_equal(fs_mkdirs(bin, 0755, NULL), 0);
        assert_int_equal(fs_write_quick(file, json_string_value(text), json_string_length(text), 0755, NULL),
                         0);
    }
    if (value_get(spec, "programs") != NULL)
        setenv("PATH", path, 1);
    return before;
}

/* Turns the log to the file that the case names, or to none. */
static inline void
case_log(json_t *spec)
{
    const char *path = value_str(spec, "log", NULL);

    if (path != NULL)
        assert_int_equal(log_open_file(path, LEVEL_WARNING, NULL), 0);
    else
        assert_int_equal(log_open_file("/dev/null", LEVEL_QUIET, NULL), 0);
}

/* For scandir: the case files that CASES=prefix in the environment asks for. */
static inline int
case_file_is_meant(const struct dirent *entry)
{
    const char *prefix = getenv("CASES");

    return str_ends(entry->d_name, ".json") && (prefix == NULL || str_starts(entry->d_name, prefix));
}

/* The names of these files in their order. NEW list of *ret_n, at least one. */
static inline struct dirent **
case_file_list(const char *folder, size_t *ret_n)
{
    struct dirent **files = NULL;
    int n = scandir(folder, &files, case_file_is_meant, alphasort);

    if (n <= 0)
        fail_msg("%s: no case file begins with '%s' (CASES in the environment)", folder,
                 getenv("CASES") != NULL ? getenv("CASES") : "");
    *ret_n = (size_t) n;
    return files;
}

#endif
