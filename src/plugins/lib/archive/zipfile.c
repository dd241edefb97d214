/* zipfile.c - see zipfile.h: finds the directory at the archive's end, reads it whole, and unpacks members
 * piece by piece. Every size in it is a claim, bounded by the file's size or by what is stated for the
 * member. Numbers and places are those of PKWARE's APPNOTE.TXT. */
#include "plugins/lib/archive/zipfile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/gzip.h"
#include "salt/limits.h"

enum {
    END_LEN = 22,
    END64_LEN = 56,
    LOCATOR_LEN = 20,
    ENTRY_LEN = 46,
    LOCAL_LEN = 30,
    TAIL = END_LEN + 65535, /* the end record and the longest comment */
    CRYPT_LEN = 12,
    STORED = 0,
    DEFLATED = 8,
    FLAG_ENCRYPTED = 1,
    FLAG_STREAMED = 8 /* sizes stand behind the data */
};
#define SIGN_END     0x06054b50u
#define SIGN_END64   0x06064b50u
#define SIGN_LOCATOR 0x07064b50u
#define SIGN_ENTRY   0x02014b50u
#define SIGN_LOCAL   0x04034b50u

/* Numbers in a zip file have their lowest byte first. */
static uint64_t
little(const unsigned char *p, size_t n)
{
    uint64_t v = 0;

    while (n-- > 0)
        v = v << 8 | p[n];
    return v;
}

/* Python's words for whatever is wrong with the directory. */
static int
not_zip(fail_t *err)
{
    return fail_set(err, -EBADMSG, "File is not a zip file");
}

/* Exactly `n` bytes from a place of the file. */
static bool
read_at(int fd, void *room, size_t n, uint64_t offset)
{
    size_t got = 0;

    while (got < n) {
        ssize_t k = pread(fd, (char *) room + got, n - got, (off_t) (offset + got));
        if (k <= 0 && !(k < 0 && errno == EINTR))
            return false;
        got += k > 0 ? (size_t) k : 0;
    }
    return true;
}

/* ---- the directory ---------------------------------------------------------------------------- */

typedef struct directory {
    uint64_t n, len, offset; /* entries, bytes, and where it begins */
} directory_t;

/* An archive of more than 65535 members or 4 GB says so in a second end record. Its locator stands right
 * before the first end record. None: the first one is all there is, and *dir stays. */
static bool
read_end64(int fd, uint64_t end, directory_t *dir)
{
    unsigned char locator[LOCATOR_LEN], more[END64_LEN];

    if (end < LOCATOR_LEN || !read_at(fd, locator, sizeof(locator), end - LOCATOR_LEN) ||
        little(locator, 4) != SIGN_LOCATOR)
        return true;
    if (!read_at(fd, more, sizeof(more), little(locator + 8, 8)) || little(more, 4) != SIGN_END64)
        return false;
    *dir = (directory_t){ little(more + 32, 8), little(more + 40, 8), little(more + 48, 8) };
    return true;
}

/* The last end record whose comment reaches to the file's end. The comment may hold the signature itself; a
 * length that leads beyond the end tells that it is no end record. */
static bool
find_directory(int fd, uint64_t size, directory_t *dir)
{
    size_t n = size < TAIL ? (size_t) size : TAIL;
    AUTO_FREE unsigned char *tail = xcalloc(1, n + 1);

    if (n < END_LEN || !read_at(fd, tail, n, size - n))
        return false;
    for (size_t i = n - END_LEN + 1; i-- > 0;) {
        const unsigned char *end = tail + i;
        if (little(end, 4) != SIGN_END || i + END_LEN + little(end + 20, 2) > n)
            continue;
        *dir = (directory_t){ little(end + 10, 2), little(end + 12, 4), little(end + 16, 4) };
        return read_end64(fd, size - n + i, dir) && dir->len <= size && dir->offset <= size - dir->len;
    }
    return false;
}

/* Sizes that do not fit stand in the extra field, each only when its own place holds all ones. The fields
 * stand in a fixed order, and only those that are needed are there. */
static void
read_extra(zip_entry_t *entry, const unsigned char *extra, size_t len)
{
    uint64_t *const wide[] = { &entry->size, &entry->packed, &entry->offset };

    while (len >= 4) {
        size_t part = (size_t) little(extra + 2, 2), at = 4;
        if (part > len - 4)
            return;
        for (size_t i = 0; little(extra, 2) == 1 && i < NELEMS(wide); i++) {
            if (*wide[i] != UINT32_MAX || at + 8 > part + 4)
                continue;
            *wide[i] = little(extra + at, 8);
            at += 8;
        }
        extra += 4 + part;
        len -= 4 + part;
    }
}

/* One entry at `p`; the bytes that it takes, or 0. The upper half of the external attributes is the mode,
 * where a system with modes has made the archive. */
static size_t
zip_read_entry(zip_entry_t *entry, const unsigned char *p, size_t left)
{
    if (left < ENTRY_LEN || little(p, 4) != SIGN_ENTRY)
        return 0;
    size_t name = (size_t) little(p + 28, 2), extra = (size_t) little(p + 30, 2);
    size_t all = ENTRY_LEN + name + extra + (size_t) little(p + 32, 2);
    if (all > left)
        return 0;
    entry->flags = (unsigned) little(p + 8, 2);
    entry->method = (unsigned) little(p + 10, 2);
    entry->time = (unsigned) little(p + 12, 2);
    entry->crc = (uint32_t) little(p + 16, 4);
    entry->packed = little(p + 20, 4);
    entry->size = little(p + 24, 4);
    entry->mode = (mode_t) (little(p + 38, 4) >> 16);
    entry->offset = little(p + 42, 4);
    entry->name = xstrndup((const char *) p + ENTRY_LEN, name); /* to a NUL, as Python has it */
    read_extra(entry, p + ENTRY_LEN + name, extra);
    return all;
}

/* The count is held against the bytes first: each entry takes 46 of them at least, so that no forged number
 * makes a large table. */
static int
read_directory(zipfile_t *self, const directory_t *dir, fail_t *err)
{
    if (dir->len > LIMIT_FILE_READ || dir->n > dir->len / ENTRY_LEN)
        return not_zip(err);
    AUTO_FREE unsigned char *bytes = xcalloc(1, (size_t) dir->len + 1);
    if (!read_at(self->fd, bytes, (size_t) dir->len, dir->offset))
        return not_zip(err);
    self->v = xcalloc((size_t) dir->n + 1, sizeof(*self->v));
    for (size_t at = 0; self->n < dir->n; self->n++) {
        size_t n = zip_read_entry(&self->v[self->n], bytes + at, (size_t) dir->len - at);
        if (n == 0)
            return not_zip(err);
        at += n;
    }
    return 0;
}

/* 0 with the members, whose data is not looked at yet; or negative. O_NONBLOCK: a FIFO of that name would
 * wait for a writer. */
int
zipfile_open(zipfile_t *self, const char *path, fail_t *err)
{
    directory_t dir = { 0 };
    struct stat st;

    self->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (self->fd < 0 || fstat(self->fd, &st) < 0)
        return fail_set(err, -errno, "[Errno %d] %s: '%s'", errno, strerror(errno), path);
    if (!S_ISREG(st.st_mode) || !find_directory(self->fd, (uint64_t) st.st_size, &dir))
        return not_zip(err);
    return read_directory(self, &dir, err);
}

void
zipfile_free(zipfile_t *self)
{
    /* The last place too: a member that was begun when the directory ended may have its name. */
    for (size_t i = 0; self->v != NULL && i <= self->n; i++)
        free(self->v[i].name);
    free(self->v);
    if (self->fd >= 0)
        close(self->fd);
    *self = (zipfile_t) ZIPFILE_INIT;
}

bool
zip_is_encrypted(const zip_entry_t *entry)
{
    return (entry->flags & FLAG_ENCRYPTED) != 0;
}

/* ---- members ---------------------------------------------------------------------------------- */

/* The traditional cipher: three keys that each byte of plain text changes. */
typedef struct cipher {
    uint32_t key[3];
} cipher_t;

/* One step of the CRC without its usual inversion. */
static uint32_t
crc_step(uint32_t crc, unsigned char byte)
{
    return ~gzip_crc32(~crc, &byte, 1);
}

/* APPNOTE.TXT, 6.1.5: each byte changes all three keys. */
static void
cipher_take(cipher_t *c, unsigned char plain)
{
    c->key[0] = crc_step(c->key[0], plain);
    c->key[1] = (c->key[1] + (c->key[0] & 0xff)) * 134775813u + 1;
    c->key[2] = crc_step(c->key[2], (unsigned char) (c->key[1] >> 24));
}

/* In place. The cipher is broken, and here only to read what others have made. */
static void
cipher_decrypt(cipher_t *c, unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t mask = (c->key[2] & 0xffff) | 2;
        bytes[i] ^= (unsigned char) ((mask * (mask ^ 1)) >> 8);
        cipher_take(c, bytes[i]);
    }
}

typedef struct reading {
    const zipfile_t *zip;
    const zip_entry_t *entry;
    uint64_t at, left; /* packed bytes: where the next one is, how many there are */
    uint64_t done;     /* unpacked bytes */
    uint32_t crc;
    bool encrypted;
    cipher_t cipher;
    int to;     /* -1: into `out` */
    buf_t *out; /* BORROWED */
} reading_t;

/* The next packed bytes, decrypted; 0 at their end. */
static ssize_t
zip_read_more(void *cookie, void *room, size_t cap)
{
    reading_t *r = cookie;
    size_t n = r->left < cap ? (size_t) r->left : cap;

    if (n > 0 && !read_at(r->zip->fd, room, n, r->at))
        return -EBADMSG;
    r->at += n;
    r->left -= n;
    if (r->encrypted)
        cipher_decrypt(&r->cipher, room, n);
    return (ssize_t) n;
}

/* Takes unpacked bytes. More than the directory states is an error at once, so that no small file fills the
 * disk. */
static int
put_more(void *cookie, const void *bytes, size_t n)
{
    reading_t *r = cookie;

    r->done += n;
    if (r->done > r->entry->size)
        return -EBADMSG;
    r->crc = gzip_crc32(r->crc, bytes, n);
    if (r->out == NULL)
        return fs_write_all(r->to, bytes, n);
    buf_add(r->out, bytes, n);
    return 0;
}

/* The twelve bytes before an encrypted member; the last one tells a wrong password from most right ones. */
static int
read_crypt_header(reading_t *r, const char *password, fail_t *err)
{
    unsigned char head[CRYPT_LEN];
    const zip_entry_t *e = r->entry;
    unsigned want = (e->flags & FLAG_STREAMED) != 0 ? e->time >> 8 : e->crc >> 24;

    if (password == NULL || *password == '\0')
        return fail_set(err, -EACCES, "File '%s' is encrypted, password required for extraction", e->name);
    /* The keys' first values are the format's (APPNOTE.TXT, 6.1.5). */
    r->cipher = (cipher_t){ { 0x12345678u, 0x23456789u, 0x34567890u } };
    for (; *password != '\0'; password++)
        cipher_take(&r->cipher, (unsigned char) *password);
    if (r->left < CRYPT_LEN || zip_read_more(r, head, CRYPT_LEN) != CRYPT_LEN)
        return fail_set(err, -EBADMSG, "Bad CRC-32 for file '%s'", e->name);
    r->encrypted = true;
    cipher_decrypt(&r->cipher, head, CRYPT_LEN);
    return head[CRYPT_LEN - 1] == (want & 0xff)
               ? 0
               : fail_set(err, -EACCES, "Bad password for file '%s'", e->name);
}

/* Finds the data by the member's local header, whose name and extra field may be longer than the directory's,
 * and unpacks it. The sum is compared at the end, when everything is written: the caller throws away what
 * failed. */
static int
zip_run(reading_t *r, const char *password, fail_t *err)
{
    unsigned char local[LOCAL_LEN];
    const zip_entry_t *e = r->entry;

    if (!read_at(r->zip->fd, local, sizeof(local), e->offset) || little(local, 4) != SIGN_LOCAL)
        return fail_set(err, -EBADMSG, "Bad magic number for file header");
    r->at = e->offset + LOCAL_LEN + little(local + 26, 2) + little(local + 28, 2);
    r->left = e->packed;
    if (e->method != STORED && e->method != DEFLATED)
        return fail_set(err, -ENOTSUP, "That compression method is not supported: '%s'", e->name);
    int rc = zip_is_encrypted(e) ? read_crypt_header(r, password, err) : 0;
    if (rc < 0)
        return rc;
    if (e->method == STORED) {
        AUTO_FREE char *room = xcalloc(1, 65536);
        for (ssize_t n; rc == 0 && (n = zip_read_more(r, room, 65536)) != 0;)
            rc = n < 0 ? (int) n : put_more(r, room, (size_t) n);
    } else
        rc = gzip_inflate(zip_read_more, put_more, r);
    if (rc < 0 && rc != -EBADMSG)
        return fail_set(err, rc, "cannot write '%s': %s", e->name, strerror(-rc));
    if (rc < 0 || r->done != e->size || r->crc != e->crc)
        return fail_set(err, -EBADMSG, "Bad CRC-32 for file '%s'", e->name);
    return 0;
}

int
zip_read(const zipfile_t *self, const zip_entry_t *entry, const char *password, int to, fail_t *err)
{
    reading_t r = { .zip = self, .entry = entry, .to = to };

    return zip_run(&r, password, err);
}

/* The same into memory, of which the caller states the most. */
int
zip_read_text(const zipfile_t *self, const zip_entry_t *entry, const char *password, size_t limit, buf_t *out,
              fail_t *err)
{
    reading_t r = { .zip = self, .entry = entry, .to = -1, .out = out };

    if (entry->size > limit)
        return fail_set(err, -EFBIG, "'%s' is larger than %zu bytes", entry->name, limit);
    return zip_run(&r, password, err);
}
