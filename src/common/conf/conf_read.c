/* conf_read.c - read the configuration files of one side, merged in Salt's order: the main file,
 * default_include's files, then include's.
 *
 * Between the files of one pattern, lists and mappings are merged; otherwise a later file's option replaces
 * an earlier one's. Each option remembers its file and line for error messages. */
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "common/data/yaml.h"
#include "common/data/yaml_node.h"
#include "common/reactor/rules.h"
#include "salt/limits.h"
#include "salt/value.h"

enum { INCLUDE_DEPTH = 8 };

typedef struct reader {
    json_t *warnings;
    fail_t *err;
} reader_t;

void
conf_warn(json_t *warnings, const char *fmt, ...)
{
    va_list ap;

    if (warnings == NULL)
        return;
    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    json_array_append_new(warnings, value_utf8(text, strlen(text)));
}

void
conf_said_free(conf_said_t *said)
{
    json_decref(said->values);
    json_decref(said->where);
    json_decref(said->addresses);
    *said = (conf_said_t){ 0 };
}

static void
said_init(conf_said_t *said)
{
    *said = (conf_said_t){ .values = json_object(), .where = json_object() };
}

/* The line of an entry in the file's list `reactor`; 0 when unknown. */
static int
reactor_line(const buf_t *text, size_t entry)
{
    yproblem_t problem = YPROBLEM_INIT;
    ydoc_t *doc = ydoc_new(buf_str(text), text->len, LIMIT_YAML_NODES, &problem);
    const ynode_t *root = doc != NULL ? ydoc_root(doc) : NULL;
    int line = 0;

    for (size_t i = 0; root != NULL && i < root->n; i++) {
        const ynode_t *key = root->pairs[i].key, *list = root->pairs[i].value;
        if (key->shape != YSCALAR || !str_eq(key->text, "reactor"))
            continue;
        bool known = list->shape == YSEQ && entry < list->n;
        line = (known ? list->items[entry]->at.line : key->at.line) + 1;
    }
    ydoc_destroy(&doc);
    yproblem_free(&problem);
    return line;
}

/* Read a file as an object; *ret_lines NEW. NULL with *err. */
static json_t *
conf_read_file(reader_t *r, const char *path, yaml_lines_t **ret_lines)
{
    buf_auto_t text = BUF_INIT;

    if (fs_read(path, LIMIT_CONF_FILE, &text, r->err) < 0)
        return NULL;
    json_t *v = yaml_load(buf_str(&text), text.len, path, ret_lines, r->err);
    /* `reactor` is checked per file, where lines are known: lists of several files are merged later. */
    const json_t *reactor = json_object_get(v, "reactor");
    fail_auto_t why = FAIL_INIT;
    size_t entry = 0;
    if (value_truthy(reactor) && !json_is_string(reactor) && rules_check(reactor, &entry, &why) != 0) {
        fail_set(r->err, -EINVAL, "%s, line %d: %s", path, reactor_line(&text, entry), fail_text(&why));
        json_decref(v);
        return NULL;
    }
    if (v == NULL || json_is_object(v))
        return v;
    bool empty = !value_truthy(v);
    json_decref(v);
    if (empty)
        return json_object();
    fail_set(r->err, -EINVAL, "%s: a configuration is a mapping, lines of 'option: value'; this file is none",
             path);
    return NULL;
}

/* Replace options by those of another file. */
static void
overlay(conf_said_t *said, const conf_said_t *more)
{
    json_object_update(said->values, more->values);
    json_object_update(said->where, more->where);
}

static int read_patterns(reader_t *r, const json_t *patterns, const char *from, bool must_match, int depth,
                         conf_said_t *out);

/* Read a file and its includes. */
static int
read_with_includes(reader_t *r, const char *path, int depth, conf_said_t *out)
{
    AUTO(yaml_lines) lines = NULL;
    const char *key;
    json_t *v;

    *out = (conf_said_t){ .values = conf_read_file(r, path, &lines), .where = json_object() };
    if (out->values == NULL)
        return -EINVAL;
    json_object_foreach (out->values, key, v)
        json_object_set_new(out->where, key, value_fmt("%s, line %d", path, yaml_line_of(lines, key)));
    if (depth == 0)
        return 0; /* the caller reads what the main file includes, after default_include */
    conf_said_t more;
    int rc = read_patterns(r, json_object_get(out->values, "include"), path, true, depth, &more);
    if (rc == 0)
        overlay(out, &more);
    conf_said_free(&more);
    return rc;
}

/* Merge lists and mappings of a pattern's files, as Salt does. */
static int
conf_read_add_included(reader_t *r, const char *path, int depth, conf_said_t *out)
{
    conf_said_t one;
    struct stat st;

    /* A pipe or a device would be waited for. */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return fail_set(r->err, -EINVAL, "include: %s is not a regular file", path);
    int rc = read_with_includes(r, path, depth + 1, &one);

    if (rc == 0) {
        value_merge(out->values, one.values, true);
        json_object_update(out->where, one.where);
    }
    conf_said_free(&one);
    return rc;
}

/* Read patterns (a text or a list), relative to the folder of the file `from`. INCLUDE_DEPTH ends circles. */
static int
read_patterns(reader_t *r, const json_t *patterns, const char *from, bool must_match, int depth,
              conf_said_t *out)
{
    size_t n = json_is_array(patterns) ? json_array_size(patterns) : 1;
    const char *slash = strrchr(from, '/');
    int rc = 0;

    said_init(out);
    if (!value_truthy(patterns))
        return 0;
    if (depth >= INCLUDE_DEPTH)
        return fail_set(r->err, -ELOOP, "%s: include: files that include files, %d deep; is there a circle?",
                        from, INCLUDE_DEPTH);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const char *pattern = json_string_value(json_is_array(patterns) ? json_array_get(patterns, i)
                                                                        : patterns);
        if (pattern == NULL)
            return fail_set(r->err, -EINVAL, "%s: option 'include' wants a text or a list of texts", from);
        AUTO_FREE char *folder = xstrndup(from, slash != NULL ? (size_t) (slash - from) : 0);
        bool as_is = *pattern == '/' || *pattern == '~' || slash == NULL;
        AUTO_FREE char *full = as_is ? xstrdup(pattern) : fs_join(folder, pattern);

        /* Read the files of a pattern. A failed search is a failure: the options in those files are not
         * the defaults. */
        glob_t found;
        rc = fs_glob(full, GLOB_TILDE, &found, r->err);
        for (size_t j = 0; rc == 0 && j < found.gl_pathc; j++)
            rc = conf_read_add_included(r, found.gl_pathv[j], depth, out);
        if (rc == 0 && found.gl_pathc == 0) {
            /* The file exists but can't be read: reading it gives the reason. */
            if (strpbrk(full, "*?[") == NULL && !fs_absent(full))
                rc = conf_read_add_included(r, full, depth, out);
            else if (must_match)
                conf_warn(r->warnings, "include '%s' matches no file", full);
        }
        globfree(&found);
    }
    return rc;
}

/* Reads the files of `include` or `default_include` and lays them over `out`. */
static int
read_included(reader_t *r, const json_t *patterns, const char *path, bool must_match, conf_said_t *out)
{
    conf_said_t more;
    int rc = read_patterns(r, patterns, path, must_match, 0, &more);

    if (rc == 0)
        overlay(out, &more);
    conf_said_free(&more);
    return rc;
}

int
conf_read(const char *dir, conf_side_t side, conf_said_t *out, json_t *warnings, fail_t *err)
{
    reader_t r = { warnings, err };
    AUTO_FREE char *path = fs_join(dir, side == CONF_MASTER ? "master" : "minion");
    int rc = 0;

    /* An absent file is fine. An unreadable one is not: reading it gives the reason. */
    if (fs_exists(path) || errno != ENOENT)
        rc = read_with_includes(&r, path, 0, out);
    else
        said_init(out);
    if (rc < 0)
        return rc;
    json_auto_t *standard = conf_default(conf_row("default_include", side));
    json_t *chosen = json_object_get(out->values, "default_include");
    json_auto_t *include = json_incref(json_object_get(out->values, "include"));
    json_auto_t *patterns = json_incref(chosen != NULL && !json_is_null(chosen) ? chosen : standard);
    rc = read_included(&r, patterns, path, false, out);
    return rc < 0 ? rc : read_included(&r, include, path, true, out);
}
