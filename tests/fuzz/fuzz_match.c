/* fuzz_match.c - targets of every type from hostile text. The first byte chooses the type (and a delimiter),
 * a NUL ends the expression, and the minion's id follows.
 */
#include "common/match/match.h"
#include "salt/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NEW grains and pillar to match against. */
static json_t *
subject_data(void)
{
    return json_pack("{s:s, s:[s, s], s:{s:{s:s}, s:[{s:s}]}, s:i, s:b, s:n, s:[s], s:[s], s:f}", "os",
                     "Debian", "roles", "web", "db", "a", "b", "c", "d", "e", "f", "g", "n", 5, "t", 1, "z",
                     "ipv4", "10.0.0.1", "ipv6", "::1", "r", 1.5);
}

/* NEW node groups, one of which refers to itself. */
static json_t *
node_groups(void)
{
    return json_pack("{s:s, s:s, s:s, s:[s, s, s]}", "a", "web* or N@b", "b", "L@web1,web2", "loop", "N@loop",
                     "l", "web1", "and", "N@a");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 4096)
        return 0;
    AUTO_FREE char *text = xstrndup((const char *) data + 1, size - 1);
    size_t len = strlen(text);
    AUTO_FREE char *id = len + 2 < size ? xstrndup((const char *) data + len + 2, size - len - 2)
                                        : xstrdup("web1");
    json_auto_t *known = subject_data(), *groups = node_groups(), *expr = json_string(text);
    match_subject_t subject = { id, known, known, NULL };
    tgt_type_t type = (tgt_type_t) (data[0] % TGT_TYPES);
    fail_auto_t err = FAIL_INIT;

    match_glob(text, id);
    if (expr == NULL)
        return 0;
    target_t *target = target_new(expr, type, groups, data[0] & 0x80 ? "|" : NULL, &err);
    salt_assert((target == NULL) == (err.code != 0));
    if (target != NULL) {
        json_decref(target_ids(target));
        target_match(target, &subject);
    }
    target_destroy(&target);
    return 0;
}
