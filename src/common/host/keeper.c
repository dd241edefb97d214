/* keeper.c - see keeper.h. */
#include "common/host/keeper.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/proc.h"
#include "salt/log.h"
#include "salt/value.h"

#define PAUSE_MS    1000  /* before the first start after an end: doubled each time, */
#define PAUSE_MAX   60000 /* up to this, */
#define GOOD_MS     60000 /* and anew after a run as long as this */
#define PATIENCE_MS 2000  /* between SIGTERM and SIGKILL */
#define STEP_MS     5

typedef struct kept_program {
    char *name, *path, *argument; /* owned */
    char *ended;                  /* owned: how it ended last; NULL: it has not */
    pid_t pid;                    /* 0: it does not run */
    pid_t parent;
    bool reaped; /* somebody else has waited for it, */
    int status;  /* and got this */
    unsigned starts;
    int64_t started_ms, due_ms, pause_ms;
    struct kept_program *next;
} kept_program_t;

struct keeper {
    kept_program_t *first;
};

keeper_t *
keeper_new(void)
{
    return xcalloc(1, sizeof(keeper_t));
}

/* In the child. */
static void
keeper_exec(const void *cookie)
{
    const kept_program_t *p = cookie;
    char *const argv[] = { p->path, p->argument, NULL };

    (void) setsid();
    proc_fresh_signals(NULL);
    proc_end_with(p->parent);
    (void) execv(p->path, argv);
    _exit(127);
}

/* Sees whether it has ended. True when it does not run. */
static bool
keeper_reap(kept_program_t *p, int64_t now_ms)
{
    int status = 0;

    if (p->pid == 0)
        return true;
    pid_t pid = p->reaped ? p->pid : waitpid(p->pid, &status, WNOHANG);
    status = p->reaped ? p->status : status;
    if (pid == 0 || (pid < 0 && errno == EINTR))
        return false;
    free(p->ended);
    p->ended = pid < 0 ? xasprintf("unknown: %s", strerror(errno))
               : WIFSIGNALED(status)
                   ? xasprintf("signal %d (%s)", WTERMSIG(status), sigdescr_np(WTERMSIG(status)))
                   : xasprintf("exit code %d%s", WEXITSTATUS(status),
                               WEXITSTATUS(status) == 127 ? ": it can't be run" : "");
    p->reaped = false;
    p->pid = 0;
    p->pause_ms = now_ms - p->started_ms >= GOOD_MS || p->pause_ms == 0 ? PAUSE_MS : p->pause_ms * 2;
    p->pause_ms = p->pause_ms < PAUSE_MAX ? p->pause_ms : PAUSE_MAX;
    p->due_ms = now_ms + p->pause_ms;
    return true;
}

/* For a process that waits for all its children: tells the status of one that may be kept. True: it is. */
bool
keeper_ended(keeper_t *self, int pid, int status)
{
    for (kept_program_t *p = self->first; p != NULL; p = p->next) {
        if (p->pid != pid || pid == 0)
            continue;
        p->reaped = true;
        p->status = status;
        return true;
    }
    return false;
}

/* Never blocks; to be called now and then. A program that ends at once is started less and less often. */
void
keeper_tick(keeper_t *self, int64_t now_ms)
{
    for (kept_program_t *p = self->first; p != NULL; p = p->next) {
        bool ran = p->pid != 0;
        if (!keeper_reap(p, now_ms))
            continue;
        if (ran)
            log_error("%s has ended (%s); it is started again in %lld s", p->name, p->ended,
                      (long long) p->pause_ms / 1000);
        if (now_ms < p->due_ms)
            continue;
        p->parent = getpid();
        p->starts++;
        p->started_ms = now_ms;
        p->pid = proc_fork(keeper_exec, p);
        if (p->pid > 0) {
            log_debug("%s: started as process %d", p->name, (int) p->pid);
            continue;
        }
        log_error("%s can't be started: %s", p->name, strerror(errno));
        p->pid = 0;
        p->due_ms = now_ms + PAUSE_MAX;
    }
}

void
keeper_add(keeper_t *self, const char *name, const char *path, const char *argument)
{
    kept_program_t **end = &self->first;

    while (*end != NULL)
        end = &(*end)->next;
    *end = xcalloc(1, sizeof(**end));
    **end = (kept_program_t){ .name = xstrdup(name), .path = xstrdup(path), .argument = xstrdup(argument) };
}

/* True when none runs any more, at the latest by then. */
static bool
keeper_await(keeper_t *self, int64_t until_ms)
{
    for (;;) {
        bool runs = false;
        for (kept_program_t *p = self->first; p != NULL; p = p->next)
            runs = !keeper_reap(p, clock_mono_ms()) || runs;
        if (!runs || clock_mono_ms() >= until_ms)
            return !runs;
        clock_pause(STEP_MS / 1000.0);
    }
}

/* A program that was reaped elsewhere is left out: its number may be another's by now. */
static void
keeper_signal(const keeper_t *self, int sig)
{
    for (const kept_program_t *p = self->first; p != NULL; p = p->next)
        if (p->pid > 0 && !p->reaped)
            (void) kill(p->pid, sig);
}

/* Ends the programs, by force after PATIENCE_MS, and waits for them. */
void
keeper_clear(keeper_t *self)
{
    keeper_signal(self, SIGTERM);
    if (!keeper_await(self, clock_mono_ms() + PATIENCE_MS)) {
        keeper_signal(self, SIGKILL);
        (void) keeper_await(self, INT64_MAX);
    }
    keeper_forget(self);
}

/* Without ending them: in a forked child, whose parent keeps them. */
void
keeper_forget(keeper_t *self)
{
    while (self->first != NULL) {
        kept_program_t *p = self->first;
        self->first = p->next;
        free(p->name);
        free(p->path);
        free(p->argument);
        free(p->ended);
        free(p);
    }
}

void
keeper_destroy(keeper_t **self_p)
{
    keeper_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    keeper_clear(self);
    free(self);
}

json_t *
keeper_status(const keeper_t *self)
{
    json_t *all = json_object();

    for (const kept_program_t *p = self->first; p != NULL; p = p->next)
        json_object_set_new(
            all, p->name,
            json_pack("{s:i, s:i, s:s*}", "pid", (int) p->pid, "starts", (int) p->starts, "ended", p->ended));
    return all;
}

bool
keeper_is_empty(const keeper_t *self)
{
    return self->first == NULL;
}

/* Path of a program that lies beside this one, or where packages put those that are not for users. NEW, or
 * NULL. */
char *
keeper_program(const char *name)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (n <= 0)
        return NULL;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    char *path = xasprintf("%s/%s", self, name);
    if (fs_look_file(path, NULL) > 0)
        return path;
    free(path);
    path = xasprintf("%s/../lib/halite/%s", self, name);
    if (fs_look_file(path, NULL) > 0)
        return path;
    free(path);
    return NULL;
}
