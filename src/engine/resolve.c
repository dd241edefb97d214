/* resolve.c - see resolve.h.
 *
 * A profile, or an option that a driver reads, may itself have an address: those of the environment are asked
 * for first, then those of files, then all others. */
#include "engine/resolve.h"

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "plugins/lib/sdb/sdb.h"
#include "salt/value.h"

enum { TIER_ENVIRONMENT, TIER_FILES, TIER_OTHERS, TIERS };

typedef struct resolve {
    call_ctx_t *ctx;
    json_t *opts;
    const char *option; /* whose addresses are asked for */
    bool own;           /* an option of the table, which must have a value */
    int tier, fd;
    json_t *found;  /* {option: value} */
    json_t *failed; /* the answer when a value can't be had */
} resolve_t;

static int
resolve_say(const resolve_t *self, const json_t *line, fail_t *err)
{
    char *text = value_dump(line);
    char *full = xasprintf("%s\n", text);
    int rc = fs_write_all(self->fd, full, strlen(full));

    explicit_bzero(full, strlen(full));
    explicit_bzero(text, strlen(text));
    free(full);
    free(text);
    return rc < 0 ? fail_set(err, rc, "standard output: %s", strerror(-rc)) : 0;
}

/* The profile of an address, BORROWED; NULL when the configuration has none. */
static const json_t *
resolve_profile(const resolve_t *self, const char *address)
{
    const char *name = address + strlen("sdb://"), *slash = strchr(name, '/');

    if (slash == NULL || slash[1] == '\0')
        return NULL;
    AUTO_FREE char *key = xstrndup(name, (size_t) (slash - name));
    const json_t *profile = value_get(self->opts, key);
    return json_is_string(value_get(profile, "driver")) ? profile : NULL;
}

static int
resolve_tier(const resolve_t *self, const char *address)
{
    const char *driver = value_str(resolve_profile(self, address), "driver", "");

    return str_eq(driver, "env")                                 ? TIER_ENVIRONMENT
           : str_eq(driver, "yaml") || str_eq(driver, "sqlite3") ? TIER_FILES
                                                                 : TIER_OTHERS;
}

/* NULL. */
static json_t *
resolve_fail(resolve_t *self, const char *address, const char *why)
{
    if (self->failed == NULL)
        self->failed = json_pack("{s:s, s:s, s:s}", "option", self->option, "address", address, "why", why);
    return NULL;
}

/* The value at an address: NEW, or NULL with `failed`. Without a profile in the configuration, an option of a
 * module keeps the address, as with Salt: config.get finds profiles of the pillar, too. */
static json_t *
resolve_one(resolve_t *self, const char *address)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *begin = json_pack("{s:s, s:s}", "option", self->option, "address", address);

    if (resolve_profile(self, address) == NULL)
        return self->own ? resolve_fail(self, address,
                                        "the part before the / names no profile, which is an option of this "
                                        "configuration with a driver")
                         : json_string(address);
    if (resolve_say(self, begin, &err) < 0)
        return resolve_fail(self, address, fail_text(&err));
    AUTO(py) uri = py_strz(address);
    AUTO(py) said = sdb_get(self->ctx, uri, true, &err);
    json_t *value = said != NULL ? py_to_json(said) : NULL;
    if (value == NULL)
        return resolve_fail(self, address, py_raised() != NULL ? py_raised_text() : fail_text(&err));
    if (!json_is_null(value) || !self->own)
        return value;
    json_decref(value);
    return resolve_fail(self, address, "its store has none there; put it in, or write the value itself");
}

/* NEW value with what the addresses of this tier stand for; NULL with `failed`. */
static json_t *
resolve_value(resolve_t *self, json_t *v)
{
    json_auto_t *out = json_is_array(v) || json_is_object(v) ? json_copy(v) : NULL;
    const char *key, *address = json_is_string(v) ? conf_address(v) : NULL;
    json_t *one;
    size_t i;

    if (address != NULL && resolve_tier(self, address) == self->tier)
        return resolve_one(self, address);
    if (out == NULL)
        return json_incref(v);
    json_array_foreach (v, i, one) {
        json_t *now = resolve_value(self, one);
        if (now == NULL)
            return NULL;
        json_array_set_new(out, i, now);
    }
    json_object_foreach (v, key, one) {
        json_t *now = resolve_value(self, one);
        if (now == NULL)
            return NULL;
        json_object_set_new(out, key, now);
    }
    return STEAL(out);
}

/* Goes through the options of a list. 0, or -ENOENT with `failed`. */
static int
resolve_options(resolve_t *self, const json_t *names, json_t *values)
{
    json_t *name;
    size_t i;

    json_array_foreach ((json_t *) names, i, name) {
        self->option = json_string_value(name);
        json_t *v = resolve_value(self, value_get(values, self->option));
        if (v == NULL)
            return -ENOENT;
        if (!self->own || conf_address(v) == NULL)
            json_object_set(self->opts, self->option, v);
        json_object_set(self->found, self->option, v);
        json_object_set_new(values, self->option, v);
    }
    return 0;
}

int
resolve_run(call_ctx_t *ctx, json_t *opts, json_t *question, int fd, fail_t *err)
{
    json_t *values = value_get(question, "values");
    json_auto_t *found = json_object();
    resolve_t self = { .ctx = ctx, .opts = opts, .found = found, .fd = fd };
    const struct {
        const char *list;
        bool own;
    } lists[] = { { "own", true }, { "others", false } };

    for (self.tier = 0; self.tier < TIERS && self.failed == NULL; self.tier++) {
        for (size_t i = 0; i < NELEMS(lists) && self.failed == NULL; i++) {
            self.own = lists[i].own;
            (void) resolve_options(&self, value_get(question, lists[i].list), values);
        }
    }
    json_auto_t *answer = self.failed != NULL ? self.failed : json_pack("{s:O}", "values", found);
    return resolve_say(&self, answer, err);
}
