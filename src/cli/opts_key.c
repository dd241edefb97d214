/* opts_key.c - options of salt-key. */
#include "cli/opts.h"

static const opt_row_t rows[] = {
    { "-q --quiet", OPT_FLAG, .help = "Print nothing." },
    { "-y --yes", OPT_FLAG, .help = "Answer every question with yes." },
    { "-u --user", OPT_STR, .help = "Work as this user. Default: 'user' of the configuration." },
    { "--hard-crash", OPT_FLAG, .idle = "an error never ends with a traceback" },
    { "--rotate-aes-key", OPT_STR, .idle = "there is no key that minions share" },
    { "--preserve-minions", OPT_STR, .idle = "no minion's key goes with another one's" },
    OPT_ROW_END
};

static const opt_row_t actions[] = {
    { "Actions", OPT_GROUP, .help = NULL },
    { "-l --list", OPT_STR, .once = true, .metavar = "ARG",
      .help = "List keys: 'pre', 'un' or 'unaccepted' those that wait, 'acc' or 'accepted' those that are "
              "accepted, 'rej' or 'rejected' and 'den' or 'denied' the others, 'all' every one." },
    { "-L --list-all", OPT_FLAG, .help = "List all keys, as '--list all'." },
    { "-a --accept", OPT_STR, .once = true,
      .help = "Accept a key that waits, by id or glob. Rejected and denied ones need --include-rejected and "
              "--include-denied." },
    { "-A --accept-all", OPT_FLAG, .help = "Accept all keys that wait." },
    { "-r --reject", OPT_STR, .once = true,
      .help = "Reject a key that waits, by id or glob. Accepted and denied ones need --include-accepted and "
              "--include-denied." },
    { "-R --reject-all", OPT_FLAG, .help = "Reject all keys that wait." },
    { "--include-all", OPT_FLAG, .help = "Accept rejected keys and reject accepted ones, too." },
    { "--include-accepted", OPT_FLAG, .help = "Reject accepted keys, too." },
    { "--include-rejected", OPT_FLAG, .help = "Accept rejected keys, too." },
    { "--include-denied", OPT_FLAG, .help = "Accept or reject denied keys, too." },
    { "-p --print", OPT_STR, .once = true, .help = "Print a public key, by id or glob." },
    { "-P --print-all", OPT_FLAG, .help = "Print all public keys." },
    { "-d --delete", OPT_STR, .once = true, .help = "Delete a key, by id or glob." },
    { "-D --delete-all", OPT_FLAG, .help = "Delete all keys." },
    { "-f --finger", OPT_STR, .once = true, .help = "Print a key's fingerprint, by id or glob." },
    { "-F --finger-all", OPT_FLAG, .help = "Print the fingerprints of all keys, the master's own included." },
    { "--import-salt", OPT_STR, .once = true, .metavar = "DIR",
      .help =
          "Expect the minions that a Salt master had accepted, by its pki folder: "
          "/etc/salt/pki/master/salt-rsa "
          "where Halite has moved it. Their new keys wait as others do, and --list marks them (expected)." },
    { "--fingers", OPT_STR, .metavar = "FILE",
      .help =
          "With --import-salt: lines 'ID: FINGERPRINT' of the minions' new keys, as a job on the Salt side "
          "collects them (--out=txt). An expected key whose fingerprint agrees is accepted at once." },
    { "--rotate-master-key", OPT_FLAG,
      .help =
          "Give the master a new key, which its signing key vouches for: minions that know the signing key "
          "take it by themselves, those that are off now when they are back." },
    { "Key Generation Options", OPT_GROUP, .help = NULL },
    { "--gen-keys", OPT_STR, .help = "Make a key pair of this name for a minion to come." },
    { "--gen-keys-dir", OPT_STR, .help = "Folder for that key pair. Default: '.'." },
    { "--keysize", OPT_INT, .idle = "keys are X25519's, of one size" },
    { "--gen-signature", OPT_FLAG,
      .help = "Have the signing key vouch for the master's key, for the option master_use_pubkey_signature: "
              "writes the file master_pubkey_signature." },
    { "--priv", OPT_STR, .help = "The private signing key's file. Default: master_sign.pem in pki_dir." },
    { "--pub", OPT_STR,
      .help = "The public key's file that is vouched for. Default: master.pub in pki_dir." },
    { "--signature-path", OPT_STR, .help = "The folder for the signature. Default: pki_dir." },
    { "--auto-create", OPT_FLAG, .help = "Make a signing key if there is none." },
    OPT_ROW_END
};

static const opt_row_t *const tables[] = { opt_common, opt_auth_key,    rows, opt_output,
                                           actions,    opt_logging_key, NULL };

const opt_spec_t opts_key = {
    .prog = "salt-key",
    .usage = "%prog [options]",
    .description = "Shows, accepts, rejects and deletes the keys by which the master knows its minions.",
    .examples = "  salt-key -L\n  salt-key -f web1\n  salt-key -a web1\n  salt-key -d 'old*' -y\n",
    .tables = tables,
    .interspersed =
        true, /* not bare: Salt's manual says "salt-key -F master"; main_key.c checks the arguments */
};
