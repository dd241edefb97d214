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
#define EV  ".ev"
#define BAD ".bad"

#define SERIES "series"

enum { NUMBER_DIGITS = 19, BOOT_LEN = 39 };

struct spool {
    char *dir;
    size_t n_ret;
    json_t *left;     /* jids of which something could not be removed: tried again with the next job */
    int64_t stamp_ns; /* of the newest file */
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

/* An event's, in as many digits as the largest has: their order is that of their names. */
static bool
s_number_ok(const char *name)
{
    return strlen(name) == NUMBER_DIGITS && strspn(name, "0123456789") == NUMBER_DIGITS;
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

/* NEW sorted array of the jids or numbers that have a file with this suffix. */
static json_t *
s_list(const spool_t *self, const char *suffix, bool (*ok)(const char *name))
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
        if (ok(jid))
            json_array_append_new(jids, json_string(jid));
    }
    (void) closedir(d);
    return s_sorted(jids);
}

/* ---- order ------------------------------------------------------------------------------------ */

static int64_t
s_mtime(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t) st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : 0;
}

/* Later than all before, whatever the clock says. */
static void
s_stamp(spool_t *self, const char *path)
{
    int64_t now = clock_wall_us() * 1000;
    self->stamp_ns = now > self->stamp_ns ? now : self->stamp_ns + 1;
    const struct timespec ts = { .tv_sec = self->stamp_ns / 1000000000,
                                 .tv_nsec = self->stamp_ns % 1000000000 };
    const struct timespec times[2] = { ts, ts };
    (void) utimensat(AT_FDCWD, path, times, 0);
}

typedef struct waiting {
    int64_t at_ns;
    json_t *what;
} waiting_t;

static int
s_by_time(const void *a, const void *b)
{
    const waiting_t *x = a, *y = b;
    return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* Temporary files of writes that a death cut short (fs_write_quick): .JID.ret.XXXXXX and the like. */
static void
s_clean(const spool_t *self)
{
    DIR *d = opendir(self->dir);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        const char *name = e->d_name + 1;
        size_t n = strcspn(name, ".");
        AUTO_FREE char *jid = xstrndup(name, n);
        bool ours = (s_jid_ok(jid) && str_starts(name + n, RET ".")) || str_eq(jid, SERIES) ||
                    (s_number_ok(jid) && str_starts(name + n, EV "."));
        if (e->d_name[0] == '.' && ours && name[n] == '.')
            (void) unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        (void) closedir(d);
}

static void
s_newest(spool_t *self, const json_t *names, const char *suffix)
{
    size_t i;
    json_t *name;
    json_array_foreach (names, i, name) {
        AUTO_FREE char *path = s_path(self, json_string_value(name), suffix);
        int64_t at = s_mtime(path);
        self->stamp_ns = at > self->stamp_ns ? at : self->stamp_ns;
    }
}

spool_t *
spool_new(const char *dir, fail_t *err)
{
    if (fs_mkdirs(dir, 0700, err) < 0)
        return NULL;
    spool_t *self = xcalloc(1, sizeof(*self));
    self->dir = xstrdup(dir);
    self->left = json_array();
    s_clean(self);
    json_auto_t *rets = s_list(self, RET, s_jid_ok);
    self->n_ret = json_array_size(rets);
    json_auto_t *events = s_list(self, EV, s_number_ok);
    s_newest(self, rets, RET);
    s_newest(self, events, EV);
    return self;
}

void
spool_destroy(spool_t **self_p)
{
    spool_t *self = STEAL(*self_p);
    if (!self)
        return;
    json_decref(self->left);
    free(self->dir);
    free(self);
}

/* This one is wanted again. */
static void
s_wanted(spool_t *self, const char *jid)
{
    for (size_t i = json_array_size(self->left); i-- > 0;)
        if (str_eq(json_string_value(json_array_get(self->left, i)), jid))
            (void) json_array_remove(self->left, i);
}

/* In place, without a rename: an empty mark is one of a job that had not begun. */
int
spool_begin(spool_t *self, const json_t *job, fail_t *err)
{
    const char *jid = value_str(job, "jid", "");
    if (!s_jid_ok(jid))
        return fail_set(err, -EINVAL, "spool: '%s' is not a jid", jid);
    s_wanted(self, jid);
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
    s_wanted(self, jid);
    AUTO_FREE char *path = s_path(self, jid, RET);
    AUTO_FREE char *text = value_dump(ret);
    int rc = fs_write_quick(path, text, strlen(text), 0600, err);
    if (rc < 0)
        return rc;
    s_stamp(self, path);
    self->n_ret++;
    AUTO_FREE char *mark = s_path(self, jid, RUN);
    (void) unlink(mark);
    return 0;
}

static bool
s_gone(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT;
}

static bool
s_forget(spool_t *self, const char *jid)
{
    AUTO_FREE char *ret = s_path(self, jid, RET), *mark = s_path(self, jid, RUN);
    bool was = unlink(ret) == 0;
    if (was && self->n_ret > 0)
        self->n_ret--;
    return (was || errno == ENOENT) && s_gone(mark);
}

/* What a disk that could not be written kept. */
static void
s_forget_left(spool_t *self)
{
    while (json_array_size(self->left) > 0 &&
           s_forget(self, json_string_value(json_array_get(self->left, 0))))
        (void) json_array_remove(self->left, 0);
}

void
spool_forget(spool_t *self, const char *jid)
{
    if (!s_jid_ok(jid))
        return;
    s_forget_left(self);
    if (!s_forget(self, jid) && json_array_size(self->left) < LIMIT_SPOOL_FILES)
        json_array_append_new(self->left, json_string(jid));
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

static bool
s_is_empty(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_size == 0;
}

json_t *
spool_interrupted(spool_t *self, json_t *damaged)
{
    json_auto_t *jids = s_list(self, RUN, s_jid_ok);
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

/* ---- events ----------------------------------------------------------------------------------- */

static char *
s_event_path(const spool_t *self, json_int_t n)
{
    return xasprintf("%s/%0*lld%s", self->dir, NUMBER_DIGITS, (long long) n, EV);
}

int
spool_event_keep(spool_t *self, const json_t *event, fail_t *err)
{
    AUTO_FREE char *path = s_event_path(self, value_int(event, "n", 0));
    AUTO_FREE char *text = value_dump(event);
    int rc = fs_write_quick(path, text, strlen(text), 0600, err);
    if (rc == 0)
        s_stamp(self, path);
    return rc;
}

void
spool_event_forget(spool_t *self, json_int_t n)
{
    AUTO_FREE char *path = s_event_path(self, n);
    (void) unlink(path);
}

/* NEW; NULL: it was damaged. */
static json_t *
s_read_event(const char *path, json_t *damaged)
{
    buf_auto_t text = BUF_INIT;
    if (fs_read(path, LIMIT_WIRE_MSG, &text, NULL) == 0) {
        json_t *v = value_parse(buf_str(&text), text.len, LIMIT_WIRE_MSG, path, NULL);
        if (value_int(v, "n", 0) > 0 && value_str(v, "tag", NULL))
            return v;
        json_decref(v);
    }
    AUTO_FREE char *aside = xasprintf("%s" BAD, path);
    (void) rename(path, aside);
    json_array_append_new(damaged, value_fmt("spool: a damaged file was moved aside: %s", aside));
    return NULL;
}

json_t *
spool_waiting(spool_t *self, json_t *damaged)
{
    json_auto_t *rets = s_list(self, RET, s_jid_ok), *events = s_list(self, EV, s_number_ok);
    size_t n_rets = json_array_size(rets), n = n_rets + json_array_size(events), kept = 0;
    AUTO_FREE waiting_t *all = xcalloc(n + 1, sizeof(*all));
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) {
        bool is_ret = i < n_rets;
        json_t *name = is_ret ? json_array_get(rets, i) : json_array_get(events, i - n_rets);
        AUTO_FREE char *path = s_path(self, json_string_value(name), is_ret ? RET : EV);
        int64_t at = s_mtime(path);
        json_t *what = is_ret ? json_incref(name) : s_read_event(path, damaged);
        if (what)
            all[kept++] = (waiting_t){ at, what };
    }
    qsort(all, kept, sizeof(*all), s_by_time);
    for (size_t i = 0; i < kept; i++)
        json_array_append_new(out, all[i].what);
    return out;
}

bool
spool_series(const spool_t *self, char **ret_boot, json_int_t *ret_upto)
{
    json_auto_t *events = s_list(self, EV, s_number_ok);
    AUTO_FREE char *path = xasprintf("%s/" SERIES, self->dir);
    buf_auto_t text = BUF_INIT;
    if (json_array_size(events) == 0 || fs_read(path, LIMIT_HELLO_MSG, &text, NULL) < 0)
        return false;
    json_auto_t *v = value_parse(buf_str(&text), text.len, LIMIT_HELLO_MSG, path, NULL);
    const char *boot = value_str(v, "boot", "");
    if (*boot == '\0' || strlen(boot) > BOOT_LEN || value_int(v, "upto", 0) <= 0)
        return false;
    *ret_boot = xstrdup(boot);
    *ret_upto = value_int(v, "upto", 0);
    return true;
}

int
spool_series_keep(spool_t *self, const char *boot, json_int_t upto, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/" SERIES, self->dir);
    json_auto_t *v = json_pack("{s:s, s:I}", "boot", boot, "upto", upto);
    AUTO_FREE char *text = value_dump(v);
    return fs_write_quick(path, text, strlen(text), 0600, err);
}

size_t
spool_len(const spool_t *self)
{
    return self->n_ret;
}
