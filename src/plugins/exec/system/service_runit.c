/* service_runit.c - execution module `service` where runit is process 1, as on Void: folders with a program
 * `run`, which are enabled by a link in the folder that runsvdir watches, and sv(8). A file `down` in a
 * service's folder keeps it from being started with the machine (runsv(8)). Salt's words are kept:
 * "available" is a folder of a service, "enabled" a link to it, "autostart" the lack of the file `down`. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/service/service_api.h"

enum { SEEN_TRIES = 10 };
/* Seconds between looks; runsvdir looks every five seconds for new services. */
#define SEEN_WAIT_S 0.5 /* runsvdir looks every five seconds for new services */

static const char *
service_runit_unavailable(call_ctx_t *ctx)
{
    return service_unless(ctx, SVC_RUNIT, "runit does not run as process 1");
}

/* ---- folders ------------------------------------------------------------------------------------ */

/* The folder whose services run: the first of those that distributions have. BORROWED, a constant; NULL
 * with *err. */
static const char *
runit_watched(fail_t *err)
{
    static const char *const dirs[] = { "/service", "/var/service", "/etc/service" };

    for (size_t i = 0; i < NELEMS(dirs); i++) {
        int there = fs_look(dirs[i], err);
        if (there != 0)
            return there > 0 ? dirs[i] : NULL;
    }
    (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "Could not find service directory.");
    return NULL;
}

/* The service's place in the watched folder. NEW; NULL with *err, also for a name that is a path. */
static char *
runit_place(const char *name, fail_t *err)
{
    const char *dir = service_script_name(name, err) == 0 ? runit_watched(err) : NULL;

    return dir != NULL ? fs_join(dir, name) : NULL;
}

/* Folders that may have services, a list: Void's. Elsewhere a service can't be told from another folder, so
 * only enabled ones are known. NEW. */
static json_t *
kept(call_ctx_t *ctx)
{
    bool is_void = strcmp(value_str(ctx_grains(ctx), "os", ""), "Void") == 0;

    return is_void && fs_look_dir("/etc/sv", NULL) > 0 ? json_pack("[s]", "/etc/sv") : json_array();
}

/* Adds what matches the glob in a folder to the keys of `set`: services, or with `broken` what is none, as
 * it has no program `run`. `read`: a link's target instead of its own path. */
static void
add_matches(json_t *set, const char *dir, const char *pattern, bool read, bool broken)
{
    AUTO_FREE char *whole = fs_join(dir, pattern);
    char target[PATH_MAX];
    glob_t found = { 0 };

    if (glob(whole, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            ssize_t n = read ? readlink(found.gl_pathv[i], target, sizeof(target)) : -1;
            AUTO_FREE char *run = fs_join(found.gl_pathv[i], "run");
            if ((access(run, X_OK) == 0) == broken)
                continue;
            AUTO_FREE char *path = n > 0 ? xstrndup(target, (size_t) n) : xstrdup(found.gl_pathv[i]);
            json_object_set_new(set, path, json_true());
        }
    }
    globfree(&found);
}

typedef enum which { ALL, ENABLED, DISABLED } which_t;

/* The folders of the services whose names match the glob, as a sorted array. NEW, or NULL with *err. */
static json_t *
runit_folders(call_ctx_t *ctx, const char *pattern, which_t which, fail_t *err)
{
    json_auto_t *on = json_object(), *there = json_object(), *dirs = kept(ctx);
    const char *watch = runit_watched(err), *path;
    json_t *dir, *v;
    void *next;
    size_t i;

    if (watch == NULL)
        return NULL;
    add_matches(on, watch, pattern, true, false);
    json_array_foreach (dirs, i, dir) {
        if (which != ENABLED)
            add_matches(there, json_string_value(dir), pattern, false, false);
    }
    /* A service is enabled when a link leads to its very folder; one elsewhere (not below /etc/sv) is known
     * by the link alone. */
    json_object_foreach_safe (on, next, path, v) {
        if (which == DISABLED)
            json_object_del(there, path);
        else
            json_object_set(there, path, v);
    }
    return value_sorted_keys(there);
}

/* The same as names, without their folders, sorted. NEW, or NULL with *err. */
static json_t *
runit_names(call_ctx_t *ctx, const char *pattern, which_t which, fail_t *err)
{
    json_auto_t *paths = runit_folders(ctx, pattern, which, err), *names = json_array();
    json_t *path;
    size_t i;

    json_array_foreach (paths, i, path) {
        const char *text = json_string_value(path), *slash = strrchr(text, '/');
        json_array_append_new(names, json_string(slash != NULL ? slash + 1 : text));
    }
    return paths != NULL ? value_sorted_texts(names) : NULL;
}

static int
runit_list(call_ctx_t *ctx, which_t which, json_t **ret_value, fail_t *err)
{
    *ret_value = runit_names(ctx, "*", which, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Whether such a service is there: 1, 0, or negative with *err. */
static int
runit_has(call_ctx_t *ctx, const char *name, which_t which, fail_t *err)
{
    json_auto_t *names = runit_names(ctx, name, which, err);

    return names != NULL ? value_lists(names, name) : err->code;
}

static int
runit_get_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return runit_list(ctx, ALL, ret_value, err);
}

static int
runit_get_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return runit_list(ctx, ENABLED, ret_value, err);
}

static int
runit_get_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return runit_list(ctx, DISABLED, ret_value, err);
}

/* Salt's answer: runit has no such units. */
static int
runit_get_static(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_array();
    return 0;
}

/* True for a folder of that name, enabled or not. */
static int
runit_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int has = runit_has(ctx, service_name(args), ALL, err);

    *ret_value = has >= 0 ? json_boolean(has) : NULL;
    return has < 0 ? has : 0;
}

/* True for a link in the watched folder, also when a file `down` keeps the service from being started. */
static int
runit_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int has = runit_has(ctx, service_name(args), ENABLED, err);

    *ret_value = has >= 0 ? json_boolean(has) : NULL;
    return has < 0 ? has : 0;
}

static int
runit_missing(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_not(runit_available, ctx, args, ret_value, err);
}

static int
runit_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return service_not(runit_enabled, ctx, args, ret_value, err);
}

/* ---- sv ----------------------------------------------------------------------------------------- */

/* Runs "sv ACTION /var/service/NAME", with its whole path, as $SVDIR may say otherwise; *ret_done tells
 * whether it could. 0, or negative with *err. */
static int
sv(call_ctx_t *ctx, const char *action, const char *name, unsigned flags, bool *ret_done, fail_t *err)
{
    AUTO_FREE char *place = runit_place(name, err);
    prog_auto_t prog = PROG_INIT;
    int code = -1, rc = place != NULL ? tool_begin(&prog, "sv", err) : err->code;

    prog_adds(&prog, action, place, NULL);
    rc = rc == 0 ? tool_retcode(ctx, &prog, flags, &code, err) : rc;
    *ret_done = rc == 0 && code == 0;
    return rc;
}

static int
runit_action(call_ctx_t *ctx, json_t *args, const char *action, json_t **ret_value, fail_t *err)
{
    bool done;
    int rc = sv(ctx, action, service_name(args), 0, &done, err);

    *ret_value = rc == 0 ? json_boolean(done) : NULL;
    return rc;
}

#define ACTION(function, action)                                                                             \
    static int runit_##function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)              \
    {                                                                                                        \
        return runit_action(ctx, args, action, ret_value, err);                                              \
    }
ACTION(start, "start")
ACTION(stop, "stop")
ACTION(restart, "restart")
ACTION(reload, "reload")
ACTION(force_reload, "reload")

/* None, as in Salt, which returns nothing here. */
static int
runit_full_restart(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool done;
    int rc = sv(ctx, "restart", service_name(args), 0, &done, err);

    *ret_value = rc == 0 ? json_null() : NULL;
    return rc;
}

/* Whether a service runs. The text tells it: sv's exit code is 0 for a service that is down, too. One that
 * is not linked does not run. 0, or negative with *err. */
static int
runit_runs(call_ctx_t *ctx, const char *name, bool *ret_running, fail_t *err)
{
    AUTO_FREE char *place = runit_place(name, err);
    prog_auto_t prog = PROG_INIT;
    int there = place != NULL ? fs_look(place, err) : err->code;

    *ret_running = false;
    if (there <= 0)
        return there;
    if (tool_begin(&prog, "sv", err) < 0)
        return err->code;
    prog_adds(&prog, "status", place, NULL);
    json_auto_t *ran = tool_run(ctx, &prog, TOOL_QUIET, err);
    *ret_running = str_starts(value_str(ran, "stdout", ""), "run: ");
    return ran != NULL ? 0 : err->code;
}

/* `sig` looks for a process instead, as in the other modules of `service`. */
static int
runit_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *sig = value_str(args, "sig", "");
    bool running;
    int rc;

    if (*sig != '\0')
        return service_by_signature(ctx, sig, ret_value, err);
    rc = runit_runs(ctx, service_name(args), &running, err);
    *ret_value = rc == 0 ? json_boolean(running) : NULL;
    return rc;
}

static int
runit_get_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = runit_names(ctx, "*", ENABLED, err), *running = json_array();
    json_t *name;
    bool runs;
    size_t i;

    if (names == NULL)
        return err->code;
    json_array_foreach (names, i, name) {
        if (runit_runs(ctx, json_string_value(name), &runs, err) < 0)
            return err->code;
        if (runs)
            json_array_append(running, name);
    }
    *ret_value = STEAL(running);
    return 0;
}

/* ---- at boot ------------------------------------------------------------------------------------ */

/* The file that keeps the service down, in its own folder. NEW; NULL without such a folder, or with
 * *err. */
static char *
down_file(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *paths = runit_folders(ctx, name, ALL, err);
    const char *path = json_string_value(json_array_get(paths, 0));

    return path != NULL ? fs_join(path, "down") : NULL;
}

/* {service: [links to it]} of the folders that may have services. NEW. A link among them is another name of
 * a service, which would be enabled twice. */
static json_t *
aliases_of(call_ctx_t *ctx)
{
    json_auto_t *dirs = kept(ctx), *all = json_object(), *out = json_object();
    char target[PATH_MAX];
    const char *path;
    json_t *dir, *v;
    size_t i;

    json_array_foreach (dirs, i, dir) {
        add_matches(all, json_string_value(dir), "*", false, false);
        add_matches(all, json_string_value(dir), "*", false, true);
    }
    json_object_foreach (all, path, v) {
        ssize_t n = readlink(path, target, sizeof(target) - 1);
        if (n <= 0)
            continue;
        target[n] = '\0';
        const char *name = strrchr(target, '/') != NULL ? strrchr(target, '/') + 1 : target;
        if (value_get(out, name) == NULL)
            json_object_set_new(out, name, json_array());
        json_array_append_new(value_get(out, name), json_string(path));
    }
    return STEAL(out);
}

/* Waits until runsvdir has taken the service up: `sv status` fails before that. 1, 0, or negative with
 * *err. */
static int
taken_up(call_ctx_t *ctx, const char *name, fail_t *err)
{
    bool seen = false;

    for (int i = 0; !seen && i < SEEN_TRIES; i++) {
        clock_pause(SEEN_WAIT_S);
        int rc = sv(ctx, "status", name, TOOL_QUIET, &seen, err);
        if (rc < 0)
            return rc;
    }
    return seen;
}

/* Links the service into the watched folder; a file `down` keeps it from being started meanwhile, unless it
 * is to start. A link that runsvdir does not take up is removed again, as in Salt. *ret_done: it was. 0, or
 * negative with *err. */
static int
link_service(call_ctx_t *ctx, const char *name, const char *down, bool start, bool *ret_done, fail_t *err)
{
    AUTO_FREE char *place = runit_place(name, err), *folder = xstrndup(down, strlen(down) - strlen("/down"));
    int had = start ? 1 : fs_look(down, err), seen;

    *ret_done = false;
    if (place == NULL || had < 0 || (had == 0 && fs_write_quick(down, "", 0, 0644, err) < 0))
        return err->code;
    if (symlink(folder, place) != 0) {
        seen = fs_fail(err, -errno, "make the link", place);
    } else {
        seen = taken_up(ctx, name, err);
        if (seen <= 0)
            (void) unlink(place);
    }
    /* Enabled means to be started with the machine, so the file goes. */
    if (had == 0 || !start)
        (void) unlink(down);
    *ret_done = seen > 0;
    return seen < 0 ? seen : 0;
}

/* True when the service is started with the machine afterwards. False for an unknown name, and for one that
 * has other names: which of them is meant can't be told. */
static int
runit_enable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    int there = runit_has(ctx, name, ALL, err), on = there > 0 ? runit_has(ctx, name, ENABLED, err) : there;
    json_auto_t *aliases = aliases_of(ctx);
    bool done = false;
    int rc = on < 0 ? on : 0;

    AUTO_FREE char *down = there > 0 && on >= 0 ? down_file(ctx, name, err) : NULL;
    /* Linked already: nothing but the file may be in the way. */
    if (down != NULL && value_get(aliases, name) == NULL && on > 0) {
        done = unlink(down) == 0 || errno == ENOENT;
        rc = done ? 0 : fs_fail(err, -errno, "remove", down);
    } else if (down != NULL && value_get(aliases, name) == NULL) {
        rc = link_service(ctx, name, down, value_truthy(value_get(value_get(args, "kwargs"), "start")), &done,
                          err);
    }
    *ret_value = rc == 0 ? json_boolean(done) : NULL;
    return rc;
}

/* The link stays, and a file says that the service is not started with the machine. `stop`: it is stopped
 * too. */
static int
runit_disable(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    int on = runit_has(ctx, name, ENABLED, err), rc = on < 0 ? on : 0;
    AUTO_FREE char *down = on > 0 ? down_file(ctx, name, err) : NULL;
    bool done = true;

    if (down != NULL && value_truthy(value_get(value_get(args, "kwargs"), "stop")))
        rc = sv(ctx, "stop", name, 0, &done, err);
    if (down != NULL && rc == 0 && fs_look(down, err) == 0)
        rc = fs_write_quick(down, "", 0, 0644, err);
    *ret_value = rc == 0 ? json_boolean(down != NULL) : NULL;
    return rc;
}

/* Stops the service and removes its link, never the folder itself. False when it does not stop, or there is
 * no link. */
static int
runit_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    AUTO_FREE char *place = runit_place(name, err);
    int on = place != NULL ? runit_has(ctx, name, ENABLED, err) : err->code, rc = on < 0 ? on : 0;
    char target[8];
    bool done = false;

    if (on > 0 && readlink(place, target, sizeof(target)) > 0)
        rc = sv(ctx, "stop", name, 0, &done, err);
    if (done && unlink(place) != 0)
        rc = fs_fail(err, -errno, "remove", place);
    *ret_value = rc == 0 ? json_boolean(done) : NULL;
    return rc;
}

/* True when no file `down` is there, also for a name that is no service: Salt's answer. */
static int
runit_status_autostart(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *place = runit_place(service_name(args), err);
    AUTO_FREE char *down = place != NULL ? fs_join(place, "down") : NULL;
    int there = down != NULL ? fs_look(down, err) : err->code;

    *ret_value = there >= 0 ? json_boolean(there == 0) : NULL;
    return there < 0 ? there : 0;
}

/* What the other functions tell, at once. */
static int
runit_show(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = service_name(args);
    int there = runit_has(ctx, name, ALL, err), on = there > 0 ? runit_has(ctx, name, ENABLED, err) : there;
    bool running = false;
    json_auto_t *autostart = NULL;

    if (there < 0 || on < 0 || (there > 0 && runit_runs(ctx, name, &running, err) < 0) ||
        (there > 0 && runit_status_autostart(ctx, args, &autostart, err) < 0))
        return err->code;
    /* Behind the first folder of that name Salt does not look. */
    json_auto_t *paths = there > 0 ? runit_folders(ctx, name, ALL, err) : NULL;
    const char *path = json_string_value(json_array_get(paths, 0));
    AUTO_FREE char *run = path != NULL ? fs_join(path, "run") : NULL;
    *ret_value = json_pack("{s:b, s:b, s:b, s:s?, s:b, s:s?, s:b}", "enabled", on, "disabled", !on, "running",
                           running, "service_path", path, "autostart", json_is_true(autostart),
                           "command_path", run, "available", there);
    return 0;
}

/* ---- what only runit has ------------------------------------------------------------------------ */

/* Links in the watched folder that lead to no service. */
static int
runit_get_svc_broken_path(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *set = json_object();
    const char *watch = runit_watched(err);

    if (watch == NULL)
        return err->code;
    add_matches(set, watch, service_name(args), false, true);
    *ret_value = value_sorted_keys(set);
    return 0;
}

static int
runit_get_svc_avail_path(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = kept(ctx);
    return 0;
}

static int
runit_get_svc_alias(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = aliases_of(ctx);
    return 0;
}

/* ---- what only systemd has -------------------------------------------------------------------- */

#define RUNIT_LACKS(function)                                                                                \
    static int runit_##function(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)              \
    {                                                                                                        \
        return service_only_systemd(#function, err);                                                         \
    }
RUNIT_LACKS(execs)
RUNIT_LACKS(firstboot)
RUNIT_LACKS(mask)
RUNIT_LACKS(systemctl_reload)
RUNIT_LACKS(unmask)

static int
runit_masked(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_false();
    return 0;
}

static int
runit_offline(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return runit_masked(ctx, args, ret_value, err);
}

static const arg_t broken_args[] = { ARG("name", ARG_STR, "\"*\"", "A glob of names"), ARGS_END };

static const func_t funcs[] = {
#define SERVICE_ROW(name, args, flags, doc) { #name, runit_##name, args, flags, doc },
#include "plugins/lib/service/service_api.def"
#undef SERVICE_ROW
    { "full_restart", runit_full_restart, service_name_args, 0,
      "Stop and start the service." CLI_EXAMPLE("salt '*' service.full_restart <service name>") },
    { "get_svc_alias", runit_get_svc_alias, service_no_args, FN_READONLY,
      "Return the links to each service that has some." CLI_EXAMPLE("salt '*' service.get_svc_alias") },
    { "get_svc_avail_path", runit_get_svc_avail_path, service_no_args, FN_READONLY,
      "Return the folders that may have services." CLI_EXAMPLE("salt '*' service.get_svc_avail_path") },
    { "get_svc_broken_path", runit_get_svc_broken_path, broken_args, FN_READONLY,
      "Return what is in the folder of enabled services and is none." CLI_EXAMPLE(
          "salt '*' service.get_svc_broken_path <service name>") },
    { "remove", runit_remove, service_name_args, 0,
      "Stop the service and remove its link." CLI_EXAMPLE("salt '*' service.remove <service name>") },
    { "status_autostart", runit_status_autostart, service_name_args, FN_READONLY,
      "Return whether the service is started with the machine." CLI_EXAMPLE(
          "salt '*' service.status_autostart <service name>") },
};

PLUGIN(exec, service_runit, .provides = "service", .doc = "Services of runit",
       .unavailable = service_runit_unavailable, FUNCS(funcs));
