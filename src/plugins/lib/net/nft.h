/* nft.h - the program nft, and what it lists: tables, chains and the handles of rules.
 *
 * Layer      plugins/lib/net
 * Threads    as the context
 * Ownership  results are NEW
 * Errors     NULL or negative with *err: the program is missing, or can't list what is there (its own words)
 * Tests      tests/cases/exec/nftables.*.json
 */
#ifndef PLUGINS_LIB_NET_NFT_H
#define PLUGINS_LIB_NET_NFT_H

#include "salt/plugin.h"

/* The place that a call is about. All BORROWED. */
typedef struct nft_place {
    const char *given, *family; /* as the user and as nft names it */
    const char *table, *chain;  /* "": none */
} nft_place_t;

/* From a function's arguments family, table and chain; names that are none are refused. */
int nft_place(const json_t *args, nft_place_t *ret_place, fail_t *err);

/* Words of a command line, of which "" are left out. */
#define NFT(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* The output of nft: text. */
json_t *nft_list(call_ctx_t *ctx, const char *const *words, fail_t *err);
/* The same of "--json": the list of objects. */
json_t *nft_objects(call_ctx_t *ctx, const char *const *words, fail_t *err);
/* Runs a command that changes something. 1 when nft took it, 0 when it complained, which is logged. */
int nft_change(call_ctx_t *ctx, const char *const *words, fail_t *err);

/* 1 when the family has the table, the table the chain; 0. */
int nft_table_there(call_ctx_t *ctx, const nft_place_t *p, fail_t *err);
int nft_chain_there(call_ctx_t *ctx, const nft_place_t *p, fail_t *err);
/* The handle of the chain's first rule that is the same as `rule`, in whatever words; "" when there is none. */
char *nft_rule_handle(call_ctx_t *ctx, const nft_place_t *p, const char *rule, fail_t *err);
/* The handle itself when the chain has a rule with it; "". */
char *nft_handle_there(call_ctx_t *ctx, const nft_place_t *p, const char *handle, fail_t *err);

/* The tables of a family: [{"family", "name", "handle"}]. */
json_t *nft_tables(call_ctx_t *ctx, const char *family, fail_t *err);
/* The same as texts that nft reads. */
json_t *nft_texts(call_ctx_t *ctx, const char *family, fail_t *err);
/* The rules of a family, as nft's JSON. */
json_t *nft_ruleset(call_ctx_t *ctx, const char *family, fail_t *err);
/* The chain as it is there: {"type", "hook", "prio", "policy", ...}; None without it. */
json_t *nft_chain(call_ctx_t *ctx, const nft_place_t *p, fail_t *err);

#endif
