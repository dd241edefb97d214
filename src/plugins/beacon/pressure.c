/* pressure.c - beacon pressure: stalls for want of processors, memory or disks, told by the kernel when they
 * pass a limit (Documentation/accounting/psi.rst): nothing looks in between. */
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "salt/plugin.h"

/* Triggers are for "some" stalls, in a window of two seconds: the shortest that the kernel lets ordinary
 * users ask for. */
enum { WINDOW_US = 2000000 };

static const char *const resources[] = { "cpu", "memory", "io" };

typedef struct pressure {
    int epoll_fd, fds[NELEMS(resources)]; /* -1: not watched */
} pressure_t;

static char *
pressure_validate(const json_t *list, const json_t *config)
{
    size_t n = 0;
    for (size_t i = 0; i < NELEMS(resources); i++) {
        json_t *limit = value_get(config, resources[i]);
        double percent = json_number_value(limit);
        n += limit != NULL;
        if (limit != NULL && (!json_is_number(limit) || percent <= 0 || percent > 100))
            return xasprintf("Configuration for pressure beacon: %s is a percentage of time, above 0.",
                             resources[i]);
    }
    return n == 0 ? xstrdup("Configuration for pressure beacon must contain cpu, memory or io items.") : NULL;
}

static void
pressure_close(void *own, bool copied)
{
    pressure_t *self = own;
    for (size_t i = 0; i < NELEMS(resources); i++)
        if (self->fds[i] >= 0)
            (void) close(self->fds[i]);
    if (self->epoll_fd >= 0)
        (void) close(self->epoll_fd);
    free(self);
}

/* Opens a trigger on one resource. */
static int
pressure_watch(pressure_t *self, size_t at, double percent, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("/proc/pressure/%s", resources[at]);
    AUTO_FREE char *trigger = xasprintf("some %d %d", (int) (percent / 100 * WINDOW_US), WINDOW_US);
    struct epoll_event ev = { .events = EPOLLPRI, .data.u32 = (uint32_t) at };
    int fd = self->fds[at] = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return fs_fail(err, -errno, "open", path);
    if (write(fd, trigger, strlen(trigger) + 1) < 0)
        return fs_fail(err, -errno, "write", path);
    if (epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &ev) != 0)
        return fail_set(err, -errno, "epoll: %s", strerror(errno));
    return 0;
}

static void *
pressure_open(beacon_look_t *look, fail_t *err)
{
    pressure_t *self = xcalloc(1, sizeof(*self));
    for (size_t i = 0; i < NELEMS(resources); i++)
        self->fds[i] = -1;
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (self->epoll_fd < 0) {
        (void) fail_set(err, -errno, "epoll: %s", strerror(errno));
        pressure_close(self, false);
        return NULL;
    }
    for (size_t i = 0; i < NELEMS(resources); i++) {
        json_t *limit = value_get(look->config, resources[i]);
        if (limit != NULL && pressure_watch(self, i, json_number_value(limit), err) < 0) {
            pressure_close(self, false);
            return NULL;
        }
    }
    return self;
}

static int
pressure_look(beacon_look_t *look, fail_t *err)
{
    const pressure_t *self = look->own;
    struct epoll_event events[NELEMS(resources)];
    int n = epoll_wait(self->epoll_fd, events, NELEMS(resources), 0);
    for (int i = 0; i < n; i++) {
        if (events[i].events & EPOLLERR)
            return fail_set(err, -EIO, "/proc/pressure/%s is gone", resources[events[i].data.u32]);

        /* Adds {resource, avg10, avg60, avg300} of the line "some". */
        const char *resource = resources[events[i].data.u32];
        AUTO_FREE char *path = xasprintf("/proc/pressure/%s", resource);
        char *averages = NULL;
        double v[3];
        if (root_text(look->root, path, &averages, err) < 0)
            return err->code;
        AUTO_FREE char *text = averages;
        if (text != NULL && sscanf(text, "some avg10=%lf avg60=%lf avg300=%lf", &v[0], &v[1], &v[2]) == 3)
            json_array_append_new(look->events,
                                  json_pack("{s:s, s:s, s:f, s:f, s:f}", "tag", resource, "resource",
                                            resource, "avg10", v[0], "avg60", v[1], "avg300", v[2]));
    }
    return 0;
}

static int
pressure_fd(const void *own)
{
    return ((const pressure_t *) own)->epoll_fd;
}

static const beacon_row_t row = { .validate = pressure_validate,
                                  .look = pressure_look,
                                  .edges = true,
                                  .open = pressure_open,
                                  .fd = pressure_fd,
                                  .close = pressure_close };

PLUGIN(beacon, pressure,
       .doc = "Stalls for want of processors, memory or disks: fires when they take a share of the time.",
       .beacon = &row);
