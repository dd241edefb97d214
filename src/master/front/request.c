/* request.c - the shape of replies on the local socket: {"n", "ok", ...} or {"n", "ok": false, "error",
 * "code"}. */
#include "master/front/request.h"

#include "master/operators/lconn.h"
#include "salt/value.h"

json_t *
request_message(json_int_t n, json_t *reply, const fail_t *err)
{
    json_t *msg = reply != NULL ? reply : json_pack("{s:s, s:i}", "error", fail_text(err), "code", err->code);
    json_object_set_new(msg, "ok", json_boolean(reply != NULL));
    json_object_set_new(msg, "n", json_integer(n));
    return msg;
}

void
request_answer(lconn_t *c, json_int_t n, json_t *reply, const fail_t *err)
{
    json_auto_t *msg = request_message(n, reply, err);
    if (lconn_push(c, msg))
        return;
    json_auto_t *large = json_pack("{s:s, s:i, s:b, s:I}", "error",
                                   "the answer is too large: ask for fewer minions at once", "code",
                                   -EMSGSIZE, "ok", false, "n", n);
    (void) lconn_push(c, large);
}
