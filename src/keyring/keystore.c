/* keystore.c - the folders of public keys. Every path is one checked name below an open folder, so an id
 * can't lead anywhere else, and a link in its place is not followed. */
#include "keyring/keystore.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/conf/conf.h"
#include "salt/limits.h"
#include "salt/value.h"

/* Folders exceed the states by one: minions_next holds keys that will replace an accepted one. */
#define KEY_NEXT    ((key_state_t) KEY_STATES)
#define KEY_FOLDERS (KEY_STATES + 1)

struct keystore {
    char *dir;
    int fds[KEY_FOLDERS];
    bool unsynced[KEY_FOLDERS]; /* keys were moved or deleted there since keystore_sync() */
};

static const char *
dir_of(key_state_t state)
{
    return state == KEY_NEXT ? "minions_next" : key_state_dir(state);
}

/* ---- open and close ----------------------------------------------------------------------------- */

static int
dir_fail(fail_t *err, int code, const char *dir)
{
    bool barred = code == -EACCES || code == -EPERM;

    return fail_set(err, code, "cannot open the key folder %s: %s%s", dir, strerror(-code),
                    barred ? "; run this as root or as the user that the master runs as" : "");
}

/* Opens all folders, creating those that are missing. */
keystore_t *
keystore_new(const char *pki_dir, fail_t *err)
{
    AUTO(keystore) self = xcalloc(1, sizeof(*self));

    self->dir = xstrdup(pki_dir);
    for (size_t i = 0; i < KEY_FOLDERS; i++)
        self->fds[i] = -1;
    for (size_t i = 0; i < KEY_FOLDERS; i++) {
        /* Made by name first, then opened: a folder that another process makes meanwhile is as good. */
        key_state_t state = (key_state_t) i;
        AUTO_FREE char *path = fs_join(self->dir, dir_of(state));
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
            fail_auto_t why = FAIL_INIT;
            int rc = fs_own_dir(path, 0700, &why);

            if (rc != 0) {
                (void) dir_fail(err, rc, path);
                return NULL;
            }
            fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }
        if (fd < 0) {
            (void) dir_fail(err, -errno, path);
            return NULL;
        }
        self->fds[state] = fd;
    }
    return STEAL(self);
}

void
keystore_destroy(keystore_t **self_p)
{
    keystore_t *self = *self_p;

    if (self == NULL)
        return;
    for (size_t i = 0; i < KEY_FOLDERS; i++)
        if (self->fds[i] >= 0)
            close(self->fds[i]);
    free(self->dir);
    free(self);
    *self_p = NULL;
}

const char *
keystore_dir(const keystore_t *self)
{
    return self->dir;
}

/* ---- lists -------------------------------------------------------------------------------------- */

typedef struct names {
    char **v;
    size_t n, cap;
} names_t;

static void
names_free(names_t *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->v[i]);
    free(names->v);
}

/* Salt's sorted_ignorecase; equal but for case: by bytes, so that the order does not depend on the folder's.
 */
static int
keystore_compare(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    int c = strcasecmp(*x, *y);

    return c != 0 ? c : strcmp(*x, *y);
}

/* 1, 0, or a negative errno while nobody can say. */
static int
is_file(int fd, const struct dirent *e)
{
    struct stat st;

    if (e->d_type != DT_UNKNOWN)
        return e->d_type == DT_REG;
    if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return fs_is_absence(-errno) ? 0 : -errno;
    return S_ISREG(st.st_mode);
}

/* Names of the files that are ids, or of those that are none. One with a dot at its beginning is not a key. */
static int
keystore_names_in(const keystore_t *self, key_state_t state, bool fit, names_t *names, fail_t *err)
{
    /* Opens the folder anew, because walks that share the offset of self->fds would skip each other's
     * entries. */
    int fd = openat(self->fds[state], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;

    if (dir == NULL) {
        rc = dir_fail(err, -errno, dir_of(state));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    while (rc >= 0 && (e = fs_next(dir, &rc)) != NULL) {
        rc = e->d_name[0] != '.' && conf_id_valid(e->d_name, NULL) == fit ? is_file(fd, e) : 0;
        if (rc > 0) {
            /* Appends a copy of the name. */
            if (names->n == names->cap) {
                names->cap = names->cap == 0 ? 64 : 2 * names->cap;
                names->v = xrealloc(names->v, names->cap * sizeof(*names->v));
            }
            names->v[names->n++] = xstrdup(e->d_name);
        }
    }
    closedir(dir);
    /* The rest of the keys are not gone because they can't be read. */
    return rc == 0 ? 0 : dir_fail(err, rc, dir_of(state));
}

/* NEW array, each name once. */
static json_t *
keystore_names_list(names_t *names)
{
    json_t *list = json_array();

    if (names->n > 0)
        qsort(names->v, names->n, sizeof(*names->v), keystore_compare);
    for (size_t i = 0; i < names->n; i++)
        if (i == 0 || strcmp(names->v[i], names->v[i - 1]) != 0)
            json_array_append_new(list, value_utf8(names->v[i], strlen(names->v[i])));
    return list;
}

/* Ids with a file in the state. NULL with *err when the folder can't be read completely. */
json_t *
keystore_list(const keystore_t *self, key_state_t state, fail_t *err)
{
    names_t names = { NULL, 0, 0 };
    json_t *list = keystore_names_in(self, state, true, &names, err) == 0 ? keystore_names_list(&names)
                                                                          : NULL;

    names_free(&names);
    return list;
}

json_t *
keystore_unfit(const keystore_t *self, fail_t *err)
{
    names_t names = { NULL, 0, 0 };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < KEY_FOLDERS; i++)
        rc = keystore_names_in(self, (key_state_t) i, false, &names, err);
    json_t *list = rc == 0 ? keystore_names_list(&names) : NULL;
    names_free(&names);
    return list;
}

/* Deletes the files of one folder that are listed as `name`; *ret_n counts them. */
static int
unfit_delete_in(keystore_t *self, key_state_t state, const char *name, size_t *ret_n, fail_t *err)
{
    names_t names = { NULL, 0, 0 };
    int rc = keystore_names_in(self, state, false, &names, err);

    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        json_auto_t *shown = value_utf8(names.v[i], strlen(names.v[i]));

        if (strcmp(json_string_value(shown), name) != 0)
            continue;
        if (unlinkat(self->fds[state], names.v[i], 0) != 0)
            rc = fail_set(err, -errno, "cannot delete %s/%s/%s: %s", self->dir, dir_of(state), name,
                          strerror(errno));
        self->unsynced[state] = true;
        (*ret_n)++;
    }
    names_free(&names);
    return rc;
}

int
keystore_unfit_delete(keystore_t *self, const char *name, fail_t *err)
{
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < KEY_FOLDERS; i++)
        rc = unfit_delete_in(self, (key_state_t) i, name, &n, err);
    return rc != 0 || n > 0 ? rc : fail_set(err, -ENOENT, "no file has the name %s", name);
}

/* ---- one key ------------------------------------------------------------------------------------ */

static int
file_fail(const keystore_t *self, int code, const char *what, const char *id, key_state_t state, fail_t *err)
{
    return fail_set(err, code, "cannot %s %s/%s/%s: %s", what, self->dir, dir_of(state), id, strerror(-code));
}

/* -ENOENT sets no text: absence is an answer. */
static int
key_read(const keystore_t *self, const char *id, key_state_t state, buf_t *out, fail_t *err)
{
    if (!conf_id_valid(id, err))
        return -EINVAL;
    AUTO_FD fd = openat(self->fds[state], id, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int rc = fd < 0 ? -errno : fs_read_fd(fd, LIMIT_KEY_FILE, out);

    if (rc != 0)
        return rc == -ENOENT ? rc : file_fail(self, rc, "read", id, state, err);
    return 0;
}

bool
keystore_get(const keystore_t *self, const char *id, key_state_t state, uint8_t out[KEY_BYTES], fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    /* No bytes: what a power cut leaves of a new file. The minion will offer its key again. */
    if (key_read(self, id, state, &text, err) != 0 || text.len == 0)
        return false;
    if (key_public_from_pem(text.data, text.len, out, err) == 0)
        return true;
    fail_prefix(err, "%s/%s/%s: ", self->dir, dir_of(state), id);
    return false;
}

char *
keystore_pem(const keystore_t *self, const char *id, key_state_t state, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    return key_read(self, id, state, &text, err) == 0 ? xstrdup(buf_str(&text)) : NULL;
}

/* Errors count as "may be there": a caller must not treat an unreadable key as absent. */
bool
keystore_has(const keystore_t *self, const char *id, key_state_t state)
{
    struct stat st;

    return conf_id_valid(id, NULL) &&
           (fstatat(self->fds[state], id, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT);
}

/* An empty file, which a power cut may leave, counts as none. */
int
keystore_state(const keystore_t *self, const char *id, key_state_t *ret_state, fail_t *err)
{
    static const key_state_t order[] = { KEY_ACCEPTED, KEY_REJECTED, KEY_PENDING };
    struct stat st;

    *ret_state = KEY_UNKNOWN;
    for (size_t i = 0; i < NELEMS(order) && *ret_state == KEY_UNKNOWN && conf_id_valid(id, NULL); i++) {
        if (fstatat(self->fds[order[i]], id, &st, AT_SYMLINK_NOFOLLOW) == 0)
            *ret_state = st.st_size > 0 ? order[i] : KEY_UNKNOWN;
        else if (errno != ENOENT)
            return file_fail(self, -errno, "look at", id, order[i], err);
    }
    return 0;
}

#define STAMP_STEP_NS 20000000 /* a file system's clock moves with the kernel's ticks, 10 ms at most */

uint64_t
keystore_stamp(const keystore_t *self, key_state_t state)
{
    struct stat st;

    if (fstat(self->fds[state], &st) != 0)
        return 0;
    int64_t ns = (int64_t) st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec, now = clock_wall_us() * 1000;
    return ns > now - STAMP_STEP_NS && ns <= now ? 0 : (uint64_t) ns;
}

/* ---- changes ------------------------------------------------------------------------------------ */

/* Writes PEM text by rename; `sync` waits for the disk. */
static int
key_write(keystore_t *self, const char *id, key_state_t state, const uint8_t key[KEY_BYTES], bool sync,
          fail_t *err)
{
    AUTO_FREE char *pem = key_public_pem(key);

    if (!conf_id_valid(id, err))
        return -EINVAL;
    int rc = beneath_put(self->fds[state], id, pem, strlen(pem), 0644, sync);
    return rc == 0 ? 0 : file_fail(self, rc, "write", id, state, err);
}

int
keystore_put(keystore_t *self, const char *id, key_state_t state, const uint8_t key[KEY_BYTES], fail_t *err)
{
    /* Not synced to the disk: a fleet's first contact would wait for it, and an empty file counts as none. */
    int rc = key_write(self, id, state, key, false, err);

    if (rc == 0 && state == KEY_ACCEPTED)
        keystore_expected_over(self->dir, id);
    return rc;
}

/* The file's time becomes that of the move, which keystore_since() reports. */
int
keystore_move(keystore_t *self, const char *id, key_state_t from, key_state_t to, fail_t *err)
{
    if (!conf_id_valid(id, err))
        return -EINVAL;
    if (renameat(self->fds[from], id, self->fds[to], id) != 0)
        return file_fail(self, -errno, "move", id, from, err);
    self->unsynced[from] = self->unsynced[to] = true;
    (void) utimensat(self->fds[to], id, NULL, AT_SYMLINK_NOFOLLOW); /* in this state since now */
    if (to == KEY_ACCEPTED)
        keystore_expected_over(self->dir, id);
    return 0;
}

int
keystore_delete(keystore_t *self, const char *id, key_state_t state, fail_t *err)
{
    if (!conf_id_valid(id, err))
        return -EINVAL;
    if (unlinkat(self->fds[state], id, 0) != 0)
        return file_fail(self, -errno, "delete", id, state, err);
    self->unsynced[state] = true;
    return 0;
}

int
keystore_sync(keystore_t *self, fail_t *err)
{
    int rc = 0;

    for (size_t i = 0; i < KEY_FOLDERS; i++) {
        if (!self->unsynced[i])
            continue;
        if (fsync(self->fds[i]) == 0)
            self->unsynced[i] = false;
        else if (rc == 0)
            rc = fail_set(err, -errno, "a power cut may undo what was done: cannot sync %s/%s: %s", self->dir,
                          dir_of((key_state_t) i), strerror(errno));
    }
    return rc;
}

/* ---- next keys ----------------------------------------------------------------------------------- */

int
keystore_next_put(keystore_t *self, const char *id, const uint8_t key[KEY_BYTES], fail_t *err)
{
    return key_write(self, id, KEY_NEXT, key, true, err);
}

bool
keystore_next_get(const keystore_t *self, const char *id, uint8_t out[KEY_BYTES], fail_t *err)
{
    return keystore_get(self, id, KEY_NEXT, out, err);
}

int
keystore_next_take(keystore_t *self, const char *id, fail_t *err)
{
    int rc = keystore_move(self, id, KEY_NEXT, KEY_ACCEPTED, err);

    if (rc == 0)
        (void) fsync(self->fds[KEY_ACCEPTED]);
    return rc;
}

void
keystore_next_drop(keystore_t *self, const char *id)
{
    (void) unlinkat(self->fds[KEY_NEXT], id, 0);
}

json_t *
keystore_next_list(const keystore_t *self)
{
    json_t *ids = keystore_list(self, KEY_NEXT, NULL);

    return ids != NULL ? ids : json_array();
}

int64_t
keystore_since(const keystore_t *self, const char *id, key_state_t state)
{
    struct stat st;

    return fstatat(self->fds[state], id, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (int64_t) st.st_mtime : 0;
}
