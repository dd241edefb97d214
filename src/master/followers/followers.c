/* followers.c - the part that runs the followers of the journal: a process for each returner of event_return,
 * and for master_job_cache and ext_job_cache (src/follower). The front loop starts them, looks at their files
 * for how far each has come, and says so in the status and by events when one begins to fail or to fall
 * behind, and when that is over. */
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/keeper.h"
#include "master/events/bus.h"
#include "master/events/listen.h"
#include "master/front/part.h"
#include "salt/log.h"

#define TICK_MS   250
#define LOOK_MS   5000
#define BEHIND    10000       /* events: one that is further behind is told, */
#define CAUGHT_UP 1000        /* and again when it is as near as this */
#define FILE_MAX  (64 * 1024) /* of a follower's file */

typedef struct followers {
    keeper_t *keeper;
    json_t *wanted;  /* owned: {name: {"kind", "returner", "told": what was said of it last}} */
    char *dir;       /* owned: of the followers' files */
    uint64_t since;  /* last event when the master began */
    int64_t next_ms; /* next look at the files */
} followers_t;

/* ---- which there are ----------------------------------------------------------------------------------- */

static void
followers_want(front_t *front, followers_t *self, const char *program, const char *kind, const char *returner)
{
    static const char *const own[] = { "log_level", "log_file", "log_level_logfile" };
    AUTO_FREE char *name = xasprintf("%s.%s", kind, returner);
    json_auto_t *overrides = json_object();

    if (value_get(self->wanted, name) != NULL)
        return;
    for (size_t i = 0; i < NELEMS(own); i++)
        json_object_set(overrides, own[i], value_get(front->opts, own[i]));
    json_auto_t *told = json_pack("{s:s, s:s, s:s, s:I, s:O}", "conf",
                                  value_str(front->opts, "config_dir", ""), "kind", kind, "returner",
                                  returner, "since", (json_int_t) self->since, "overrides", overrides);
    AUTO_FREE char *argument = value_dump(told);
    keeper_add(self->keeper, name, program, argument);
    json_object_set_new(self->wanted, name,
                        json_pack("{s:s, s:s, s:s}", "kind", kind, "returner", returner, "told", ""));
}

/* One name, or a list of names. */
static void
followers_each(front_t *front, followers_t *self, const char *program, const char *kind)
{
    const json_t *names = value_get(front->opts, kind), *one;
    size_t i;

    if (json_is_string(names) && json_string_length(names) > 0 &&
        !str_eq(json_string_value(names), "local_cache"))
        followers_want(front, self, program, kind, json_string_value(names));
    json_array_foreach ((json_t *) names, i, one) {
        if (json_is_string(one) && json_string_length(one) > 0)
            followers_want(front, self, program, kind, json_string_value(one));
    }
}

static void
followers_begin(front_t *front)
{
    static const char *const kinds[] = { "event_return", "master_job_cache", "ext_job_cache" };
    followers_t *self = front->own[PART_followers];
    AUTO_FREE char *program = keeper_program("salt-follower");

    keeper_clear(self->keeper);
    json_object_clear(self->wanted);
    free(self->dir);
    self->dir = fs_join(conf_str(front->conf, "cachedir"), "followers");
    for (size_t i = 0; i < NELEMS(kinds); i++)
        followers_each(front, self, program != NULL ? program : "salt-follower", kinds[i]);
    if (program == NULL && !keeper_is_empty(self->keeper))
        log_error(
            "the program salt-follower is not beside this one: event_return and job caches get nothing");
}

static int
followers_start(front_t *front, fail_t *err)
{
    followers_t *self = front->own[PART_followers];

    self->keeper = keeper_new();
    self->wanted = json_object();
    self->since = front->seq;
    followers_begin(front);
    return 0;
}

static void
followers_stop(front_t *front)
{
    keeper_clear(((followers_t *) front->own[PART_followers])->keeper);
}

static bool
followers_destroy(front_t *front)
{
    followers_t *self = front->own[PART_followers];

    keeper_destroy(&self->keeper);
    json_decref(self->wanted);
    free(self->dir);
    return true;
}

/* ---- how they fare ------------------------------------------------------------------------------------- */

/* Up to which event a follower has stored what it wants. The file says that of what came to it; nothing else
 * has come to it when its listener has found nothing since. */
static uint64_t
followers_seq(const front_t *front, const char *name, const json_t *kept)
{
    const followers_t *self = front->own[PART_followers];
    const listener_t *listener = listener_of(front, name);
    uint64_t seq = (uint64_t) value_int(kept, "seq", (json_int_t) self->since),
             seen = (uint64_t) value_int(kept, "seen", 0);

    if (seen > seq)
        seq = seen;
    if (listener != NULL && listener_wanted(listener) <= seq && listener_looked(listener) > seq)
        seq = listener_looked(listener);
    return seq;
}

/* NEW {"kind", "returner", "seq", "behind", "at", "failed"?} of one. */
static json_t *
followers_look(const front_t *front, const char *name, const json_t *wanted)
{
    const followers_t *self = front->own[PART_followers];
    AUTO_FREE char *path = xasprintf("%s/%s.json", self->dir, name);
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    json_auto_t *kept = fs_read_any(path, FILE_MAX, &text, &err) > 0
                            ? value_parse(buf_str(&text), text.len, FILE_MAX, path, &err)
                            : NULL;
    uint64_t seq = followers_seq(front, name, kept);

    if (err.code < 0)
        log_debug("followers: %s", fail_text(&err));
    return json_pack("{s:O, s:O, s:I, s:I, s:O?, s:O*}", "kind", value_get(wanted, "kind"), "returner",
                     value_get(wanted, "returner"), "seq", (json_int_t) seq, "behind",
                     (json_int_t) (front->seq > seq ? front->seq - seq : 0), "at", value_get(kept, "at"),
                     "failed", value_get(kept, "failed"));
}

/* Fires salt/follower/NAME/{failed,behind,recovered} when that has changed. */
static void
followers_tell(front_t *front, const char *name, json_t *wanted)
{
    json_auto_t *found = followers_look(front, name, wanted);
    AUTO_FREE char *before = xstrdup(value_str(wanted, "told", ""));
    /* Once behind, a follower must come closer than BEHIND to have caught up: no events at each step across
     * it. */
    json_int_t behind = value_int(found, "behind", 0);
    const char *word = value_get(found, "failed") != NULL                                    ? "failed"
                       : behind > BEHIND || (behind > CAUGHT_UP && str_eq(before, "behind")) ? "behind"
                                                                                             : "";

    if (str_eq(word, before))
        return;
    json_object_set_new(wanted, "told", json_string(word));
    AUTO_FREE char *tag = xasprintf("salt/follower/%s/%s", name, *word != '\0' ? word : "recovered");
    json_t *data = json_incref(found);
    json_object_set_new(data, "follower", json_string(name));
    (void) bus_fire(front, tag, &data);
}

static void
followers_tick(front_t *front, int64_t now_ms)
{
    followers_t *self = front->own[PART_followers];
    const char *name;
    json_t *wanted;

    keeper_tick(self->keeper, now_ms);
    if (now_ms < self->next_ms)
        return;
    self->next_ms = now_ms + LOOK_MS;
    json_object_foreach (self->wanted, name, wanted)
        followers_tell(front, name, wanted);
}

/* Without followers there is next to nothing to do. */
static int64_t
followers_pause(const front_t *front)
{
    const followers_t *self = front->own[PART_followers];

    return keeper_is_empty(self->keeper) ? 24 * 3600 * 1000 : TICK_MS;
}

static void
followers_status(front_t *front, json_t *reply)
{
    const followers_t *self = front->own[PART_followers];
    json_auto_t *running = keeper_status(self->keeper);
    json_t *all = json_object(), *wanted;
    const char *name;

    json_object_foreach (self->wanted, name, wanted) {
        json_t *one = followers_look(front, name, wanted);
        const char *told = value_str(wanted, "told", "");
        (void) json_object_update(one, value_get(running, name));
        if (*told != '\0')
            json_object_set_new(one, "told", json_string(told));
        json_object_set_new(all, name, one);
    }
    json_object_set_new(reply, "followers", all);
}

const front_part_t part_followers = { .name = "followers",
                                      .size = sizeof(followers_t),
                                      .start = followers_start,
                                      .stop = followers_stop,
                                      .destroy = followers_destroy,
                                      .reload = followers_begin,
                                      .tick = followers_tick,
                                      .pause_ms = followers_pause,
                                      .status = followers_status };
