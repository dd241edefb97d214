/* webget.c - http, https and ftp by the program curl, with redirects. curl writes into a folder that only
 * this fetch uses, because it opens files by name and two fetches of one file must not meet; the complete
 * file is then placed atomically. */
#include "plugins/lib/http/http.h"
#include "plugins/lib/transfer/fetch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/prog.h"
#include "common/base/str.h"
#include "common/files/settle.h"

/* Seconds to connect, seconds without a byte, and the number of redirects that are followed. */
#define CONNECT_S "30"
#define STALL_S   "60"
#define REDIRECTS "10"

enum { ETAG_MAX = 4096 };

/* One fetch, and the files that curl reads and writes. */
typedef struct webget {
    const fetch_t *what;
    const char *dest;
    char *part, *headers;
    char *known; /* file with the ETag of the present file, for --etag-compare */
    char *fresh; /* file into which curl writes the server's ETag */
    char *kept;  /* file beside the destination that keeps it for the next fetch */
    bool compared;
} webget_t;

/* "HTTP 404: Not Found" from the last answer's first line, or curl's own words. NEW. */
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
    AUTO_FREE char *own = http_curl_said(said);
    return *own != '\0' ? STEAL(own) : xstrdup("no answer");
}

/* `url = "..."` as curl's configuration quotes it. NEW. */
static char *
curl_config(const char *url)
{
    AUTO_FREE char *back = str_replace(url, "\\", "\\\\");
    AUTO_FREE char *quoted = str_replace(back, "\"", "\\\"");

    return xasprintf("url = \"%s\"\n", quoted);
}

/* In our own cache by its name; elsewhere as whatever is copied. */
static int
take_place(const webget_t *self, fail_t *err)
{
    way_auto_t way = WAY_INIT;
    AUTO_FD fd = open(self->part, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail_set(err, -errno, "%s: %s", self->part, strerror(errno));
    if (!str_empty(self->what->dest))
        return settle_copy(fd, self->dest, err);
    int rc = settle_find(&way, self->dest, err);
    if (rc < 0)
        return rc;
    AUTO_FREE char *place = way_text(&way);
    return settle(fd, way.folder, self->part, place, SETTLE_USUAL, err);
}

/* ETag kept for curl to compare. None when the file is gone, as the server would then send nothing. */
static int
take_etag(webget_t *self, fail_t *err)
{
    AUTO_FD fd = open(self->kept, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    buf_auto_t text = BUF_INIT;
    struct stat st;

    if (fd < 0 || !fs_exists(self->dest) || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        fs_read_fd(fd, ETAG_MAX, &text) != 0 || text.len == 0)
        return 0;
    self->compared = true;
    return fs_write_quick(self->known, text.data, text.len, 0600, err);
}

/* Only once the file has its place: else the next one would take what is there for what the server has. */
static int
keep_etag(const webget_t *self, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    if (fs_absent(self->fresh))
        return fs_absent(self->kept) ? 0 : settle_text(&text, self->kept, err);
    int rc = fs_read(self->fresh, ETAG_MAX, &text, err);
    return rc == 0 ? settle_text(&text, self->kept, err) : rc;
}

/* Runs curl, then places the file. With an ETag that still holds, the file stays. */
static int
fetch_by_curl(webget_t *self, const char *curl, const char *url_path, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    buf_auto_t answer = BUF_INIT;
    AUTO_FREE char *config = curl_config(self->what->url);
    int rc = self->what->use_etag ? take_etag(self, err) : 0;

    if (rc < 0)
        return rc;
    prog_add(&prog, curl);

    /* Restricts protocols, also of redirects, and bounds connecting and stalls, not the total time. */
    prog_adds(&prog, "-qsSLf", "--globoff", "--proto", "=http,https,ftp", "--proto-redir", "=http,https,ftp",
              "-A", "Salt/" HALITE_VERSION, NULL);
    prog_adds(&prog, "-D", self->headers, "-o", self->part, "--max-redirs", REDIRECTS, "--connect-timeout",
              CONNECT_S, NULL);
    prog_adds(&prog, "--speed-limit", "1", "--speed-time", STALL_S, NULL);
    if (self->what->insecure)
        prog_add(&prog, "-k");
    if (self->what->use_etag)
        prog_adds(&prog, "--etag-save", self->fresh, NULL);
    if (self->compared)
        prog_adds(&prog, "--etag-compare", self->known, NULL);
    /* The address, which may hold a password, comes on stdin: others may read our command line. */
    prog_adds(&prog, "-K", "-", NULL);

    prog.in = config;
    json_auto_t *ran = prog_run_all(&prog, err);
    if (ran == NULL)
        return -EIO;
    (void) fs_read(self->headers, LIMIT_FILE_READ, &answer, NULL);
    if (value_int(ran, "retcode", 1) != 0) {
        AUTO_FREE char *reason = reason_of(buf_str(&answer), value_str(ran, "stderr", ""));
        return fail_set(err, -EREMOTEIO, "Error: %s reading %s", reason, url_path);
    }
    if (self->compared && !fs_exists(self->part))
        return 0; /* as it was */
    rc = take_place(self, err);
    return rc == 0 && self->what->use_etag ? keep_etag(self, err) : rc;
}

/* Creates the folder for curl, and removes it in every case. */
int
webget(call_ctx_t *ctx, const fetch_t *what, const char *dest, fail_t *err)
{
    url_auto_t u = { NULL, NULL, NULL, NULL };
    AUTO_FREE char *curl = fs_which("curl"), *dir = fetch_cache_place(ctx, "extrn_files", ".fetch.XXXXXX"),
                   *above = fetch_cache_place(ctx, "extrn_files", "");

    url_parse(&u, what->url);
    if (curl == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "The program curl, which fetches %s:// files, is not installed", u.scheme);
    if (strpbrk(what->url, "\r\n") != NULL)
        return fail_set(err, -EINVAL, "A URL has one line");
    int rc = fs_mkdirs(above, 0777, err);
    if (rc < 0)
        return rc;
    if (mkdtemp(dir) == NULL)
        return fail_set(err, -errno, "%s: %s", dir, strerror(errno));
    AUTO_FREE char *part = fs_join(dir, "part"), *headers = fs_join(dir, "headers"),
                   *known = fs_join(dir, "known"), *fresh = fs_join(dir, "fresh"),
                   *kept = xasprintf("%s.etag", dest);
    webget_t self = { what, dest, part, headers, known, fresh, kept, false };
    rc = fetch_by_curl(&self, curl, u.path, err);
    (void) fs_remove_tree(dir, NULL);
    return rc;
}
