/* pillar_claims.c - warns where a pillar's target depends on grains, which a minion can claim freely.
 *
 * Each place is logged once per version of its file, however many compiles pass it. The line is found by
 * searching the file's text for the target, since the rendered data has no positions. */
#include "common/pillar/pillar_int.h"

#include <pthread.h>
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "salt/log.h"

#define PLACES_MAX 4096 /* places remembered as reported */

struct pillar_claims {
    pthread_mutex_t lock; /* compiles run in several threads */
    map_t *told;          /* places by their names; the values say nothing */
};

pillar_claims_t *
pillar_claims_new(void)
{
    pillar_claims_t *self = xcalloc(1, sizeof(*self));

    (void) pthread_mutex_init(&self->lock, NULL);
    self->told = map_new(NULL);
    return self;
}

void
pillar_claims_destroy(pillar_claims_t **self_p)
{
    pillar_claims_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    map_destroy(&self->told);
    (void) pthread_mutex_destroy(&self->lock);
    free(self);
}

/* True the first time for a place. Templates can make unlimited targets from grains, so the record is cleared
 * when full. */
static bool
pillar_claims_first(pillar_claims_t *self, const char *place)
{
    (void) pthread_mutex_lock(&self->lock);
    bool first = map_get(self->told, place) == NULL;
    if (first && map_len(self->told) >= PLACES_MAX)
        map_clear(self->told);
    if (first)
        map_set(self->told, place, self);
    (void) pthread_mutex_unlock(&self->lock);
    return first;
}

/* True when the line of YAML has this key, quoted or not. */
static bool
pillar_claims_has_key(const char *line, const char *key)
{
    for (const char *at = strstr(line, key); at != NULL; at = strstr(at + 1, key)) {
        const char *end = at + strlen(key);
        bool begins = at == line || strchr(" \t'\"{,", at[-1]) != NULL;
        if (begins && (*end == '\'' || *end == '"' ||
                       (*end == ':' && (end[1] == '\0' || strchr(" \t\r", end[1]) != NULL))))
            return true;
    }
    return false;
}

/* 1-based line of the target in a top file; 0 when a template generated it, or `path` is a folder. */
static int
pillar_claims_line_of(const char *path, const char *target)
{
    buf_auto_t all = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    int line = 0;

    if (fs_read(path, LIMIT_TEMPLATE, &all, &err) < 0)
        return 0;
    char **lines = str_split(buf_str(&all), "\n", false);
    for (int i = 0; lines[i] != NULL && line == 0; i++) {
        bool comment = lines[i][strspn(lines[i], " \t")] == '#';
        line = !comment && pillar_claims_has_key(lines[i], target) ? i + 1 : 0;
    }
    strv_free(lines);
    return line;
}

void
claims_tell(const compile_t *self, const char *path, const char *target)
{
    pillar_claims_t *claims = self->env->claims;
    struct stat st = { 0 };

    if (claims == NULL)
        return;
    (void) stat(path, &st);
    AUTO_FREE char *version = xasprintf("%s %lld.%09ld", path, (long long) st.st_mtim.tv_sec,
                                        st.st_mtim.tv_nsec);
    AUTO_FREE char *place = xasprintf("%s %s", version, target);
    if (!pillar_claims_first(claims, place))
        return;
    /* If a template generates several such targets in a file, only the first is reported. */
    int line = pillar_claims_line_of(path, target);
    AUTO_FREE char *of_line = xasprintf("%s: %d", version, line);
    AUTO_FREE char *where = line > 0 ? xasprintf("%s:%d", path, line) : xstrdup(path);
    if (line > 0 || pillar_claims_first(claims, of_line))
        log_warning("%s: the pillar's target '%s' goes by a grain, which every accepted minion can claim to "
                    "have: give secrets "
                    "by id instead (an id, a glob, a list or 'G@id:...')",
                    where, target);
}
