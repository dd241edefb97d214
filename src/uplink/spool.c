/* spool.c - one file per mark, return and event, named by jid or number; the folder is the only index.
 *
 * Returns and events are written with a temporary name and a rename (fs_write_quick), marks in place. Every
 * function that reads treats the content as untrusted: a crash, a full disk or another release may have left
 * anything.
 */
#include "uplink/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/plainwrite.h"
#include "common/host/procfs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define RUN ".run"
#define RET ".ret"
#define EV  ".ev"
#define BAD ".bad"

#define SERIES    "series"
#define ELSEWHERE "elsewhere"
#define ASKER     "asker"
#define PARTED    "parted"

enum { NUMBER_DIGITS = 19 };

struct spool {
    char *dir;
    size_t n_ret;
    json_t *waiting;  /* returns and events from before this start, in order */
    json_t *marks;    /* jids from before this start that are not settled */
    json_t *landed;   /* jids of those whose return came since, not reported yet */
    size_t n_parted;  /* how many of `marks` belong to running processes */
    json_t *left;     /* jids whose files could not be removed: tried again with the next job */
    int64_t stamp_ns; /* of the newest file */
};

static char *
path_in(const char *dir, const char *jid, const char *suffix)
{
    return xasprintf("%s/%s%s", dir, jid, suffix);
}

static char *
spool_path(const spool_t *self, const char *jid, const char *suffix)
{
    return path_in(self->dir, jid, suffix);
}

/* True for an event's number: zero-padded to the digits of the largest, so that names sort as numbers, and
 * within int64. */
static bool
number_ok(const char *name)
{
    return strlen(name) == NUMBER_DIGITS && strspn(name, "0123456789") == NUMBER_DIGITS &&
           strcmp(name, "9223372036854775807") <= 0;
}

/* NEW sorted array of the jids or numbers that have a file with this suffix, at most LIMIT_SPOOL_FILES; NULL
 * with *err. */
static json_t *
spool_list(const spool_t *self, const char *suffix, bool (*ok)(const char *name), fail_t *err)
{
    DIR *d = opendir(self->dir);
    if (d == NULL)
        return (void) fail_set(err, -errno, "spool: %s: %s", self->dir, strerror(errno)), NULL;
    json_auto_t *names = json_array();
    const struct dirent *e;
    int rc;
    while ((e = fs_next(d, &rc)) && json_array_size(names) < LIMIT_SPOOL_FILES) {
        if (str_ends(e->d_name, suffix)) {
            AUTO_FREE char *name = xstrndup(e->d_name, strlen(e->d_name) - strlen(suffix));
            if (ok(name))
                json_array_append_new(names, json_string(name));
        }
    }
    (void) closedir(d);
    json_t *sorted = value_sorted_texts(names);
    if (rc == 0)
        return sorted;
    json_decref(sorted);
    (void) fail_set(err, rc, "spool: %s: %s", self->dir, strerror(-rc));
    return NULL;
}

/* ---- order ------------------------------------------------------------------------------------ */

/* Gives a file a time later than all before, even when the clock is set back: the times are the queue's
 * order. */
static void
spool_stamp(spool_t *self, const char *path)
{
    int64_t now = clock_wall_us() * 1000;
    self->stamp_ns = now > self->stamp_ns ? now : self->stamp_ns + 1;
    const struct timespec ts = { .tv_sec = self->stamp_ns / 1000000000,
                                 .tv_nsec = self->stamp_ns % 1000000000 };
    const struct timespec times[2] = { ts, ts };
    (void) utimensat(AT_FDCWD, path, times, 0);
}

/* A file that waits. */
typedef struct waiting {
    int64_t at_ns;
    json_t *name; /* BORROWED */
    bool is_ret;
} waiting_t;

/* At one time events come before returns, in the order of their numbers. */
static int
by_time(const void *a, const void *b)
{
    const waiting_t *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->is_ret != y->is_ret ? x->is_ret - y->is_ret
                                  : strcmp(json_string_value(x->name), json_string_value(y->name));
}

spool_t *
spool_new(const char *dir, fail_t *err)
{
    if (fs_mkdirs(dir, 0700, err) < 0)
        return NULL;
    spool_t *self = xcalloc(1, sizeof(*self));
    self->dir = xstrdup(dir);
    self->left = json_array();
    self->landed = json_array();
    /* Clean up first; files that stay are harmless. */
    fail_auto_t unclean = FAIL_INIT;
    char **names = NULL;
    int rc = fs_names(self->dir, &names, &unclean);
    for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(self->dir, names[i]);
        /* Writes that a death cut short (fs_write_quick) leave temporary files: .JID.ret.XXXXXX and the like.
         */
        const char *name = names[i] + 1;
        size_t n = strcspn(name, ".");
        AUTO_FREE char *jid = xstrndup(name, n);
        bool ours = (clock_is_jid(jid) && str_starts(name + n, RET ".")) || str_eq(jid, SERIES) ||
                    str_eq(jid, ELSEWHERE) || (number_ok(jid) && str_starts(name + n, EV "."));
        if (names[i][0] == '.' && ours && name[n] == '.' && unlink(path) != 0 && errno != ENOENT)
            rc = fs_fail(&unclean, -errno, "remove", path);
    }
    if (rc < 0)
        log_warning("spool: files of writes that were cut short stay: %s", fail_text(&unclean));
    strv_free(names);
    json_auto_t *rets = spool_list(self, RET, clock_is_jid, err);
    json_auto_t *events = rets != NULL ? spool_list(self, EV, number_ok, err) : NULL;
    self->marks = events != NULL ? spool_list(self, RUN, clock_is_jid, err) : NULL;
    if (self->marks == NULL) {
        spool_destroy(&self);
        return NULL;
    }
    self->n_ret = json_array_size(rets);

    /* The newest file's time becomes the one that spool_stamp() goes on from. */
    size_t n_rets = json_array_size(rets), n = n_rets + json_array_size(events);
    AUTO_FREE waiting_t *all = xcalloc(n + 1, sizeof(*all));
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++) {
        bool is_ret = i < n_rets;
        json_t *name = is_ret ? json_array_get(rets, i) : json_array_get(events, i - n_rets);
        AUTO_FREE char *path = spool_path(self, json_string_value(name), is_ret ? RET : EV);
        struct stat st;
        int64_t at_ns = stat(path, &st) == 0 ? (int64_t) st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec
                                             : 0;
        all[i] = (waiting_t){ at_ns, name, is_ret };
        self->stamp_ns = at_ns > self->stamp_ns ? at_ns : self->stamp_ns;
    }
    /* No event comes behind a later one, which a master would take for a repetition: a beacon's may be written after
     * what a job has fired since, and copied files have other times. */
    for (size_t i = n; i-- > n_rets + 1;)
        if (all[i - 1].at_ns > all[i].at_ns)
            all[i - 1].at_ns = all[i].at_ns;
    qsort(all, n, sizeof(*all), by_time);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, all[i].is_ret
                                       ? json_incref(all[i].name)
                                       : json_integer(strtoll(json_string_value(all[i].name), NULL, 10)));
    self->waiting = out;

    return self;
}

void
spool_destroy(spool_t **self_p)
{
    spool_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    json_decref(self->left);
    json_decref(self->landed);
    json_decref(self->marks);
    json_decref(self->waiting);
    free(self->dir);
    free(self);
}

/* Takes a jid off the list of files to remove: a job of this jid is written again. */
static void
spool_wanted(spool_t *self, const char *jid)
{
    for (size_t i = json_array_size(self->left); i-- > 0;)
        if (str_eq(json_string_value(json_array_get(self->left, i)), jid))
            (void) json_array_remove(self->left, i);
}

/* Writes in place, without a rename: an empty mark then means that the job had not begun. */
int
spool_begin(spool_t *self, const json_t *job, fail_t *err)
{
    const char *jid = value_str(job, "jid", "");
    if (!clock_is_jid(jid))
        return fail_set(err, -EINVAL, "spool: '%s' is not a jid", jid);
    spool_wanted(self, jid);
    AUTO_FREE char *path = spool_path(self, jid, RUN);
    AUTO_FREE char *text = value_dump(job);
    AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -errno : fs_write_all(fd, text, strlen(text));
    if (rc < 0) {
        (void) unlink(path);
        return fail_set(err, rc, "%s: %s", path, strerror(-rc));
    }
    return 0;
}

/* The mark gets the process's start time, as its number alone may be another's after a reboot. */
int
spool_part(spool_t *self, const json_t *job, pid_t pid, fail_t *err)
{
    procfs_proc_t proc;
    const char *jid = value_str(job, "jid", "");
    int found = clock_is_jid(jid) ? procfs_proc(pid, &proc, err) : 0;
    if (found < 0)
        return found;
    if (found == 0)
        return fail_set(err, -ESRCH, "job %s: there is no process %d", jid, (int) pid);
    AUTO_FREE char *path = spool_path(self, jid, RUN);
    json_auto_t *mark = json_copy((json_t *) job);
    json_object_set_new(mark, PARTED,
                        json_pack("{s:i, s:I}", "pid", (int) pid, "start", (json_int_t) proc.start));
    AUTO_FREE char *text = value_dump(mark);
    return fs_write_quick(path, text, strlen(text), 0600, err);
}

/* Writes a return's file. Also called by parted processes, so it takes the folder and no spool_t. */
static int
spool_put(const char *dir, const jobret_t *ret, const char *asker, fail_t *err)
{
    if (!clock_is_jid(ret->jid))
        return fail_set(err, -EINVAL, "spool: '%s' is not a jid", ret->jid);
    AUTO_FREE char *path = path_in(dir, ret->jid, RET);
    buf_auto_t text = BUF_INIT;
    size_t len;
    const char *members = jobret_members(ret, &len);
    buf_putc(&text, '{');
    if (asker != NULL) {
        buf_puts(&text, "\"" ASKER "\":\"");
        plain_quote(asker, &text);
        buf_puts(&text, "\",");
    }
    buf_add(&text, members, len);
    return fs_write_quick(path, text.data, text.len, 0600, err);
}

int
spool_leave(const char *dir, const jobret_t *ret, const char *asker, fail_t *err)
{
    return spool_put(dir, ret, asker, err);
}

/* The return is on the disk before the mark goes: killed between both, the job has a mark and a return, and
 * the return counts. */
int
spool_end(spool_t *self, const jobret_t *ret, const char *asker, fail_t *err)
{
    const char *jid = ret->jid;
    if (self->n_ret >= LIMIT_SPOOL_FILES)
        return fail_set(err, -ENOSPC, "spool: %d returns wait for a master already", LIMIT_SPOOL_FILES);
    spool_wanted(self, jid);
    int rc = spool_put(self->dir, ret, asker, err);
    if (rc < 0)
        return rc;
    AUTO_FREE char *path = spool_path(self, jid, RET), *mark = spool_path(self, jid, RUN);
    spool_stamp(self, path);
    self->n_ret++;
    (void) unlink(mark);
    return 0;
}

/* Removes a job's files; false: something is left. */
static bool
spool_own_forget(spool_t *self, const char *jid)
{
    AUTO_FREE char *ret = spool_path(self, jid, RET), *mark = spool_path(self, jid, RUN);
    bool was = unlink(ret) == 0;
    if (was && self->n_ret > 0)
        self->n_ret--;
    return (was || errno == ENOENT) && (unlink(mark) == 0 || errno == ENOENT);
}

/* A file that can't be removed now would be sent again after a restart, so it is tried again with each later
 * one. */
void
spool_forget(spool_t *self, const char *jid)
{
    if (!clock_is_jid(jid))
        return;

    /* Removes the files that a read-only or failing disk kept; stops at the first that it still keeps. */
    while (json_array_size(self->left) > 0 &&
           spool_own_forget(self, json_string_value(json_array_get(self->left, 0))))
        (void) json_array_remove(self->left, 0);

    if (!spool_own_forget(self, jid) && json_array_size(self->left) < LIMIT_SPOOL_FILES)
        json_array_append_new(self->left, json_string(jid));
}

static bool
has_jid(const json_t *v, const char *jid)
{
    return json_is_object(v) && str_eq(value_str(v, "jid", ""), jid);
}

/* True for a mark of this job. One without a function describes no job. */
static bool
spool_is_mark(const json_t *v, const char *jid)
{
    return has_jid(v, jid) && value_get(v, "fun") != NULL;
}

static bool
is_event(const json_t *v, const char *number)
{
    return value_int(v, "n", -1) == strtoll(number, NULL, 10) && value_str(v, "tag", NULL) != NULL;
}

/* Reads and checks one file. NULL with *err: a readable file that fails `ok` is moved aside (-EBADMSG), never
 * deleted; else the errno. */
static json_t *
spool_read(spool_t *self, const char *name, const char *suffix, bool (*ok)(const json_t *v, const char *name),
           size_t *ret_size, fail_t *err)
{
    AUTO_FREE char *path = spool_path(self, name, suffix);
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    /* The limit is the frame's; whether a message to the master can hold it, the outbox decides. */
    int rc = fs_read(path, LIMIT_LOCAL_MSG, &text, &why);
    if (rc < 0 && rc != -EFBIG) {
        (void) fail_set(err, rc, "spool: %s", fail_text(&why));
        return NULL;
    }
    json_t *v = rc == 0 ? value_parse(buf_str(&text), text.len, LIMIT_LOCAL_MSG, path, NULL) : NULL;
    *ret_size = text.len;
    if (ok(v, name))
        return v;
    json_decref(v);
    AUTO_FREE char *aside = xasprintf("%s" BAD, path);
    (void) rename(path, aside);
    (void) fail_set(err, -EBADMSG, "spool: a damaged file was moved aside: %s", aside);
    return NULL;
}

/* The asker is beside the return in the file, and no part of what the master gets. A file that is damaged has
 * been moved aside and no longer counts. */
json_t *
spool_load(spool_t *self, const char *jid, char **ret_asker, size_t *ret_size, fail_t *err)
{
    json_t *ret = spool_read(self, jid, RET, has_jid, ret_size, err);
    const char *asker = value_str(ret, ASKER, NULL);
    *ret_asker = asker != NULL ? xstrdup(asker) : NULL;
    if (ret != NULL)
        (void) json_object_del(ret, ASKER);
    if (ret == NULL && err->code == -EBADMSG && self->n_ret > 0)
        self->n_ret--;
    return ret;
}

/* True while the parted process may live. Its start time is compared too, as the pid may belong to another
 * process by now; when /proc can't be read, it counts as running. */
static bool
spool_runs(const json_t *job)
{
    procfs_proc_t proc;
    json_t *parted = value_get(job, PARTED);
    int found = parted != NULL ? procfs_proc((pid_t) value_int(parted, "pid", 0), &proc, NULL) : 0;
    return found < 0 ||
           (found > 0 && proc.state != 'Z' && (json_int_t) proc.start == value_int(parted, "start", -1));
}

/* Looks for the job's return: 1, and its mark is removed; 0; or -EAGAIN in err->code: not known now. */
static int
has_ended(spool_t *self, const char *jid, fail_t *err)
{
    AUTO_FREE char *ret = spool_path(self, jid, RET), *mark = spool_path(self, jid, RUN);
    int there = fs_look(ret, err);
    if (there < 0)
        err->code = -EAGAIN;
    if (there <= 0)
        return there;
    if (!value_lists(self->waiting, jid))
        json_array_append_new(self->landed, json_string(jid));
    (void) unlink(mark);
    return 1;
}

/* Examines one mark: NEW job when it was interrupted. NULL with *err: -EAGAIN when it can't be examined now,
 * -EINPROGRESS while the job runs, -EBADMSG when damaged; NULL alone: nothing to report. */
static json_t *
interrupted(spool_t *self, const char *jid, fail_t *err)
{
    size_t size;
    AUTO_FREE char *mark = spool_path(self, jid, RUN);
    if (has_ended(self, jid, err) != 0)
        return NULL;

    struct stat st;
    if (stat(mark, &st) == 0 && st.st_size == 0) {
        (void) unlink(mark);
        return NULL;
    }

    json_auto_t *job = spool_read(self, jid, RUN, spool_is_mark, &size, err);
    if (err->text != NULL && err->code != -EBADMSG && err->code != -ENOENT)
        err->code = -EAGAIN;
    if (job != NULL && spool_runs(job))
        return (void) fail_set(err, -EINPROGRESS, "job %s still runs", jid), NULL;
    /* Look again: the process may have written its return and ended between the first look and
     * spool_runs(). */
    if (job == NULL || has_ended(self, jid, err) != 0)
        return NULL;
    (void) json_object_del(job, PARTED);
    return json_incref(job);
}

/* -EAGAIN: it can't be told yet, and -EINPROGRESS: a parted job still runs. Both stay marks. */
json_t *
spool_interrupted(spool_t *self, json_t *damaged)
{
    json_auto_t *jids = STEAL(self->marks);
    json_t *all = json_array(), *jid;
    size_t i;
    self->marks = json_array();
    self->n_parted = 0;
    json_array_foreach (jids, i, jid) {
        fail_auto_t err = FAIL_INIT;
        json_t *job = interrupted(self, json_string_value(jid), &err);
        if (job != NULL)
            json_array_append_new(all, job);
        else if (err.code == -EAGAIN || err.code == -EINPROGRESS) {
            json_array_append(self->marks, jid);
            self->n_parted += err.code == -EINPROGRESS;
        } else if (err.text != NULL)
            json_array_append_new(damaged, json_string(fail_text(&err)));
    }
    return all;
}

json_t *
spool_landed(spool_t *self)
{
    json_t *all = self->landed;
    self->landed = json_array();
    return all;
}

size_t
spool_parted(const spool_t *self)
{
    return self->n_parted;
}

json_t *
spool_marks(const spool_t *self)
{
    return self->marks;
}

json_t *
spool_waiting(const spool_t *self)
{
    return self->waiting;
}

/* ---- events ----------------------------------------------------------------------------------- */

static char *
spool_number(json_int_t n)
{
    return xasprintf("%0*lld", NUMBER_DIGITS, (long long) n);
}

int
spool_event_keep(spool_t *self, const json_t *event, fail_t *err)
{
    AUTO_FREE char *number = spool_number(value_int(event, "n", 0)), *path = spool_path(self, number, EV);
    AUTO_FREE char *text = value_dump(event);
    int rc = fs_write_quick(path, text, strlen(text), 0600, err);
    if (rc == 0)
        spool_stamp(self, path);
    return rc;
}

void
spool_event_forget(spool_t *self, json_int_t n)
{
    AUTO_FREE char *number = spool_number(n), *path = spool_path(self, number, EV);
    (void) unlink(path);
}

json_t *
spool_event_load(spool_t *self, json_int_t n, size_t *ret_size, fail_t *err)
{
    AUTO_FREE char *number = spool_number(n);
    return spool_read(self, number, EV, is_event, ret_size, err);
}

/* Reads `series` or `elsewhere`: 1, 0 or a negative errno. A missing file is 0, and so is one larger than any
 * of ours, which can only be damaged. */
static int
read_note(const char *path, size_t limit, buf_t *out, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, limit, out, &why);
    if (rc == 0)
        return 1;
    return rc == -ENOENT || rc == -EFBIG ? 0 : fail_set(err, rc, "spool: %s", fail_text(&why));
}

/* 0: there is no note, or a damaged one: then a new series of event numbers begins. */
int
spool_series(const spool_t *self, char **ret_boot, json_int_t *ret_upto, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/" SERIES, self->dir);
    buf_auto_t text = BUF_INIT;
    int rc = read_note(path, LIMIT_HELLO_MSG, &text, err);
    if (rc <= 0)
        return rc;
    json_auto_t *v = value_parse(buf_str(&text), text.len, LIMIT_HELLO_MSG, path, NULL);
    const char *boot = value_str(v, "boot", "");
    if (*boot == '\0' || strlen(boot) >= LIMIT_BOOT || value_int(v, "upto", 0) <= 0)
        return 0;
    *ret_boot = xstrdup(boot);
    *ret_upto = value_int(v, "upto", 0);
    return 1;
}

int
spool_series_keep(spool_t *self, const char *boot, json_int_t upto, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/" SERIES, self->dir);
    json_auto_t *v = json_pack("{s:s, s:I}", "boot", boot, "upto", upto);
    AUTO_FREE char *text = value_dump(v);
    return fs_write_quick(path, text, strlen(text), 0600, err);
}

json_t *
spool_elsewhere(const spool_t *self, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/" ELSEWHERE, self->dir);
    buf_auto_t text = BUF_INIT;
    if (read_note(path, LIMIT_LOCAL_MSG, &text, err) <= 0)
        return NULL;
    return value_parse(buf_str(&text), text.len, LIMIT_LOCAL_MSG, path, NULL);
}

int
spool_elsewhere_keep(spool_t *self, const json_t *list, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/" ELSEWHERE, self->dir), *text = value_dump(list);
    return fs_write_quick(path, text, strlen(text), 0600, err);
}

size_t
spool_len(const spool_t *self)
{
    return self->n_ret;
}
