/* schedule_file.c - see schedule_file.h. Written atomically; only mode 0600, since jobs may hold secrets. */
#include "common/schedule/schedule_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/conf/conf_drop.h"
#include "common/data/yaml.h"
#include "salt/limits.h"
#include "salt/value.h"

char *
schedule_file(const json_t *opts)
{
    return conf_drop_path(opts, "_schedule.conf");
}

json_t *
schedule_file_load(const json_t *opts, fail_t *err)
{
    AUTO_FREE char *path = schedule_file(opts);
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, LIMIT_CONF_FILE, &text, &why);
    if (rc == -ENOENT)
        return json_object();
    if (rc < 0)
        return (void) fail_set(err, rc, "%s", fail_text(&why)), NULL;
    json_auto_t *all = yaml_load(text.data, text.len, path, NULL, err);
    json_t *schedule = value_get(all, "schedule");
    if (all == NULL)
        return NULL;
    return json_is_object(schedule) ? json_incref(schedule) : json_object();
}

int
schedule_file_save(const json_t *opts, const json_t *schedule, fail_t *err)
{
    AUTO_FREE char *path = schedule_file(opts);
    json_auto_t *all = json_pack("{s:O}", "schedule", schedule);
    AUTO_FREE char *text = yaml_dump(all, 2);
    return conf_drop_write(path, text, err);
}
