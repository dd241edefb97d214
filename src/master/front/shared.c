/* shared.c - the tables and keys that all parts use: peers, the ZAP handler's accepted keys, key files, and
 * the audit log. The first part to start and the last to be destroyed. */
#include "master/front/part.h"

static int
shared_start(front_t *front, fail_t *err)
{
    front->peers = peers_new();
    front->audit = audit_new(conf_str(front->conf, "audit_log"));
    front->zap = zap_new(err);
    front->keystore = front->zap != NULL ? keystore_new(conf_str(front->conf, "pki_dir"), err) : NULL;
    return front->keystore != NULL ? 0 : err->code;
}

static bool
shared_destroy(front_t *front)
{
    zap_destroy(&front->zap);
    peers_destroy(&front->peers);
    keystore_destroy(&front->keystore);
    audit_destroy(&front->audit);
    return true;
}

static void
shared_reload(front_t *front)
{
    audit_reopen(front->audit, conf_str(front->conf, "audit_log"));
}

const front_part_t part_shared = {
    .name = "shared", .start = shared_start, .destroy = shared_destroy, .reload = shared_reload
};
