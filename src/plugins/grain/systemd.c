/* systemd.c - grain systemd: its version and what it was built with. */
#include "common/base/buf.h"
#include "common/host/proc.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

enum { TIMEOUT_MS = 10000 };

static int
systemd_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    AUTO_FREE char *systemctl = root_which(ctx->root, "systemctl"),
                   *localectl = root_which(ctx->root, "localectl");
    buf_auto_t printed = BUF_INIT;

    if (systemctl == NULL || localectl == NULL)
        return 0;
    AUTO_FREE char *program = root_path(ctx->root, systemctl);
    int rc = proc_output(&printed, TIMEOUT_MS, program, "--version", NULL);
    if (rc != 0 || printed.len == 0)
        return fail_set(err, rc < 0 ? rc : -EIO, "%s --version failed with %d", program, rc);
    char *at = printed.data, *first = line_next(&at),
         *features = line_next(&at); /* "systemd 252 (252.36-1)" */
    /* There is no line where a NUL is the first byte. */
    char **words = str_split(first != NULL ? first : "", " ", true);
    json_object_set_new(out, "systemd",
                        json_pack("{s:s, s:s}", "version", strv_len(words) > 1 ? words[1] : "", "features",
                                  features != NULL ? str_trim(features) : ""));
    strv_free(words);
    return 0;
}

static const char *const keys[] = { "systemd", NULL };

PLUGIN(grain, systemd, .doc = "The version of systemd and its features.", .collect = systemd_collect,
       .cost = GRAIN_SLOW, .keys = keys);
