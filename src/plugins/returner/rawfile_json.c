/* rawfile_json.c - returner `rawfile_json`: a line of JSON for each return or event, at the end of a file.
 *
 * The lines of one call are one write under the file's lock. Of a write that the disk refuses nothing stays,
 * so that readers find whole lines and a repeat adds each once. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "plugins/lib/returner/retopts.h"

static const retopt_t options[] = { { "filename", NULL, "\"/var/log/salt/events\"" } };

/* Writes all of `lines` at the end of the open file, or nothing. 0 or a negative errno. */
static int
append_whole(int fd, const buf_t *lines)
{
    struct stat before;

    if (flock(fd, LOCK_EX) != 0 || fstat(fd, &before) != 0)
        return -errno;
    int rc = fs_write_all(fd, lines->data, lines->len);
    if (rc < 0 && S_ISREG(before.st_mode) && ftruncate(fd, before.st_size) != 0)
        return -errno;
    return rc;
}

/* Appends a line for each value. A file that can't be written is an error, and nothing of the call stays. */
static int
rawfile_write(call_ctx_t *ctx, const json_t *ret, const json_t *values, fail_t *err)
{
    json_auto_t *opts = retopts(ctx, "rawfile_json", ret, options, NELEMS(options));
    const char *path = value_str(opts, "filename", "");
    buf_auto_t lines = BUF_INIT;
    const json_t *one;
    size_t i;

    json_array_foreach ((json_t *) values, i, one) {
        AUTO_FREE char *text = ret_json(one);
        buf_puts(&lines, text);
        buf_putc(&lines, '\n');
    }
    if (lines.len == 0)
        return 0;
    AUTO_FD fd = fs_open_log(path, 0);
    int rc = fd < 0 ? fd : append_whole(fd, &lines);
    return rc < 0 ? fail_kind(err, FAIL_COMMAND, rc, "Could not write to rawdata_json file %s: %s", path,
                              strerror(-rc))
                  : 0;
}

static int
rawfile_returner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = value_get(args, "ret");
    json_auto_t *one = json_pack("[O]", ret);

    return rawfile_write(ctx, ret, one, err);
}

static int
rawfile_events(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return rawfile_write(ctx, NULL, value_get(args, "events"), err);
}

static const func_t funcs[] = { RET_ROW_RETURNER(rawfile_returner), RET_ROW_EVENTS(rawfile_events) };

PLUGIN(returner, rawfile_json, .doc = "Append returns and events to a file, a line of JSON each",
       FUNCS(funcs));
