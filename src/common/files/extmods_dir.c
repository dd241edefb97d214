/* extmods_dir.c - where the custom modules of a form are kept. */
#include "common/base/fs.h"
#include "common/files/extmods.h"

char *
extmods_dir(call_ctx_t *ctx, const char *form)
{
    const char *top = value_str(ctx_opts(ctx), "extension_modules", "");
    AUTO_FREE char *usual = *top ? NULL : fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "extmods");
    return fs_join(usual != NULL ? usual : top, form);
}
