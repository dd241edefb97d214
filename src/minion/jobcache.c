/* jobcache.c - see jobcache.h. */
#include "minion/jobcache.h"

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "salt/log.h"
#include "salt/value.h"

void
jobcache_keep(const json_t *opts, const json_t *ret)
{
    const char *jid = value_str(ret, "jid", "");
    int64_t when;
    fail_auto_t err = FAIL_INIT;
    /* A jid becomes a folder's name: it has to be one. */
    if (!value_bool(opts, "cache_jobs", false) || !clock_jid_to_wall_us(jid, &when))
        return;
    AUTO_FREE char *dir = xasprintf("%s/minion_jobs/%s", value_str(opts, "cachedir", ""), jid);
    AUTO_FREE char *path = fs_join(dir, "return.json");
    AUTO_FREE char *text = value_dump(ret);
    if (fs_mkdirs(dir, 0700, &err) < 0 || fs_write_quick(path, text, strlen(text), 0600, &err) < 0)
        log_error("cache_jobs: %s", fail_text(&err));
}
