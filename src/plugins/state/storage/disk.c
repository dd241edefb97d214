/* disk.c - state module `disk`: used and free space of a file system, watched. It changes nothing: the state
 * fails outside its bounds. The name is a mount point of df, or any folder, whose file system is asked for
 * then. */
#include <math.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* A bound that is given, as a number. */
typedef struct bound {
    bool given;
    long long value;
} bound_t;

/* Space in use and left: per cent, or KB. */
typedef struct space {
    double used, available;
    bool whole; /* whole numbers */
} space_t;

/* "79%", "1024 KB" or a number; adds to the comment what is wrong with it. */
static bound_t
take_bound(const json_t *args, const char *name, bool absolute, buf_t *comment)
{
    json_t *v = value_get(args, name);
    bound_t bound = { .given = !json_is_null(v) };
    AUTO_FREE char *text = json_is_real(v) ? xasprintf("%.0f", trunc(json_real_value(v))) : value_pystr(v);
    char *from = text + strspn(text, absolute ? " KB" : " %");

    for (size_t n = strlen(from); n > 0 && strchr(absolute ? " KB" : " %", from[n - 1]) != NULL; n--)
        from[n - 1] = '\0';
    if (!bound.given)
        return bound;
    if (!str_to_int(from, INT64_MIN, INT64_MAX, &bound.value))
        buf_printf(comment, "%s must be an integer ", name);
    else if (!absolute && (bound.value < 0 || bound.value > 100))
        buf_printf(comment, "%s must be in the range [0, 100] ", name);
    return bound;
}

/* Compares the space with the bounds. Percentages have a decimal only where a folder is asked for. */
static int
judge_space(json_t *ret, const json_t *args, space_t space, bound_t low, bound_t high)
{
    bool absolute = value_truthy(value_get(args, "absolute")),
         free_space = value_truthy(value_get(args, "free"));
    const char *unit = absolute ? "KB" : "%", *what = free_space ? "available" : "used";
    double now = free_space ? space.available : space.used;
    AUTO_FREE char *shown = space.whole ? xasprintf("%.0f", now) : value_float_repr(now);

    if (low.given && now < (double) low.value)
        return state_ret_set(ret, STATE_FALSE, "Disk %s space is below minimum of %lld %s at %s %s", what,
                             low.value, unit, shown, unit);
    if (high.given && now > (double) high.value)
        return state_ret_set(ret, STATE_FALSE, "Disk %s space is above maximum of %lld %s at %s %s", what,
                             high.value, unit, shown, unit);
    return state_ret_set(ret, STATE_TRUE, "Disk used space in acceptable range");
}

/* A number of the module, which may be a text ("79%"). */
static double
disk_number(const json_t *v)
{
    AUTO_FREE char *text = value_pystr(v);

    return strtod(text, NULL);
}

/* One decimal, as Python's round(). */
static double
disk_per_cent(double part, double total)
{
    AUTO_FREE char *text = xasprintf("%.1f", part / total * 100);

    return strtod(text, NULL);
}

/* Name is a mount point, or any folder of a file system. Bounds are per cent unless absolute asks for
 * kilobytes. */
static int
disk_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool absolute = value_truthy(value_get(args, "absolute"));
    json_t *ret = *ret_value = state_ret_args(args);
    buf_auto_t comment = BUF_INIT;
    bound_t high = take_bound(args, "maximum", absolute, &comment);
    bound_t low = take_bound(args, "minimum", absolute, &comment);

    json_object_set_new(ret, "data", json_object());
    if (comment.len == 0 && low.given && high.given && low.value >= high.value)
        buf_puts(&comment, "minimum must be less than maximum ");
    if (comment.len > 0)
        return state_ret_set(ret, STATE_FALSE, "%s", buf_str(&comment));
    json_auto_t *all = sub_call(ctx, err, "disk.usage", NULL);
    json_t *one = value_get(all, value_str(args, "name", ""));
    if (all == NULL)
        return err->code;
    if (one == NULL) {
        /* The space of the file system that a folder is on. */
        const char *name = value_str(args, "name", "");
        space_t here = { .whole = value_truthy(value_get(args, "absolute")) };
        if (fs_look_dir(name, err) <= 0)
            return err->code < 0
                       ? err->code
                       : state_ret_set(ret, STATE_FALSE,
                                       "Disk mount %s not present. Directory %s does not exist or is not a "
                                       "directory",
                                       name, name);
        json_auto_t *words = json_pack("[s]", name), *data = NULL;
        if (ctx_call(ctx, "status.diskusage", words, NULL, &data, err) < 0)
            return err->code;
        double total = disk_number(value_get(value_get(data, name), "total"));
        double left = disk_number(value_get(value_get(data, name), "available"));
        here.used = here.whole ? total - left : total > 0 ? disk_per_cent(total - left, total) : 0;
        here.available = here.whole ? left : total > 0 ? disk_per_cent(left, total) : 0;
        here.whole = here.whole || total <= 0;
        json_object_set(ret, "data", data);
        return judge_space(ret, args, here, low, high);
    }
    json_object_set(ret, "data", one);
    double used = disk_number(value_get(one, absolute ? "used" : "capacity"));
    space_t space = { used, absolute ? disk_number(value_get(one, "available")) : 100 - used, true };
    return judge_space(ret, args, space, low, high);
}

static const arg_t status_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Where it is mounted, or a folder"),
    ARG("maximum", ARG_ANY, "null", "No more than this: 79%, 1048576 KB"),
    ARG("minimum", ARG_ANY, "null", "No less than this"),
    ARG("absolute", ARG_ANY, "false", "In KB, not per cent"),
    ARG("free", ARG_ANY, "false", "Of the free space, not the used"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "status", disk_status, status_args, FN_READONLY, "Ensure that used or free space is between bounds." },
};

PLUGIN(state, disk, .doc = "Space of file systems, watched", FUNCS(funcs));
