/* mountopts.c - see mountopts.h. */
#include "plugins/lib/system/mountopts.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>

#include "common/base/str.h"

/* Options that mount takes and the kernel does not show. */
static const char *const invisible[] = { "_netdev",
                                         "actimeo",
                                         "bg",
                                         "comment",
                                         "defaults",
                                         "delay_connect",
                                         "direct-io-mode",
                                         "intr",
                                         "loop",
                                         "nointr",
                                         "nobootwait",
                                         "nofail",
                                         "password",
                                         "reconnect",
                                         "retry",
                                         "soft",
                                         "auto",
                                         "users",
                                         "bind",
                                         "nonempty",
                                         "transform_symlinks",
                                         "port",
                                         "backup-volfile-servers",
                                         NULL };

/* The same of options with a value. */
static const char *const invisible_keys[] = { "actimeo",        "comment",    "credentials",
                                              "direct-io-mode", "password",   "port",
                                              "retry",          "secretfile", NULL };

static bool
among(const char *const *words, const json_t *more, const char *word)
{
    for (; *words != NULL; words++) {
        if (strcmp(*words, word) == 0)
            return true;
    }
    return value_lists(more, word);
}

json_t *
mountopts_list(const json_t *opts)
{
    json_t *list = json_array();

    if (json_is_array(opts))
        json_array_extend(list, (json_t *) opts);
    if (!json_is_string(opts))
        return list;
    char **words = str_split(json_string_value(opts), ",", false);
    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, json_string(words[i]));
    strv_free(words);
    return list;
}

/* "size=10m" as the kernel shows it, "size=10240k"; other texts stay. NEW. */
static char *
in_kilobytes(const char *opt)
{
    static const char units[] = "kmg";
    char *end = NULL;

    if (!str_starts(opt, "size=") || opt[5] < '0' || opt[5] > '9')
        return xstrdup(opt);
    unsigned long long n = strtoull(opt + 5, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    for (const char *u = units; unit != NULL && u < unit; u++)
        n *= 1024;
    return unit != NULL ? xasprintf("size=%lluk", n) : xstrdup(opt);
}

/* An option under the name that the kernel shows; of one whose value does not count, its name alone. NEW. */
static char *
as_shown(const char *given, const json_t *args, const json_t *quiet)
{
    const char *fstype = value_str(args, "fstype", "");
    const char *other = value_str(value_get(args, "extra_mount_translate_options"), given, NULL);
    const char *opt = other != NULL               ? other
                      : strcmp(given, "tcp") == 0 ? "proto=tcp"
                      : strcmp(given, "udp") == 0 ? "proto=udp"
                                                  : given;
    AUTO_FREE char *key = xstrndup(opt, strcspn(opt, "="));

    if (among(invisible_keys, value_get(args, "extra_mount_invisible_keys"), key) || value_lists(quiet, key))
        return STEAL(key);
    if (strcmp(fstype, "cifs") == 0 && strcmp(key, "user") == 0 && opt[strlen(key)] == '=')
        return xasprintf("username=%s", opt + strlen("user="));
    AUTO_FREE char *size = in_kilobytes(opt);
    /* uid=NAME and gid=NAME are shown with the number. */
    const struct passwd *pw = str_starts(size, "uid=") ? getpwnam(size + 4) : NULL;
    const struct group *gr = str_starts(size, "gid=") ? getgrnam(size + 4) : NULL;
    long long id;
    if ((pw == NULL && gr == NULL) || str_to_int(size + 4, 0, UINT_MAX, &id))
        return STEAL(size);
    return xasprintf("%.4s%u", size, pw != NULL ? pw->pw_uid : gr->gr_gid);
}

static bool
mountopts_has(const json_t *list, const char *opt)
{
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        AUTO_FREE char *shown = in_kilobytes(json_is_string(one) ? json_string_value(one) : "");
        if (strcmp(shown, opt) == 0)
            return true;
    }
    return false;
}

json_t *
mountopts_changed(const json_t *opts, const json_t *active, const json_t *args)
{
    /* Options that need no remount on this type of file system. */
    const char *fstype = value_str(args, "fstype", "");
    json_t *extra = value_get(value_get(args, "extra_mount_ignore_fs_keys"), fstype);
    json_auto_t *quiet = json_is_array(extra)           ? json_incref(extra)
                         : strcmp(fstype, "ramfs") == 0 ? json_pack("[s]", "size")
                                                        : json_array();
    json_auto_t *hidden = mountopts_list(value_get(args, "hidden_opts"));
    json_t *changed = json_array(), *given;
    size_t i;

    json_array_foreach (opts, i, given) {
        AUTO_FREE char *text = value_pystr(given);
        AUTO_FREE char *opt = as_shown(text, args, quiet);
        if (!mountopts_has(value_get(active, "opts"), opt) &&
            !mountopts_has(value_get(active, "superopts"), opt) &&
            !among(invisible, value_get(args, "extra_mount_invisible_options"), opt) &&
            !value_lists(hidden, opt) && !value_lists(quiet, opt) &&
            !among(invisible_keys, value_get(args, "extra_mount_invisible_keys"), opt))
            json_array_append_new(changed, json_string(opt));
    }
    return changed;
}
