/* static.c - files: the page of option `app`, the folder of option `static`, with ranges and dates (RFC 9110,
 * 8.8.2 and 14). */
#include <fcntl.h>
#include <microhttpd.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "api/range.h"
#include "api/route.h"
#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"

static const struct {
    const char *ending, *type;
} types[] = {
    { ".css", "text/css" },
    { ".js", "text/javascript" },
    { ".mjs", "text/javascript" },
    { ".json", "application/json" },
    { ".html", "text/html;charset=utf-8" },
    { ".htm", "text/html;charset=utf-8" },
    { ".txt", "text/plain;charset=utf-8" },
    { ".svg", "image/svg+xml" },
    { ".png", "image/png" },
    { ".jpg", "image/jpeg" },
    { ".jpeg", "image/jpeg" },
    { ".gif", "image/gif" },
    { ".ico", "image/x-icon" },
    { ".woff", "font/woff" },
    { ".woff2", "font/woff2" },
    { ".ttf", "font/ttf" },
    { ".wasm", "application/wasm" },
    { ".map", "application/json" },
    { ".xml", "text/xml" },
    { ".pdf", "application/pdf" },
};

static const char *
static_type(const char *path)
{
    for (size_t i = 0; i < NELEMS(types); i++)
        if (str_ends(path, types[i].ending))
            return types[i].type;
    return "application/octet-stream";
}

#define HTTP_DATE "%a, %d %b %Y %H:%M:%S GMT"

/* The parts of a file that the client wants: all, one range, or none as it has the file. */
static struct MHD_Response *
static_response(const request_t *request, int fd, const struct stat *st, unsigned *ret_status)
{
    const char *since = request_header(request, "If-Modified-Since"),
               *wanted = request_header(request, "Range");
    struct tm tm = { 0 };
    uint64_t from = 0, len = (uint64_t) st->st_size;

    *ret_status = MHD_HTTP_OK;
    if (since != NULL && strptime(since, HTTP_DATE, &tm) != NULL && timegm(&tm) >= st->st_mtime) {
        *ret_status = MHD_HTTP_NOT_MODIFIED;
        (void) close(fd);
        return MHD_create_response_from_buffer(0, (void *) "", MHD_RESPMEM_PERSISTENT);
    }
    int rc = wanted != NULL ? range_parse(wanted, (uint64_t) st->st_size, &from, &len) : 0;
    if (rc < 0) {
        *ret_status = MHD_HTTP_RANGE_NOT_SATISFIABLE;
        from = len = 0;
    }
    struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(len, fd, from);
    if (response == NULL) {
        (void) close(fd);
        return NULL;
    }
    if (rc != 0) {
        *ret_status = rc > 0 ? MHD_HTTP_PARTIAL_CONTENT : *ret_status;
        AUTO_FREE char *where = rc > 0 ? xasprintf("bytes %llu-%llu/%llu", (unsigned long long) from,
                                                   (unsigned long long) (from + len - 1),
                                                   (unsigned long long) st->st_size)
                                       : xasprintf("bytes */%llu", (unsigned long long) st->st_size);
        (void) MHD_add_response_header(response, "Content-Range", where);
    }
    return response;
}

/* TAKES fd. */
static void
static_send(request_t *request, int fd, const char *name)
{
    struct stat st;
    struct tm tm;
    char when[64];
    unsigned status;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        (void) close(fd);
        AUTO_FREE char *text = xasprintf("The path '%s' was not found.", request->path);
        reply_error(request, MHD_HTTP_NOT_FOUND, text);
        return;
    }
    struct MHD_Response *response = static_response(request, fd, &st, &status);
    if (response == NULL) {
        reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "No memory for an answer");
        return;
    }
    (void) gmtime_r(&st.st_mtime, &tm);
    (void) strftime(when, sizeof(when), HTTP_DATE, &tm);
    (void) MHD_add_response_header(response, "Content-Type", static_type(name));
    (void) MHD_add_response_header(response, "Last-Modified", when);
    (void) MHD_add_response_header(response, "Accept-Ranges", "bytes");
    reply_response(request, status, &response);
}

static void
static_missing(request_t *request, int code)
{
    AUTO_FREE char *text = xasprintf("The path '%s' was not found.", request->path);

    if (code == -EINVAL || code == -EXDEV || code == -ELOOP || code == -ENAMETOOLONG || code == -EACCES)
        reply_error(request, MHD_HTTP_FORBIDDEN, "The path leads out of the folder, or is not readable");
    else
        reply_error(request, MHD_HTTP_NOT_FOUND, text);
}

void
static_get(request_t *request)
{
    AUTO_FD dir = open(settings_str(request->api->set, "static"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = dir < 0 ? -errno
                     : beneath_open(dir, request->rest, BENEATH_LINKS, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);

    if (fd < 0)
        static_missing(request, fd);
    else
        static_send(request, fd, request->rest);
}

/* A file that the configuration names. */
static void
static_named(request_t *request, const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        static_missing(request, -errno);
    else
        static_send(request, fd, path);
}

void
app_get(request_t *request)
{
    static_named(request, settings_str(request->api->set, "app"));
}

void
favicon_get(request_t *request)
{
    static_named(request, settings_str(request->api->set, "favicon"));
}
