/* webget.c - http, https and ftp by the system's curl: redirects followed, the file there at once when it is
 * whole. */
#include "minion/modlib/fetch.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/prog.h"
#include "common/base/str.h"
#include "common/files/settle.h"

/* Seconds to connect, seconds without a byte; and how often another address is tried. */
#define CONNECT_S "30"
#define STALL_S   "60"
#define REDIRECTS "10"

/* "HTTP 404: Not Found" from the last answer's first line, or curl's own words behind "curl: (7) ". NEW. */
static char *
reason_of(const char *headers, const char *said)
{
    const char *status = NULL, *p = headers;

    for (; (p = strstr(p, "HTTP/")) != NULL; p++) {
        if (p == headers || p[-1] == '\n')
            status = p;
    }
    const char *words = status != NULL ? strchr(status, ' ') : NULL;
    if (words != NULL && words[1] >= '4') {
        int n = (int) strcspn(words + 1, " \r\n"), rest = (int) strcspn(words + 1 + n, "\r\n");
        return xasprintf("HTTP %.*s: %.*s", n, words + 1, rest > 0 ? rest - 1 : 0,
                         words + 1 + n + (rest > 0));
    }
    const char *own = strstr(said, ") ");
    return xstrdup(own != NULL ? own + 2 : *said != '\0' ? said : "no answer");
}

static void
curl_words(prog_t *curl, const fetch_t *what, const char *part, const char *headers, const char *etag)
{
    prog_adds(curl, "-qsSLf", "--globoff", "--proto", "=http,https,ftp", "--proto-redir", "=http,https,ftp",
              "-A", "Salt/" HALITE_VERSION, NULL);
    prog_adds(curl, "-D", headers, "-o", part, "--max-redirs", REDIRECTS, "--connect-timeout", CONNECT_S,
              NULL);
    prog_adds(curl, "--speed-limit", "1", "--speed-time", STALL_S, NULL);
    if (what->insecure)
        prog_add(curl, "-k");
    if (what->use_etag)
        prog_adds(curl, "--etag-save", etag, "--etag-compare", etag, NULL);
    /* The address, which may hold a password, comes on stdin: others may read our command line. */
    prog_adds(curl, "-K", "-", NULL);
}

/* `url = "..."` as curl's configuration quotes it. NEW. */
static char *
curl_config(const char *url)
{
    AUTO_FREE char *back = str_replace(url, "\\", "\\\\");
    AUTO_FREE char *quoted = str_replace(back, "\"", "\\\"");

    return xasprintf("url = \"%s\"\n", quoted);
}

static int
take_place(const char *part, const char *dest, fail_t *err)
{
    way_auto_t way = WAY_INIT;
    AUTO_FD fd = open(part, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 ? fail_set(err, -errno, "%s: %s", part, strerror(errno)) : settle_find(&way, dest, err);

    if (rc < 0)
        return rc;
    AUTO_FREE char *place = way_text(&way);
    return settle(fd, way.folder, part, place, SETTLE_USUAL, err);
}

int
webget(call_ctx_t *ctx, const fetch_t *what, const char *dest, fail_t *err)
{
    url_auto_t u = { NULL, NULL, NULL, NULL };
    AUTO_FREE char *curl = fs_which("curl");
    AUTO_FREE char *part = xasprintf("%s.part", dest), *headers = xasprintf("%s.headers", dest),
                   *etag = xasprintf("%s.etag", dest), *config = curl_config(what->url);
    prog_auto_t prog = PROG_INIT;
    buf_auto_t answer = BUF_INIT;

    (void) ctx;
    url_parse(&u, what->url);
    if (curl == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "The program curl, which fetches %s:// files, is not installed", u.scheme);
    if (strpbrk(what->url, "\r\n") != NULL)
        return fail_set(err, -EINVAL, "A URL has one line");
    prog_add(&prog, curl);
    curl_words(&prog, what, part, headers, etag);
    prog.in = config;
    json_auto_t *ran = prog_run_all(&prog, err);
    if (ran == NULL)
        return -EIO;
    (void) fs_read(headers, LIMIT_FILE_READ, &answer, NULL);
    unlink(headers);
    if (value_int(ran, "retcode", 1) != 0) {
        AUTO_FREE char *reason = reason_of(buf_str(&answer), value_str(ran, "stderr", ""));
        unlink(part);
        return fail_set(err, -EREMOTEIO, "Error: %s reading %s", reason, u.path);
    }
    if (!fs_exists(part) && what->use_etag && fs_exists(dest))
        return 0; /* as it was */
    int rc = take_place(part, dest, err);
    if (rc < 0)
        unlink(part);
    return rc;
}
