/* saltfile.c - see saltfile.h. */
#include "common/cli/saltfile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/cli/optrow.h"
#include "common/data/yaml.h"
#include "salt/limits.h"
#include "salt/value.h"

/* True when nobody but this user and root can have made or changed what was opened. */
static bool
saltfile_is_ours(const struct stat *st)
{
    return (st->st_uid == geteuid() || st->st_uid == 0) && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* NEW path of the file in a folder when it may be used; NULL: there is none, or it is left out. */
static char *
saltfile_found(const opt_spec_t *spec, const char *folder)
{
    struct stat file, dir;
    AUTO_FREE char *path = fs_join(folder, "Saltfile");
    if (lstat(path, &file) != 0 || S_ISDIR(file.st_mode))
        return NULL;
    if (S_ISREG(file.st_mode) && saltfile_is_ours(&file) && stat(folder, &dir) == 0 && saltfile_is_ours(&dir))
        return STEAL(path);
    (void) fprintf(
        stderr,
        "%s: %s is left out: it, or its folder, is another user's, or others may write it, or it is no file; "
        "--saltfile=%s takes it all the same\n",
        spec->prog, path, path);
    return NULL;
}

/* NEW path of the Saltfile, or NULL. *ret_named: somebody named it. */
static char *
saltfile_path(const opt_spec_t *spec, const json_t *given, bool *ret_named)
{
    const char *named = value_str(given, "saltfile", getenv("SALT_SALTFILE")), *home = getenv("HOME");
    *ret_named = !str_empty(named);
    if (*ret_named)
        return xstrdup(named);
    AUTO_FREE char *here = getcwd(NULL, 0);
    char *path = here != NULL ? saltfile_found(spec, here) : NULL;
    if (path != NULL || str_empty(home))
        return path;
    AUTO_FREE char *folder = fs_join(home, ".salt");
    return saltfile_found(spec, folder);
}

/* Whether a key is one of an option's names, with '_' for '-', or its key in results. */
static bool
saltfile_names(const opt_row_t *row, const char *key)
{
    AUTO_FREE char *dest = optrow_key(row);
    const char *name;
    size_t len;
    if (str_eq(dest, key) && row->value == NULL)
        return true;
    for (const char *pos = row->names; (name = optrow_next_name(&pos, &len)) != NULL;) {
        AUTO_FREE char *word = xstrndup(name + (optrow_is_long(name) ? 2 : 1),
                                        len - (optrow_is_long(name) ? 2 : 1));
        for (char *c = word; *c != '\0'; c++)
            *c = *c == '-' ? '_' : *c;
        if (optrow_is_long(name) && str_eq(word, key))
            return true;
    }
    return false;
}

/* NEW text of a value as a command line has it; NULL when it can't be one. */
static char *
saltfile_text(const json_t *v)
{
    buf_auto_t out = BUF_INIT;
    json_t *one;
    size_t i;
    if (!json_is_array(v))
        return json_is_object(v) || json_is_null(v) ? NULL : value_pystr(v);
    json_array_foreach (v, i, one) {
        AUTO_FREE char *text = json_is_string(one) ? value_pystr(one) : NULL;
        if (text == NULL)
            return NULL;
        buf_printf(&out, "%s%s", i > 0 ? "," : "", text);
    }
    return xstrdup(buf_str(&out));
}

/* Adds the word of one option, unless the command line has the option. */
static int
saltfile_word(const opt_spec_t *spec, const json_t *given, const char *path, const char *key, const json_t *v,
              char ***words, size_t *n, fail_t *err)
{
    const opt_row_t *row, *found = NULL;
    size_t len;
    for (size_t t = 0, r = 0; found == NULL && (row = optrow_next(spec, &t, &r)) != NULL;)
        if (saltfile_names(row, key))
            found = row;
    if (found == NULL || found->kind == OPT_HELP || found->kind == OPT_VERSION ||
        found->kind == OPT_VERSIONS_REPORT || str_eq(key, "saltfile"))
        return fail_set(err, -EINVAL, "%s: %s has no option '%s'", path, spec->prog, key);
    AUTO_FREE char *dest = optrow_key(found);
    const char *name = optrow_first_name(found, &len);
    bool takes = optrow_takes_value(found);
    if (value_get(given, dest) != NULL || (!takes && json_is_false(v)))
        return 0;
    AUTO_FREE char *text = saltfile_text(v);
    if (takes ? text == NULL : !json_is_true(v))
        return fail_set(err, -EINVAL, "%s: %s: '%s' is %s", path, spec->prog, key,
                        takes ? "a text, a number or a list of texts" : "true or false");
    bool is_long = optrow_is_long(name);
    *words = xrealloc(*words, (*n + 2) * sizeof(**words));
    (*words)[(*n)++] = xasprintf("%.*s%s%s", (int) len, name, takes && is_long ? "=" : "", takes ? text : "");
    (*words)[*n] = NULL;
    return 0;
}

/* Words as if typed; NULL without a file. A file that was named must exist, a found one may be absent. */
int
saltfile_words(const opt_spec_t *spec, const json_t *given, char ***ret_words, char **ret_path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    bool named;
    size_t n = 0;
    const char *key;
    json_t *v;
    *ret_words = NULL;
    *ret_path = saltfile_path(spec, given, &named);
    if (*ret_path == NULL)
        return 0;
    if (named && !fs_look_file(*ret_path, NULL))
        return fail_set(err, -EINVAL, "'%s' file does not exist.", *ret_path);
    json_auto_t *all = fs_read(*ret_path, LIMIT_ARGS_STDIN, &text, err) >= 0
                           ? yaml_load(buf_str(&text), text.len, *ret_path, NULL, err)
                           : NULL;
    if (all == NULL)
        return err->code;
    json_t *mine = value_get(all, spec->prog);
    if ((!json_is_object(all) && !json_is_null(all)) || (mine != NULL && !json_is_object(mine)))
        return fail_set(err, -EINVAL, "%s: a Saltfile is a mapping of programs, and each of its options",
                        *ret_path);
    *ret_words = xcalloc(1, sizeof(**ret_words));
    int rc = 0;
    json_object_foreach (mine, key, v)
        if (rc == 0)
            rc = saltfile_word(spec, given, *ret_path, key, v, ret_words, &n, err);
    return rc;
}
