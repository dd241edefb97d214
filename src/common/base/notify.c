/* notify.c - see notify.h. */
#include "common/base/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/str.h"

/* State of the process, as its environment is. */
static struct {
    char *socket, *watchdog_usec, *watchdog_pid;
    char *status; /* the last */
    int64_t every_ms, next_ms;
} self;

static void
notify_take(const char *name, char **slot)
{
    const char *value = getenv(name);

    free(*slot);
    *slot = str_empty(value) ? NULL : xstrdup(value);
    (void) unsetenv(name);
}

static void
notify_put(const char *name, const char *value)
{
    if (value != NULL)
        (void) setenv(name, value, 1);
}

void
notify_begin(void)
{
    long long usec = 0, pid = 0;

    notify_take("NOTIFY_SOCKET", &self.socket);
    notify_take("WATCHDOG_USEC", &self.watchdog_usec);
    notify_take("WATCHDOG_PID", &self.watchdog_pid);
    bool ours = self.watchdog_pid == NULL ||
                (str_to_int(self.watchdog_pid, 1, INT32_MAX, &pid) && pid == getpid());
    if (ours && self.watchdog_usec != NULL && str_to_int(self.watchdog_usec, 1, INT64_MAX, &usec))
        self.every_ms = usec / 2000 > 0 ? usec / 2000 : 1;
}

void
notify_again(void)
{
    notify_put("NOTIFY_SOCKET", self.socket);
    notify_put("WATCHDOG_USEC", self.watchdog_usec);
    notify_put("WATCHDOG_PID", self.watchdog_pid);
}

bool
notify_heard(void)
{
    return self.socket != NULL;
}

/* Sends a datagram. With MSG_DONTWAIT in `flags` it is dropped rather than block the loop. */
static void
notify_say(const char *text, int flags)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };

    if (self.socket == NULL || !str_copy(addr.sun_path, sizeof(addr.sun_path), self.socket))
        return;
    size_t len = offsetof(struct sockaddr_un, sun_path) + strlen(self.socket);
    if (addr.sun_path[0] == '@') /* an abstract name */
        addr.sun_path[0] = '\0';
    AUTO_FD fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        (void) sendto(fd, text, strlen(text), MSG_NOSIGNAL | flags, (struct sockaddr *) &addr,
                      (socklen_t) len);
}

void
notify_ready(void)
{
    notify_say("READY=1", 0);
}

void
notify_stopping(void)
{
    notify_say("STOPPING=1", MSG_DONTWAIT);
}

void
notify_status(const char *fmt, ...)
{
    va_list ap;

    if (self.socket == NULL)
        return;
    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    if (self.status != NULL && str_eq(self.status, text))
        return;
    for (char *p = text; *p != '\0'; p++) /* a line break would begin another field */
        *p = (unsigned char) *p < ' ' ? ' ' : *p;
    AUTO_FREE char *line = xasprintf("STATUS=%s", text);
    notify_say(line, MSG_DONTWAIT);
    free(self.status);
    self.status = STEAL(text);
}

void
notify_turn(int64_t now_ms)
{
    if (self.every_ms == 0 || now_ms < self.next_ms)
        return;
    notify_say("WATCHDOG=1", MSG_DONTWAIT);
    self.next_ms = now_ms + self.every_ms;
}

int64_t
notify_next_ms(void)
{
    return self.every_ms == 0 ? 0 : self.next_ms > 0 ? self.next_ms : 1;
}
