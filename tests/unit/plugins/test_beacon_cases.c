/* test_beacon_cases.c - every built-in beacon against its case file, tests/cases/beacon/NAME.json.
 *
 * A case file is a list of objects:
 *   config             as in the minion's configuration; a list or a dictionary
 *   invalid            the exact text that refuses it; nothing looks then
 *   root               true: the case's folder stands for the host's root, {T}/proc/meminfo for /proc/meminfo
 *   files, programs, setup, grains, opts   as in cases of functions; clock: monotonic ms of the first look, 1000 more for each further one
 *   apart              true: in a network namespace of its own; left out where the kernel gives none
 *   looks              [{do: shell commands, events: [data, ...]}, ...]: what each look finds. A value "*" is any value, and "unordered":
 *                      true of a look lets events come in any order; "error": the exact text with which this look fails, up to a "*", and the next
 *                      one is tried all the same; "descriptors": false: the kernel gives none during this look
 *   error              the exact text of the failure of the last look
 *   fault              "file", "rights", "tool", "kernel" or "vanish": the case is what happens when that is missing, says no or goes away
 *   nobody             true: the case runs as an ordinary user, after its setup; left out where only root could become one
 *   path               PATH, when it isn't this one's
 *   without            {fault: why this beacon knows none of that kind}; such an object is no case
 *   ours               true: Salt has no such beacon, or answers otherwise (tests/DIFFERENCES.md); tests/oracle/beacons.py leaves it out
 * In every text {T} is the case's folder.
 */
#include "unit/case_file.h"

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/beacon/beacon.h"
#include "common/plugin/call.h"
#include "plugins/builtin.h"

#define CASE_DIR CASES_ROOT "/beacon"

/* Members of a case, as above. */
#define MEMBERS                                                                                              \
    " config invalid root files programs setup grains opts needs clock apart looks error fault nobody path " \
    "without ours "

enum { WAIT_MS = 3000 };

static json_t *
case_grains(void *cookie)
{
    return json_object_get(cookie, "grains");
}

static bool
shell(const char *commands, const char *dir)
{
    AUTO_FREE char *line = xasprintf("cd '%s' && (set -e\n%s\n)", dir, commands);
    return system(line) == 0;
}

/* True when a value is what was expected, "*" being anything. */
static bool
fits(const json_t *want, const json_t *got)
{
    const char *key;
    json_t *v;
    size_t i;
    if (json_is_string(want) && str_eq(json_string_value(want), "*"))
        return got != NULL;
    if (json_is_object(want) && json_is_object(got)) {
        json_object_foreach ((json_t *) want, key, v)
            if (!fits(v, value_get(got, key)))
                return false;
        return json_object_size(want) == json_object_size(got);
    }
    if (json_is_array(want) && json_is_array(got)) {
        json_array_foreach (want, i, v)
            if (!fits(v, json_array_get(got, i)))
                return false;
        return json_array_size(want) == json_array_size(got);
    }
    return value_equal(want, got);
}

/* Takes what fits out of a copy: events of several sources have no order. */
static bool
fits_unordered(const json_t *want, const json_t *got)
{
    json_auto_t *rest = json_copy((json_t *) got);
    json_t *v;
    size_t i, k;
    json_array_foreach (want, i, v) {
        for (k = 0; k < json_array_size(rest) && !fits(v, json_array_get(rest, k)); k++)
            continue;
        if (json_array_remove(rest, k) != 0)
            return false;
    }
    return json_array_size(rest) == 0;
}

static void
complain(const char *what, size_t at, const json_t *want, const json_t *got)
{
    AUTO_FREE char *a = value_dump(want);
    AUTO_FREE char *b = value_dump(got);
    printf("#   %s %zu: expected %s\n#   but got %s\n", what, at, a, b);
}

/* Looks until as many events came as are expected, or for a while; a beacon without a descriptor looks once. */
static int
look_enough(const beacon_row_t *row, beacon_look_t *look, size_t n, fail_t *err)
{
    int64_t until = clock_mono_ms() + WAIT_MS;
    do {
        if (row->look(look, err) < 0)
            return -1;
        if (row->open == NULL)
            return 0;
        int again = row->again_ms != NULL ? row->again_ms(look->own) : -1;
        struct pollfd fd = { row->fd(look->own), POLLIN, 0 };
        if (json_array_size(look->events) >= n && again != 0 && poll(&fd, 1, 50) == 0)
            return 0;
        (void) poll(&fd, 1, again >= 0 ? again : 100);
    } while (clock_mono_ms() < until);
    return 0;
}

/* Takes away what descriptors there could be, or gives them back. */
static void
descriptors(bool there)
{
    static struct rlimit before;
    struct rlimit none;

    if (before.rlim_max == 0)
        (void) getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, there ? &before : &none), 0);
}

/* One look that is to fail, or after one that failed: it opens what is not open. */
static bool
look_fails(const beacon_row_t *row, const json_t *one, beacon_look_t *look, size_t at)
{
    fail_auto_t err = FAIL_INIT;
    bool given = value_bool(one, "descriptors", true);
    const char *error = value_str(one, "error", NULL);

    descriptors(given);
    if (row->open != NULL && look->own == NULL)
        look->own = row->open(look, &err);
    if (row->open == NULL || look->own != NULL)
        (void) look_enough(row, look, json_array_size(value_get(one, "events")), &err);
    descriptors(true);
    size_t n = error != NULL ? strcspn(error, "*") : 0;
    if (error == NULL ? err.text == NULL
                      : err.text != NULL &&
                            (error[n] == '*' ? strncmp(err.text, error, n) == 0 : str_eq(err.text, error)))
        return true;
    printf("#   look %zu: expected %s\n#   but got %s\n", at, error != NULL ? error : "no error",
           err.text != NULL ? err.text : "none");
    return false;
}

static bool
run_looks(const beacon_row_t *row, json_t *spec, beacon_look_t *look, const char *dir)
{
    fail_auto_t err = FAIL_INIT;
    const char *error = value_str(spec, "error", NULL);
    json_t *one;
    size_t i;
    bool good = true, faulty = value_get(spec, "fault") != NULL;
    if (row->open != NULL && !faulty)
        look->own = row->open(look, &err);
    json_array_foreach (value_get(spec, "looks"), i, one) {
        json_t *want = value_get(one, "events");
        json_auto_t *events = look->events = json_array();
        look->mono_ms = value_int(spec, "clock", 1000) + (int64_t) i * 1000;
        if (value_get(one, "do") != NULL && !shell(value_str(one, "do", ""), dir)) {
            printf("#   look %zu: its commands failed\n", i);
            good = false;
        }
        if (faulty)
            good &= look_fails(row, one, look, i);
        if (!faulty && row->open != NULL && look->own == NULL)
            break;
        if (!faulty && look_enough(row, look, json_array_size(want), &err) < 0)
            break;
        if (value_bool(one, "unordered", false) ? fits_unordered(want, events) : fits(want, events))
            continue;
        complain("look", i, want, events);
        good = false;
    }
    if (look->own != NULL)
        row->close(look->own, false);
    if (error == NULL ? err.text != NULL : !str_eq(err.text, error)) {
        printf("#   error: expected %s\n#   but got %s\n", error != NULL ? error : "none",
               err.text != NULL ? err.text : "none");
        good = false;
    }
    return good;
}

/* The child: one case of one beacon. */
static bool
run_case(const plugin_t *plugin, json_t *spec, const char *dir)
{
    json_t *config = value_get(spec, "config");
    const char *invalid = value_str(spec, "invalid", NULL), *setup = value_str(spec, "setup", NULL);
    AUTO_FREE char *why = beacon_validate(plugin->beacon, plugin->file, config);
    if (!str_eq(why, invalid)) {
        printf("#   invalid: expected %s\n#   but got %s\n", invalid != NULL ? invalid : "that it is valid",
               why != NULL ? why : "none");
        return false;
    }
    if (invalid != NULL)
        return true;
    if (value_bool(spec, "apart", false) && unshare(CLONE_NEWNET) != 0)
        return true;
    if (value_bool(spec, "nobody", false) && geteuid() != 0) /* only root becomes another user */
        return true;
    case_files(spec, dir);
    if (setup != NULL && !shell(setup, dir))
        return false;
    free(case_programs(spec, dir));
    if (value_get(spec, "path") != NULL)
        (void) setenv("PATH", value_str(spec, "path", ""), 1);
    if (value_bool(spec, "nobody", false) && setresuid(65534, 65534, 65534) != 0)
        return false;
    case_log(spec);
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_EXEC, &n);
    AUTO(registry) registry = registry_new(PLUGIN_EXEC, rows, n);
    json_auto_t *opts = json_pack("{s:s, s:s}", "id", "minion", "cachedir", dir), *list = beacon_list(config),
                *dict = beacon_dict(list), *context = json_object();
    if (value_get(spec, "opts") != NULL)
        value_merge(opts, value_get(spec, "opts"), false);
    const call_env_t env = {
        .registry = registry, .opts = opts, .id = "minion", .grains = case_grains, .cookie = spec
    };
    AUTO(call_ctx) ctx = call_ctx_new(&env);
    beacon_look_t look = { .root = value_bool(spec, "root", false) ? dir : "",
                           .name = plugin->file,
                           .list = list,
                           .config = dict,
                           .opts = opts,
                           .context = context,
                           .ctx = ctx };
    return run_looks(plugin->beacon, spec, &look, dir);
}

static bool
run_apart(const plugin_t *plugin, json_t *spec, const char *dir)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        exit(run_case(plugin, spec, dir) ? 0 : 1);
    (void) waitpid(pid, &status, 0);
    if (status != 0 && !WIFEXITED(status))
        printf("#   the child ended with status 0x%x\n", (unsigned) status);
    return status == 0;
}

static size_t
run_file(const char *name, const plugin_t *plugin)
{
    AUTO_FREE char *path = fs_join(CASE_DIR, name);
    json_auto_t *cases = case_file_load(path, MEMBERS);
    json_t *spec, *volatile held = cases; /* on the stack, where the leak checker of a child finds it */
    size_t i, wrong = 0;
    json_array_foreach (held, i, spec) {
        char dir[] = "/tmp/halite-beacon.XXXXXX";
        assert_non_null(mkdtemp(dir));
        AUTO_FREE char *text = value_dump(spec);
        AUTO_FREE char *there = str_replace(text, "{T}", dir);
        json_auto_t *placed = json_loads(there, 0, NULL);
        json_t *volatile also_held = placed;
        assert_non_null(also_held);
        const char *needs = value_str(placed, "needs", NULL);
        AUTO_FREE char *program = needs != NULL ? fs_which(needs) : NULL;
        (void) chmod(dir, 0755);
        if (value_get(placed, "without") == NULL &&
            (needs == NULL || program != NULL || (str_eq(needs, "root") && geteuid() == 0)) &&
            !run_apart(plugin, placed, dir)) {
            printf("# %s, case %zu\n", name, i);
            wrong++;
        }
        (void) fs_remove_tree(dir, NULL);
    }
    return wrong;
}

static void
test_cases(void **state)
{
    size_t n_files, n, wrong = 0;
    struct dirent **files = case_file_list(CASE_DIR, &n_files);
    const plugin_t *const *rows = builtin_plugins(PLUGIN_BEACON, &n);
    for (size_t i = 0; i < n_files; i++) {
        size_t k = 0;
        AUTO_FREE char *name = xstrndup(files[i]->d_name, strlen(files[i]->d_name) - strlen(".json"));
        while (k < n && !str_eq(rows[k]->file, name))
            k++;
        if (k == n)
            fail_msg("%s: there is no such beacon", files[i]->d_name);
        wrong += run_file(files[i]->d_name, rows[k]);
        free(files[i]);
    }
    free(files);
    assert_int_equal(wrong, 0);
}

/* Each kind of fault of each beacon has a case, or a reason why there is none. */
static void
test_every_fault_has_a_case(void **state)
{
    static const char *const kinds[] = { "file", "rights", "tool", "kernel", "vanish" };
    size_t n, k, missing = 0;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_BEACON, &n);

    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *path = xasprintf("%s/%s.json", CASE_DIR, rows[i]->file);
        json_auto_t *cases = case_file_load(path, MEMBERS), *found = json_object();
        json_t *spec;
        json_array_foreach (cases, k, spec) {
            (void) json_object_update(found, value_get(spec, "without"));
            if (value_get(spec, "fault") != NULL)
                json_object_set_new(found, value_str(spec, "fault", ""), json_true());
            if (value_get(spec, "invalid") != NULL)
                json_object_set_new(found, "configuration", json_true());
        }
        for (k = 0; k < NELEMS(kinds); k++)
            if (value_get(found, kinds[k]) == NULL) {
                printf("# %s: no case of the fault '%s'\n", path, kinds[k]);
                missing++;
            }
        assert_non_null(value_get(found, "configuration"));
    }
    assert_int_equal(missing, 0);
}

static void
test_every_beacon_has_cases(void **state)
{
    size_t n;
    const plugin_t *const *rows = builtin_plugins(PLUGIN_BEACON, &n);
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *path = xasprintf("%s/%s.json", CASE_DIR, rows[i]->file);
        if (!fs_exists(path))
            fail_msg("%s: missing", path);
        assert_non_null(rows[i]->doc);
        assert_non_null(rows[i]->beacon->look);
    }
}

UNIT_MAIN(cmocka_unit_test(test_cases), cmocka_unit_test(test_every_beacon_has_cases),
          cmocka_unit_test(test_every_fault_has_a_case))
