/* environment.c - grains about the minion's own process: folder, search path, shell, locale; and the Python that
 * its files in Python would run by. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/host/pyinstall.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* The interpreter for files in Python, its version as the file's name tells it ("python3.11"; formulas choose packages
 * by that) and where it finds packages. Nothing is started for it, so that the third number and what follows it are
 * not known. */
static void
add_python(const grain_ctx_t *ctx, json_t *out)
{
    pyinstall_auto_t python = { 0 };
    AUTO_FREE char *salt = pyinstall_salt(ctx->root, ctx->opts), *own = pyinstall_own();
    const char *package = salt != NULL ? salt : own;

    pyinstall_find(&python, ctx->root, value_str(ctx->opts, "python", ""));
    if (python.program == NULL)
        return;
    json_object_set_new(out, "pythonexecutable", value_utf8(python.program, strlen(python.program)));
    if (*package != '\0')
        json_object_set_new(out, "saltpath", value_fmt("%s/salt", package));
    if (python.major == 0)
        return;
    json_object_set_new(out, "pythonversion", json_pack("[i, i]", python.major, python.minor));
    json_t *path = pyinstall_path(&python, ctx->root);
    if (path == NULL)
        return;
    if (*own != '\0')
        json_array_insert_new(path, 0, value_utf8(own, strlen(own)));
    json_object_set_new(out, "pythonpath", path);
}

static int
environment_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    /* A minion that is a service has none, as a rule; then it is /bin/sh. */
    const char *shell = getenv("SHELL");

    /* Adds the folder that the minion runs in. */
    AUTO_FREE char *cwd = getcwd(NULL, 0);
    if (cwd != NULL)
        json_object_set_new(out, "cwd", value_utf8(cwd, strlen(cwd)));

    /* Splits PATH into the systempath grain. */
    const char *path = getenv("PATH");
    AUTO_FREE char *text = xstrdup(path != NULL ? path : "");
    char **folders = str_split(str_trim(text), ":", false);
    json_t *list = json_array();
    for (size_t i = 0; folders[i] != NULL; i++)
        json_array_append_new(list, value_utf8(folders[i], strlen(folders[i])));
    strv_free(folders);
    json_object_set_new(out, "path", value_utf8(text, strlen(text)));
    json_object_set_new(out, "systempath", list);

    /* The first variable that is set decides. */
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG", "LANGUAGE" };
    const char *value = NULL;
    time_t now = time(NULL);
    struct tm tm;
    json_t *info = json_pack("{s:n, s:n, s:s}", "defaultlanguage", "defaultencoding", "detectedencoding",
                             "utf-8");
    for (size_t i = 0; i < NELEMS(names) && str_empty(value); i++)
        value = getenv(names[i]);
    AUTO_FREE char *name = xstrdup(value != NULL ? value : "C");

    /* Python's spelling: a language without an encoding has its old one, and C.UTF-8 counts as English. */
    name[strcspn(name, "@:")] = '\0';
    char *encoding = line_value(name, '.');
    bool utf8 = encoding != NULL && (strcasecmp(encoding, "UTF-8") == 0 || strcasecmp(encoding, "utf8") == 0);
    const char *language = name;
    bool plain = str_eq(name, "C") || str_eq(name, "POSIX") || name[0] == '\0';
    if (!plain || encoding != NULL) {
        if (plain)
            language = str_eq(name, "C") ? "en_US" : "C";
        const char *spelt = utf8 ? "UTF-8" : encoding != NULL ? encoding : "ISO8859-1";
        json_object_set_new(info, "defaultlanguage", value_utf8(language, strlen(language)));
        json_object_set_new(info, "defaultencoding", value_utf8(spelt, strlen(spelt)));
    }

    json_object_set_new(
        info, "timezone",
        json_string(localtime_r(&now, &tm) != NULL && tm.tm_zone != NULL ? tm.tm_zone : "unknown"));
    json_object_set_new(out, "locale_info", info);

    json_object_set_new(out, "shell", json_string(shell != NULL ? shell : "/bin/sh"));
    add_python(ctx, out);
    return 0;
}

static const char *const keys[] = {
    "cwd",           "path",       "systempath", "shell", "locale_info", "pythonexecutable",
    "pythonversion", "pythonpath", "saltpath",   NULL
};

PLUGIN(grain, environment,
       .doc = "The minion's folder, search path, shell and locale, and the host's Python.",
       .collect = environment_collect, .cost = GRAIN_CHEAP, .keys = keys);
