/* parting.c - see parting.h. The page holds four atomic numbers; the signal handler decides between "returns"
 * and "gone".
 *
 * parting_return() sets `returning` before it reads `answer`, and the handler, in the same thread, reads
 * `returning` before it writes `answer`: so both sides always agree on who has the return.
 */
#include "minion/jobs/parting.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct parting {
    _Atomic unsigned asked, seconds, returning, answer;
};

static parting_t *mine; /* the child's own, for its signal handler */

parting_t *
parting_new(void)
{
    void *page = mmap(NULL, sizeof(parting_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return page != MAP_FAILED ? page : NULL;
}

void
parting_destroy(parting_t **self_p)
{
    parting_t *self = STEAL(*self_p);

    if (self != NULL)
        (void) munmap(self, sizeof(*self));
}

void
parting_ask(parting_t *self, pid_t pid, unsigned seconds)
{
    if (self == NULL)
        return;
    self->seconds = seconds;
    self->asked = 1;
    (void) kill(pid, SIGUSR2);
}

parting_state_t
parting_state(const parting_t *self)
{
    return self != NULL ? (parting_state_t) self->answer : PARTING_NONE;
}

/* ---- the child ----------------------------------------------------------------------------------------- */

/* The handler of SIGUSR2. It acts only when the job server has asked, so a signal from anybody else does
 * nothing. Async-signal-safe. */
static void
parting_part(int sig)
{
    int saved = errno;

    if (mine->asked != 0 && mine->answer == PARTING_NONE && mine->returning != 0) {
        mine->answer = PARTING_RETURNS;
    } else if (mine->asked != 0 && mine->answer == PARTING_NONE) {
        (void) prctl(PR_SET_PDEATHSIG, 0); /* undoes proc_end_with() */
        if (mine->seconds > 0)
            (void) alarm(mine->seconds); /* the time limit, which the job server can't enforce any more */
        mine->answer = PARTING_GONE;
    }
    errno = saved;
}

void
parting_join(parting_t *self)
{
    struct sigaction action = { .sa_flags = SA_RESTART };

    if (self == NULL) {
        (void) signal(SIGUSR2, SIG_IGN);
        return;
    }
    mine = self;
    action.sa_handler = parting_part;
    (void) sigemptyset(&action.sa_mask);
    (void) sigaction(SIGUSR2, &action, NULL);
}

bool
parting_is_gone(void)
{
    return mine != NULL && mine->answer == PARTING_GONE;
}

bool
parting_return(void)
{
    if (mine != NULL)
        mine->returning = 1; /* first: the signal may come between */
    return !parting_is_gone();
}
