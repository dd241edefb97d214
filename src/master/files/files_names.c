/* files_names.c - names of state files and environments for completion at a prompt, from file_roots and
 * gitfs, listed by a worker since it may take long. */
#include "master/files/files_int.h"

#include <unistd.h>

#include "common/base/str.h"
#include "master/operators/names.h"
#include "salt/limits.h"
#include "salt/value.h"

#define SUFFIX "sls"

/* NEW "web.ng" from "web/ng/init.sls"; NULL: not a state file, or one with a dot in its path, which no name
 * leads to. */
static char *
sls_of(const char *path)
{
    size_t len = strlen(path), end = strlen("." SUFFIX);
    if (len <= end || !str_eq(path + len - end, "." SUFFIX))
        return NULL;
    char *name = xstrndup(path, len - end);
    if (strchr(name, '.') != NULL) {
        free(name);
        return NULL;
    }
    if (str_ends(name, "/init"))
        name[strlen(name) - strlen("/init")] = '\0';
    for (char *p = name; *p; p++)
        *p = *p == '/' ? '.' : *p;
    return name;
}

/* A set first, since several paths have the same name up to the next dot. */
json_t *
files_sls_names(const json_t *paths, const char *prefix)
{
    json_auto_t *set = json_object();
    json_t *names = json_array(), *path, *yes;
    const char *key;
    size_t i;
    json_array_foreach ((json_t *) paths, i, path) {
        AUTO_FREE char *name = sls_of(json_string_value(path));
        if (name == NULL || !str_starts(name, prefix))
            continue;
        char *dot = strchr(name + strlen(prefix), '.');
        if (dot != NULL)
            dot[1] = '\0';
        json_object_set_new(set, name, json_true());
    }
    json_object_foreach (set, key, yes)
        json_array_append_new(names, json_string(key));
    return names_bounded(names);
}

/* NEW list; empty when listing fails. */
static json_t *
files_names_found(const files_names_t *q, fileserver_t *server)
{
    if (q->saltenv == NULL) {
        json_t *envs = fileserver_envs(server, NULL);
        for (size_t i = json_array_size(envs); i-- > 0;)
            if (!str_starts(json_string_value(json_array_get(envs, i)), q->prefix))
                (void) json_array_remove(envs, i);
        return envs != NULL ? names_bounded(envs) : json_array();
    }
    json_auto_t *paths = fileserver_list(server, FILES_FILES, q->saltenv, "", NULL);
    return files_sls_names(paths, q->prefix);
}

/* The query stays in the list while it is busy, so a closing connection finds it; only `found` and `state`
 * change. */
bool
files_names_step(files_worker_t *w)
{
    files_t *files = w->owner;
    files_names_t *q = files->names;
    uint64_t one = 1;
    while (q != NULL && q->state != NAMES_NEW)
        q = q->next;
    if (q == NULL)
        return false;
    q->state = NAMES_BUSY;
    (void) pthread_mutex_unlock(&files->lock);
    json_t *found = files_names_found(q, w->server);
    (void) pthread_mutex_lock(&files->lock);
    q->found = found;
    q->state = NAMES_DONE;
    (void) !write(files->fd, &one, sizeof(one));
    return true;
}

/* Any worker may answer, so all are woken. */
int
files_names(files_t *self, struct lconn *who, const json_t *request, fail_t *err)
{
    files_names_t **at = &self->names;
    size_t n = 0;
    (void) pthread_mutex_lock(&self->lock);
    for (; *at; at = &(*at)->next)
        n++;
    if (n < LIMIT_NAMES_ASKED) {
        files_names_t *q = *at = xcalloc(1, sizeof(*q));
        q->who = who;
        q->n = value_int(request, "n", 0);
        q->prefix = xstrdup(value_str(request, "prefix", ""));
        q->saltenv = str_eq(value_str(request, "kind", ""), "sls")
                         ? xstrdup(value_str(request, "saltenv", "base"))
                         : NULL;
        for (size_t i = 0; i < self->n_workers; i++) /* whichever is idle */
            (void) pthread_cond_signal(&self->workers[i].wake);
    }
    (void) pthread_mutex_unlock(&self->lock);
    return n < LIMIT_NAMES_ASKED ? 0 : fail_set(err, -EAGAIN, "too many completions wait for names of files");
}

files_names_t *
files_names_next(files_t *self)
{
    (void) pthread_mutex_lock(&self->lock);
    files_names_t **at = &self->names, *q;
    while (*at && (*at)->state != NAMES_DONE)
        at = &(*at)->next;
    if ((q = *at))
        *at = q->next;
    (void) pthread_mutex_unlock(&self->lock);
    return q;
}

void
files_names_free(files_names_t *q)
{
    json_decref(q->found);
    free(q->prefix);
    free(q->saltenv);
    free(q);
}

void
files_names_gone(files_t *self, const struct lconn *who)
{
    (void) pthread_mutex_lock(&self->lock);
    for (files_names_t *q = self->names; q; q = q->next)
        q->who = q->who == who ? NULL : q->who;
    (void) pthread_mutex_unlock(&self->lock);
}
