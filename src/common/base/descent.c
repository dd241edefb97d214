/* descent.c - see descent.h. */
#include "common/base/descent.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct descent_level {
    char *name;
    DIR *dir; /* NULL: closed, because it is many levels up */
    dev_t dev;
    ino_t ino;
    void *own;
};

static struct descent_level *
innermost(const descent_t *self)
{
    return &self->v[self->depth - 1];
}

/* Opens a folder's stream and notes its identity. */
static int
descent_open_level(struct descent_level *level, int dir, const char *name)
{
    AUTO_FD fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0 || (level->dir = fdopendir(fd)) == NULL)
        return -errno;
    fd = -1; /* the stream's */
    level->dev = st.st_dev;
    level->ino = st.st_ino;
    return 0;
}

static void
descent_close_level(struct descent_level *level)
{
    if (level->dir != NULL)
        closedir(level->dir);
    level->dir = NULL;
}

int
descent_down(descent_t *self, int dir, const char *name)
{
    struct descent_level level = { 0 };
    int rc = descent_open_level(&level, dir, name);

    if (rc < 0)
        return rc;
    if (self->depth == self->cap) {
        self->cap = self->cap > 0 ? self->cap * 2 : DESCENT_OPEN;
        self->v = xrealloc(self->v, self->cap * sizeof(*self->v));
    }
    level.name = xstrdup(name);
    self->v[self->depth++] = level;
    if (self->depth > DESCENT_OPEN)
        descent_close_level(&self->v[self->depth - 1 - DESCENT_OPEN]);
    return 0;
}

/* Opens the folder above the innermost one again and checks that it is the same one as before. */
static int
descent_reopen(struct descent_level *above, const struct descent_level *level)
{
    struct descent_level now = { 0 };
    int rc = descent_open_level(&now, dirfd(level->dir), "..");

    if (rc == 0 && (now.dev != above->dev || now.ino != above->ino))
        rc = -ESTALE;
    if (rc < 0)
        descent_close_level(&now);
    else
        above->dir = now.dir;
    return rc;
}

static void
descent_leave(descent_t *self)
{
    struct descent_level *level = innermost(self);

    descent_close_level(level);
    free(level->name);
    if (self->free_own != NULL)
        self->free_own(level->own);
    self->depth--;
}

int
descent_up(descent_t *self)
{
    struct descent_level *level = innermost(self);
    int rc = self->depth > 1 && level[-1].dir == NULL ? descent_reopen(&level[-1], level) : 0;

    if (rc == 0)
        descent_leave(self);
    return rc;
}

void
descent_end(descent_t *self)
{
    while (self->depth > 0)
        descent_leave(self);
    free(STEAL(self->v));
    self->cap = 0;
}

DIR *
descent_dir(const descent_t *self)
{
    return innermost(self)->dir;
}

const char *
descent_name(const descent_t *self)
{
    return innermost(self)->name;
}

void *
descent_own(const descent_t *self)
{
    return innermost(self)->own;
}

void
descent_give(descent_t *self, void *own)
{
    innermost(self)->own = own;
}
