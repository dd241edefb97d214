/* key_detail.c - salt-key's question says of each key by what a person tells it from another one: its
 * fingerprint, from where its minion comes, and for how long it has been there. Only for who reads a terminal:
 * programs that answer for a person get the list that Salt shows. */
#include <unistd.h>

#include "cli/key_cli.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/cli/ttyguard.h"
#include "common/local/client.h"
#include "salt/value.h"

enum { AT_ONCE = 200, US_PER_S = 1000000, MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

/* Age in the largest unit of which it has two. NEW. */
char *
key_age(int64_t seconds)
{
    static const struct {
        int64_t length;
        const char *name;
    } units[] = { { DAY, "days" }, { HOUR, "hours" }, { MINUTE, "minutes" }, { 1, "seconds" } };
    size_t i = 0;

    while (i + 1 < NELEMS(units) && seconds < 2 * units[i].length)
        i++;
    int64_t n = seconds > 0 ? seconds / units[i].length : 0;
    return xasprintf("%lld %.*s", (long long) n, (int) strlen(units[i].name) - (n == 1), units[i].name);
}

/* Adds what the master knows of these ids to `seen`. A master that does not run or tell knows nothing. */
static void
ask_seen(local_client_t *line, const char *state, const json_t *ids, json_t *seen)
{
    size_t n = json_array_size(ids), i = 0;

    while (line != NULL && i < n) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *some = json_array(), *reply = NULL;
        for (; i < n && json_array_size(some) < AT_ONCE; i++)
            json_array_append(some, json_array_get(ids, i));
        json_t *request = json_pack("{s:s, s:s, s:O}", "op", "key_seen", "state", state, "ids", some);
        if (local_call(line, &request, &reply, &err) < 0)
            return;
        json_object_update(seen, value_get(reply, "keys"));
    }
}

/* "FINGERPRINT", and on a line of its own what is known of the minion. NEW. */
static json_t *
key_line_of(const key_cli_t *cli, const char *state, const char *id, const char *finger, const json_t *seen)
{
    const char *address = value_str(seen, "address", "an unknown address");
    int64_t since = value_int(seen, "since", 0), now = clock_wall_us() / US_PER_S;

    if (since == 0 && cli->store != NULL)
        since = keystore_since(cli->store, id, key_state_of_dir(state));
    AUTO_FREE char *age = since > 0 ? key_age(now - since) : NULL;
    return value_fmt("%s\n    from %s%s%s%s", str_empty(finger) ? "a key without a fingerprint" : finger,
                     address, age != NULL ? ", " : "", age != NULL ? age : "", age != NULL ? " ago" : "");
}

bool
key_details_wanted(const key_cli_t *cli)
{
    return !cli->structured && cli->show.output == NULL && cli->show.file == NULL &&
           isatty(ttyguard_fd(cli->prose)) == 1 && !value_bool(cli->values, "yes", false);
}

json_t *
key_details(const key_cli_t *cli, local_client_t *line, const json_t *chosen, const json_t *fingers)
{
    json_t *out = json_object(), *ids, *id;
    const char *state;
    size_t i;

    json_object_foreach ((json_t *) chosen, state, ids) {
        if (key_state_of_dir(state) == KEY_UNKNOWN) { /* names that are no ids */
            json_object_set(out, state, ids);
            continue;
        }
        json_auto_t *seen = json_object();
        json_t *rows = json_object();
        ask_seen(line, state, ids, seen);
        json_object_set_new(out, state, rows);
        json_array_foreach (ids, i, id) {
            const char *name = json_string_value(id);
            json_object_set_new(rows, name,
                                key_line_of(cli, state, name,
                                            value_str(json_object_get(fingers, state), name, ""),
                                            json_object_get(seen, name)));
        }
    }
    return out;
}
