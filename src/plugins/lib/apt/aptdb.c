/* aptdb.c - pkg.refresh_db, list_upgrades, version_cmp, normalize_name, parse_arch. The output of apt-get is
 * parsed line by line. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"
#include "plugins/lib/packages/pkgver.h"

#define LISTS_DIR "/var/lib/apt/lists"

/* ---- refresh_db ---------------------------------------------------------------------------- */

/* "Get" is true, "Hit" None, "Ign" and "Err" false. */
static void
take_update_line(json_t *ret, json_t *failed, char *line)
{
    char **words = str_split(line, " \t\r", true);
    buf_auto_t ident = BUF_INIT;

    for (size_t i = 1; words[0] != NULL && words[i] != NULL; i++)
        buf_printf(&ident, "%s%s", i > 1 ? " " : "", words[i]);
    AUTO_FREE char *name = buf_steal(&ident);
    if (words[0] != NULL && strstr(words[0], "Get") != NULL) {
        /* "http://host suite InRelease [151 kB]" without its size. */
        char *bracket = strrchr(name, '[');
        if (str_ends(name, "B]") && bracket != NULL && bracket > name && bracket[-1] == ' ')
            bracket[-1] = '\0';

        json_object_set_new(ret, name, json_true());
    } else if (words[0] != NULL && strstr(words[0], "Ign") != NULL) {
        json_object_set_new(ret, name, json_false());
    } else if (words[0] != NULL && strstr(words[0], "Hit") != NULL) {
        json_object_set_new(ret, name, json_null());
    } else if (words[0] != NULL && strstr(words[0], "Err") != NULL) {
        json_object_set_new(ret, name, json_false());
        json_array_append_new(failed, json_string(name));
    }
    strv_free(words);
}

/* {source: result}; {} when the lists are young enough. NEW, or NULL with *err. A source that fails is told
 * as false; only with failhard it is an error. */
json_t *
apt_refresh(call_ctx_t *ctx, const json_t *cache_valid_time, bool failhard, fail_t *err)
{
    /* Salt's mark that a refresh is due in this run of states. */
    const char *cachedir = value_str(ctx_opts(ctx), "cachedir", NULL);
    if (cachedir != NULL) {
        AUTO_FREE char *path = fs_join(cachedir, "pkg_refresh");
        (void) unlink(path);
    }

    /* Lists that are younger than so many seconds are good enough. */
    AUTO_FREE char *lists = root_path(apt_root(), LISTS_DIR);
    struct stat st;
    if (json_is_number(cache_valid_time) && json_number_value(cache_valid_time) != 0 &&
        stat(lists, &st) == 0 &&
        (double) st.st_mtime + json_number_value(cache_valid_time) > (double) clock_wall_us() / 1e6)
        return json_object();
    json_auto_t *out = apt_output(ctx, err, "apt-get", "-q", "update", NULL);
    if (out == NULL)
        return NULL;
    if (value_int(out, "retcode", 0) != 0) {
        fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "%s", value_str(out, "stderr", ""));
        return NULL;
    }
    json_auto_t *ret = json_object(), *failed = json_array();
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;)
        take_update_line(ret, failed, line);
    if (failhard && json_array_size(failed) > 0) {
        AUTO_FREE char *names = value_joined(failed, ", ");
        fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Error getting repos: %s", names);
        return NULL;
    }
    return STEAL(ret);
}

int
apt_refresh_db(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = apt_refresh(ctx, value_get(args, "cache_valid_time"), pkg_arg_true(args, "failhard"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- list_upgrades ------------------------------------------------------------------------- */

int
apt_list_upgrades(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *fromrepo = value_str(value_get(args, "kwargs"), "fromrepo", NULL);
    prog_auto_t prog = PROG_INIT;

    if (pkg_arg_true(args, "refresh")) {
        json_auto_t *done = apt_refresh(ctx, value_get(args, "cache_valid_time"), false, err);
        if (done == NULL)
            return err->code;
    }
    apt_prog(ctx, &prog, true);
    prog_adds(&prog, "apt-get", "--just-print",
              value_truthy(value_get(args, "dist_upgrade")) ? "dist-upgrade" : "upgrade", NULL);
    if (fromrepo != NULL) {
        prog_add(&prog, "-o");
        prog_addf(&prog, "APT::Default-Release=%s", fromrepo);
    }
    json_auto_t *out = apt_run(&prog, err);
    if (out == NULL)
        return err->code;
    const char *text = value_str(out, "stdout", ""), *errors = value_str(out, "stderr", "");
    if (value_int(out, "retcode", 0) != 0) {
        const char *why = *errors != '\0' ? errors : text;
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "Failed to get upgrades%s%s",
                         *why != '\0' ? ": " : "", why);
    }
    AUTO_FREE char *copy = xstrdup(text);
    *ret_value = json_object();
    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        /* "Conf libxfont1 (1:1.4.5-1 Debian:testing [i386])" */
        const char *name = str_starts(line, "Conf ") ? line + 5 : "", *open = strstr(name, " (");
        size_t name_len = strcspn(name, " ");
        if (open == NULL || name_len == 0 || open != name + name_len)
            continue;
        AUTO_FREE char *key = xstrndup(name, name_len);
        size_t len = strcspn(open + 2, " ");
        if (len > 0)
            json_object_set_new(*ret_value, key, value_utf8(open + 2, len));
    }
    return 0;
}

/* ---- names and versions -------------------------------------------------------------------- */

/* None for versions that can't be compared. */
int
apt_version_cmp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *a = value_pystr(value_get(args, "pkg1"));
    AUTO_FREE char *b = value_pystr(value_get(args, "pkg2"));
    int order;

    bool known = pkgver_cmp(a, b, value_truthy(value_get(args, "ignore_epoch")), &order, NULL) == 0;
    *ret_value = known ? json_integer(order) : json_null();
    return 0;
}

int
apt_normalize_name(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *name = apt_normal_name(ctx, value_str(args, "name", ""));

    *ret_value = json_string(name);
    return 0;
}

int
apt_parse_arch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *colon = strrchr(name, ':');

    *ret_value = json_pack("{s:s%, s:s?}", "name", name,
                           colon != NULL ? (size_t) (colon - name) : strlen(name), "arch",
                           colon != NULL ? colon + 1 : NULL);
    return 0;
}
