/* sources.c - see sources.h. */
#include "plugins/lib/archive/sources.h"

#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/source.h"

json_t *
sources_listed(const json_t *sources)
{
    json_t *out = json_array(), *v;
    size_t i;

    if (!value_truthy(sources))
        return out;
    json_array_foreach (sources, i, v) {
        AUTO_FREE char *text = value_pystr(v);
        json_array_append_new(out, json_string(text));
    }
    if (json_is_array(sources))
        return out;
    AUTO_FREE char *text = value_pystr(sources);
    char **parts = str_split(text, ",", false);
    for (i = 0; parts[i] != NULL; i++)
        json_array_append_new(out, json_string(str_trim(parts[i])));
    strv_free(parts);
    return out;
}

json_t *
sources_expanded(const json_t *sources, fail_t *err)
{
    json_auto_t *list = sources_listed(sources);
    json_t *out = json_array(), *v;
    size_t i;

    json_array_foreach (list, i, v) {
        char **found = NULL;
        if (strpbrk(json_string_value(v), "*?[") == NULL) {
            json_array_append(out, v);
            continue;
        }
        int rc = fop_glob(json_string_value(v), &found, err);
        for (size_t k = 0; found != NULL && found[k] != NULL; k++)
            json_array_append_new(out, value_utf8(found[k], strlen(found[k])));
        strv_free(found);
        if (rc < 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

json_t *
sources_rendered(call_ctx_t *ctx, json_t *args, const char *first, const char *second, fail_t *err)
{
    const char *const names[] = { first, second };
    const char *engine = value_str(args, "template", "");
    json_t *out = json_object();

    if (*engine != '\0' && !template_known(engine)) {
        json_decref(out);
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Attempted to render file paths with unavailable engine %s", engine);
        return NULL;
    }
    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *v = value_get(args, names[i]);
        buf_auto_t text = BUF_INIT;
        fail_auto_t why = FAIL_INIT;
        if (*engine == '\0' || !json_is_string(v)) {
            json_object_set(out, names[i], v);
        } else if (template_render(ctx, args, NULL, json_string_value(v), json_string_length(v), &text,
                                   &why) < 0) {
            (void) fail_kind(err, FAIL_COMMAND, why.code, "Failed to render file path with error: %s",
                             fail_text(&why));
            json_decref(out);
            return NULL;
        } else {
            json_object_set_new(out, names[i], value_utf8(buf_str(&text), text.len));
        }
    }
    return out;
}
