/* yumcmd.c - how dnf and yum are run: which of them, options from keywords, and what their lists say. */
#include <strings.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/yum.h"

/* The first that is there. BORROWED, or NULL. */
const char *
yum_bin(void)
{
    static const char *const names[] = { "dnf", "tdnf", "yum" };

    for (size_t i = 0; i < NELEMS(names); i++) {
        AUTO_FREE char *path = fs_which(names[i]);
        if (path != NULL)
            return names[i];
    }
    return NULL;
}

bool
yum_is_dnf(void)
{
    return str_eq(yum_bin(), "dnf");
}

int
yum_begin(call_ctx_t *ctx, prog_t *prog, fail_t *err)
{
    const char *bin = yum_bin();

    if (bin == NULL)
        return tool_begin(prog, "dnf", err);
    if (pkg_wants_scope(ctx))
        prog_adds(prog, "systemd-run", "--scope", NULL);
    prog_add(prog, bin);
    return 0;
}

/* "--option=value" for a text, or each of a list. */
static void
add_each(prog_t *prog, const char *option, const json_t *v)
{
    for (size_t i = 0; i < (json_is_array(v) ? json_array_size(v) : value_truthy(v)); i++) {
        AUTO_FREE char *text = value_pystr(json_is_array(v) ? json_array_get(v, i) : v);
        prog_addf(prog, "--%s=%s", option, text);
    }
}

/* With fromrepo only that repository is asked. `extra`: keywords without a meaning here become options, as
 * Salt has it. */
int
yum_options(prog_t *prog, const json_t *kwargs, bool extra, fail_t *err)
{
    static const char *const taken[] = { "fromrepo",        "repo",   "disablerepo", "enablerepo",
                                         "disableexcludes", "branch", "setopt",      "get_extra_options" };
    json_t *from = value_truthy(value_get(kwargs, "fromrepo")) ? value_get(kwargs, "fromrepo")
                                                               : value_get(kwargs, "repo");
    json_auto_t *setopt = pkg_words(value_get(kwargs, "setopt"));
    json_auto_t *keys = json_object_size(kwargs) > 0 ? value_sorted_keys(kwargs) : json_array();
    json_t *v;
    size_t i, k;

    if (value_truthy(from)) {
        AUTO_FREE char *text = value_joined(from, ",");
        AUTO_FREE char *plain = json_is_array(from) ? STEAL(text) : value_pystr(from);
        prog_add(prog, "--disablerepo=*");
        prog_addf(prog, "--enablerepo=%s", plain);
    } else {
        add_each(prog, "disablerepo", value_get(kwargs, "disablerepo"));
        add_each(prog, "enablerepo", value_get(kwargs, "enablerepo"));
    }
    add_each(prog, "disableexcludes", value_get(kwargs, "disableexcludes"));
    add_each(prog, "branch", value_get(kwargs, "branch"));
    json_array_foreach (setopt, i, v) {
        AUTO_FREE char *text = value_pystr(v);
        prog_adds(prog, "--setopt", text, NULL);
    }
    json_array_foreach (keys, i, v) {
        const char *key = json_string_value(v);
        json_t *value = value_get(kwargs, key);
        bool own = str_starts(key, "__") || !extra;
        for (k = 0; k < NELEMS(taken); k++)
            own = own || str_eq(key, taken[k]);
        if (!own && json_is_string(value))
            prog_addf(prog, "--%s=%s", key, json_string_value(value));
        else if (!own && json_is_true(value))
            prog_addf(prog, "--%s", key);
    }
    return 0;
}

char *
yum_stdout(call_ctx_t *ctx, fail_t *err, ...)
{
    prog_auto_t prog = PROG_INIT;
    const char *word, *bin = yum_bin();
    va_list ap;

    prog_env(&prog, "SALT_RUNNING=1");
    if (tool_begin(&prog, bin != NULL ? bin : "dnf", err) < 0)
        return NULL;
    va_start(ap, err);
    while ((word = va_arg(ap, const char *)) != NULL)
        prog_add(&prog, word);
    va_end(ap);
    return rpm_text(ctx, &prog, 0, err);
}

/* "name.arch version repo", which is folded into several lines where the terminal is narrow: words count, not
 * lines. */
json_t *
yum_listed(call_ctx_t *ctx, const char *text)
{
    static const char *const headings[] = { "installed packages", "available packages", "available upgrades",
                                            "updated packages", "upgraded packages" };
    enum { NAME, VERSION, REPO, FIELDS };
    AUTO_FREE char *copy = xstrdup(text);
    const char *osarch = rpm_osarch(ctx), *field[FIELDS] = { NULL };
    json_t *ret = json_array();
    int n = 0;

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        /* Headings stand above the packages, and between the parts of a list. */
        bool heading = false;
        for (size_t i = 0; i < NELEMS(headings); i++)
            heading = heading || strcasecmp(str_trim(line), headings[i]) == 0;
        if (heading)
            continue;
        for (char *rest = line, *word; (word = strsep(&rest, " \t")) != NULL;) {
            if (*word == '\0')
                continue;
            field[n++] = word;
            if (n < FIELDS)
                continue;
            n = 0;
            const char *dot = strrchr(field[NAME], '.'), *arch = dot != NULL ? dot + 1 : osarch;
            AUTO_FREE char *plain = dot != NULL ? xstrndup(field[NAME], (size_t) (dot - field[NAME]))
                                                : xstrdup(field[NAME]);
            AUTO_FREE char *name = rpm_full_name(plain, arch, osarch);
            size_t len = strlen(field[VERSION]);
            while (len > 0 && field[VERSION][len - 1] == '-')
                len--;
            json_array_append_new(ret, json_pack("{s:s, s:o, s:s, s:s}", "name", name, "version",
                                                 json_stringn(field[VERSION], len), "arch", arch, "repoid",
                                                 field[REPO] + strspn(field[REPO], "@")));
        }
    }
    return ret;
}

/* `check-update` ends with 100 when there are updates. True: there are; None: there are none; False: it
 * failed. */
int
yum_refresh(call_ctx_t *ctx, const json_t *kwargs, bool check, json_t **ret_value, fail_t *err)
{
    enum { NOTHING_NEW = 0, UPDATES = 100 };
    prog_auto_t clean = PROG_INIT, update = PROG_INIT;
    AUTO_FREE char *mark = xasprintf("%s/pkg_refresh",
                                     value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"));
    int code = UPDATES;

    (void) remove(mark);
    if (yum_begin(ctx, &clean, err) < 0 || yum_begin(ctx, &update, err) < 0)
        return err->code;
    prog_adds(&clean, "--quiet", "--assumeyes", "clean", "expire-cache", NULL);
    prog_adds(&update, "--quiet", "--assumeyes", "check-update", NULL);
    if (str_eq(value_str(ctx_grains(ctx), "os_family", ""), "RedHat") &&
        value_int(ctx_grains(ctx), "osmajorrelease", 0) == 7)
        prog_add(&update, "--setopt=autocheck_running_kernel=false");
    if (yum_options(&clean, kwargs, false, err) < 0 || yum_options(&update, kwargs, false, err) < 0)
        return err->code;
    json_auto_t *done = tool_run(ctx, &clean, TOOL_QUIET, err);
    if (done == NULL || (check && tool_retcode(ctx, &update, TOOL_QUIET, &code, err) < 0))
        return err->code;
    *ret_value = code == UPDATES ? json_true() : code == NOTHING_NEW ? json_null() : json_false();
    return 0;
}

int
yum_refresh_db(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *check = value_get(value_get(args, "kwargs"), "check_update");

    return yum_refresh(ctx, value_get(args, "kwargs"), check == NULL || value_truthy(check), ret_value, err);
}
