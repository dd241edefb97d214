/* username.c - see username.h. A detached thread per query looks the user up and sends the name over a
 * socketpair; if the caller is gone, the send fails silently. */
#include "master/operators/username.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/host/passwd.h"
#include "common/base/str.h"

#define NAME_MAX_LEN 255

typedef struct question {
    uid_t uid;
    int fd;
} question_t;

static char *
username_number(uid_t uid)
{
    return xasprintf("%u", (unsigned) uid);
}

char *
username_of(uid_t uid)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *found = passwd_uid(&space, uid);
    return found != NULL ? xstrdup(found->pw_name) : username_number(uid);
}

/* The asking side may have closed its end. */
static void *
username_main(void *arg)
{
    question_t *q = arg;
    AUTO_FREE char *name = username_of(q->uid);
    (void) send(q->fd, name, strlen(name), MSG_NOSIGNAL);
    (void) close(q->fd);
    free(q);
    return NULL;
}

/* SOCK_SEQPACKET keeps the name one message. The thread owns its end, so the caller may close at any time. */
int
username_ask(uid_t uid)
{
    int ends[2];
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    question_t *q = xcalloc(1, sizeof(*q));
    *q = (question_t){ uid, ends[1] };
    int code = pthread_create(&thread, NULL, username_main, q);
    if (code == 0) {
        (void) pthread_detach(thread);
        return ends[0];
    }
    free(q);
    (void) close(ends[0]);
    (void) close(ends[1]);
    return -code;
}

char *
username_take(int fd, uid_t uid)
{
    char name[NAME_MAX_LEN + 1];
    ssize_t n = recv(fd, name, sizeof(name), MSG_DONTWAIT);
    (void) close(fd);
    return n > 0 && n <= NAME_MAX_LEN ? xstrndup(name, (size_t) n) : username_number(uid);
}
