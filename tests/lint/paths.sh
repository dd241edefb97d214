#!/bin/bash
# paths.sh - where names come from peers, a path is opened by common/base/beneath.h and by nothing else. The table names
# the files that may call something else on a path, and why that path is not a peer's word.
set -uf
cd "$(dirname "$0")/../.." || exit 2

# Files in which peers' words are at hand.
scope=':(glob)src/master/**/*.c :(glob)src/keyring/*.c :(glob)src/plugins/wheel/**/*.c :(glob)src/minion/**/*.c :(glob)src/uplink/*.c :(glob)src/runners/**/*.c :(glob)src/common/files/*.c
:(glob)src/common/pillar/*.c :(glob)src/common/local/*.c :(glob)src/common/net/*.c src/common/state/run_pause.c
src/plugins/lib/salt/statejob.c'
calls='open|openat|fopen|creat|mkdir|mkdirat|rename|renameat|renameat2|unlink|unlinkat|rmdir|stat|lstat|fstatat|access|opendir|scandir|scandirat|readlink|readlinkat|symlink|symlinkat|link|linkat|chmod|fchmodat|chown|lchown|fchownat|realpath|truncate|utimensat|mkostemp|fs_read|fs_write_atomic|fs_write_quick|fs_rewrite|fs_settle|fs_mkdirs|fs_own_dir|fs_own_parent|fs_open_log|fs_remove_tree|fs_remove_at|fs_exists|fs_is_dir|fs_look|fs_look_dir|fs_names|root_list|digest_file'

# file  why
table='
src/common/files/extmods.c extension_modules; what the file client has cached; names that a folder lists, by descriptor
src/common/files/fileclient.c of a file here, which the caller names
src/common/files/gitcopy.c the folder of a remote, which is a digest
src/common/files/gitfs.c the folder of a remote, the blob of an object id
src/common/files/gitfs_blob.c object ids, which are hexadecimal digits
src/common/files/minionfs.c cachedir/minions, and ids (conf_id_valid) that it lists
src/common/files/gitfs_sweep.c a name of its own, and names that its own folder lists
src/common/files/gitfs_repo.c below the folder of a remote, which is a digest
src/common/files/roots.c file_roots, and names that a folder lists, below its descriptor
src/common/files/putfile.c cachedir; names that beneath_check has seen, and those of destpath.c, by descriptor
src/common/files/destpath.c a path that the operator names, part by part
src/common/pillar/ext_file_tree.c root_dir, the id (conf_id_valid), and what the folders below list
src/common/pillar/ext_git.c below cachedir/git_pillar; names are digests and commits
src/common/pillar/ext_stack.c the folder of the configuration; words of a minion in a name are checked (check_names)
src/common/pillar/pillar_claims.c what the file client found, and the folder of a node group
src/common/pillar/pillar_reads.c what the file client found
src/common/pillar/pillar_sls.c what the file client found
src/common/state/run_pause.c a jid that is_name has seen
src/keyring/audit.c the configured audit log
src/master/keys/autosign.c options; the id (conf_id_valid) by descriptor
src/master/files/files_take.c cachedir, and numbers of our own below it; the name that beneath_parent gave, by descriptor
src/master/store/storage.c cachedir
src/master/minions/gate.c /dev/null, kept for the day without descriptors
src/keyring/keyaction.c the folder of keys
src/keyring/keyexpect.c pki_dir, and what the operator names; ids (conf_id_valid) by descriptor
src/keyring/keystore.c folders of keys; ids (conf_id_valid) by descriptor, no link followed
src/master/front/figures.c /proc/self/fd
src/master/operators/authline.c /proc/self, /dev/null
src/master/operators/lconn.c /proc
src/master/operators/lsock.c sock_dir, /dev/null
src/keyring/masterkey.c pki_dir
src/master/store/store_copy.c the store; a backup that an administrator names
src/master/store/store_db.c the store
src/master/store/store_read.c the store
src/master/store/store_take.c the store; a name of our own beside it
src/plugins/wheel/config.c the configuration; a name without a slash
src/plugins/wheel/key.c master.pub
src/plugins/wheel/lib/roots.c file_roots; names that a folder lists, by descriptor
src/uplink/callsession.c pki_dir
src/uplink/download.c cachedir; a destination of the operator; names that beneath_parent gave, by descriptor
src/minion/grains_set.c cachedir, the configuration
src/minion/jobs/jobcache.c cachedir
src/minion/main_minion.c pki_dir
src/minion/parts/mbus.c sock_dir
src/plugins/lib/salt/statejob.c a jid that beneath_is_name has seen, and what the folder lists
src/uplink/renewal.c pki_dir
src/minion/parts/mpillar.c cachedir
src/minion/parts/mcp.c cachedir
src/uplink/remotefiles.c a path of fileclient_split; it is compared, and given out when it is the file meant
src/uplink/trust.c pki_dir
src/uplink/spool.c jids are digits (clock_is_jid)
src/uplink/upload.c a file of this host that the operator names
src/runners/lib/bank.c cachedir; names that a folder lists, by descriptor
src/runners/lib/keyfiles.c pki_dir; an archive that an administrator names
src/runners/network.c /etc/ethers and the like
'
found=$(git ls-files -co --exclude-standard $scope | xargs awk -v calls="$calls" '
/^ *\*|^\/\*|^#/ { next }
{
    line = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    re = "(^|[^a-zA-Z0-9_>.])(" calls ")\\("
    while (match(line, re)) { n[FILENAME]; line = substr(line, RSTART + RLENGTH) }
}
END { for (f in n) print f }' | sort)
wrong=$(diff <(echo "$found") <(echo "$table" | awk 'NF { print $1 }' | sort -u) | sed -nE \
    -e 's|^< (.*)|\1: makes or opens a path by itself: use beneath_*, or say in tests/lint/paths.sh why no peer names it|p' \
    -e 's|^> (.*)|tests/lint/paths.sh: \1 opens no path any more|p')
[ -z "$wrong" ] || { echo "$wrong"; exit 1; }
