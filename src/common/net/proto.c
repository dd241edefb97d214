/* proto.c - see proto.h. */
#include "common/net/proto.h"

#include "common/base/str.h"
#include "common/net/wire.h"
#include "salt/value.h"

#define RELEASE_BYTES "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-"

/* Describe a side: "protocol 1 (Halite 1.0.0)". NEW. */
static char *
side_text(proto_side_t side)
{
    if (str_empty(side.release))
        return xasprintf("protocol %lld", (long long) side.proto);
    return xasprintf("protocol %lld (Halite %s)", (long long) side.proto, side.release);
}

char *
proto_problem(proto_side_t minion, proto_side_t master)
{
    /* The numbers come from a peer: compare before subtracting, so that nothing overflows. */
    if (minion.proto >= WIRE_PROTO_FIRST && minion.proto <= master.proto &&
        master.proto - minion.proto <= WIRE_PROTO_BACK)
        return NULL;
    AUTO_FREE char *left = side_text(minion);
    AUTO_FREE char *right = side_text(master);
    return xasprintf("the minion speaks %s and the master %s: upgrade the %s", left, right,
                     minion.proto <= master.proto ? "minion" : "master");
}

void
proto_release(const json_t *body, char out[LIMIT_RELEASE])
{
    const char *text = value_str(body, "halite", "");

    if (text[strspn(text, RELEASE_BYTES)] != '\0' || !str_copy(out, LIMIT_RELEASE, text))
        out[0] = '\0';
}
