/* hostile.h - names that want to leave a folder, the folder, and what surrounds it with a watch on it.
 *
 * ROOT/BELOW is the folder, with a little in it and with names that another thread turns from folder to link
 * and back all the time. ROOT/out is what must not be read, made or changed: the kernel tells every touch
 * (inotify), the names made in ROOT itself too. The process stands in ROOT/out, so that a path that was meant
 * to be below something is seen.
 */
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "unit/unit.h"

#define HOSTILE_SECRET "what nobody may read"

enum { HOSTILE_LEN = 9000 };

typedef struct hostile {
    char root[48], in[128], out[64];
    int watch, dir; /* dir: in */
    pthread_t thread;
    atomic_bool stop, held; /* held: nothing is swapped for a moment */
    uint64_t seed;
    char name[HOSTILE_LEN]; /* the one at work */
} hostile_t;

/* ---- the place ------------------------------------------------------------------------------------------ */

static inline void
hostile_put(const char *dir, const char *name, const char *text)
{
    AUTO_FREE char *path = fs_join(dir, name);
    assert_int_equal(fs_write_quick(path, text, strlen(text), 0666, NULL), 0);
}

/* "swap" and "a/swap" are folders, then links that lead out; "leaf" is a file, then a link to the secret. */
static inline void *
hostile_swap(void *arg)
{
    hostile_t *self = arg;
    AUTO_FREE char *secret = fs_join(self->out, "secret");
    const char *const places[][2] = { { "swap", self->out }, { "a/swap", self->out }, { "leaf", secret } };
    while (!atomic_load(&self->stop)) {
        for (size_t i = 0; i < NELEMS(places) && !atomic_load(&self->held); i++) {
            (void) !symlinkat(places[i][1], self->dir, "turn");
            (void) renameat2(self->dir, "turn", self->dir, places[i][0], RENAME_EXCHANGE);
            (void) renameat2(self->dir, "turn", self->dir, places[i][0], RENAME_EXCHANGE);
            (void) unlinkat(self->dir, "turn", 0);
        }
        (void) usleep(30);
    }
    return NULL;
}

/* What stands in the folder, anew: an entry may have removed it. */
static inline void
hostile_furnish(hostile_t *self)
{
    static const char *const dirs[] = { "a", "a/b", "swap", "a/swap", "minions", "files" };
    for (size_t i = 0; i < NELEMS(dirs); i++)
        (void) mkdirat(self->dir, dirs[i], 0755);
    AUTO_FD fd = openat(self->dir, "leaf", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    (void) !symlinkat(self->out, self->dir, "link");
    (void) !symlinkat("a", self->dir, "inner");
}

/* `below`: the folder's path below ROOT. */
static inline hostile_t *
hostile_new(const char *below)
{
    hostile_t *self = xcalloc(1, sizeof(*self));
    str_copy(self->root, sizeof(self->root), "/tmp/test_hostile.XXXXXX");
    assert_non_null(mkdtemp(self->root));
    snprintf(self->in, sizeof(self->in), "%s/%s", self->root, below);
    snprintf(self->out, sizeof(self->out), "%s/out", self->root);
    assert_int_equal(fs_mkdirs(self->in, 0755, NULL) | mkdir(self->out, 0777), 0);
    hostile_put(self->out, "secret", HOSTILE_SECRET);
    self->dir = open(self->in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    self->seed = 1;
    hostile_furnish(self);
    assert_int_equal(chdir(self->out), 0);
    self->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    uint32_t any = IN_OPEN | IN_ACCESS | IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_MOVED_FROM |
                   IN_MOVED_TO;
    assert_true(inotify_add_watch(self->watch, self->out, any) >= 0);
    assert_true(
        inotify_add_watch(self->watch, self->root, IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO) >= 0);
    assert_int_equal(pthread_create(&self->thread, NULL, hostile_swap, self), 0);
    return self;
}

static inline void
hostile_free(hostile_t *self)
{
    atomic_store(&self->stop, true);
    (void) pthread_join(self->thread, NULL);
    (void) close(self->watch);
    (void) close(self->dir);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(fs_remove_tree(self->root, NULL), 0);
    free(self);
}

/* Nothing outside was touched since the last time. */
static inline void
hostile_audit(hostile_t *self, const char *entry)
{
    char events[4096] __attribute__((aligned(8)));
    ssize_t n = read(self->watch, events, sizeof(events));
    const struct inotify_event *e = (const struct inotify_event *) events;
    if (n > 0)
        print_message("%s: '%.200s' touched '%s' outside (%x)\n", entry, self->name, e->len ? e->name : "",
                      e->mask);
    assert_true(n < 0);
}

/* How many names an entry gets: NAMES, or 1,000, which with eleven entries are more than ten thousand. */
static inline int
hostile_names(void)
{
    const char *given = getenv("NAMES");
    return given != NULL ? atoi(given) : 1000;
}

/* ---- names ---------------------------------------------------------------------------------------------- */

static inline uint32_t
hostile_random(hostile_t *self, uint32_t below)
{
    self->seed = self->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t) ((self->seed >> 33) % below);
}

static inline const char *
hostile_part(hostile_t *self)
{
    static const char *const parts[] = { "..",
                                         "..",
                                         "..",
                                         ".",
                                         "",
                                         "secret",
                                         "out",
                                         "in",
                                         "a",
                                         "b",
                                         "f",
                                         "leaf",
                                         "link",
                                         "inner",
                                         "swap",
                                         "a/swap",
                                         "swap/secret",
                                         "link/secret",
                                         "~",
                                         "~root",
                                         "$HOME",
                                         "${PWD}",
                                         "`id`",
                                         "$(id)",
                                         "%2e%2e",
                                         "%2e%2e%2f",
                                         "..%2f",
                                         "%00",
                                         "..%00",
                                         "\xc0\xae\xc0\xae",
                                         "\xc0\xaf",
                                         "\xe0\x80\xae",
                                         "\xe2\x80\xa5",
                                         "\xef\xbc\x8e\xef\xbc\x8e",
                                         "\xef\xbc\x8f",
                                         "a\xcc\x80",
                                         "\xc3\xa0",
                                         "\xff\xfe",
                                         "\xed\xa0\x80",
                                         "\xe2\x80\xae",
                                         "\xe2\x80\x8b",
                                         "\xef\xbb\xbf",
                                         "..\\",
                                         "\\..\\",
                                         "C:\\",
                                         "\\\\host\\share",
                                         "con",
                                         "nul",
                                         "aux.txt",
                                         "\n",
                                         "\r\n",
                                         "\t",
                                         "\x01",
                                         "\x1b[2J",
                                         "\x7f",
                                         " ",
                                         ". ",
                                         ".. ",
                                         " ..",
                                         "...",
                                         "....",
                                         ".. /",
                                         "-rf",
                                         "--",
                                         "*",
                                         "?",
                                         "[",
                                         "'",
                                         "\"",
                                         ";",
                                         "|",
                                         "&",
                                         "<",
                                         ">",
                                         "proc",
                                         "self",
                                         "root",
                                         "cwd",
                                         "fd",
                                         "dev",
                                         "null",
                                         "zero",
                                         "tty",
                                         "etc",
                                         "passwd",
                                         "shadow",
                                         ".part",
                                         ".f.part",
                                         ".leaf.part",
                                         ".new",
                                         ".new.1.0",
                                         ".halite.XXXXXX",
                                         "minions",
                                         "minions_pre",
                                         "minions_autosign",
                                         "files",
                                         "base",
                                         "banks",
                                         "extmods",
                                         "jobs.db",
                                         "state_pause",
                                         "master.pem",
                                         "minion.pem",
                                         ".git",
                                         ".ssh",
                                         "authorized_keys",
                                         "turn" };
    return parts[hostile_random(self, NELEMS(parts))];
}

static inline void
hostile_add(hostile_t *self, const char *text)
{
    size_t have = strlen(self->name), n = strlen(text);
    if (have + n + 1 < sizeof(self->name))
        memcpy(self->name + have, text, n + 1);
}

/* The next name: of parts, and now and then absolute, very long, very deep, or a good name. */
static inline const char *
hostile_next(hostile_t *self)
{
    static const char *const seams[] = { "/",   "/",    "/",  "/",   "//",           "/./",
                                         "///", "/../", "\\", "%2f", "\xef\xbc\x8f", "" };
    static const char *const starts[] = { "",
                                          "",
                                          "",
                                          "",
                                          "/",
                                          "//",
                                          "./",
                                          "../",
                                          "../../",
                                          "/proc/self/root",
                                          "/proc/self/cwd/",
                                          "/dev/fd/3/",
                                          "file://",
                                          "salt://",
                                          "salt://../",
                                          "http://",
                                          "|",
                                          "~/",
                                          "./../" };
    self->name[0] = '\0';
    hostile_add(self, starts[hostile_random(self, NELEMS(starts))]);
    if (hostile_random(self, 8) == 0)
        hostile_add(self, self->out);
    uint32_t n = 1 + hostile_random(self, 6), kind = hostile_random(self, 60);
    n = kind == 0 ? 150 : n;
    for (uint32_t i = 0; i < n; i++) {
        hostile_add(self, i > 0 ? seams[hostile_random(self, NELEMS(seams))] : "");
        hostile_add(self, hostile_part(self));
    }
    for (uint32_t i = 0; kind == 1 && i < 5000; i++)
        hostile_add(self, "n");
    for (uint32_t i = 0; kind == 2 && i < 250; i++)
        hostile_add(self, "\xe2\x80\xa6");
    if (hostile_random(self, 4) == 0)
        hostile_add(self, (const char *[]){ "/", "/.", "/..", "/secret", "/new", "?saltenv=..",
                                            "/../out/secret", "/swap/secret" }[hostile_random(self, 8)]);
    return self->name;
}

#endif
