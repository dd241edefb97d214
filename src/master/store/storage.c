/* storage.c - the part that owns the store: open it, drain its eventfd, announce commits to the other parts
 * (hook_committed), and log when it fails, recovers or begins a new file. */
#include "master/store/storage.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "master/front/hooks.h"
#include "master/front/part.h"
#include "salt/log.h"

#define STORE_FILE "jobs.db"

typedef struct storage {
    char *trouble; /* owned: the last reported error; NULL: the store works */
} storage_t;

static storage_t *
storage_own(const front_t *front)
{
    return front->own[PART_storage];
}

char *
storage_path(const front_t *front)
{
    return fs_join(conf_str(front->conf, "cachedir"), STORE_FILE);
}

const char *
storage_trouble(const front_t *front)
{
    return storage_own(front)->trouble;
}

/* Log the changes of the store's state. A notice may mean that a new file was begun, so the parts are told
 * (hook_renewed) to write again what they keep there. */
static void
storage_look(front_t *front)
{
    storage_t *self = storage_own(front);
    AUTO_FREE char *trouble = store_trouble(front->store);
    AUTO_FREE char *notice = store_notice(front->store);
    if (notice != NULL) {
        log_error("%s", notice);
        hook_renewed(front);
    }
    if (trouble != NULL && self->trouble == NULL)
        log_critical("the store can't be written: %s; returns stay with their minions until it can", trouble);
    if (trouble == NULL && self->trouble != NULL)
        log_warning("the store can be written again");
    free(self->trouble);
    self->trouble = STEAL(trouble);
}

/* Fails the master's start without a usable cachedir or store. */
static int
storage_start(front_t *front, fail_t *err)
{
    int rc = fs_own_dir(conf_str(front->conf, "cachedir"), 0750, err);
    if (rc < 0)
        return rc;
    AUTO_FREE char *path = storage_path(front);
    front->store = store_new(path, err);
    front->reader = front->store != NULL ? store_reader_new(path, err) : NULL;
    return front->reader != NULL ? 0 : err->code;
}

static bool
storage_destroy(front_t *front)
{
    store_reader_destroy(&front->reader);
    store_destroy(&front->store);
    free(storage_own(front)->trouble);
    return true;
}

static int64_t
storage_pause(const front_t *front)
{
    return (int64_t) (conf_float(front->conf, "loop_interval") * 1000);
}

static void
storage_tick(front_t *front, int64_t now_ms)
{
    storage_look(front);
}

static int
storage_fd(const front_t *front)
{
    return store_fd(front->store);
}

/* Clear the eventfd before looking, so that a commit meanwhile makes it readable again. */
static void
storage_readable(front_t *front)
{
    uint64_t n;
    (void) !read(store_fd(front->store), &n, sizeof(n));
    storage_look(front);
    hook_committed(front);
}

static void
storage_status(front_t *front, json_t *reply)
{
    store_stats_t st;
    store_get_stats(front->store, &st);
    json_object_set_new(reply, "expiring", json_boolean(st.expiring));
    json_t *counters = json_pack("{s:I, s:I, s:I, s:I}", "store_rows", (json_int_t) st.rows, "store_commits",
                                 (json_int_t) st.commits, "store_queued", (json_int_t) st.queued,
                                 "store_expired", (json_int_t) st.expired);
    (void) json_object_update_new(json_object_get(reply, "counters"), counters);
}

static void
storage_forgotten(front_t *front, const char *id)
{
    (void) store_del_minion(front->store, id); /* accepted however full the queue is */
}

const front_part_t part_storage = { .name = "storage",
                                    .size = sizeof(storage_t),
                                    .start = storage_start,
                                    .destroy = storage_destroy,
                                    .tick = storage_tick,
                                    .pause_ms = storage_pause,
                                    .fd = storage_fd,
                                    .readable = storage_readable,
                                    .forgotten = storage_forgotten,
                                    .status = storage_status };
