/* filtertext.c - see filtertext.h. */
#include "plugins/lib/net/filtertext.h"

#include "common/base/buf.h"

char *
filter_text(const char *pattern, const filter_words_t *words)
{
    buf_auto_t out = BUF_INIT;

    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '{') {
            buf_putc(&out, *pattern);
            continue;
        }
        const char *word = pattern[1] == 'n'   ? words->name
                           : pattern[1] == 'c' ? words->command
                           : pattern[1] == 't' ? words->table
                           : pattern[1] == 'h' ? words->chain
                           : pattern[1] == 'f' ? words->family
                                               : words->other;
        buf_puts(&out, word);
        pattern += 2;
    }
    return buf_steal(&out);
}
