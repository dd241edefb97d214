/* door.c - see door.h. Messages are packets, so that several processes can send at once. */
#include "common/python/door.h"

#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "salt/value.h"

static atomic_int door = -1;
static atomic_bool door_served;

void
door_open(int fd)
{
    atomic_store(&door, fd);
}

bool
door_is_open(void)
{
    return atomic_load(&door) >= 0;
}

void
door_serve(bool served)
{
    atomic_store(&door_served, served);
}

bool
door_is_served(void)
{
    return door_is_open() && atomic_load(&door_served);
}

/* Sends a packet with descriptors; a full queue means a zygote that does not listen. 0 or a negative errno.
 * TAKES `message`. */
static int
door_send(json_t *message, const int *fds, size_t n)
{
    json_auto_t *packet = message;
    AUTO_FREE char *text = value_dump(packet);
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(4 * sizeof(int))];
    } control = { 0 };
    struct iovec bytes = { text, strlen(text) };
    struct msghdr msg = { .msg_iov = &bytes, .msg_iovlen = 1 };

    salt_assert(n <= 4);
    if (bytes.iov_len > DOOR_MAX)
        return -EMSGSIZE;
    if (n > 0) {
        msg.msg_control = control.room;
        msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(n * sizeof(int));
        memcpy(CMSG_DATA(head), fds, n * sizeof(int));
    }
    return sendmsg(atomic_load(&door), &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* NEW {"program", "salt", "cachedir"}. */
static json_t *
door_how(const python_how_t *how)
{
    return json_pack("{s:s, s:s?, s:s}", "program", how->program, "salt", how->salt, "cachedir",
                     how->cachedir);
}

int
door_fork(const python_how_t *how, int talk, int life, int folder)
{
    const int fds[] = { talk, life, folder, STDERR_FILENO };

    return door_send(json_pack("{s:o}", "fork", door_how(how)), fds, NELEMS(fds));
}

/* A lost message means a slower start of the next interpreter. */
void
door_used(const python_how_t *how, const json_t *names)
{
    if (door_is_open() && json_is_array(names))
        (void) door_send(json_pack("{s:o, s:O}", "used", door_how(how), "names", names), NULL, 0);
}

void
door_dismiss(void)
{
    if (door_is_served())
        (void) door_send(json_pack("{s:b}", "leave", true), NULL, 0);
}
