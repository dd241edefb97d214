/* filtertext.h - comments of the states of packet filters, which Salt words alike.
 *
 * Layer      plugins/lib/net
 * Threads    any: pure functions
 * Ownership  results are NEW
 * Tests      through tests/cases/state/{iptables,nftables}.*.json
 */
#ifndef PLUGINS_LIB_NET_FILTERTEXT_H
#define PLUGINS_LIB_NET_FILTERTEXT_H

/* Parts of a comment. All BORROWED; NULL for what its pattern does not name. */
typedef struct filter_words {
    const char *name, *command, *table, *chain, *family, *other;
} filter_words_t;

/* The pattern with {n} for the name, {c} the command, {t} the table, {h} the chain, {f} the family, {o} the other. */
char *filter_text(const char *pattern, const filter_words_t *words);

#endif
