/* iptrules.h - rules of iptables: from keywords to arguments, and from what iptables-save prints to values.
 *
 * Layer      plugins/lib/net
 * Threads    any: pure functions
 * Ownership  results are NEW
 * Errors     NULL with *err; a rule that can't be built is Salt's text "Error: ..."
 * Tests      tests/unit/plugins/test_iptrules.c, with answers recorded from Salt 3006
 */
#ifndef PLUGINS_LIB_NET_IPTRULES_H
#define PLUGINS_LIB_NET_IPTRULES_H

#include "salt/value.h"

/* Keywords in their order: "-m state --state NEW --jump ACCEPT". What a jump takes stands behind it, whatever
 * the order is. Keywords of states in general, and name, state, chain, save and table, are no part of a
 * rule. */
char *ipt_rule(const json_t *keywords);
/* The text of iptables-save as {table: {chain: {"policy", "packet count", "byte count", "rules": [{option:
 * [value]}], "rules_comment": {comment: rule}}}}. Options are those that iptables(8) and its extensions' page
 * name, others are left out. */
json_t *ipt_saved(const char *text, fail_t *err);
/* All rules of that value, in the order of tables and chains: a list of lists. */
json_t *ipt_all_rules(const json_t *tables);

#endif
