/* claim.c - see claim.h. */
#include "uplink/claim.h"

#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

json_t *
claim_grains(const conf_t *conf, const json_t *grains)
{
    json_t *claim = NULL, *one;
    size_t i;
    json_array_foreach (conf_get(conf, "autosign_grains"), i, one) {
        const char *name = json_string_value(one);
        json_t *v = name != NULL ? value_get(grains, name) : NULL;
        AUTO_FREE char *text = v != NULL ? value_pystr(v) : NULL;
        if (text == NULL)
            continue;
        if (strlen(name) > LIMIT_CLAIM_TEXT || strlen(text) > LIMIT_CLAIM_TEXT ||
            json_object_size(claim) >= LIMIT_CLAIM_GRAINS) {
            log_warning(
                "autosign_grains: the grain %.64s is left out: at most %d grains of %d bytes are told", name,
                LIMIT_CLAIM_GRAINS, LIMIT_CLAIM_TEXT);
            continue;
        }
        if (claim == NULL)
            claim = json_object();
        json_object_set_new(claim, name, json_string(text));
    }
    return claim;
}
