/* fuzz_jinja.c - any text as a template: parsed, analysed and rendered with small limits. The first byte
 * chooses Salt's environment, autoescape and the block options.
 */
#include "common/jinja/jinja_salt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The loader: every name that begins with m is the template itself, so that it can include itself. */
static int
load_itself(void *cookie, const char *name, py_t *globals, jinja_known_fn *known, void *known_cookie,
            jinja_file_t *ret, fail_t *err)
{
    const jinja_source_t *main_source = cookie;
    if (name[0] != 'm')
        return -ENOENT;
    ret->path = xstrdup(name);
    ret->text = xstrndup(main_source->text, main_source->len);
    ret->len = strlen(ret->text);
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Inputs that would query the network or walk the disk are skipped. */
    if (size == 0 || size > 4096 || memmem(data, size, "dns_check", 9) != NULL ||
        memmem(data, size, "list_files", 10) != NULL)
        return 0;
    jinja_source_t source = { .text = (const char *) data + 1, .len = size - 1 };
    const jinja_loader_t loader = { load_itself, &source };
    jinja_options_t options;
    jinja_salt_options(&options, NULL, (data[0] & 1) != 0);
    options.salt = (data[0] & 2) == 0;
    options.autoescape = (data[0] & 4) != 0;
    options.syntax.trim_blocks = (data[0] & 8) != 0;
    options.syntax.lstrip_blocks = (data[0] & 16) != 0;
    options.syntax.line_statement = (data[0] & 32) != 0 ? "%" : NULL;
    options.output = 20000;
    options.bytes = 4 << 20;
    options.steps = 20000;
    options.time_ms = 2000;
    jinja_t *engine = jinja_new(&options, &loader);
    buf_auto_t out = BUF_INIT;
    jinja_error_t e = JINJA_ERROR_INIT;
    AUTO(py) context = py_dict();
    py_dict_sets_new(context, "s", py_strz("text"));
    py_dict_sets_new(context, "n", py_int(42));
    py_dict_sets_new(context, "l", py_list());
    py_dict_sets_new(context, "d", py_dict());
    if (jinja_salt_render(engine, &source, context, &out, &e) < 0) {
        jinja_told_t told;
        jinja_salt_tell(&e, source.text, source.len, NULL, &told);
        jinja_told_free(&told);
    }
    jinja_error_free(&e);
    jinja_destroy(&engine);
    return 0;
}
