/* utmp.c - see utmp.h. Records are those of utmp(5) with 32-bit times, which glibc writes on all its machines
 * that have both sizes of words; a record that is not whole yet is read again later. */
#include "plugins/lib/beacon/utmp.h"

#include <ctype.h>
#include <grp.h>
#include <time.h>
#include <utmp.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/beacon/tail.h"
#include "salt/log.h"
#include "salt/value.h"

/* The layout that Salt reads: "hi32s4s32s256shhiii4i20x" in the machine's alignment. */
typedef struct record {
    int16_t type;
    int32_t pid;
    char line[32], inittab[4], user[32], host[256];
    int16_t exits[2];
    int32_t session, seconds, micros, addr[4];
    char unused[20];
} record_t;
_Static_assert(sizeof(record_t) == 384, "a record of utmp(5)");

/* Minutes since midnight of "8am", "4:30 pm", "16:30", "16". -1: none of them. */
static int
utmp_minute(const char *text)
{
    int hour = 0, minute = 0, used = 0;
    if (text == NULL ||
        (sscanf(text, "%2d:%2d%n", &hour, &minute, &used) < 2 && sscanf(text, "%2d%n", &hour, &used) < 1))
        return -1;
    text += used;
    while (*text == ' ')
        text++;
    bool am = strcasecmp(text, "am") == 0, pm = strcasecmp(text, "pm") == 0;
    if ((am || pm) && (hour < 1 || hour > 12))
        return -1;
    if (!am && !pm && *text != '\0')
        return -1;
    if (am || pm)
        hour = hour % 12 + (pm ? 12 : 0);
    return hour > 23 || hour < 0 || minute > 59 || minute < 0 ? -1 : hour * 60 + minute;
}

bool
utmp_in_range(const json_t *range, int minute, bool *ret_bad)
{
    int start = utmp_minute(value_str(range, "start", NULL)),
        end = utmp_minute(value_str(range, "end", NULL));
    *ret_bad = start < 0 || end < 0;
    if (*ret_bad)
        return false;
    return start <= end ? start <= minute && minute <= end : minute >= start || minute <= end;
}

static char *
utmp_check_range(const utmp_kind_t *kind, const json_t *holder)
{
    json_t *range = value_get(holder, "time_range");
    bool bad;
    if (range == NULL || !value_truthy(range))
        return NULL;
    if (!json_is_object(range))
        return xasprintf("The time_range parameter for %s beacon must be a dictionary.", kind->module);
    if (value_get(range, "start") == NULL || value_get(range, "end") == NULL)
        return xasprintf("The time_range parameter for %s beacon must contain start & end options.",
                         kind->module);
    (void) utmp_in_range(range, 0, &bad);
    return bad ? xasprintf(
                     "The time_range parameter for %s beacon: start and end are times, such as 8am or 16:30.",
                     kind->module)
               : NULL;
}

char *
utmp_validate(const utmp_kind_t *kind, const json_t *config)
{
    static const char *const sections[][2] = { { "users", "User" }, { "groups", "Group" } };
    const char *name;
    json_t *one;
    for (size_t i = 0; i < NELEMS(sections); i++) {
        json_t *section = value_get(config, sections[i][0]);
        if (section != NULL && !json_is_object(section))
            return xasprintf("%s configuration for %s beacon must be a dictionary.", sections[i][1],
                             kind->module);
        json_object_foreach (section, name, one) {
            char *why = utmp_check_range(kind, one);
            if (why != NULL)
                return why;
        }
    }
    json_t *defaults = value_get(config, "defaults");
    if (defaults != NULL && !json_is_object(defaults))
        return xasprintf("Defaults configuration for %s beacon must be a dictionary.", kind->module);
    return utmp_check_range(kind, defaults);
}

/* ---- records ------------------------------------------------------------------------------------------ */

static json_t *
utmp_field(const char *bytes, size_t room)
{
    return value_utf8(bytes, strnlen(bytes, room));
}

/* Adds login or logout; who logs out is known by the terminal. */
static void
utmp_action(beacon_look_t *look, json_t *event)
{
    json_t *types = value_get(look->config, "ut_type"), *ttys = value_get(look->context, "ttys");
    json_int_t type = value_int(event, "type", 0);
    const char *line = value_str(event, "line", "");
    if (ttys == NULL) {
        ttys = json_object();
        json_object_set_new(look->context, "ttys", ttys);
    }
    if (type == value_int(types, "login", USER_PROCESS)) {
        json_object_set_new(event, "action", json_string("login"));
        json_object_set(ttys, line, value_get(event, "user"));
    } else if (type == value_int(types, "logout", DEAD_PROCESS)) {
        json_object_set_new(event, "action", json_string("logout"));
        if (value_get(ttys, line) != NULL)
            json_object_set(event, "user", value_get(ttys, line));
        json_object_del(ttys, line);
    }
}

/* NEW users with what is configured for each: those named, and members of the groups. NULL: all users. */
static json_t *
utmp_users(const json_t *config)
{
    json_t *users = value_get(config, "users"), *groups = value_get(config, "groups"), *how;
    const char *name;
    if (json_object_size(users) == 0 && json_object_size(groups) == 0)
        return NULL;
    json_t *all = users != NULL ? json_copy(users) : json_object();
    json_object_foreach (groups, name, how) {
        const struct group *group = getgrnam(name);
        if (group == NULL)
            log_warning("Group %s does not exist, ignoring.", name);
        for (char **member = group != NULL ? group->gr_mem : NULL; member != NULL && *member != NULL;
             member++)
            if (value_get(all, *member) == NULL)
                json_object_set(all, *member, how);
    }
    return all;
}

/* True when an event is wanted at this minute of the day. */
static bool
utmp_wanted(const json_t *config, const json_t *users, const json_t *event, int minute)
{
    json_t *mine = value_get(users, value_str(event, "user", "")),
           *range = value_get(value_get(config, "defaults"), "time_range");
    bool bad;
    if (users != NULL && mine == NULL)
        return false;
    if (value_get(mine, "time_range") != NULL)
        range = value_get(mine, "time_range");
    return range == NULL || utmp_in_range(range, minute, &bad);
}

size_t
utmp_take(const utmp_kind_t *kind, beacon_look_t *look, const void *bytes, size_t len)
{
    time_t now = (time_t) (clock_wall_us() / 1000000);
    struct tm tm;
    record_t record;
    size_t at = 0;
    (void) localtime_r(&now, &tm);
    json_auto_t *users = utmp_users(look->config);
    for (; len - at >= sizeof(record); at += sizeof(record)) {
        memcpy(&record, (const char *) bytes + at, sizeof(record));
        /* The fields are in Salt's order, under Salt's names. */
        const record_t *r = &record;
        json_auto_t *event = NULL;
        event = json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i}", "type", (int) r->type, "PID",
                          (int) r->pid, "line", utmp_field(r->line, sizeof(r->line)), "inittab",
                          utmp_field(r->inittab, sizeof(r->inittab)), "user",
                          utmp_field(r->user, sizeof(r->user)), "hostname",
                          utmp_field(r->host, sizeof(r->host)), "exit_status", (int) r->exits[0], "session",
                          (int) r->exits[1], "time", (int) r->session, "addr", (int) r->seconds);
        if (kind->actions)
            utmp_action(look, event);
        if (utmp_wanted(look->config, users, event, tm.tm_hour * 60 + tm.tm_min))
            json_array_append(look->events, event);
    }
    return at;
}

int
utmp_look(const utmp_kind_t *kind, beacon_look_t *look, fail_t *err)
{
    buf_auto_t bytes = BUF_INIT;
    if (tail_read(look->own, look->context, &bytes, err) < 0)
        return err->code;
    size_t whole = bytes.len > 0 ? utmp_take(kind, look, bytes.data, bytes.len) : 0;
    if (!tail_is_last(look->own))
        tail_unread(look->own, look->context, bytes.len - whole);
    return 0;
}

void *
utmp_open(const utmp_kind_t *kind, beacon_look_t *look, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s%s", look->root, kind->path);
    return tail_new(path, look->context, err);
}

int
utmp_fd(const void *own)
{
    return tail_fd(own);
}

int
utmp_again_ms(const void *own)
{
    return tail_again_ms(own);
}

void
utmp_close(void *own, bool copied)
{
    tail_t *tail = own;
    tail_destroy(&tail);
}
