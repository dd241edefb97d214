/* files_update.c - the thread that fetches from remotes (gitfs) at their intervals. Workers continue with
 * what was fetched last. */
#include "master/files/files_int.h"

#include <time.h>
#include <unistd.h>

#include "salt/log.h"

#define NEVER_S 3600

/* Fetch, then sleep until the shortest interval of the remotes, a new configuration or the stop. The lock is
 * free during the fetch. */
void *
files_update(void *worker)
{
    files_worker_t *w = worker;
    files_t *files = w->owner;
    (void) pthread_mutex_lock(&files->lock);
    while (!files->stop) {
        files_take_opts(w);
        files->fetching = fileserver_has_remotes(w->server);
        (void) pthread_mutex_unlock(&files->lock);
        fileserver_fetch_t fetch;
        int wait_s = fileserver_update(w->server, false, &fetch);
        (void) pthread_mutex_lock(&files->lock);
        files->fetching = false;
        if (fetch.fetched) {
            files->fetch.fetched = true;
            files->fetch.changed = files->fetch.changed || fetch.changed;
            uint64_t one = 1;
            (void) !write(files->fd, &one, sizeof(one));
        }
        struct timespec until;
        (void) clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += wait_s > 0 ? wait_s : NEVER_S;
        int rc = 0;
        while (!files->stop && w->fresh_opts == NULL && rc == 0)
            rc = pthread_cond_timedwait(&w->wake, &files->lock, &until);
    }
    (void) pthread_mutex_unlock(&files->lock);
    return NULL;
}
