/* out.c - execution module `out`: data as the outputters print it, for templates and programs. Options that
 * the call gives stand in place of the configuration. Trouble with the data gives None, since a template that
 * logs should not fail. */
#include <unistd.h>

#include "common/base/str.h"
#include "common/output/output.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "plugins/lib/call/pyargs.h"
#include "salt/log.h"
#include "salt/plugin.h"

/* By the options' words, else whether somewhere a terminal is at the other end. */
static bool
wants_colours(const json_t *opts)
{
    const json_t *colour = value_get(opts, "color");

    if (value_truthy(value_get(opts, "force_color")))
        return true;
    if (value_truthy(value_get(opts, "no_color")))
        return false;
    return colour != NULL && !json_is_null(colour) ? value_truthy(colour) : isatty(STDOUT_FILENO) == 1;
}

/* Appends a text without the sequences that set colours: from an ESC to the next "m". Outputters may colour
 * by themselves even where no colour is asked for. */
static void
add_uncoloured(buf_t *out, const char *text)
{
    for (const char *end; *text != '\0'; text = end) {
        end = strchr(text, '\033');
        buf_add(out, text, end != NULL ? (size_t) (end - text) : strlen(text));
        if (end == NULL)
            return;
        const char *m = strchr(end, 'm');
        if (m == NULL) {
            buf_puts(out, end);
            return;
        }
        end = m + 1;
    }
}

/* Appends what the outputter makes of the data, without white space at its end. 0, or -1: the data are not to
 * be shown. An unknown outputter is logged, and `nested` takes its place. */
static int
add_shown(call_ctx_t *ctx, py_t *args, bool colours, buf_t *text)
{
    json_auto_t *opts = py_to_json(py_dict_gets(args, "opts")),
                *given = py_to_json(py_dict_gets(args, "kwargs"));
    json_auto_t *data = py_to_wire(py_dict_gets(args, "data"));
    const json_t *conf = json_object_size(opts) > 0 ? opts : ctx_opts(ctx);
    output_opts_t how = OUTPUT_OPTS_INIT;

    if (data == NULL || given == NULL)
        return -1;
    output_opts_read(&how, NULL, conf);
    /* The options' outputter has precedence over the call's, as with Salt, but for `highstate`, which comes
     * from state runs and would not fit other data. */
    const char *named = value_str(conf, "output", ""), *out = pyarg_text(args, "out", "nested");
    how.out = *named != '\0' && strcmp(named, "highstate") != 0 ? named : str_empty(out) ? "nested" : out;
    how.indent = (int) value_int(conf, "output_indent", OUTPUT_INDENT_DEFAULT);
    how.retcode = (int) value_int(given, "_retcode", 0);
    how.colour = colours && wants_colours(conf) ? PAINT_PLAIN : PAINT_NONE;
    if (!output_known(how.out)) {
        log_error("Invalid outputter %s specified, fall back to nested", how.out);
        how.out = "nested";
    }
    output_format(data, &how, text);
    if (text->len > 0 && text->data[text->len - 1] == '\n')
        text->data[--text->len] = '\0';
    return 0;
}

static py_t *
out_out_format(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    return add_shown(ctx, args, true, &text) == 0 ? py_str(buf_str(&text), text.len) : NULL;
}

static py_t *
out_string_format(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    buf_auto_t text = BUF_INIT, plain = BUF_INIT;

    if (add_shown(ctx, args, false, &text) < 0)
        return NULL;
    add_uncoloured(&plain, buf_str(&text));
    return py_str(buf_str(&plain), plain.len);
}

/* Blanks and line breaks as HTML shows them; other characters stay as they are, as by Salt. */
static py_t *
out_html_format(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    buf_auto_t text = BUF_INIT, plain = BUF_INIT;

    if (add_shown(ctx, args, false, &text) < 0)
        return NULL;
    add_uncoloured(&plain, buf_str(&text));
    AUTO_FREE char *spaced = str_replace(buf_str(&plain), " ", "&nbsp;"),
                   *html = str_replace(spaced, "\n", "<br />");
    return py_strz(html);
}

static const arg_t format_args[] = {
    ARG("data", ARG_ANY, ARG_REQUIRED, "The data"), ARG("out", ARG_ANY, "\"nested\"", "The outputter"),
    ARG("opts", ARG_ANY, "null",
        "Options of the output (state_output, output_indent, color, ...), in place of the minion's"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "For the outputter: _retcode", "_retcode *"), ARGS_END
};

static const func_t funcs[] = {
    { "html_format", NATIVE(out_html_format), format_args, FN_READONLY | FN_NATIVE,
      "Return data as an outputter prints them, as HTML: spaces and line breaks are replaced, nothing is escaped." CLI_EXAMPLE(
          "salt '*' out.html_format \"{'key': 'value'}\" out=yaml") },
    { "out_format", NATIVE(out_out_format), format_args, FN_READONLY | FN_NATIVE,
      "Return data as an outputter prints them." CLI_EXAMPLE(
          "salt '*' out.out_format \"{'key': 'value'}\"") },
    { "string_format", NATIVE(out_string_format), format_args, FN_READONLY | FN_NATIVE,
      "Return data as an outputter prints them, without colours." CLI_EXAMPLE(
          "salt '*' out.string_format \"{'key': 'value'}\" out=table") },
};

PLUGIN(exec, out, .doc = "Data as the outputters print them", FUNCS(funcs));
