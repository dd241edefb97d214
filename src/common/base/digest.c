/* digest.c - message digests. */
#include "common/base/digest.h"

#include <fcntl.h>
#include <md5.h>
#include <sha.h>
#include <sha2.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/base/str.h"

typedef union state {
    MD5_CTX md5;
    SHA1_CTX sha1;
    SHA2_CTX sha2;
} state_t;

typedef struct kind {
    const char *name;
    size_t bytes;
    void (*init)(state_t *s);
    void (*add)(state_t *s, const uint8_t *bytes, size_t n);
    void (*finish)(uint8_t *out, state_t *s);
} kind_t;

struct digest {
    const kind_t *kind;
    state_t state;
};

/* libmd's functions for each digest differ only in the type of their context. */
#define DIGEST(name, member, prefix)                                                                         \
    static void name##_init(state_t *s)                                                                      \
    {                                                                                                        \
        prefix##Init(&s->member);                                                                            \
    }                                                                                                        \
    static void name##_add(state_t *s, const uint8_t *bytes, size_t n)                                       \
    {                                                                                                        \
        prefix##Update(&s->member, bytes, n);                                                                \
    }                                                                                                        \
    static void name##_finish(uint8_t *out, state_t *s)                                                      \
    {                                                                                                        \
        prefix##Final(out, &s->member);                                                                      \
    }
DIGEST(md5, md5, MD5)
DIGEST(sha1, sha1, SHA1)
DIGEST(sha256, sha2, SHA256)
DIGEST(sha384, sha2, SHA384)
DIGEST(sha512, sha2, SHA512)

/* Debian 12's libmd lacks SHA-224, which is SHA-256 with other initial values and a shorter result. */
static void
sha224_init(state_t *s)
{
    static const uint32_t start[8] = { 0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939,
                                       0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4 };

    sha256_init(s);
    memcpy(s->sha2.state.st32, start, sizeof(start));
}

static const kind_t kinds[] = {
    { "md5", 16, md5_init, md5_add, md5_finish },
    { "sha1", 20, sha1_init, sha1_add, sha1_finish },
    { "sha224", 28, sha224_init, sha256_add, sha256_finish },
    { "sha256", 32, sha256_init, sha256_add, sha256_finish },
    { "sha384", 48, sha384_init, sha384_add, sha384_finish },
    { "sha512", 64, sha512_init, sha512_add, sha512_finish },
};

static const kind_t *
kind_find(const char *name)
{
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        if (str_eq(kinds[i].name, name))
            return &kinds[i];
    }
    return NULL;
}

size_t
digest_hex_len(const char *name)
{
    const kind_t *kind = kind_find(name);

    return kind == NULL ? 0 : kind->bytes * 2;
}

const char *
digest_of_len(size_t hex_len)
{
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        if (kinds[i].bytes * 2 == hex_len)
            return kinds[i].name;
    }
    return NULL;
}

digest_t *
digest_new(const char *name, fail_t *err)
{
    const kind_t *kind = kind_find(name);

    if (kind == NULL) {
        fail_set(err, -EINVAL, "Invalid hash type: %s", name);
        return NULL;
    }
    digest_t *self = xcalloc(1, sizeof(*self));
    self->kind = kind;
    kind->init(&self->state);
    return self;
}

void
digest_destroy(digest_t **self_p)
{
    free(*self_p);
    *self_p = NULL;
}

void
digest_add(digest_t *self, const void *bytes, size_t n)
{
    self->kind->add(&self->state, bytes, n);
}

char *
digest_hex(digest_t *self)
{
    uint8_t raw[64];
    char *hex = xcalloc(sizeof(raw) * 2 + 1, 1);

    self->kind->finish(raw, &self->state);
    for (size_t i = 0; i < self->kind->bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", raw[i]);
    return hex;
}

int
digest_add_fd(digest_t *self, int fd)
{
    char chunk[65536];

    for (;;) {
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        digest_add(self, chunk, (size_t) n);
    }
}

int
digest_file(const char *path, const char *name, char **ret_hex, fail_t *err)
{
    AUTO(digest) digest = digest_new(name, err);
    if (digest == NULL)
        return -EINVAL;
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int rc = fd < 0 ? -errno : digest_add_fd(digest, fd);
    if (rc != 0)
        return fail_set(err, rc, "[Errno %d] %s: '%s'", -rc, strerror(-rc), path);
    *ret_hex = digest_hex(digest);
    return 0;
}

int
digest_fd(int fd, const char *name, char **ret_hex, fail_t *err)
{
    AUTO(digest) digest = digest_new(name, err);
    if (digest == NULL)
        return -EINVAL;
    int rc = lseek(fd, 0, SEEK_SET) < 0 ? -errno : digest_add_fd(digest, fd);
    if (rc != 0)
        return fail_set(err, rc, "%s", strerror(-rc));
    *ret_hex = digest_hex(digest);
    return 0;
}

char *
digest_bytes(const char *name, const void *bytes, size_t n, fail_t *err)
{
    AUTO(digest) digest = digest_new(name, err);

    if (digest == NULL)
        return NULL;
    digest_add(digest, bytes, n);
    return digest_hex(digest);
}
