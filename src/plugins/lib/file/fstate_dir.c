/* fstate_dir.c - what states do below a folder: what must stay, what is removed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/descent.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate_dir.h"
#include "plugins/lib/file/recurse_plan.h"

const char *
fstate_below(const char *root, const char *path)
{
    size_t n = strlen(root);

    while (n > 0 && root[n - 1] == '/')
        n--;
    return strncmp(path, root, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* ---- walking --------------------------------------------------------------------------------- */

static int
not_dots(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* The number of entries, or a negative errno. A folder that is gone meanwhile has none. */
static int
fstate_dir_list(int dir, const char *path, struct dirent ***ret_entries, fail_t *err)
{
    int n = scandirat(dir, dir == AT_FDCWD ? path : ".", ret_entries, not_dots, alphasort);

    if (n >= 0)
        return n;
    *ret_entries = NULL;
    return errno == ENOENT || errno == ENOTDIR ? 0 : fop_oserror(err, errno, path);
}

static void
free_entries(struct dirent **entries, int n)
{
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
}

int
fstate_walk(const char *top, json_int_t max_depth, fstate_walk_fn *visit, void *cookie, fail_t *err)
{
    struct dirent **entries;
    int n = fstate_dir_list(AT_FDCWD, top, &entries, err), rc = n < 0 ? n : 0;

    /* Files before folders, a folder before what is in it. */
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < n && rc == 0; i++) {
            AUTO_FREE char *path = fop_join2(top, entries[i]->d_name);
            /* The kernel tells the type but for links, and for file systems that keep none. */
            bool known = entries[i]->d_type != DT_LNK && entries[i]->d_type != DT_UNKNOWN;
            int dir = known ? entries[i]->d_type == DT_DIR : fop_leads_to(path, S_IFDIR, err);
            if (dir < 0)
                rc = dir;
            else if (pass == 0 && dir == 0)
                rc = visit(cookie, path, false);
            else if (pass == 1 && dir > 0 && max_depth != 0)
                rc = visit(cookie, path, true);
            else if (pass == 2 && dir > 0 && max_depth != 0) {
                /* Links to folders are not entered. */
                int link = fop_lexists_as(path, S_IFLNK, err);
                rc = link > 0   ? 0
                     : link < 0 ? link
                                : fstate_walk(path, max_depth > 0 ? max_depth - 1 : -1, visit, cookie, err);
            }
        }
    }
    free_entries(entries, n);
    return rc;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

void
fstate_broom_keep(fstate_broom_t *self, const char *path)
{
    if (*path != '/')
        return;
    AUTO_FREE char *normal = fop_normpath(path);
    for (char *end = normal + strlen(normal); end > normal; end = strrchr(normal, '/')) {
        *end = '\0';
        if (*normal == '\0' || map_get(self->keep, normal) != NULL)
            return;
        map_set(self->keep, normal, self);
    }
}

static int
keep_found(void *cookie, const char *path, bool is_dir)
{
    fstate_broom_keep(cookie, path);
    return 0;
}

/* Keeps the path of a state of `file`, and a folder's all, or what file.recurse has put there. */
static int
keep_of(fstate_broom_t *self, fstate_t *s, json_t *low, fail_t *err)
{
    const char *path = value_str(low, "name", "");

    int dir = fop_exists_as(path, S_IFDIR, err);
    if (dir < 0)
        return dir;
    AUTO_FREE char *normal = fop_normpath(path);
    size_t n = strlen(self->root);
    bool below = strcmp(self->root, "/") == 0 ||
                 (strncmp(normal, self->root, n) == 0 && (normal[n] == '/' || normal[n] == '\0'));
    if (dir > 0 && !below)
        return 0;
    if (dir > 0 && str_eq(value_str(low, "fun", ""), "recurse")) {
        /* What a file.recurse with these arguments keeps below its name. */
        json_auto_t *kept = recurse_kept(s->ctx, low, err);
        const char *one;
        json_t *v;
        json_object_foreach (kept, one, v)
            fstate_broom_keep(self, one);
        return kept != NULL ? 0 : err->code < 0 ? err->code : -EINVAL;
    }
    fstate_broom_keep(self, path);
    return dir > 0 ? fstate_walk(path, -1, keep_found, self, err) : 0;
}

/* A state of `file` that this one requires keeps its files: Salt reads that from the requisites, by name or
 * by id. */
static int
keep_required(fstate_broom_t *self, fstate_t *s, fail_t *err)
{
    json_t *require = fstate_arg(s, "require"), *one, *low;
    size_t i, k;
    int rc = 0;

    json_array_foreach (require, i, one) {
        const char *file = value_str(one, "file", NULL);
        json_array_foreach (ctx_chunks(s->ctx), k, low) {
            if (rc == 0 && file != NULL &&
                (str_eq(value_str(low, "name", NULL), file) || str_eq(value_str(low, "__id__", NULL), file)))
                rc = keep_of(self, s, low, err);
        }
    }
    return rc;
}

int
fstate_broom_init(fstate_broom_t *self, fstate_t *s, fail_t *err)
{
    self->root = fop_normpath(s->name);
    self->keep = map_new(NULL);
    fstate_broom_keep(self, self->root);
    int rc = fstate_pats_read(&self->pats, NULL, fstate_arg(s, "exclude_pat"), err);
    return rc != 0 ? rc : keep_required(self, s, err);
}

void
fstate_broom_free(fstate_broom_t *self)
{
    free(self->root);
    map_destroy(&self->keep);
    fstate_pats_free(&self->pats);
    *self = (fstate_broom_t){ 0 };
}

/* ---- what is removed ------------------------------------------------------------------------- */

int
fstate_broom_takes(const fstate_broom_t *self, const char *path, fail_t *err)
{
    if (map_get(self->keep, path) != NULL)
        return 0;
    return fstate_pats_let(&self->pats, fstate_below(self->root, path), err);
}

typedef struct sweep {
    const fstate_broom_t *broom;
    bool test;
    json_t *removed;
    descent_t at; /* owns a heap_t for each folder */
} sweep_t;

/* A folder that is swept, and what is in it. */
typedef struct heap {
    char *path;
    struct dirent **entries;
    int n, next;
} heap_t;

static void
heap_free(void *own)
{
    heap_t *heap = own;

    if (heap != NULL) {
        free_entries(heap->entries, heap->n);
        free(heap->path);
        free(heap);
    }
}

/* 0 when no such folder is there. */
static int
sweep_into(sweep_t *s, int dir, const char *name, const char *path, fail_t *err)
{
    int rc = descent_down(&s->at, dir, name);

    if (rc < 0)
        return rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP ? 0 : fop_oserror(err, -rc, path);
    heap_t *heap = xcalloc(1, sizeof(*heap));
    descent_give(&s->at, heap);
    heap->path = xstrdup(path);
    rc = fstate_dir_list(dirfd(descent_dir(&s->at)), path, &heap->entries, err);
    heap->n = rc < 0 ? 0 : rc;
    return rc < 0 ? rc : 0;
}

static int
sweep_step(sweep_t *s, fail_t *err)
{
    heap_t *heap = descent_own(&s->at);

    if (heap->next < heap->n) {
        AUTO_FREE char *path = fop_join2(heap->path, heap->entries[heap->next++]->d_name);

        /* Names are looked up in the open folder: nobody who may write there can have something else removed
         * by a link. */
        int dir = dirfd(descent_dir(&s->at)), takes = fstate_broom_takes(s->broom, path, err);
        const char *name = fop_basename(path);

        if (takes == 1) {
            int rc = s->test ? 0 : fs_remove_at(dir, name);
            json_array_append_new(s->removed, value_utf8(path, strlen(path)));
            if (rc != 0)
                return fop_oserror(err, -rc, path);
        }
        return takes < 0 ? takes : sweep_into(s, dir, name, path, err);
    }
    AUTO_FREE char *path = STEAL(heap->path);
    int rc = descent_up(&s->at);
    return rc < 0 ? fop_oserror(err, -rc, path) : 0;
}

json_t *
fstate_broom_sweep(const fstate_broom_t *self, bool test, fail_t *err)
{
    json_auto_t *removed = json_array();
    sweep_t s = { .broom = self, .test = test, .removed = removed, .at = { .free_own = heap_free } };
    fail_auto_t why = FAIL_INIT;
    AUTO_FD dir = fop_hold_folder(self->root, &why);

    if (dir < 0 && dir != -ENOENT)
        return fail_kind(err, why.kind, dir, "%s", fail_text(&why)), NULL;
    int rc = dir < 0 ? 0 : sweep_into(&s, dir, ".", self->root, err);
    while (rc == 0 && s.at.depth > 0)
        rc = sweep_step(&s, err);
    descent_end(&s.at);
    return rc == 0 ? json_incref(removed) : NULL;
}
