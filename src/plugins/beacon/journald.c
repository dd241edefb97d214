/* journald.c - beacon journald: entries of the journal, as they are written. `journalctl --follow` reads it,
 * as only journald's own library knows all the forms of its files; one line of JSON is an entry. */
#include <fcntl.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/beacon/journal.h"
#include "plugins/lib/beacon/reports.h"
#include "salt/plugin.h"

static char *
journald_validate(const json_t *list, const json_t *config)
{
    json_t *services = value_get(config, "services"), *one;
    const char *name;
    if (services != NULL && !json_is_object(services))
        return xstrdup("Services configuration for journald beacon must be a dictionary.");
    json_object_foreach (services, name, one)
        if (!json_is_object(one))
            return xstrdup("Services configuration for journald beacon must be a list of dictionaries.");
    return NULL;
}

/* In the child: becomes journalctl. */
static void
journald_follow(int out, const void *cookie)
{
    const char *program = cookie;
    const char *const argv[] = { program, "--follow", "--lines=0", "--output=json", "--quiet", NULL };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1 && dup2(null, 2) == 2) {
        (void) setenv("LC_ALL", "C", 1);
        (void) execv(program, (char *const *) (uintptr_t) argv);
    }
    _exit(127);
}

/* Starts journalctl; only entries from now on are read. */
static void *
journald_open(beacon_look_t *look, fail_t *err)
{
    AUTO_FREE char *program = fs_which("journalctl");
    if (program == NULL)
        return (void) fail_set(err, -ENOENT, "journalctl is missing."), NULL;
    return reports_new("journalctl", journald_follow, program, err);
}

/* Adds an event for each service whose fields the entry has. */
static void
journald_take(void *cookie, const char *line, size_t len)
{
    beacon_look_t *look = cookie;
    json_auto_t *entry = journal_entry(line, len);
    const char *name, *key;
    json_t *v, *fields;
    json_object_foreach (entry != NULL ? value_get(look->config, "services") : NULL, name, fields) {
        bool all = true;
        json_object_foreach (fields, key, v) {
            AUTO_FREE char *wanted = value_pystr(v);
            json_t *have = value_get(entry, key);
            AUTO_FREE char *text = have != NULL ? value_pystr(have) : NULL;
            all = all && str_eq(wanted, text);
        }
        if (!all)
            continue;
        json_t *event = json_copy(entry);
        json_object_set_new(event, "tag", json_string(name));
        json_array_append_new(look->events, event);
    }
}

static int
journald_look(beacon_look_t *look, fail_t *err)
{
    return reports_read(look->own, journald_take, look, err);
}

static int
journald_fd(const void *own)
{
    return reports_fd(own);
}

static void
journald_close(void *own, bool copied)
{
    reports_t *reports = own;
    reports_destroy(&reports, copied);
}

static const beacon_row_t row = { .validate = journald_validate,
                                  .look = journald_look,
                                  .edges = true,
                                  .open = journald_open,
                                  .fd = journald_fd,
                                  .close = journald_close };

PLUGIN(beacon, journald,
       .doc = "The journal: fires entries with the fields that are configured, as they are written.",
       .beacon = &row);
