/* mcp.c - removes files of which salt-cp has sent only a part: runs cp.recv_forget at the start and every ten
 * minutes, while there are notes of such files in cachedir/cp_parts.
 */
#include "minion/jobs/jobserver.h"

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/log.h"
#include "salt/value.h"

#define AGAIN_MS 600000

typedef struct mcp {
    jobserver_t *js;
    int64_t next_ms; /* monotonic */
} mcp_t;

static void
mcp_tick(void *part, int64_t now_ms)
{
    mcp_t *self = part;
    if (now_ms < self->next_ms)
        return;
    self->next_ms = now_ms + AGAIN_MS;
    /* A look for notes here saves the fork when there is none. */
    AUTO_FREE char *path = fs_join(value_str(self->js->opts, "cachedir", ""), "cp_parts");
    fail_auto_t err = FAIL_INIT;
    char **names = NULL;
    if (fs_names(path, &names, &err) < 0)
        log_warning("parts of files may be left behind: %s", fail_text(&err));
    bool any = false;
    for (size_t i = 0; names != NULL && names[i] != NULL && !any; i++)
        any = *names[i] != '.';
    strv_free(names);
    if (!any)
        return;
    char jid[CLOCK_STAMP_LEN];
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:s, s:[], s:s, s:b}", "jid", jid, "fun", "cp.recv_forget", "arg",
                                 "user", "minion", "own", true);
    jobserver_job(self->js, job, -1);
}

static void *
mcp_start(jobserver_t *js, fail_t *err)
{
    mcp_t *self = xcalloc(1, sizeof(*self));
    self->js = js;
    return self;
}

const minion_part_t minion_part_cp = { .name = "cp", .start = mcp_start, .destroy = free, .tick = mcp_tick };
