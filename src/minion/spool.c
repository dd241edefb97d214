/* spool.c - see spool.h. */
#include "minion/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

#define RUN ".run"
#define RET ".ret"
#define BAD ".bad"

struct spool {
    char *dir;
    size_t n_ret;
};

static char *
s_path(const spool_t *self, const char *jid, const char *suffix)
{
    return xasprintf("%s/%s%s", self->dir, jid, suffix);
}

static bool
s_jid_ok(const char *jid)
{
    int64_t when;
    return clock_jid_to_wall_us(jid, &when);
}

static int
s_by_text(const void *a, const void *b)
{
    return strcmp(json_string_value(*(json_t *const *) a), json_string_value(*(json_t *const *) b));
}

/* NEW: the same list in order. TAKES. */
static json_t *
s_sorted(json_t *list)
{
    size_t n = json_array_size(list);
    AUTO_FREE json_t **items = xcalloc(n ? n : 1, sizeof(*items));
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++)
        items[i] = json_array_get(list, i);
    qsort(items, n, sizeof(*items), s_by_text);
    for (size_t i = 0; i < n; i++)
        json_array_append(out, items[i]);
    json_decref(list);
    return out;
}

/* NEW sorted array of the jids that have a file with this suffix. */
static json_t *
s_list(const spool_t *self, const char *suffix)
{
    json_t *jids = json_array();
    DIR *d = opendir(self->dir);
    if (!d)
        return jids;
    struct dirent *e;
    while ((e = readdir(d)) && json_array_size(jids) < LIMIT_SPOOL_FILES) {
        if (!str_ends(e->d_name, suffix))
            continue;
        AUTO_FREE char *jid = xstrndup(e->d_name, strlen(e->d_name) - strlen(suffix));
        if (s_jid_ok(jid))
            json_array_append_new(jids, json_string(jid));
    }
    (void) closedir(d);
    return s_sorted(jids);
}

/* Temporary files of writes that a death cut short (fs_write_quick): .JID.ret.XXXXXX. */
static void
s_clean(const spool_t *self)
{
    DIR *d = opendir(self->dir);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        const char *name = e->d_name + 1;
        size_t n = strcspn(name, ".");
        AUTO_FREE char *jid = xstrndup(name, n);
        if (e->d_name[0] == '.' && str_starts(name + n, RET ".") && s_jid_ok(jid))
            (void) unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        (void) closedir(d);
}

spool_t *
spool_new(const char *dir, fail_t *err)
{
    if (fs_mkdirs(dir, 0700, err) < 0)
        return NULL;
    spool_t *self = xcalloc(1, sizeof(*self));
    self->dir = xstrdup(dir);
    s_clean(self);
    json_auto_t *rets = s_list(self, RET);
    self->n_ret = json_array_size(rets);
    return self;
}

void
spool_destroy(spool_t **self_p)
{
    spool_t *self = STEAL(*self_p);
    if (!self)
        return;
    free(self->dir);
    free(self);
}

/* In place, without a rename: an empty mark is one of a job that had not begun. */
int
spool_begin(spool_t *self, const json_t *job, fail_t *err)
{
    const char *jid = value_str(job, "jid", "");
    if (!s_jid_ok(jid))
        return fail_set(err, -EINVAL, "spool: '%s' is not a jid", jid);
    AUTO_FREE char *path = s_path(self, jid, RUN);
    AUTO_FREE char *text = value_dump(job);
    AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -errno : fs_write_all(fd, text, strlen(text));
    if (rc < 0) {
        (void) unlink(path);
        return fail_set(err, rc, "%s: %s", path, strerror(-rc));
    }
    return 0;
}

int
spool_end(spool_t *self, const json_t *ret, fail_t *err)
{
    if (self->n_ret >= LIMIT_SPOOL_FILES)
        return fail_set(err, -ENOSPC, "spool: %d returns wait for a master already", LIMIT_SPOOL_FILES);
    const char *jid = value_str(ret, "jid", "");
    if (!s_jid_ok(jid))
        return fail_set(err, -EINVAL, "spool: '%s' is not a jid", jid);
    AUTO_FREE char *path = s_path(self, jid, RET);
    AUTO_FREE char *text = value_dump(ret);
    int rc = fs_write_quick(path, text, strlen(text), 0600, err);
    if (rc < 0)
        return rc;
    self->n_ret++;
    AUTO_FREE char *mark = s_path(self, jid, RUN);
    (void) unlink(mark);
    return 0;
}

void
spool_forget(spool_t *self, const char *jid)
{
    if (!s_jid_ok(jid))
        return;
    AUTO_FREE char *ret = s_path(self, jid, RET), *mark = s_path(self, jid, RUN);
    if (unlink(ret) == 0 && self->n_ret > 0)
        self->n_ret--;
    (void) unlink(mark);
}

/* A file that can be read but makes no sense is moved aside, never dropped. */
static json_t *
s_read(spool_t *self, const char *jid, const char *suffix, size_t *ret_size, fail_t *err)
{
    AUTO_FREE char *path = s_path(self, jid, suffix);
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, LIMIT_WIRE_MSG, &text, &why);
    if (rc < 0 && rc != -EFBIG) {
        (void) fail_set(err, rc, "spool: %s", fail_text(&why));
        return NULL;
    }
    json_t *v = rc == 0 ? value_parse(buf_str(&text), text.len, LIMIT_WIRE_MSG, path, NULL) : NULL;
    *ret_size = text.len;
    if (json_is_object(v) && str_eq(value_str(v, "jid", ""), jid))
        return v;
    json_decref(v);
    AUTO_FREE char *aside = xasprintf("%s" BAD, path);
    (void) rename(path, aside);
    (void) fail_set(err, -EBADMSG, "spool: a damaged file was moved aside: %s", aside);
    return NULL;
}

json_t *
spool_load(spool_t *self, const char *jid, size_t *ret_size, fail_t *err)
{
    json_t *ret = s_read(self, jid, RET, ret_size, err);
    if (!ret && err->code == -EBADMSG && self->n_ret > 0)
        self->n_ret--;
    return ret;
}

json_t *
spool_jids(const spool_t *self)
{
    return s_list(self, RET);
}

static bool
s_is_empty(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size == 0;
}

json_t *
spool_interrupted(spool_t *self, json_t *damaged)
{
    json_auto_t *jids = s_list(self, RUN);
    json_t *all = json_array(), *jid;
    size_t i, size;
    json_array_foreach (jids, i, jid) {
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *ret = s_path(self, json_string_value(jid), RET);
        AUTO_FREE char *mark = s_path(self, json_string_value(jid), RUN);
        bool over = !fs_absent(ret) || s_is_empty(mark);
        json_t *one = over ? NULL : s_read(self, json_string_value(jid), RUN, &size, &err);
        if (one)
            json_array_append_new(all, one);
        else if (err.text && damaged)
            json_array_append_new(damaged, json_string(fail_text(&err)));
        else if (!err.text)
            (void) unlink(mark);
    }
    return all;
}

size_t
spool_len(const spool_t *self)
{
    return self->n_ret;
}
