/* store.c - runner `store`: copies of what the master must not forget, while it runs: backup, check, restore.
 * Long work reports its progress and ends when the master does. */
#include "common/base/clock.h"
#include "master/api.h"
#include "runners/lib/keyfiles.h"
#include "salt/plugin.h"

#define TELL_MS 250 /* between two lines of progress */

typedef struct store_work {
    call_ctx_t *ctx;
    const char *keys; /* the archive of keys that belongs to it; NULL: none */
    int64_t told_ms;
} store_work_t;

/* A master that ends waits for nobody's copy. */
static bool
runners_store_go_on(void *cookie, uint64_t done, uint64_t of, const char *what)
{
    store_work_t *self = cookie;
    int64_t now = clock_mono_ms();

    if (now - self->told_ms < TELL_MS)
        return true;
    self->told_ms = now;
    ctx_progress(self->ctx, (size_t) done, (size_t) of, "%s", what);
    return api_alive(api_of(self->ctx));
}

static int
save_keys(void *cookie, fail_t *err)
{
    store_work_t *self = cookie;

    return self->keys != NULL ? keyfiles_save(self->ctx, self->keys, err) : 0;
}

static api_watch_t
runners_store_watch_of(store_work_t *work)
{
    return (api_watch_t){ .go_on = runners_store_go_on, .whole = save_keys, .cookie = work };
}

/* ---- backup ---------------------------------------------------------------------------------- */

static int
store_backup_(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *to = value_str(args, "path", "");
    AUTO_FREE char *keys = value_bool(args, "keys", false) ? xasprintf("%s.keys.tar", to) : NULL;
    store_work_t work = { .ctx = ctx, .keys = keys };
    const api_watch_t watch = runners_store_watch_of(&work);

    *ret_value = api_backup(api_of(ctx), to, &watch, err);
    if (*ret_value == NULL)
        return -EIO;

    /* Reports what the file leaves out, and which command saves that. */
    json_t *out = *ret_value;
    AUTO_FREE char *signing = keyfiles_signing(ctx), *command = keyfiles_command(ctx, to);
    if (keys != NULL) {
        json_object_set_new(out, "keys", json_string(keys));
        json_object_set_new(out, "signing key", json_string(signing));
    }
    json_object_set_new(
        out, "left out",
        keys != NULL
            ? json_string("the configuration, file_roots, pillar_roots, and files that minions have pushed")
            : value_fmt(
                  "the keys, without which no minion knows a new master: add keys=True, "
                  "or as root: %s; the configuration, file_roots, pillar_roots, and files that minions have pushed",
                  command));

    return 0;
}

/* ---- check ----------------------------------------------------------------------------------- */

/* NEW text: what to do about it. */
static json_t *
advice(const json_t *found, bool own)
{
    json_int_t size = value_int(found, "size", 0), room = value_int(found, "free", 0);

    if (json_array_size(value_get(found, "damage")) > 0 && own)
        return json_string(
            "The store is damaged. Restore the newest backup (salt-run store.restore PATH, then restart "
            "the master): it keeps this store beside. See docs/backup.md.");
    if (json_array_size(value_get(found, "damage")) > 0)
        return json_string("This file is damaged. Take an older backup, and make a new one of the store.");
    if (room < size)
        return value_fmt(
            "There are %lld MB free, less than the store has: make room, or lower keep_jobs_seconds or "
            "keep_jobs_bytes. See docs/full-disk.md.",
            (long long) (room >> 20));
    if (value_get(found, "waits") != NULL)
        return json_string(
            "A backup waits to take the store's place: restart the master, or remove the file.");
    return json_string("Nothing needs to be done.");
}

static int
store_check_(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", NULL);
    store_work_t work = { .ctx = ctx };
    const api_watch_t watch = runners_store_watch_of(&work);
    json_t *found = api_check(api_of(ctx), path, value_bool(args, "full", false), &watch, err);

    if (found == NULL)
        return -EIO;
    bool whole = json_array_size(value_get(found, "damage")) == 0;
    json_object_set_new(found, "result", json_boolean(whole));
    json_object_set_new(found, "advice", advice(found, path == NULL));
    ctx_set_retcode(ctx, whole ? 0 : 1);
    *ret_value = found;
    return 0;
}

/* ---- restore --------------------------------------------------------------------------------- */

/* Only places the backup for the next start; the present store is kept beside. */
static int
store_restore_(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    store_work_t work = { .ctx = ctx };
    const api_watch_t watch = runners_store_watch_of(&work);
    json_t *out = api_restore(api_of(ctx), value_str(args, "path", ""), &watch, err);

    if (out == NULL)
        return -EIO;
    const json_t *after = value_get(out, "after");
    json_object_set_new(
        out, "after",
        after != NULL
            ? value_fmt("%lld jobs and %lld returns of the present store are not in the backup, and what "
                        "comes until the restart; they stay in the file that is kept",
                        (long long) value_int(after, "jobs", 0), (long long) value_int(after, "returns", 0))
            : json_string("the present store can't be read, so it is not known how much of it is not "
                          "in the backup; it is kept all the same"));
    json_object_set_new(
        out, "next",
        value_fmt("The backup takes the store's place when the master starts the next time: restart it. "
                  "To call it off, remove %s.",
                  value_str(out, "waits", "")));
    *ret_value = out;
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t backup_args[] = { ARG("path", ARG_STR, ARG_REQUIRED, "The file to make"),
                                     ARG("keys", ARG_BOOL, "false", "Save the folder of keys, too"),
                                     ARGS_END };
static const arg_t check_args[] = { ARG("path", ARG_STR, "null", "A backup; the store itself by default"),
                                    ARG("full", ARG_BOOL, "false", "Compare indexes with tables, too"),
                                    ARGS_END };
static const arg_t restore_args[] = { ARG("path", ARG_STR, ARG_REQUIRED, "The backup"), ARGS_END };

static const func_t funcs[] = {
    { "backup", store_backup_, backup_args, FN_ACCESS_ADMIN,
      "Make a copy of the job store (jobs, returns, events, orchestrations, what is known of minions) as "
      "of this moment, while the master works. The copy is looked at before it has its name.\n\npath\n    "
      "The file, by its whole path, in a folder that the master's user may write into. It must not be "
      "there.\n\nkeys : False\n    Save the folder of keys beside it, as PATH.keys.tar. Who has that file "
      "can be this master." CLI_EXAMPLE(
          "salt-run store.backup /var/lib/salt/jobs.backup\n    salt-run store.backup "
          "/var/lib/salt/jobs.backup "
          "keys=True") },
    { "check", store_check_, check_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Look whether the job store, or a backup of it, is whole, and say how much is in it and what to "
      "do.\n\nfull : False\n "
      "   Compare indexes with tables, too, which takes longer." CLI_EXAMPLE(
          "salt-run store.check\n    salt-run store.check /var/lib/salt/jobs.backup") },
    { "restore", store_restore_, restore_args, FN_ACCESS_ADMIN,
      "Look at a backup and lay it beside the job store, whose place it takes when the master starts the "
      "next time. The "
      "present store is kept." CLI_EXAMPLE("salt-run store.restore /var/lib/salt/jobs.backup") },
};

PLUGIN(runner, store, .doc = "Backups of the job store", FUNCS(funcs));
