/* template_bench.c - template speed: renders each template of a file for a while, compiled beforehand.
 *
 *   template_bench FILE CONTEXT MILLISECONDS
 *     prints {"NAME": [microseconds per render, length of the output], ...}
 */
#include "common/base/clock.h"
#include "common/jinja/jinja_salt.h"
#include "common/py/py_json.h"
#include "salt/value.h"

enum { BATCH = 20 };

/* The loader's callback: templates come from the case's "templates"; a compiled one is used again. */
static int
s_load(void *cookie, const char *name, py_t *globals, jinja_known_fn *known, void *known_cookie,
       jinja_file_t *ret, fail_t *err)
{
    const json_t *text = json_object_get(cookie, name);
    if (text == NULL)
        return -ENOENT;
    ret->path = xstrdup(name);
    ret->version = 1;
    if (known(known_cookie, name) == 1)
        return 0;
    ret->text = xstrdup(json_string_value(text));
    ret->len = json_string_length(text);
    return 0;
}

/* Renders once; false with a message on stderr when it fails. */
static bool
s_render(jinja_t *engine, const jinja_source_t *source, py_t *context, size_t *ret_len)
{
    buf_auto_t out = BUF_INIT;
    jinja_error_t e = JINJA_ERROR_INIT;
    int rc = jinja_render(engine, source, context, NULL, &out, &e);
    if (rc < 0)
        (void) fprintf(stderr, "template_bench: %s: %s\n", e.cls, e.message);
    jinja_error_free(&e);
    *ret_len = out.len;
    return rc == 0;
}

/* NEW [microseconds, length]: the best of several batches, as disturbances only ever slow a batch down. NULL:
 * the template fails. */
static json_t *
s_measure(json_t *c, py_t *context, int64_t ms)
{
    const char *text = value_str(c, "source", "");
    jinja_loader_t loader = { s_load, json_object_get(c, "templates") };
    jinja_options_t options;
    jinja_salt_options(&options, NULL, true);
    options.salt = options.sandboxed = false;
    options.tags = 0;
    options.autoescape = value_bool(c, "autoescape", false);
    jinja_t *engine = jinja_new(&options, &loader);
    const jinja_source_t source = { .text = text, .len = strlen(text), .cache_key = "main", .version = 1 };
    size_t len = 0;
    double best = 1e9;
    bool ok = s_render(engine, &source, context, &len);
    for (int64_t end = clock_mono_ms() + ms; ok && clock_mono_ms() < end;) {
        int64_t start = clock_mono_us();
        for (int i = 0; ok && i < BATCH; i++)
            ok = s_render(engine, &source, context, &len);
        double took = (double) (clock_mono_us() - start) / BATCH;
        best = took < best ? took : best;
    }
    jinja_destroy(&engine);
    return ok ? json_pack("[f, I]", best, (json_int_t) len) : NULL;
}

int
main(int argc, char **argv)
{
    if (argc != 4) {
        (void) fprintf(stderr, "usage: template_bench FILE CONTEXT MILLISECONDS\n");
        return 2;
    }
    json_auto_t *cases = json_load_file(argv[1], 0, NULL), *values = json_load_file(argv[2], 0, NULL);
    json_auto_t *out = json_object();
    AUTO(py) context = values != NULL ? py_from_json(values) : NULL;
    size_t i;
    json_t *c;
    json_array_foreach (cases, i, c) {
        json_t *row = context != NULL ? s_measure(c, context, strtol(argv[3], NULL, 10)) : NULL;
        if (row == NULL)
            return 1;
        json_object_set_new(out, value_str(c, "name", "?"), row);
    }
    (void) json_dumpf(out, stdout, 0);
    (void) printf("\n");
    return json_object_size(out) == 0;
}
