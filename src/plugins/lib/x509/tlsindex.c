/* tlsindex.c - the list of issued certificates: index.txt, as `openssl ca` reads it, and the numbers given. */
#include <ctype.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/py/py_ops.h"
#include "plugins/lib/x509/ossl_cert.h"
#include "plugins/lib/x509/tlsdir.h"

#define TIME_FORM "%y%m%d%H%M%SZ"

enum { INDEX_MAX = 64 * 1024 * 1024 };

static void
put_bytes_repr(const char *text, size_t len, buf_t *out)
{
    AUTO(py) bytes = py_bytes(text, len);
    AUTO(py) repr = py_repr(bytes);

    buf_puts(out, py_cstr(repr));
}

/* Upper-case hexadecimal without a leading zero. */
char *
index_serial(const xdoc_t *cert)
{
    char *serial = der_hex(cert->serial.p, cert->serial.len);

    for (char *p = serial; *p != '\0'; p++)
        *p = (char) toupper((unsigned char) *p);
    if (serial[0] == '0' && serial[1] != '\0')
        memmove(serial, serial + 1, strlen(serial));
    return serial;
}

/* The index has two digits for the year, as UTCTime. */
bool
tls_index_time(const char *text, int64_t *ret_seconds)
{
    enum { DIGITS = 12 };

    return strlen(text) == DIGITS + 1 && strspn(text, "0123456789") == DIGITS && text[DIGITS] == 'Z' &&
           der_to_time(DER_UTC, (der_t){ (const uint8_t *) text, DIGITS + 1 }, ret_seconds);
}

/* A line of `openssl ca`: status, end, time of revocation, serial number, file, name. The name's parts are
 * Python's repr of bytes, as Salt writes them. */
char *
index_line(const xdoc_t *cert, char status, int64_t revoked, fail_t *err)
{
    json_auto_t *pairs = cert_name_pairs(cert->subject, err);
    buf_auto_t out = BUF_INIT;
    json_t *one;
    size_t i;

    if (pairs == NULL)
        return NULL;
    AUTO_FREE char *until = clock_strftime_utc(TIME_FORM, cert->until * 1000000);
    AUTO_FREE char *when = status == 'R' ? clock_strftime_utc(TIME_FORM, revoked * 1000000) : xstrdup("");
    AUTO_FREE char *serial = index_serial(cert);
    buf_printf(&out, "%c\t%s\t%s\t%s\tunknown\t", status, until, when, serial);
    json_array_foreach (pairs, i, one) {
        const json_t *value = json_array_get(one, 1);
        const char *name = json_string_value(json_array_get(one, 0));
        buf_putc(&out, '/');
        put_bytes_repr(name, strlen(name), &out);
        buf_putc(&out, '=');
        put_bytes_repr(json_string_value(value), json_string_length(value), &out);
    }
    if (json_array_size(pairs) == 0)
        buf_putc(&out, '/');
    buf_putc(&out, '\n');
    return buf_steal(&out);
}

static char *
index_path(const tlsdir_t *self)
{
    return fs_join(self->dir, "index.txt");
}

/* The lock is the folder's: the file itself is replaced. */
int
index_hold(const tlsdir_t *self, buf_t *out, fail_t *err)
{
    AUTO_FREE char *path = index_path(self);
    int fd = open(self->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        int code = -errno;
        if (fd >= 0)
            (void) close(fd);
        return fs_fail(err, code, "lock", self->dir);
    }
    if (fs_read_any(path, INDEX_MAX, out, err) < 0) {
        (void) close(fd);
        return err->code;
    }
    return fd;
}

int
index_write(const tlsdir_t *self, const buf_t *text, fail_t *err)
{
    AUTO_FREE char *path = index_path(self);

    return fs_rewrite(path, text->data, text->len, 0644, err);
}

/* Adds a certificate that was issued to the index; the lock keeps two runs from losing a line. */
int
tlsdir_note(call_ctx_t *ctx, const tlsdir_t *self, const buf_t *der, fail_t *err)
{
    AUTO(xdoc) cert = xdoc_parse(XDOC_CERT, der->data, der->len);
    buf_auto_t text = BUF_INIT;

    salt_assert(cert != NULL);
    AUTO_FREE char *line = index_line(cert, 'V', 0, err);
    if (line == NULL)
        return err->code;
    /* The digits of all serial numbers, in a file that Salt writes and never reads. */
    const char *cachedir = value_str(ctx_opts(ctx), "cachedir", "");
    AUTO_FREE char *path = xasprintf("%s/%s.serial", cachedir, self->name);
    AUTO_FREE char *digits = der_decimal(cert->serial.p, cert->serial.len);
    if (*cachedir != '\0') {
        if (fs_mkdirs(cachedir, 0755, err) != 0)
            return err->code;
        AUTO_FD serials = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
        int rc = serials < 0 ? -errno : fs_write_all(serials, digits, strlen(digits));
        if (rc != 0)
            return fs_fail(err, rc, "write", path);
    }
    AUTO_FD fd = index_hold(self, &text, err);
    if (fd < 0)
        return err->code;
    if (text.len > 0 && text.data[text.len - 1] != '\n')
        buf_putc(&text, '\n');
    buf_puts(&text, line);
    return index_write(self, &text, err);
}
