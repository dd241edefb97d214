/* fuzz_files.c - URLs of files, and a hostile master's answers to requests for them.
 *
 * The input up to the first line break is an URL, a blank and an environment: one that is accepted stays
 * below the roots. The rest are frames, each behind its length (two bytes), to a minion that waits for a
 * list, a digest and a file.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "uplink/download.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* True when a path would leave its root. */
static bool
leaves(const char *path)
{
    char **parts = str_split(path, "/", true);
    bool out = *path == '/' || *path == '\0';
    for (size_t i = 0; parts[i]; i++)
        out = out || str_eq(parts[i], "..");
    strv_free(parts);
    return out;
}

/* Splits one URL; a path and environment that are accepted split the same again. */
static void
one_url(const char *line)
{
    AUTO_FREE char *url = xstrndup(line, strcspn(line, " "));
    const char *given = strchr(line, ' ');
    AUTO_FREE char *path = NULL, *env = NULL, *path2 = NULL, *env2 = NULL;
    fail_auto_t err = FAIL_INIT;
    if (fileclient_split(url, given ? given + 1 : NULL, &path, &env, &err) < 0) {
        salt_assert(err.text && !path && !env);
        return;
    }
    salt_assert(!leaves(path) && !leaves(env));
    AUTO_FREE char *again = xasprintf("salt://|%s", path);
    /* A name may hold what looks like an environment; any other comes back the same. */
    if (strstr(path, "?saltenv=") || strstr(path, "?env=") || *path == '|')
        return;
    salt_assert(fileclient_split(again, env, &path2, &env2, &err) == 0);
    salt_assert(str_eq(path, path2) && str_eq(env, env2));
}

static int
on_send(void *cookie, wire_msg_t msg, const json_t *body, const void *bytes, size_t n)
{
    return 0;
}

/* An answer comes at most once per request. */
static void
on_done(void *cookie, json_int_t id, json_t *answer)
{
    unsigned *done = cookie;
    salt_assert(id >= 1 && id <= 3 && !(*done & 1u << id));
    salt_assert(value_get(answer, "ok"));
    *done |= 1u << id;
}

/* Feeds the frames that the decoder accepts to the downloads. */
static void
frames(downloads_t *d, const uint8_t *data, size_t size)
{
    while (size > 2) {
        size_t len = (size_t) data[0] << 8 | data[1], n;
        data += 2, size -= 2;
        len = len < size ? len : size;
        wire_msg_t msg;
        json_auto_t *body = NULL;
        if (wire_decode(data, len, WIRE_DOWN, ' ', &msg, &body, NULL) == 0) {
            const void *bytes = wire_bytes(data, len, &n);
            salt_assert(n <= len);
            downloads_message(d, msg, body, bytes, n);
        }
        data += len, size -= len;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[] = "/tmp/fuzz-files-XXXXXX";
    unsigned done = 0;
    const download_host_t host = { on_send, on_done, &done };
    const uint8_t *end = memchr(data, '\n', size);
    size_t n = end ? (size_t) (end - data) : size;
    AUTO_FREE char *line = xstrndup((const char *) data, n);
    one_url(line);
    if (!end || size - n < 4 || !mkdtemp(dir))
        return 0;
    downloads_t *d = downloads_new(&host);
    AUTO_FREE char *dest = fs_join(dir, "file");
    json_auto_t *list = json_pack("{s:s, s:s, s:s}", "op", "files", "path", "", "saltenv", "base");
    json_auto_t *hash = json_pack("{s:s, s:s, s:s}", "op", "hash", "path", "a", "saltenv", "base");
    json_auto_t *get = json_pack("{s:s, s:s, s:s, s:s}", "op", "get", "path", "a", "saltenv", "base", "dest",
                                 dest);
    downloads_ready(d);
    downloads_ask(d, 1, list);
    downloads_ask(d, 2, hash);
    downloads_ask(d, 3, get);
    frames(d, end + 1, size - n - 1);
    /* The file is absent, or regular and no larger than what the master sent. */
    struct stat st;
    salt_assert(lstat(dest, &st) != 0 || (S_ISREG(st.st_mode) && (size_t) st.st_size <= size));
    downloads_destroy(&d);
    (void) fs_remove_tree(dir, NULL);
    return 0;
}
