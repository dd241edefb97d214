/* nftrules.h - rules of nftables: from keywords to a statement of nft(8), and statements in a form in which equal
 * ones are equal texts.
 *
 * nft joins its arguments to one text, in which ";" and a line break begin a further statement. So a value becomes
 * part of a statement only when it ends none: a name is one word, the value of a keyword has no braces but a
 * set's own, and a whole rule has ";" only between quotes.
 *
 * Layer      plugins/lib/net
 * Threads    any: pure functions
 * Ownership  results are NEW
 * Errors     NULL or negative with *err: FAIL_COMMAND
 * Tests      tests/unit/plugins/test_nftrules.c, with answers of Salt 3006 and nft 1.0.6
 */
#ifndef PLUGINS_LIB_NET_NFTRULES_H
#define PLUGINS_LIB_NET_NFTRULES_H

#include "salt/value.h"

/* Keywords of a rule, and those that states pass beside them: a row's `takes`. */
#define NFT_KEYWORDS                                                                                          \
    "if of proto state connstate match icmp-type icmpv6-type pkttype counter saddr source daddr destination " \
    "dport sport dports sports target jump j redirect-to to-port to-ports to-source to-destination "          \
    "reject-with chain table save"

/* nft's name of a family: "ip" for ipv4, ip4, ip; "ip6"; inet, arp, bridge, netdev. BORROWED. */
const char *nft_family(const char *given, fail_t *err);
/* 0 for "" and for what may be the name of a table, chain, hook or the like; `what` is for the error. */
int nft_need_name(const char *what, const char *value, fail_t *err);
/* Keywords to a rule, in Salt's words and order: "ct state { new } tcp dport { 22 } accept". `family` as nft
 * names it. */
char *nft_rule(const json_t *keywords, const char *family, fail_t *err);
/* The words that make a base chain of one: "{ type T hook H priority P; }" from table_type, hook and priority; "" without all
 * of them. *ret_whole is false when one of the three is missing. */
char *nft_base(const json_t *args, bool *ret_whole, fail_t *err);
/* The rule of a user as one statement for nft: quotes and backslashes of a shell's line become nft's quotes. */
char *nft_statement(const char *rule, fail_t *err);
/* A statement, or a rule that nft lists (without its handle), in one form: sets sorted, networks masked, no braces
 * around one element, no counts. */
char *nft_form(const char *rule);

#endif
