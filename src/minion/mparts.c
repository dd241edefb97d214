/* mparts.c - files of which salt-cp has sent a part and no more: cp.recv_forget at the start and now and
 * then, while there are notes of any. */
#include "minion/jobserver.h"

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/log.h"
#include "salt/value.h"

#define AGAIN_MS 600000

static bool
s_has_notes(const jobserver_t *self)
{
    AUTO_FREE char *path = fs_join(value_str(self->opts, "cachedir", ""), "cp_parts");
    fail_auto_t err = FAIL_INIT;
    char **names = NULL;
    if (fs_names(path, &names, &err) < 0)
        log_warning("parts of files may be left behind: %s", fail_text(&err));
    bool any = false;
    for (size_t i = 0; names && names[i] && !any; i++)
        any = *names[i] != '.';
    strv_free(names);
    return any;
}

void
mparts_tick(jobserver_t *self, int64_t now_ms)
{
    if (now_ms < self->parts_ms)
        return;
    self->parts_ms = now_ms + AGAIN_MS;
    if (!s_has_notes(self))
        return;
    char jid[CLOCK_STAMP_LEN];
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:s, s:[], s:s, s:b}", "jid", jid, "fun", "cp.recv_forget", "arg",
                                 "user", "minion", "own", true);
    jobserver_job(self, job, -1);
}
