/* gitfs_repo.c - a remote's local copy, by the system's git: fetch, refs, trees. */
#include "common/files/gitfs_int.h"

#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define GIT_TIME_MS 600000
#define TREES_MAX   32 /* commits whose files are remembered */
#define SHORTEST_ID 7
#define LOCK        "update.lk"

/* ---- fetching -------------------------------------------------------------------------------- */

git_copy_t
git_remote_copy(const git_remote_t *r)
{
    return (git_copy_t){ .url = r->url, .dir = r->dir, .conf = r->conf, .time_ms = GIT_TIME_MS };
}

static int
gitfs_repo_git(const git_remote_t *r, const char *cwd, const char *const *words, buf_t *out, fail_t *err)
{
    const git_copy_t copy = git_remote_copy(r);
    return git_copy_run(&copy, cwd, words, out, err);
}

/* A lock of fileserver.lock keeps a remote from being fetched. 1 when set or removed, 0 when it was so
 * before. */
int
git_lock(git_remote_t *r, bool on, fail_t *err)
{
    AUTO_FREE char *lock = fs_join(r->dir, LOCK);
    if (!on)
        return unlink(lock) == 0 ? 1
               : errno == ENOENT ? 0
                                 : fail_set(err, -errno, "%s: %s", lock, strerror(errno));
    int there = fs_look(lock, err);
    if (there != 0)
        return there < 0 ? there : 0;
    int rc = fs_mkdirs(r->dir, 0700, err);
    if (rc == 0)
        rc = fs_write_quick(lock, "", 0, 0600, err);
    return rc < 0 ? rc : 1;
}

int
git_update(git_remote_t *r, bool at_once, int *ret_wait_s, fail_t *err)
{
    const git_copy_t copy = git_remote_copy(r);
    json_int_t every = value_int(r->conf, "update_interval", 60);
    every = every > 0 && every < INT32_MAX ? every : 60;
    int wait_s = at_once ? 0 : git_copy_wait_s(&copy, (int) every);
    *ret_wait_s = wait_s > 0 ? wait_s : (int) every;
    if (wait_s > 0)
        return 0;

    AUTO_FREE char *lock = fs_join(r->dir, LOCK);
    /* if that can't be told, nothing is fetched */
    if (!fs_absent(lock)) {
        log_info("gitfs: %s is locked and not fetched: salt-run fileserver.clear_lock", r->url);
        return 0;
    }

    int rc = fs_mkdirs(r->blobs, 0700, err);
    /* Only one process fetches; the others use its result. */
    rc = rc < 0 ? rc : git_copy_fetch(&copy, err);
    if (rc == 0)
        git_blobs_forget(r);
    return rc < 0 ? rc : 1;
}

/* ---- refs ------------------------------------------------------------------------------------ */

/* Reads the refs, if another process or thread has fetched since they were read. */
int
git_look(git_remote_t *r, fail_t *err)
{
    const git_copy_t copy = git_remote_copy(r);
    int64_t stamp;
    buf_auto_t out = BUF_INIT;
    const char *const words[] = {
        "git",        "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)",
        "refs/heads", "refs/tags",    NULL
    };
    int rc = git_copy_stamp(&copy, &stamp, err);
    if (rc < 0 || stamp == r->stamp)
        return rc;
    if (stamp == 0) {
        json_object_clear(r->refs); /* nothing was fetched yet, or it was cleared */
        r->stamp = 0;
        return 0;
    }
    rc = gitfs_repo_git(r, r->dir, words, &out, err);
    if (rc < 0)
        return rc;
    json_object_clear(r->refs);
    char **lines = str_split(buf_str(&out), "\n", true);
    for (size_t i = 0; lines[i]; i++) {
        char **part = str_split(lines[i], " ", true);
        size_t n = strv_len(part);
        if (n >= 2 && str_starts(part[0], "refs/"))
            json_object_set_new(r->refs, part[0] + strlen("refs/"), json_string(part[n - 1]));
        strv_free(part);
    }
    strv_free(lines);
    r->stamp = stamp;
    return 0;
}

/* True for what may be a commit's id, short or whole. */
static bool
is_id(const char *text)
{
    size_t n = strlen(text);
    return n >= SHORTEST_ID && n <= GIT_ID_MAX && strspn(text, "0123456789abcdef") == n;
}

/* Resolve a branch, a tag or a commit id, in the order of ref_types. NEW commit; NULL: none. */
static int
gitfs_repo_commit(git_remote_t *r, const char *ref, char **ret, fail_t *err)
{
    static const struct {
        const char *type, *prefix;
    } rows[] = { { "branch", "heads/" }, { "tag", "tags/" }, { "sha", NULL } };
    const git_copy_t copy = git_remote_copy(r);
    json_t *types = value_get(r->conf, "ref_types"), *type;
    size_t i;
    int rc = 0;
    *ret = NULL;
    json_array_foreach (types, i, type)
        for (size_t k = 0; rc == 0 && *ret == NULL && k < NELEMS(rows); k++) {
            if (!str_eq(json_string_value(type), rows[k].type))
                continue;
            AUTO_FREE char *name = xasprintf("%s%s", rows[k].prefix != NULL ? rows[k].prefix : "", ref);
            const char *known = rows[k].prefix != NULL ? value_str(r->refs, name, NULL) : NULL;
            if (known != NULL)
                *ret = xstrdup(known);
            else if (rows[k].prefix == NULL && is_id(ref))
                rc = git_copy_commit(&copy, ref, ret, err);
        }
    return rc;
}

/* True when nothing keeps a commit from who names its id: no environment is forbidden, or one of those that
 * are not has it in its history. Names of the lists mean environments; an id is none of them. */
static bool
id_is_exposed(git_remote_t *r, const char *commit, fail_t *err)
{
    const char *const words[] = { "git",        "for-each-ref", "--contains", commit, "--format=%(refname)",
                                  "refs/heads", "refs/tags",    NULL };
    buf_auto_t out = BUF_INIT;
    bool exposed = false;
    if (json_array_size(value_get(r->conf, "saltenv_blacklist")) == 0)
        return true;
    if (gitfs_repo_git(r, r->dir, words, &out, err) < 0)
        return false;
    char **refs = str_split(buf_str(&out), "\n", true);
    for (size_t i = 0; refs[i] != NULL && !exposed; i++)
        exposed = str_starts(refs[i], "refs/") && git_exposes_ref(r, refs[i] + strlen("refs/"));
    strv_free(refs);
    return exposed;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* All paths of a commit, kept with the remote. BORROWED, or NULL with *err. */
static map_t *
read_tree(git_remote_t *r, const char *commit, fail_t *err)
{
    buf_auto_t out = BUF_INIT;
    const char *const words[] = { "git", "ls-tree", "-r", "-t", "-z", "--full-tree", commit, NULL };
    if (gitfs_repo_git(r, r->dir, words, &out, err) < 0)
        return NULL;
    map_t *tree = map_new(free);
    for (size_t at = 0; at < out.len && map_len(tree) < LIMIT_FILE_LIST; at += strlen(out.data + at) + 1) {
        /* Parse "MODE TYPE ID\tPATH". */
        const char *line = out.data + at;
        git_entry_t e = { 0 };
        const char *tab = strchr(line, '\t');
        /* A crafted tree may have names that lead out of it: nobody can have such a file. */
        if (tab == NULL || beneath_check(tab + 1) < 0 ||
            sscanf(line, "%o %*s %64[0-9a-f]", &e.mode, e.id) != 2)
            continue;
        git_entry_t *own = xcalloc(1, sizeof(*own));
        *own = e;
        map_set(tree, tab + 1, own);
    }
    if (map_len(r->trees) >= TREES_MAX)
        map_clear(r->trees);
    map_set(r->trees, commit, tree);
    return tree;
}

const map_t *
git_tree(git_remote_t *r, const char *saltenv, fail_t *err)
{
    AUTO_FREE char *ref = git_is_exposed(r, saltenv) ? git_setting(r, "ref", saltenv) : NULL;
    const char *fallback = value_str(r->conf, "fallback", "");
    AUTO_FREE char *commit = NULL;
    int rc = ref != NULL ? gitfs_repo_commit(r, ref, &commit, err) : 0;
    if (rc == 0 && commit != NULL && str_eq(ref, saltenv) && is_id(ref) && !id_is_exposed(r, commit, err))
        return NULL;
    if (rc == 0 && ref != NULL && commit == NULL && *fallback)
        rc = gitfs_repo_commit(r, fallback, &commit, err);
    if (rc < 0 || str_empty(commit))
        return NULL;
    const map_t *known = map_get(r->trees, commit);
    return known != NULL ? known : read_tree(r, commit, err);
}
