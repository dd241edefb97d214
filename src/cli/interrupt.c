/* interrupt.c - the farewell. */
#include "cli/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "salt/limits.h"

#define FAREWELL "\nExiting gracefully on Ctrl-c"

typedef struct farewell {
    size_t len;
    char text[512 + 2 * LIMIT_JID_LEN];
} farewell_t;

/* Two, so that the handler always finds a whole one. */
static farewell_t farewells[2] = { { sizeof(FAREWELL), FAREWELL "\n" } };
static atomic_int current;

static void
on_signal(int signum)
{
    const farewell_t *f = &farewells[atomic_load(&current)];

    if (signum == SIGINT && write(STDERR_FILENO, f->text, f->len) < 0)
        _exit(EXIT_FAILURE);
    _exit(EXIT_SUCCESS);
}

void
interrupt_arm(void)
{
    struct sigaction action = { .sa_handler = on_signal };

    (void) sigaction(SIGINT, &action, NULL);
    (void) sigaction(SIGTERM, &action, NULL);
}

void
interrupt_default(void)
{
    (void) signal(SIGINT, SIG_DFL);
    (void) signal(SIGTERM, SIG_DFL);
}

void
interrupt_job(const char *jid)
{
    int next = 1 - atomic_load(&current);
    farewell_t *f = &farewells[next];
    int n = snprintf(f->text, sizeof(f->text),
                     FAREWELL
                     "\n"
                     "This job's jid is: %.*s\n"
                     "The minions may not have all finished running and any remaining minions will "
                     "return upon completion. To look up the return data for this job later, run the "
                     "following command:\n\nsalt-run jobs.lookup_jid %.*s\n",
                     LIMIT_JID_LEN, jid, LIMIT_JID_LEN, jid);

    salt_assert(n > 0 && (size_t) n < sizeof(f->text));
    f->len = (size_t) n;
    atomic_store(&current, next);
}
