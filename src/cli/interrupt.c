/* interrupt.c - see interrupt.h: the farewell on Ctrl-c. The handler may only call async-signal-safe
 * functions, so its text is prepared beforehand in one of two buffers and published by an atomic index. */
#include "cli/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "common/base/str.h"
#include "common/base/visible.h"
#include "salt/limits.h"

#define FAREWELL "\nExiting gracefully on Ctrl-c"

enum {
    SIGNAL_EXIT = 128, /* what a shell says of one that signal N ended: this + N */
    WIDEST = 4,        /* a byte that does not show: \xff */
    NAMES = 6          /* jids in one farewell, at most */
};

typedef struct farewell {
    size_t len;
    char text[768 + NAMES * WIDEST * LIMIT_JID_LEN];
} farewell_t;

/* Two, so that the handler always finds a whole one. */
static farewell_t farewells[2] = { { sizeof(FAREWELL), FAREWELL "\n" } };
static atomic_int current;

/* Writes the text, then ends by the same signal, so that a shell sees it. */
static void
on_signal(int signum)
{
    const farewell_t *f = &farewells[atomic_load(&current)];

    if (signum == SIGINT && write(STDERR_FILENO, f->text, f->len) < 0)
        _exit(EXIT_FAILURE);
    (void) raise(signum);
    _exit(SIGNAL_EXIT + signum); /* process 1 of a container is spared by the kernel */
}

void
interrupt_arm(void)
{
    /* Once and not held back, so that the handler's own raise ends the program. */
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int) (SA_RESETHAND | SA_NODEFER) };

    (void) sigaction(SIGINT, &action, NULL);
    (void) sigaction(SIGTERM, &action, NULL);
}

void
interrupt_default(void)
{
    (void) signal(SIGINT, SIG_DFL);
    (void) signal(SIGTERM, SIG_DFL);
}

/* Into the one that the handler does not look at. */
static void
set_farewell(const char *text)
{
    int next = 1 - atomic_load(&current);
    farewell_t *f = &farewells[next];

    salt_assert(str_copy(f->text, sizeof(f->text), text));
    f->len = strlen(f->text);
    atomic_store(&current, next);
}

void
interrupt_asked(void)
{
    set_farewell(
        FAREWELL
        "\n"
        "The request was sent to the master, which has not answered. It is dropped, unless the master "
        "has taken it already. To see whether it has, run the following command once the master "
        "answers again:\n\nsalt-run jobs.list_jobs\n");
}

/* The farewell goes past the stream that would make it visible. */
static void
show_jid(buf_t *shown, const char *jid)
{
    visible_add(shown, jid, strnlen(jid, LIMIT_JID_LEN), VISIBLE_CARET);
}

void
interrupt_job(const char *jid)
{
    buf_auto_t shown = BUF_INIT;

    show_jid(&shown, jid);
    AUTO_FREE char *text = xasprintf(
        FAREWELL "\n"
                 "This job's jid is: %s\n"
                 "The minions may not have all finished running and any remaining minions will "
                 "return upon completion. To look up the return data for this job later, run the "
                 "following command:\n\nsalt-run jobs.lookup_jid %s\n",
        buf_str(&shown), buf_str(&shown));

    set_farewell(text);
}

void
interrupt_orchestration(const char *jid, const char *run)
{
    buf_auto_t job = BUF_INIT, name = BUF_INIT;

    show_jid(&job, jid);
    show_jid(&name, run);
    AUTO_FREE char *text = xasprintf(
        FAREWELL "\n"
                 "This job's jid is: %s\n"
                 "The orchestration %s goes on in the master. To see how far it is, or to watch it, run one "
                 "of the following commands:\n\n"
                 "salt-run orchestrate.show %s\nsalt-run state.event 'salt/run/%s/*' pretty=True\n\n"
                 "To end it before its next step, run the following command:\n\n"
                 "salt-run state.soft_kill %s\n\n"
                 "To look up its return later, run the following command:\n\n"
                 "salt-run jobs.lookup_jid %s\n",
        buf_str(&job), buf_str(&name), buf_str(&name), buf_str(&job), buf_str(&name), buf_str(&job));

    set_farewell(text);
}
