/* pillargit.c - see pillargit.h. The thread copies the configuration and the sources that minions brought,
 * fetches without the lock, and sleeps until the next interval or a change. */
#include "master/pillar/pillargit.h"

#include <pthread.h>
#include <time.h>

#include "common/base/str.h"
#include "common/pillar/pillar.h"
#include "salt/log.h"
#include "salt/value.h"

#define NEVER_S  3600
#define ALSO_MAX 64 /* sources brought by minions; beyond that the list starts over */

struct pillargit {
    registry_t *modules; /* BORROWED */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool started;        /* used by the owner */
    bool stop, fetching; /* guarded by the lock, as everything below */
    bool news;           /* the remotes have changed */
    char *fresh_opts;    /* owned: JSON of a new configuration; NULL: none */
    json_t *also;        /* owned: array of JSON texts, one source each */
};

/* ---- the thread ------------------------------------------------------------------------------ */

/* Take a new configuration, fetch without the lock, sleep; until `stop`. A change during the fetch sets
 * `news`, so the sleep ends at once. */
static void *
pillargit_thread(void *arg)
{
    pillargit_t *self = arg;
    json_auto_t *opts = NULL;
    (void) pthread_mutex_lock(&self->lock);
    while (!self->stop) {
        if (self->fresh_opts != NULL) {
            json_decref(opts);
            opts = json_loads(self->fresh_opts, JSON_ALLOW_NUL, NULL);
            free(STEAL(self->fresh_opts));
        }
        /* The configuration with the minions' sources added to ext_pillar; the lock is held. */
        json_auto_t *all = json_copy(opts);
        json_t *list = value_get(opts, "ext_pillar"), *text;
        size_t i;
        list = json_is_array(list) ? json_copy(list) : json_array();
        json_array_foreach (self->also, i, text)
            (void) json_array_append_new(list, json_loads(json_string_value(text), JSON_ALLOW_NUL, NULL));
        (void) json_object_set_new(all, "ext_pillar", list);
        self->news = false;
        self->fetching = true;
        (void) pthread_mutex_unlock(&self->lock);

        /* Fetch what is due, and wait for the seconds until the next fetch; 0 or less: none. */
        pillar_env_t env = { .opts = all, .registry = self->modules, .id = value_str(all, "id", "") };
        int wait_s = pillar_git_update(&env);

        (void) pthread_mutex_lock(&self->lock);
        self->fetching = false;

        /* Lock held. Sleep until the next interval, a change or the stop. */
        struct timespec until;
        int rc = 0;
        (void) clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += wait_s > 0 ? wait_s : NEVER_S;
        while (!self->stop && !self->news && rc == 0)
            rc = pthread_cond_timedwait(&self->wake, &self->lock, &until);
    }
    (void) pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* ---- the owner's side ------------------------------------------------------------------------ */

/* True when ext_pillar has git, or minions may bring it. */
static bool
is_needed(json_t *opts)
{
    json_t *one;
    size_t i;
    json_array_foreach (value_get(opts, "ext_pillar"), i, one)
        if (value_get(one, "git") != NULL)
            return true;
    return value_lists(value_get(opts, "on_demand_ext_pillar"), "git");
}

/* The thread is started on first need and lives until destroy. */
void
pillargit_reload(pillargit_t *self, json_t *opts)
{
    (void) pthread_mutex_lock(&self->lock);
    free(self->fresh_opts);
    self->fresh_opts = value_dump(opts);
    (void) json_array_clear(self->also);
    self->news = true;
    (void) pthread_cond_signal(&self->wake);
    (void) pthread_mutex_unlock(&self->lock);
    if (self->started || !is_needed(opts))
        return;
    int rc = pthread_create(&self->thread, NULL, pillargit_thread, self);
    self->started = rc == 0;
    if (rc != 0)
        log_error("ext_pillar git: remotes are fetched only once, until the configuration is read again: no "
                  "thread: %s",
                  strerror(rc));
}

/* Compared as JSON text; a known source is ignored. */
void
pillargit_also(pillargit_t *self, const json_t *ext)
{
    json_t *git = value_get(ext, "git"), *known;
    size_t i;
    if (git == NULL)
        return;
    json_auto_t *own = json_pack("{s:O}", "git", git);
    AUTO_FREE char *text = value_dump(own);
    (void) pthread_mutex_lock(&self->lock);
    json_array_foreach (self->also, i, known)
        if (str_eq(json_string_value(known), text))
            break;
    bool is_new = i == json_array_size(self->also);
    if (is_new && i >= ALSO_MAX)
        (void) json_array_clear(self->also);
    if (is_new) {
        (void) json_array_append_new(self->also, json_string(text));
        self->news = true;
        (void) pthread_cond_signal(&self->wake);
    }
    (void) pthread_mutex_unlock(&self->lock);
}

pillargit_t *
pillargit_new(registry_t *modules, json_t *opts)
{
    pillargit_t *self = xcalloc(1, sizeof(*self));
    pthread_condattr_t attr;
    self->modules = modules;
    self->also = json_array();
    (void) pthread_mutex_init(&self->lock, NULL);
    (void) pthread_condattr_init(&attr);
    (void) pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void) pthread_cond_init(&self->wake, &attr);
    (void) pthread_condattr_destroy(&attr);
    pillargit_reload(self, opts);
    return self;
}

/* A fetch can't be interrupted: while it runs, the struct stays, as the thread uses it. */
bool
pillargit_destroy(pillargit_t **self_p)
{
    pillargit_t *self = STEAL(*self_p);
    if (self == NULL)
        return true;
    (void) pthread_mutex_lock(&self->lock);
    self->stop = true;
    bool soon = !self->fetching;
    (void) pthread_cond_signal(&self->wake);
    (void) pthread_mutex_unlock(&self->lock);
    if (!soon)
        return false;
    if (self->started)
        (void) pthread_join(self->thread, NULL);
    (void) pthread_cond_destroy(&self->wake);
    (void) pthread_mutex_destroy(&self->lock);
    json_decref(self->also);
    free(self->fresh_opts);
    free(self);
    return true;
}
