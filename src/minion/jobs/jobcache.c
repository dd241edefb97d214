/* jobcache.c - see jobcache.h. Written beneath cachedir without following links, 0700 and 0600: a return may
 * hold secrets.
 */
#include "minion/jobs/jobcache.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "salt/log.h"
#include "salt/value.h"

void
jobcache_keep_text(const json_t *opts, const char *jid, const char *text, size_t len)
{
    /* The jid comes from a master and becomes a folder's name, so its form is checked. */
    if (!value_bool(opts, "cache_jobs", false) || !clock_is_jid(jid))
        return;
    AUTO_FREE char *path = xasprintf("minion_jobs/%s", jid);
    AUTO_FD base = open(value_str(opts, "cachedir", ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD dir = base < 0 ? -errno : beneath_folder(base, path, BENEATH_NO_LINKS, 0700);
    int rc = dir < 0 ? dir : beneath_put(dir, "return.json", text, len, 0600, false);
    if (rc < 0)
        log_error("cache_jobs: %s: %s", path, strerror(-rc));
}

void
jobcache_keep(const json_t *opts, const jobret_t *ret)
{
    buf_auto_t text = BUF_INIT;
    size_t len;
    const char *members = jobret_members(ret, &len);
    if (!value_bool(opts, "cache_jobs", false))
        return;
    buf_putc(&text, '{');
    buf_add(&text, members, len);
    jobcache_keep_text(opts, ret->jid, text.data, text.len);
}
