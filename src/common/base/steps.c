/* steps.c - see steps.h. */
#include "common/base/steps.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "common/base/str.h"

enum {
    GO_ON = -INT_MAX,     /* not an errno: names are left */
    LINKS_MAX = 40,       /* the kernel's bound: more links count as a loop */
    STEPS_MAX = 10000,    /* each ".." starts at the root again, so links can cause many steps */
    PROC_ROOT_INO = 1,    /* of the folder /proc itself */
    NO_SYMFOLLOW = 0x2000 /* ST_NOSYMFOLLOW, which older headers lack */
};

typedef struct steps {
    int root; /* BORROWED */
    int at;   /* the folder that the walk is in; negative: the root itself */
    beneath_t how;
    int links, steps; /* how many more are allowed */
    buf_t seen;       /* names from the root to `at`: "/a/b" */
    buf_t rest;       /* names still to walk */
} steps_t;

static int
steps_here(const steps_t *self)
{
    return self->at >= 0 ? self->at : self->root;
}

/* Makes `to` the folder of the walk. TAKES the descriptor, or its negative errno. */
static int
steps_move(steps_t *self, int to)
{
    if (to < 0 && to != GO_ON)
        return to;
    if (self->at >= 0)
        (void) close(self->at);
    self->at = to;
    return GO_ON;
}

static int
open_at(int dir, const char *name, int flags, mode_t mode)
{
    int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);

    return fd >= 0 ? fd : -errno;
}

/* Puts `text` in front of the names still to walk. */
static void
put_before(steps_t *self, const char *text)
{
    buf_t all = BUF_INIT;

    buf_puts(&all, text);
    buf_puts(&all, buf_str(&self->rest));
    buf_free(&self->rest);
    self->rest = all;
}

/* ---- links --------------------------------------------------------------------------------------------- */

/* Refuses links that the kernel would not follow: 0, or the reason. A process's links in /proc lead to its
 * open files, whatever their text says; in a folder for all users (/tmp) anybody may have planted a link
 * (fs.protected_symlinks). */
static int
check_link(const steps_t *self, int link, const struct stat *st)
{
    struct stat dir;
    struct statfs on;

    if (fstat(steps_here(self), &dir) != 0 || fstatfs(link, &on) != 0)
        return -errno;
    if ((on.f_type == PROC_SUPER_MAGIC && dir.st_ino != PROC_ROOT_INO) || (on.f_flags & NO_SYMFOLLOW) != 0)
        return -ELOOP;
    bool shared = (dir.st_mode & S_ISVTX) != 0 && (dir.st_mode & S_IWOTH) != 0;
    return shared && st->st_uid != geteuid() && st->st_uid != dir.st_uid ? -EACCES : 0;
}

/* Handles a `name` that could not be opened as expected, with `code`: if it is a link, its text is walked
 * next. */
static int
steps_follow(steps_t *self, const char *name, int code)
{
    char text[PATH_MAX];
    struct stat st;
    AUTO_FD link = open_at(steps_here(self), name, O_PATH, 0);

    if (link < 0 || fstat(link, &st) != 0)
        return link < 0 ? link : -errno;
    if (!S_ISLNK(st.st_mode))
        return code;
    if (self->how == BENEATH_NO_LINKS || self->links-- == 0)
        return -ELOOP;
    int rc = check_link(self, link, &st);
    ssize_t n = rc < 0 ? 0 : readlinkat(link, "", text, sizeof(text));
    if (rc < 0 || n < 0)
        return rc < 0 ? rc : -errno;
    if (n == 0 || n == (ssize_t) sizeof(text))
        return n == 0 ? -ENOENT : -ENAMETOOLONG;
    text[n] = '\0';

    /* Walks on with a link's text. */
    if (*text == '/' && self->how == BENEATH_LINKS)
        return -EXDEV;
    put_before(self, text);
    return *text == '/' ? steps_move(self, open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0)) : GO_ON;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* Takes the next name off the rest. NEW; "." when the rest has none. */
static char *
steps_next_name(steps_t *self)
{
    const char *start = buf_str(&self->rest);

    start += strspn(start, "/");
    size_t len = strcspn(start, "/");
    char *name = len > 0 ? xstrndup(start, len) : xstrdup(".");
    AUTO_FREE char *rest = xstrdup(start + len);
    buf_clear(&self->rest);
    buf_puts(&self->rest, rest);
    return name;
}

static int
steps_step(steps_t *self, int flags, mode_t mode)
{
    AUTO_FREE char *name = steps_next_name(self);
    bool last = self->rest.len == 0;

    if (self->steps-- == 0)
        return -ELOOP;
    if (strlen(name) > NAME_MAX)
        return -ENAMETOOLONG;
    if (str_eq(name, "..")) {
        /* Where links must stay inside, ".." walks from the root again without the last name: the kernel's
         * ".." of a folder that was moved meanwhile may lie outside. */
        if (self->how == BENEATH_OUT)
            return steps_move(self, open_at(steps_here(self), "..", O_PATH | O_DIRECTORY, 0));
        char *end = self->seen.len > 0 ? strrchr(self->seen.data, '/') : NULL;
        if (end == NULL)
            return -EXDEV;
        *end = '\0';
        put_before(self, self->seen.data);
        buf_clear(&self->seen);
        return steps_move(self, GO_ON);
    }
    if (last) {
        /* Checks the last name of the path. */
        struct stat st;
        int fd = open_at(steps_here(self), name, flags, mode);
        if (fd >= 0 && (flags & O_PATH) != 0 && (fstat(fd, &st) != 0 || S_ISLNK(st.st_mode))) {
            (void) close(fd);
            fd = -ELOOP;
        }
        return (fd == -ELOOP || fd == -ENOTDIR) && (flags & O_NOFOLLOW) == 0 ? steps_follow(self, name, fd)
                                                                             : fd;
    }
    if (str_eq(name, "."))
        return GO_ON;

    /* A folder on the way. O_DIRECTORY triggers automounts. */
    int fd = open_at(steps_here(self), name, O_PATH | O_DIRECTORY, 0);
    if (fd == -ENOTDIR)
        return steps_follow(self, name, fd);
    if (fd >= 0)
        buf_printf(&self->seen, "/%s", name);
    return steps_move(self, fd);
}

int
steps_open(int root, const char *path, beneath_t how, int flags, mode_t mode)
{
    steps_t self = { root, -1, how, LINKS_MAX, STEPS_MAX, BUF_INIT, BUF_INIT };
    int rc = GO_ON;

    buf_puts(&self.rest, path);
    while (rc == GO_ON)
        rc = steps_step(&self, flags, mode);
    (void) steps_move(&self, GO_ON);
    buf_free(&self.seen);
    buf_free(&self.rest);
    return rc;
}
