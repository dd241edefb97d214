/* debiface.h - /etc/network/interfaces (interfaces(5)) and what it includes, as Salt's module `ip` keeps them
 * on Debian: read into adapters, checked settings, and the text of an adapter.
 *
 * An adapter is {"enabled": true, "hotplug": true, "type": "eth", "data": {"inet": FAMILY, "inet6": FAMILY}},
 * a FAMILY {"addrfam", "proto", options with "_" for "-", "ethtool", "bonding", "bridging"}. The adapter
 * "source" has {"sources": [path]} as its data.
 *
 * Layer      plugins/lib/net
 * Threads    a job's child
 * Ownership  results are NEW
 * Errors     Salt's AttributeErrors: which interface, which option, what it may be
 * Tests      tests/cases/exec/ip.build_interface.json, tests/cases/state/network.managed.json
 */
#ifndef PLUGINS_LIB_NET_DEBIFACE_H
#define PLUGINS_LIB_NET_DEBIFACE_H

#include "common/base/buf.h"
#include "salt/value.h"

#define DEBIFACE_FILE "/etc/network/interfaces"
#define DEBIFACE_DIR  "/etc/network/interfaces.d/"

/* {name: adapter} of the files, in their order. */
json_t *debiface_read(fail_t *err);
/* Adds an adapter's text. */
void debiface_text(buf_t *out, const char *name, const json_t *adapter);
void debiface_source_text(buf_t *out, const json_t *adapter);
/* The file of a pppoe adapter below /etc/ppp/peers. */
void debiface_ppp_text(buf_t *out, const json_t *adapter);

/* The adapter that settings ask for. */
json_t *debiface_of(const char *iface, const char *type, bool enabled, const json_t *settings,
                    const json_t *grains, fail_t *err);
/* Options of parts of it, checked: {"link-speed": ...}, {"ports": ...}, {"mode": ...}, {"user": ...}. */
json_t *debopts_ethtool(const char *iface, const json_t *settings, fail_t *err);
json_t *debopts_bridge(const char *iface, const json_t *settings, fail_t *err);
json_t *debopts_bond(const char *iface, const json_t *settings, const json_t *grains, fail_t *err);
json_t *debopts_pppoe(const char *iface, const json_t *settings, fail_t *err);

/* True when some family has such an option, as the file spells it. */
bool debcheck_knows(const char *option);
/* The value as an option of the family takes it; *ret_valid is false when it may not have it. */
json_t *debcheck_value(const char *option, const char *family, const json_t *value, bool *ret_valid);

/* 1 for a word that Salt takes for true, 0 for false, -1 for any other value. */
int netword_truth(const json_t *value);
#define NETWORD_TRUTHS "yes|on|true|1|True|no|off|false|0|False"
/* True where Python's int(), or float(), takes the value; *ret_v is the number. */
bool netword_int(const json_t *value, json_int_t *ret_v);
bool netword_float(const json_t *value, double *ret_v);
/* "Invalid option -- Interface: ...". Returns NULL. */
json_t *netword_bad(fail_t *err, const char *iface, const char *option, const char *expected);

#endif
