/* ext_file_tree.c - external pillar `file_tree`: folders and files become keys and values.
 *
 * Reads ROOT/nodegroups/GROUP for each node group of the minion, then ROOT/hosts/ID, and merges them
 * recursively. Contents are text when they are UTF-8, else bytes, or rendered with `template`. The tree's
 * bytes and depth are limited. */
#include "common/pillar/pillar_int.h"

#include <dirent.h>
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/match/match.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "salt/log.h"

typedef struct tree {
    compile_t *owner;
    const json_t *args;
    const json_t *keep_newline; /* a boolean, or an array of globs */
    bool follow, template;
    size_t bytes; /* read so far */
    int depth;
} tree_t;

static bool
keeps_newline(const tree_t *self, const char *path)
{
    json_t *glob;
    size_t i;

    json_array_foreach (self->keep_newline, i, glob)
        if (json_is_string(glob) && match_glob(json_string_value(glob), path))
            return true;
    return json_is_true(self->keep_newline);
}

/* A file's content: rendered with `template`, else text or, when it is not UTF-8, bytes. */
static py_t *
ext_file_tree_value(const tree_t *self, const buf_t *text, const char *file, fail_t *err)
{
    if (!self->template)
        return utf8_valid(buf_str(text), text->len) ? py_str(buf_str(text), text->len)
                                                    : py_bytes(buf_str(text), text->len);
    render_source_t source = { .text = buf_str(text),
                               .len = text->len,
                               .path = file,
                               .pipeline = value_str(self->args, "render_default", NULL),
                               .saltenv = compile_env(self->owner),
                               .pillar = self->owner->known };
    return render_data(self->owner->render, &source, err);
}

static int ext_file_tree_folder(tree_t *self, const char *dir, const char *prefix, py_t *into, fail_t *err);

/* Adds one entry of a folder: folders in the first pass, regular files in the second. A broken link or a name
 * that is not UTF-8 is logged and skipped; a linked folder without follow_dir_links is an empty dict, as in
 * Salt. */
static int
ext_file_tree_entry(tree_t *self, const char *dir, const char *prefix, const char *name, bool folders,
                    py_t *into, fail_t *err)
{
    AUTO_FREE char *full = fs_join(dir, name);
    AUTO_FREE char *path = *prefix ? fs_join(prefix, name) : xstrdup(name);
    struct stat st, own;

    int rc = lstat(full, &own) != 0 || stat(full, &st) != 0 ? -errno : 0;
    if (rc < 0 && !fs_is_absence(rc) && rc != -ELOOP)
        return fs_fail(err, rc, "look at", full);
    if (rc < 0 || !utf8_valid(name, strlen(name))) {
        log_error("file_tree: %s: not a regular file", full);
        return 0;
    }
    if (S_ISDIR(st.st_mode) != folders || (!folders && !S_ISREG(st.st_mode)))
        return 0;
    if (!folders) {
        /* Adds one file under its name. A trailing newline is removed unless keep_newline says otherwise.
         * A file that vanished since the listing is skipped. */
        buf_auto_t text = BUF_INIT;
        fail_auto_t why = FAIL_INIT;
        rc = fs_read(full, LIMIT_EXT_PILLAR, &text, &why);
        if (rc == -ENOENT) /* removed since it was listed */
            return 0;
        if (rc < 0)
            return fail_set(err, rc, "%s", fail_text(&why));
        self->bytes += text.len;
        if (self->bytes > LIMIT_EXT_PILLAR)
            return fail_set(err, -EFBIG, "%s: the tree has more than %d bytes", full, LIMIT_EXT_PILLAR);
        if (text.len > 0 && text.data[text.len - 1] == '\n' && !keeps_newline(self, path))
            text.data[--text.len] = '\0';
        py_t *value = ext_file_tree_value(self, &text, full, err);
        if (value == NULL)
            return fail_set(err, -EINVAL, "%s", full);
        py_dict_sets_new(into, name, value);
        return 0;
    }
    AUTO(py) inner = py_dict();
    py_dict_sets(into, name, inner);
    return S_ISLNK(own.st_mode) && !self->follow ? 0 : ext_file_tree_folder(self, full, path, inner, err);
}

/* Adds a folder's entries in two passes over the same list, folders before files, as in Salt. */
static int
ext_file_tree_folder(tree_t *self, const char *dir, const char *prefix, py_t *into, fail_t *err)
{
    char **list = NULL;

    if (self->depth >= LIMIT_FILE_DEPTH) {
        log_error("file_tree: %s: too many folders in each other", dir);
        return 0;
    }
    int rc = fs_names(dir, &list, err);
    size_t n = strv_len(list);
    self->depth++;
    for (size_t i = 0; rc == 0 && i < 2 * n; i++)
        rc = ext_file_tree_entry(self, dir, prefix, list[i % n], i < n, into, err);
    self->depth--;
    strv_free(list);
    return rc;
}

/* Reads one folder and merges it over *into_p. */
static int
ext_file_tree_lay(tree_t *self, const char *dir, py_t **into_p, fail_t *err)
{
    AUTO(py) data = py_dict();

    if (ext_file_tree_folder(self, dir, "", data, err) < 0)
        return -EINVAL;
    py_t *merged = py_merge(*into_p, data, "recurse", false);
    if (merged == NULL)
        return compile_raised(err);
    py_unref(*into_p);
    *into_p = merged;
    return 0;
}

/* True when the minion is in the node group. Groups that depend on grains are reported (claims_tell), as a
 * minion can claim any grain. */
static bool
in_group(const tree_t *self, const char *group, const char *dir)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *expr = json_string(group);
    const compile_t *c = self->owner;
    AUTO(target) tgt = target_new(expr, TGT_NODEGROUP, value_get(c->opts, "nodegroups"), NULL, &why);
    match_subject_t subject = { c->env->id, c->grains, NULL, NULL };

    if (tgt != NULL && target_needs_claims(tgt))
        claims_tell(c, dir, group);
    return tgt != NULL && target_match(tgt, &subject);
}

/* Merges the folders of the minion's node groups. A group's name with '/' cannot be a folder and is skipped.
 */
static int
groups(tree_t *self, const char *root, py_t **into_p, fail_t *err)
{
    AUTO_FREE char *parent = fs_join(root, "nodegroups");
    const char *group;
    json_t *meaning;
    int rc = 0;

    json_object_foreach (value_get(self->owner->opts, "nodegroups"), group, meaning) {
        AUTO_FREE char *dir = fs_join(parent, group);
        int there = rc == 0 && strchr(group, '/') == NULL ? fs_look_dir(dir, err) : 0;
        if (there > 0 && in_group(self, group, dir))
            rc = ext_file_tree_lay(self, dir, into_p, err);
        rc = there < 0 ? there : rc;
    }
    return rc;
}

/* Node groups first, then the host's own folder, which therefore wins. -ENOENT for a root that is not a folder.
 */
static int
ext_file_tree_root(tree_t *self, const char *root, py_t **into_p, fail_t *err)
{
    AUTO_FREE char *hosts = fs_join(root, "hosts");
    AUTO_FREE char *host = fs_join(hosts, self->owner->env->id);

    int there = fs_look_dir(root, err);
    if (there == 0)
        return fail_set(err, -ENOENT, "root_dir %s does not exist or is not a directory", root);
    if (there < 0 || groups(self, root, into_p, err) < 0)
        return -EINVAL;
    there = fs_look_dir(host, err);
    return there > 0 ? ext_file_tree_lay(self, host, into_p, err) : there;
}

/* Absolute folders to read: a relative root_dir counts below each pillar root of pillarenv. NEW array; *err
 * is set when pillarenv is needed and missing. */
static json_t *
ext_file_tree_roots(const tree_t *self, const char *root_dir, fail_t *err)
{
    const compile_t *c = self->owner;
    json_t *out = json_array(), *dir;
    size_t i;

    if (root_dir[0] == '/') {
        json_array_append_new(out, json_string(root_dir));
        return out;
    }
    if (c->pillarenv == NULL)
        (void) fail_set(err, -EINVAL, "root_dir is relative but pillarenv is not set");
    json_array_foreach (json_object_get(c->roots, c->pillarenv != NULL ? c->pillarenv : ""), i, dir) {
        AUTO_FREE char *full = fs_join(json_string_value(dir), root_dir);
        json_array_append_new(out, json_string(full));
    }
    return out;
}

py_t *
ext_file_tree(compile_t *self, py_t *pillar, const json_t *args, fail_t *err)
{
    const char *root_dir = json_is_string(args) ? json_string_value(args) : value_str(args, "root_dir", "");
    tree_t tree = { .owner = self,
                    .args = args,
                    .keep_newline = value_get(args, "keep_newline"),
                    .follow = value_bool(args, "follow_dir_links", false),
                    .template = value_bool(args, "template", false) };
    AUTO(py) out = py_dict();
    json_auto_t *roots = NULL;
    json_t *root;
    size_t i;

    reads_mark_world(self->env->reads);
    if (!*root_dir)
        (void) fail_set(err, -EINVAL, "no root_dir specified");
    else
        roots = ext_file_tree_roots(&tree, root_dir, err);
    json_array_foreach (roots, i, root)
        if (ext_file_tree_root(&tree, json_string_value(root), &out, err) < 0)
            return NULL;
    return err->code < 0 ? NULL : STEAL(out);
}
