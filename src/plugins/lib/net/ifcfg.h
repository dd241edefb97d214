/* ifcfg.h - files of KEY=value that bring networks up: ifcfg-eth0 and its like of Red Hat (network-scripts)
 * and of SUSE (ifcfg(5)), as Salt's module `ip` keeps them there: settings are checked, and each line comes
 * of one.
 *
 * Options are the settings that were checked, by their names in ifcfg_line_t: {"name": "eth0", "proto":
 * "dhcp", ...}.
 *
 * Layer      plugins/lib/net
 * Threads    a job's child
 * Ownership  results are NEW
 * Errors     Salt's AttributeErrors: which interface, which option, what it may be
 * Tests      tests/cases/exec/ip.build_interface.json, tests/cases/state/network.managed.json
 */
#ifndef PLUGINS_LIB_NET_IFCFG_H
#define PLUGINS_LIB_NET_IFCFG_H

#include "common/base/buf.h"
#include "salt/plugin.h"

typedef enum ifcfg_form {
    IFCFG_TEXT,    /* Python's str() of the value */
    IFCFG_ZERO,    /* the same, 0 too */
    IFCFG_YES,     /* "yes" */
    IFCFG_WORDS,   /* a list, with blanks between */
    IFCFG_LIST,    /* a line for each: DNS1, DNS2 */
    IFCFG_PREFIXES /* IPADDR1 and PREFIX1 for each {"ipaddr", "prefix"} */
} ifcfg_form_t;

/* A line KEY=value of an option that is true. */
typedef struct ifcfg_line {
    const char *option, *key;
    char quote; /* around the value; 0: none */
    ifcfg_form_t form;
    const char *with; /* only where this option is true as well; NULL: always */
} ifcfg_line_t;

/* What the families have in common, and what not. Lists are "a|b|c", as errors name them. */
typedef struct ifcfg_family {
    const char *dir;    /* of the interfaces' files */
    const char *types;  /* of interfaces */
    const char *protos; /* the values of `proto` */
    const ifcfg_line_t *lines;
    size_t n_lines;
    bool suse; /* start modes for "onboot", both kinds of addresses in one list, slaves in the bond's file */
} ifcfg_family_t;

/* Scripts of the boot read these files as a shell's: settings that would end their quotes, or that a shell
 * would run, are refused. 0, or negative with *err. */
int ifcfg_check(const ifcfg_line_t *lines, size_t n, const json_t *settings, fail_t *err);
/* Adds the lines of the options. */
void ifcfg_text(buf_t *out, const ifcfg_line_t *lines, size_t n, const json_t *options);
/* The lines of a text without ends, and without the first empty one. */
json_t *ifcfg_lines(const char *text);
/* The same of a file; [] where there is none. */
json_t *ifcfg_file(const char *path, fail_t *err);
/* {key in small letters: value} of a file's lines KEY=value, quotes kept. */
json_t *ifcfg_values(const char *path, fail_t *err);
/* Settings with their names in small letters. */
json_t *ifcfg_small_keys(const json_t *settings);
/* Writes a file; its folder must be there. */
int ifcfg_put(const char *path, const buf_t *text, fail_t *err);
/* The text without the quotes around it; *ret_quote is the quote sign, 0: none. */
json_t *ifcfg_unquoted(const json_t *value, char *ret_quote);

/* ip.get_interface */
int ifcfg_get(const ifcfg_family_t *family, const json_t *args, json_t **ret_value, fail_t *err);

/* True for an address with a prefix of 1 bit up to all, which may be left out; `family` is AF_INET or
 * AF_INET6. */
bool ifcfg_is_address(int family, const json_t *value);
/* `routes` of the settings, each with an `ipaddr`, all checked to be words. BORROWED, or NULL with *err. */
json_t *ifcfg_routes(const json_t *args, fail_t *err);
/* Adds a member's text with one before and one behind it; false where there is none. */
bool ifcfg_member(buf_t *out, const char *before, const json_t *route, const char *key, const char *behind);

#endif
