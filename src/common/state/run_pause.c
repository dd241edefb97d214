/* run_pause.c - state.pause, resume and soft_kill: a file per jid, cachedir/state_pause/JID, that the run
 * checks before each step. The functions write it from another process; it is replaced atomically, so no lock
 * is needed. */
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/state/run_int.h"
#include "salt/log.h"
#include "salt/state.h"

#define PAUSE_DIR "state_pause"

enum { POLL_MS = 100, MODE_DIR = 0700, MODE_FILE = 0600 };

static char *
pause_path(const char *cachedir, const char *jid)
{
    AUTO_FREE char *dir = fs_join(cachedir, PAUSE_DIR);

    return fs_join(dir, jid);
}

/* True when a jid is safe as a file name: not hidden, no slash, bounded length. */
static bool
run_pause_is_name(const char *jid)
{
    return *jid != '\0' && *jid != '.' && strchr(jid, '/') == NULL && strlen(jid) <= LIMIT_JID_LEN;
}

json_t *
state_pauses(const char *cachedir, const char *jid, fail_t *err)
{
    AUTO_FREE char *path = pause_path(cachedir, jid);
    fail_auto_t why = FAIL_INIT;
    buf_auto_t text = BUF_INIT;
    json_t *found = NULL;

    if (!run_pause_is_name(jid))
        return json_object();
    /* The usual case, which needs no sentence about what is missing. */
    if (fs_absent(path))
        return json_object();
    int rc = fs_read(path, LIMIT_WIRE_SMALL, &text, &why);
    if (fs_is_absence(rc))
        return json_object();
    if (rc == 0)
        found = value_parse(buf_str(&text), text.len, LIMIT_WIRE_SMALL, path, &why);
    if (json_is_object(found))
        return found;
    (void) fail_set(&why, -EINVAL, "%s: not what state.pause writes there", path);
    (void) fail_set(err, why.code, "%s", fail_text(&why));
    json_decref(found);
    return NULL;
}

int
state_pauses_set(const char *cachedir, const char *jid, const json_t *pauses, fail_t *err)
{
    AUTO_FREE char *dir = fs_join(cachedir, PAUSE_DIR), *path = pause_path(cachedir, jid);

    if (!run_pause_is_name(jid))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a jid", jid);
    if (json_object_size(pauses) == 0)
        return unlink(path) < 0 && errno != ENOENT ? fail_set(err, -errno, "%s: %s", path, strerror(errno))
                                                   : 0;
    int rc = fs_mkdirs(dir, MODE_DIR, err);
    AUTO_FREE char *text = value_dump(pauses);
    return rc < 0 ? rc : fs_write_quick(path, text, strlen(text), MODE_FILE, err);
}

json_t *
state_paused_jids(const char *cachedir, fail_t *err)
{
    AUTO_FREE char *dir = fs_join(cachedir, PAUSE_DIR);
    char **names = NULL;

    if (fs_names(dir, &names, err) < 0)
        return NULL;
    json_t *out = json_array();
    for (char **name = names; *name != NULL; name++) {
        if (run_pause_is_name(*name))
            json_array_append_new(out, json_string(*name));
    }
    strv_free(names);
    return out;
}

/* The step's return says who ended the run, which without it would look done. */
static void
add_stop(run_t *run, const json_t *low, const json_t *said)
{
    AUTO_FREE char *tag = state_tag(low);
    AUTO_FREE char *text = xasprintf("%s ended the run before this step by state.soft_kill, at %s",
                                     value_str(said, "user", "Somebody"),
                                     value_str(said, "time", "an unknown time"));

    log_warning("State %s.%s '%s': %s", value_str(low, "state", ""), value_str(low, "fun", ""),
                value_str(low, "__id__", ""), text);
    json_object_set_new(run->running, tag, state_not_called(low, false, text, false, run->caller.run_num++));
}

/* Poll every POLL_MS until the entry goes, its `duration` (seconds) is over, or it says "kill". */
bool
run_may_go_on(run_t *run, const step_t *step)
{
    const char *cachedir = value_str(ctx_opts(run->env->ctx), "cachedir", ""),
               *id = value_str(step->low, "__id__", "");
    int64_t begin = clock_mono_ms();
    bool told = false;

    while (!str_empty(run->env->jid) && *cachedir != '\0') {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *pauses = state_pauses(cachedir, run->env->jid, &err);
        if (pauses == NULL) {
            /* If the file can't be read, the run waits, because the file may pause or end it. */
            if (!told)
                log_error("the state run %s waits, as nobody can tell whether it is paused: %s",
                          run->env->jid, fail_text(&err));
            told = true;
            pauses = json_pack("{s:{}}", "__all__");
        }
        const json_t *entry = value_get(pauses, id);
        if (entry == NULL)
            entry = value_get(pauses, "__all__");
        if (entry == NULL)
            return true;
        if (value_bool(entry, "kill", false)) {
            if (run->env->stopped != NULL)
                run->env->stopped(run->env->watch_cookie, step->low, entry);
            else
                add_stop(run, step->low, entry);
            return false;
        }
        double seconds = value_num(entry, "duration", 0);
        if (seconds > 0 && (double) (clock_mono_ms() - begin) > seconds * 1000)
            return true;
        run_wait(run, POLL_MS);
    }
    return true;
}
