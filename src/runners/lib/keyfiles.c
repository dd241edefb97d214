/* keyfiles.c - see keyfiles.h. pki_dir is archived by tar into a part file of mode 0600, which is renamed
 * when complete. */
#include "runners/lib/keyfiles.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/proc.h"

#define TAR_MS 600000 /* for the archive */

static const char *
pki_dir(call_ctx_t *ctx)
{
    return value_str(ctx_opts(ctx), "pki_dir", "");
}

int
keyfiles_save(call_ctx_t *ctx, const char *to, fail_t *err)
{
    AUTO_FREE char *part = xasprintf("%s.part", to);
    /* Ours before tar writes into it, and for nobody else to read. */
    (void) unlink(part);
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return fail_set(err, -errno, "%s: %s; the master's user must be able to write into the folder", part,
                        strerror(errno));
    close(fd);
    int rc = 0;

    /* Runs tar on the folder. */
    const char *const argv[] = { "tar", "--create", "--file", part, "--directory", pki_dir(ctx), ".", NULL };
    proc_spec_t spec = PROC_SPEC_INIT;
    proc_result_t done = { 0 };
    spec.argv = (char *const *) argv;
    spec.timeout_ms = TAR_MS;
    spec.merge_stderr = true;
    rc = proc_run(&spec, &done, err);
    if (rc == 0 && done.status != 0)
        rc = fail_set(err, -EIO, "%s: tar: %s", part, buf_str(&done.out));
    proc_result_free(&done);

    if (rc < 0)
        (void) unlink(part);
    return rc < 0 ? rc : fs_settle_new(part, to, err);
}

/* A text about the signing key, for the operator. NEW. */
char *
keyfiles_signing(call_ctx_t *ctx)
{
    AUTO_FREE char *name = xasprintf("%s/%s.pem", pki_dir(ctx),
                                     value_str(ctx_opts(ctx), "master_sign_key_name", "master_sign"));

    if (fs_exists(name))
        return xasprintf("%s: among the keys; who has it and master.pem is the master for every minion",
                         name);
    return xasprintf("not in %s: if there is one, keep a copy of it where it lies", pki_dir(ctx));
}

/* Command that archives the keys by hand. NEW. */
char *
keyfiles_command(call_ctx_t *ctx, const char *to)
{
    return xasprintf("(umask 077; tar --create --file %s.keys.tar --directory %s .)", to, pki_dir(ctx));
}
