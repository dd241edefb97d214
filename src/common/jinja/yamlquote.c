/* yamlquote.c - see yamlquote.h: named escapes, printable characters as they are, all else as numeric
 * escapes. */
#include "common/jinja/yamlquote.h"

#include "common/base/utf8.h"
#include "common/py/py_obj.h"

static void
yaml_quote(buf_t *out, const char *s, size_t len, bool ascii)
{
    static const char names[] = "\0"
                                "0\a"
                                "a\b"
                                "b\t"
                                "t\n"
                                "n\v"
                                "v\f"
                                "f\r"
                                "r\x1b"
                                "e\"\"\\\\";
    buf_putc(out, '"');
    for (const char *end = s + len; s < end;) {
        uint32_t cp = 0;
        size_t n = py_decode(s, &cp);
        const char *name = NULL;
        for (size_t i = 0; name == NULL && i + 1 < sizeof(names); i += 2)
            name = (uint32_t) (unsigned char) names[i] == cp ? &names[i + 1] : NULL;
        if (name != NULL)
            buf_printf(out, "\\%c", *name);
        else if (cp >= ' ' && cp <= '~')
            buf_putc(out, (char) cp);
        else if (!ascii && cp >= 0x80 && utf8_printable(cp))
            buf_add(out, s, n);
        else if (cp == 0x85 || cp == 0xa0)
            buf_printf(out, "\\%c", cp == 0x85 ? 'N' : '_');
        else if (cp == 0x2028 || cp == 0x2029)
            buf_printf(out, "\\%c", cp == 0x2028 ? 'L' : 'P');
        else
            buf_printf(out, cp <= 0xff ? "\\x%02X" : cp <= 0xffff ? "\\u%04X" : "\\U%08X", cp);
        s += n;
    }
    buf_putc(out, '"');
}

void
yaml_quote_ascii(buf_t *out, const char *s, size_t len)
{
    yaml_quote(out, s, len, true);
}

void
yaml_quote_text(buf_t *out, const char *s, size_t len)
{
    yaml_quote(out, s, len, false);
}
