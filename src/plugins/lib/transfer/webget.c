/* webget.c - http, https and ftp by libcurl, with redirects. What comes is written into a file that only
 * this fetch uses; once complete it is placed atomically. */
#include "plugins/lib/transfer/fetch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/putfile.h"
#include "plugins/lib/http/web.h"

#define SCHEMES   (CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FTP)
/* Seconds to connect, seconds without a byte, and the number of redirects that are followed. */
#define CONNECT_S 30
#define STALL_S   60
#define REDIRECTS 10

enum { ETAG_MAX = 4096, HTTP_NOT_MODIFIED = 304 };

/* One fetch. */
typedef struct webget {
    const fetch_t *what;
    const char *dest;
    char *part;
    char *kept; /* file beside the destination that keeps the server's ETag for the next fetch */
    bool compared;
} webget_t;

/* The last answer's lines: each redirect has had an answer too. BORROWED. */
static const char *
last_answer(const char *headers)
{
    const char *found = headers;

    for (const char *p = headers; (p = strstr(p, "HTTP/")) != NULL; p++)
        if (p == headers || p[-1] == '\n')
            found = p;
    return found;
}

/* "HTTP 404: Not Found" of the server's answer, or the library's words. NEW. These are the words of Salt's
 * own errors, by which its users look for them. */
static char *
reason_of(const web_t *web)
{
    enum { HTTP_BAD = 400 };
    const char *words = strchr(last_answer(buf_str(&web->headers)), ' ');

    if (web->status < HTTP_BAD || words == NULL)
        return xstrdup(web->trouble);
    int n = (int) strcspn(words + 1, " \r\n"), rest = (int) strcspn(words + 1 + n, "\r\n");
    return xasprintf("HTTP %.*s: %.*s", n, words + 1, rest > 0 ? rest - 1 : 0, words + 1 + n + (rest > 0));
}

/* In our own cache by its name; elsewhere as whatever is copied. In the cache the file is renamed, as it is
 * of the same file system; else it is copied. */
static int
take_place(const webget_t *self, fail_t *err)
{
    destpath_auto_t resolved = DESTPATH_INIT;
    AUTO_FD fd = open(self->part, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail_set(err, -errno, "%s: %s", self->part, strerror(errno));
    if (!str_empty(self->what->dest))
        return putfile_copy(fd, self->dest, err);
    int rc = putfile_find(&resolved, self->dest, err);
    if (rc < 0)
        return rc;
    AUTO_FREE char *place = destpath_text(&resolved);
    return putfile_rename(fd, resolved.folder, self->part, place, PUTFILE_UMASK, err);
}

/* Asks for the file only if it has another ETag than the one kept. Asks anyway when the file is gone, as the
 * server would then send nothing. A tag with a line break would be a header of its own; it is the server's,
 * and not believed. */
static void
compare_etag(webget_t *self, web_t *web)
{
    AUTO_FD fd = open(self->kept, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    buf_auto_t text = BUF_INIT;
    struct stat st;

    if (fd < 0 || !fs_exists(self->dest) || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        fs_read_fd(fd, ETAG_MAX, &text) != 0)
        return;
    AUTO_FREE char *tag = buf_steal(&text);
    AUTO_FREE char *line = xasprintf("If-None-Match: %s", str_trim(tag));
    if (str_empty(str_trim(tag)) || strpbrk(line, "\r\n") != NULL)
        return;
    self->compared = true;
    web_field(web, line);
}

/* Only once the file has its place: else the next one would take what is there for what the server has. */
static int
keep_etag(const webget_t *self, const web_t *web, fail_t *err)
{
    static const char field[] = "\nETag:";
    const char *found = strcasestr(last_answer(buf_str(&web->headers)), field);
    AUTO_FREE char *value = found != NULL ? xstrndup(found + sizeof(field) - 1,
                                                     strcspn(found + sizeof(field) - 1, "\r\n"))
                                          : xstrdup("");
    const char *tag = str_trim(value);
    bool has = *tag != '\0' && strlen(tag) < ETAG_MAX;
    buf_auto_t text = BUF_INIT;

    if (!has && fs_absent(self->kept))
        return 0;
    if (has)
        buf_printf(&text, "%s\n", tag);
    return putfile_text(&text, self->kept, err);
}

/* Into self->part, open as `fd`, then to its place. With an ETag that still holds, the file stays. Whatever
 * fails, nothing is at its place: the part is removed by the caller. */
static int
fetch_into(call_ctx_t *ctx, webget_t *self, int fd, const char *url_path, fail_t *err)
{
    web_auto_t web = WEB_INIT;
    int rc = web_open(&web, SCHEMES, REDIRECTS, NULL, err);

    if (rc < 0)
        return rc;
    web.fd = fd;
    web_text(&web, CURLOPT_URL, self->what->url);
    web_text(&web, CURLOPT_USERAGENT, "Salt/" HALITE_VERSION);
    web_number(&web, CURLOPT_FAILONERROR, 1);
    /* Bounds connecting and stalls, not the total time. */
    web_number(&web, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    web_number(&web, CURLOPT_LOW_SPEED_LIMIT, 1);
    web_number(&web, CURLOPT_LOW_SPEED_TIME, STALL_S);

    /* proxy_host of the configuration; else what the environment says. */
    const char *host = value_str(ctx_opts(ctx), "proxy_host", ""),
               *user = value_str(ctx_opts(ctx), "proxy_username", "");
    json_int_t port = value_int(ctx_opts(ctx), "proxy_port", 0);

    if (*host != '\0' && port > 0)
        web_proxy(&web, host, port, *user != '\0' ? user : NULL,
                  value_str(ctx_opts(ctx), "proxy_password", ""), value_get(ctx_opts(ctx), "no_proxy"));

    if (self->what->insecure)
        web_insecure(&web);
    if (self->what->use_etag)
        compare_etag(self, &web);
    rc = web_run(&web, err);
    if (rc < 0)
        return rc;
    if (web.fd_errno != 0)
        return fail_set(err, -web.fd_errno, "%s: %s", self->part, strerror(web.fd_errno));
    if (web.trouble != NULL) {
        AUTO_FREE char *reason = reason_of(&web);
        return fail_set(err, -EREMOTEIO, "Error: %s reading %s", reason, url_path);
    }
    if (self->compared && web.status == HTTP_NOT_MODIFIED)
        return 0; /* as it was */
    rc = take_place(self, err);
    return rc == 0 && self->what->use_etag ? keep_etag(self, &web, err) : rc;
}

/* Creates the file that the answer goes to, and removes it in every case. */
int
webget(call_ctx_t *ctx, const fetch_t *what, const char *dest, fail_t *err)
{
    url_auto_t u = { NULL, NULL, NULL, NULL };
    AUTO_FREE char *part = fetch_cache_place(ctx, "extrn_files", ".fetch.XXXXXX"),
                   *above = fetch_cache_place(ctx, "extrn_files", "");
    AUTO_FREE char *kept = xasprintf("%s.etag", dest);
    webget_t self = { what, dest, part, kept, false };

    url_parse(&u, what->url);
    if (strpbrk(what->url, "\r\n") != NULL)
        return fail_set(err, -EINVAL, "A URL has one line");
    int rc = fs_mkdirs(above, 0777, err);
    if (rc < 0)
        return rc;
    AUTO_FD fd = mkostemp(part, O_CLOEXEC);
    if (fd < 0)
        return fail_set(err, -errno, "%s: %s", part, strerror(errno));
    rc = fetch_into(ctx, &self, fd, u.path, err);
    (void) unlink(part);
    return rc;
}
