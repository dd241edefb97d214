/* doc.c - render a function's documentation in the shape of a Python docstring: indented, with a leading
 * empty line, so that sys.doc shows the same as Salt. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/plugin/call.h"

#define INDENT "    "

static void
plugin_doc_add_line(buf_t *out, const char *line, size_t len)
{
    if (len > 0)
        buf_puts(out, INDENT);
    buf_add(out, line, len);
    buf_putc(out, '\n');
}

/* `code_block` adds the reStructuredText directive that Salt's sources have before an example. */
static char *
shape_doc(const func_t *f, bool code_block)
{
    static const char directive[] = ".. code-block:: bash";
    buf_auto_t out = BUF_INIT;

    buf_putc(&out, '\n');
    for (const char *p = f->doc; *p != '\0';) {
        size_t len = strcspn(p, "\n");
        plugin_doc_add_line(&out, p, len);
        if (code_block && str_starts(p, "CLI Example") && len > 0 && p[len - 1] == ':') {
            plugin_doc_add_line(&out, "", 0);
            plugin_doc_add_line(&out, directive, strlen(directive));
        }
        p += len + (p[len] == '\n');
    }
    buf_puts(&out, INDENT);
    return buf_steal(&out);
}

char *
func_doc(const func_t *f)
{
    return shape_doc(f, false);
}

char *
func_docstring(const func_t *f)
{
    return shape_doc(f, true);
}
