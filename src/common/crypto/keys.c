/* keys.c - key pairs: generation, locked memory, PEM files.
 *
 * A pair is two files, NAME.pem (0400) and NAME.pub. The private file decides: the public one is derived from
 * it and rewritten when missing. Files appear complete or not at all: written to a temporary name, synced,
 * then renamed without replacing. */
#include "common/crypto/keys.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/crypto/pem.h"
#include "salt/limits.h"

_Static_assert(KEY_BYTES == crypto_box_PUBLICKEYBYTES && KEY_BYTES == crypto_box_SECRETKEYBYTES,
               "a CURVE key is a crypto_box key");
_Static_assert(KEY_BYTES == crypto_sign_PUBLICKEYBYTES && KEY_BYTES == crypto_sign_SEEDBYTES,
               "a key to sign with is its seed");

struct key_pair {
    key_kind_t kind;
    uint8_t secret[KEY_BYTES];
    uint8_t public_key[KEY_BYTES];
};

static void
sodium_ready(void)
{
    salt_assert(sodium_init() >= 0); /* repeated calls cost nothing; it fails only without a random source */
}

/* Zeroed memory that is locked, between guard pages, and wiped by sodium_free. Ends the process when there is
 * none. */
static void *
secret_alloc(size_t n)
{
    sodium_ready();
    void *p = sodium_malloc(n);
    if (p == NULL)
        salt_no_memory(n);
    sodium_memzero(p, n);
    return p;
}

static void
secret_free(void *pp)
{
    void **p = pp;

    sodium_free(*p);
    *p = NULL;
}
#define AUTO_SECRET __attribute__((cleanup(secret_free)))

/* Compute the public key. libsodium expands an Ed25519 seed to 64 bytes: that copy is wiped too. */
static void
derive_public(key_pair_t *self)
{
    if (self->kind == KEY_KIND_CURVE) {
        crypto_scalarmult_base(self->public_key, self->secret);
        return;
    }
    AUTO_SECRET uint8_t *expanded = secret_alloc(crypto_sign_SECRETKEYBYTES);

    (void) crypto_sign_seed_keypair(self->public_key, expanded, self->secret);
}

key_pair_t *
key_pair_new_of(key_kind_t kind)
{
    key_pair_t *self = secret_alloc(sizeof(*self));

    self->kind = kind;
    randombytes_buf(self->secret, sizeof(self->secret));
    derive_public(self);
    return self;
}

key_pair_t *
key_pair_new(void)
{
    return key_pair_new_of(KEY_KIND_CURVE);
}

void
key_pair_destroy(key_pair_t **self_p)
{
    secret_free(self_p);
}

const uint8_t *
key_pair_public(const key_pair_t *self)
{
    return self->public_key;
}

const uint8_t *
key_pair_secret(const key_pair_t *self)
{
    return self->secret;
}

/* ---- files -------------------------------------------------------------------------------------- */

static ssize_t
keys_read_all(int fd, char *buf, size_t cap)
{
    size_t len = 0;

    while (len < cap) {
        ssize_t n = read(fd, buf + len, cap - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        len += (size_t) n;
    }
    return (ssize_t) len;
}

static pem_kind_t
private_pem(key_kind_t kind)
{
    return kind == KEY_KIND_SIGN ? PEM_SIGN_PRIVATE : PEM_PRIVATE;
}

static pem_kind_t
public_pem(key_kind_t kind)
{
    return kind == KEY_KIND_SIGN ? PEM_SIGN_PUBLIC : PEM_PUBLIC;
}

/* Read a private key. NEW, or NULL with *err. -ENOENT without a text when there is no such file. */
static key_pair_t *
private_read(key_kind_t kind, const char *path, int *ret_code, fail_t *err)
{
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        *ret_code = -errno;
        if (*ret_code != -ENOENT)
            fail_set(err, *ret_code, "%s: %s", path, strerror(-*ret_code));
        return NULL;
    }
    /* Like ssh, refuse a private key that others can read: it is not secret any more. */
    struct stat st;
    if (fstat(fd, &st) != 0)
        *ret_code = fail_set(err, -errno, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        *ret_code = fail_set(err, -EINVAL, "%s: not a regular file", path);
    else if ((st.st_mode & 077) != 0)
        *ret_code = fail_set(err, -EPERM,
                             "%s: others than its owner may read or write this private key (mode %04o); "
                             "run: chmod 0400 %s",
                             path, (unsigned) (st.st_mode & 07777), path);
    else
        *ret_code = 0;
    if (*ret_code != 0)
        return NULL;

    AUTO_SECRET char *text = secret_alloc(LIMIT_KEY_FILE + 1);
    ssize_t len = keys_read_all(fd, text, LIMIT_KEY_FILE + 1);

    if (len < 0) {
        *ret_code = fail_set(err, (int) len, "%s: %s", path, strerror((int) -len));
        return NULL;
    }
    AUTO(key_pair) self = secret_alloc(sizeof(*self));

    self->kind = kind;
    *ret_code = pem_read(private_pem(kind), text, (size_t) len, self->secret, err);
    if (*ret_code != 0) {
        fail_prefix(err, "%s: ", path);
        return NULL;
    }
    derive_public(self);
    return STEAL(self);
}

key_pair_t *
key_pair_read(key_kind_t kind, const char *path, fail_t *err)
{
    int rc = 0;
    key_pair_t *self = private_read(kind, path, &rc, err);

    if (rc == -ENOENT)
        fail_set(err, rc, "%s: %s", path, strerror(ENOENT));
    return self;
}

static void
sync_dir_of(const char *path)
{
    AUTO_FREE char *dir = xstrndup(path, (size_t) (strrchr(path, '/') - path) + 1);
    AUTO_FD fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        (void) fsync(fd); /* not all file systems can sync a folder */
}

/* Create a file atomically; -EEXIST when it exists. Content is complete and synced before the name
 * appears. */
static int
create_file(const char *path, const char *text, mode_t mode, fail_t *err)
{
    AUTO_FREE char *tmp = xasprintf("%s.XXXXXX", path);
    AUTO_FD fd = mkostemp(tmp, O_CLOEXEC);
    int rc = 0;

    if (fd < 0)
        return fail_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
    if (fs_write_all(fd, text, strlen(text)) != 0 || fchmod(fd, mode) != 0 || fsync(fd) != 0)
        rc = -errno;
    else
        rc = renameat2(AT_FDCWD, tmp, AT_FDCWD, path, RENAME_NOREPLACE) == 0 ? 0 : -errno;

    /* A file system without RENAME_NOREPLACE: link() does not replace either, but there are two names for a
     * moment. */
    if (rc == -EINVAL || rc == -ENOSYS) {
        rc = link(tmp, path) == 0 ? 0 : -errno;
        if (rc == 0)
            (void) unlink(tmp);
    }
    if (rc != 0) {
        (void) unlink(tmp);
        return fail_set(err, rc, "cannot write %s: %s", path, strerror(-rc));
    }
    sync_dir_of(path);
    return 0;
}

/* Write a missing public file anew, then compare it with the private key. */
static int
ensure_public(const key_pair_t *self, const char *path, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (!fs_exists(path)) {
        AUTO_FREE char *pem = key_public_pem_of(self->kind, self->public_key);
        int rc = create_file(path, pem, 0644, &why);

        if (rc != 0 && rc != -EEXIST) /* there now: another process repaired it at the same time */
            return fail_set(err, rc, "%s", fail_text(&why));
    }

    /* A public file of another private key would show a wrong fingerprint: that is an error. */
    uint8_t key[KEY_BYTES];
    int rc = key_public_read(self->kind, path, key, err);
    if (rc != 0)
        return rc;
    if (memcmp(key, self->public_key, KEY_BYTES) != 0)
        return fail_set(
            err, -EINVAL,
            "%s: is not the public key of the .pem file beside it; remove it and it will be made anew", path);
    return 0;
}

int
key_pair_save(const key_pair_t *self, const char *dir, const char *name, fail_t *err)
{
    AUTO_FREE char *file = xasprintf("%s.pem", name);
    AUTO_FREE char *file_pub = xasprintf("%s.pub", name);
    AUTO_FREE char *path = fs_join(dir, file);
    AUTO_FREE char *path_pub = fs_join(dir, file_pub);
    AUTO_SECRET char *text = secret_alloc(PEM_TEXT_MAX);

    if (fs_exists(path_pub))
        return fail_set(err, -EEXIST, "%s exists already%s", path_pub,
                        fs_exists(path) ? "" : " but its private key does not: remove it first");
    pem_write(private_pem(self->kind), self->secret, text);
    int rc = create_file(path, text, 0400, err);
    return rc != 0 ? rc : ensure_public(self, path_pub, err);
}

key_pair_t *
key_pair_open(const char *dir, const char *name, bool *ret_made, fail_t *err)
{
    return key_pair_open_of(KEY_KIND_CURVE, dir, name, ret_made, err);
}

key_pair_t *
key_pair_open_of(key_kind_t kind, const char *dir, const char *name, bool *ret_made, fail_t *err)
{
    AUTO_FREE char *file = xasprintf("%s.pem", name);
    AUTO_FREE char *file_pub = xasprintf("%s.pub", name);
    AUTO_FREE char *path = fs_join(dir, file);
    AUTO_FREE char *path_pub = fs_join(dir, file_pub);
    int rc = 0;
    bool made = false;
    AUTO(key_pair) self = private_read(kind, path, &rc, err);

    if (self == NULL && rc == -ENOENT) {
        fail_auto_t why = FAIL_INIT;

        if (fs_mkdirs(dir, 0700, err) != 0)
            return NULL;
        self = key_pair_new_of(kind);
        rc = key_pair_save(self, dir, name, &why);
        made = rc == 0;
        if (rc == -EEXIST) { /* another process made one meanwhile: use that */
            key_pair_destroy(&self);
            self = private_read(kind, path, &rc, err);
        }
        if (rc != 0)
            fail_set(err, rc, "%s", fail_text(&why));
    }
    if (rc != 0 || self == NULL || ensure_public(self, path_pub, err) != 0)
        return NULL;
    if (ret_made != NULL)
        *ret_made = made;
    return STEAL(self);
}

/* Open a file for writing that its owner may only read; -1 on failure. Reopening through /proc keeps the
 * descriptor to the same file, though the name may change. */
static int
open_read_only(const char *path)
{
    char link[40];
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0 || fchmod(fd, 0600) != 0)
        return -1;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return open(link, O_WRONLY | O_CLOEXEC);
}

void
key_pair_tidy(const char *dir, const char *name)
{
    AUTO_FREE char *pem = xasprintf("%s/%s.pem", dir, name);
    AUTO_FREE char *pub = xasprintf("%s/%s.pub", dir, name);

    if (fs_absent(pem))
        (void) unlink(pub);
}

int
key_pair_replace(const char *dir, const char *name, const char *new_name, fail_t *err)
{
    AUTO_FREE char *pem = xasprintf("%s/%s.pem", dir, name);
    AUTO_FREE char *pub = xasprintf("%s/%s.pub", dir, name);
    AUTO_FREE char *new_pem = xasprintf("%s/%s.pem", dir, new_name);
    AUTO_FREE char *new_pub = xasprintf("%s/%s.pub", dir, new_name);
    AUTO_FD old = open_read_only(pem);

    int there = fs_look(new_pem, err);
    if (there <= 0)
        return there < 0 ? there : fail_set(err, -ENOENT, "%s: %s", new_pem, strerror(ENOENT));
    /* A public file of another private key is an error, a missing one is written anew: so it is removed
     * first. */
    if (unlink(pub) != 0 && errno != ENOENT)
        return fail_set(err, -errno, "cannot remove %s: %s", pub, strerror(errno));
    if (rename(new_pem, pem) != 0)
        return fail_set(err, -errno, "cannot rename %s to %s: %s", new_pem, pem, strerror(errno));
    (void) rename(new_pub, pub);
    sync_dir_of(pem);

    /* Overwrite a private key that is no longer needed. The disk may still keep old blocks; nothing can be
     * done here. */
    static const char nothing[PEM_TEXT_MAX];
    if (old >= 0 && pwrite(old, nothing, sizeof(nothing), 0) == (ssize_t) sizeof(nothing))
        (void) fsync(old);
    return 0;
}

/* ---- texts -------------------------------------------------------------------------------------- */

char *
key_public_pem_of(key_kind_t kind, const uint8_t key[KEY_BYTES])
{
    char text[PEM_TEXT_MAX];

    pem_write(public_pem(kind), key, text);
    return xstrdup(text);
}

char *
key_public_pem(const uint8_t key[KEY_BYTES])
{
    return key_public_pem_of(KEY_KIND_CURVE, key);
}

char *
key_pair_pem(const key_pair_t *self)
{
    char *text = xcalloc(1, PEM_TEXT_MAX);

    pem_write(private_pem(self->kind), self->secret, text);
    return text;
}

void
key_text_free(char **text_p)
{
    if (*text_p != NULL)
        sodium_memzero(*text_p, strlen(*text_p));
    free(*text_p);
    *text_p = NULL;
}

int
key_public_from_pem_of(key_kind_t kind, const char *pem, size_t len, uint8_t out[KEY_BYTES], fail_t *err)
{
    return pem_read(public_pem(kind), pem, len, out, err);
}

int
key_public_from_pem(const char *pem, size_t len, uint8_t out[KEY_BYTES], fail_t *err)
{
    return key_public_from_pem_of(KEY_KIND_CURVE, pem, len, out, err);
}

int
key_public_read(key_kind_t kind, const char *path, uint8_t out[KEY_BYTES], fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, LIMIT_KEY_FILE, &text, &why);

    if (rc != 0)
        return fail_set(err, rc, "%s", fail_text(&why));
    rc = key_public_from_pem_of(kind, buf_str(&text), text.len, out, err);
    if (rc != 0)
        fail_prefix(err, "%s: ", path);
    return rc;
}

bool
key_text_equal(const char *a, const char *b)
{
    size_t n = strlen(a);

    return n == strlen(b) && sodium_memcmp(a, b, n) == 0;
}

void
key_random(void *out, size_t len)
{
    sodium_ready();
    randombytes_buf(out, len);
}
