#!/bin/bash
# absence.sh - no failing call turns into "nothing there". fs_exists() is false also while nobody can say what is there:
# who does something because a file is missing asks fs_look(), fs_look_dir() or fs_absent(). A file that may ask it has a row here, with the reason.
set -u
cd "$(dirname "$0")/../.." || exit 2
rc=0
declare -A why
while read -r file reason; do why[$file]=$reason; done <<'ROWS'
src/common/base/fs.c             it is made here
src/common/base/fs.h             it is told here
src/common/cli/complete_sls.c    completion offers what it sees
src/common/conf/conf_read.c      errno decides
src/common/crypto/keys.c         the file is made exclusively; the rest are words of an error
src/common/files/gitcopy.c       a second "git init" changes nothing
src/plugins/lib/http/http_request.c   the first bundle that can be seen
src/plugins/lib/file/perms.c       a file of the kernel: whether it has SELinux
src/plugins/lib/file/tree.c        the answer of file.touch
src/plugins/lib/transfer/fetch.c        what is not known to be the same is fetched
src/plugins/lib/transfer/webget.c       what is not known to be there is fetched
src/plugins/exec/system/cmd_chroot.c  which shell there is
src/plugins/exec/salt/config_bootstrap.c  what is no path is the script itself, longer than any path
src/plugins/exec/files/cp.c          a query, and copies that are fetched again
src/plugins/exec/net/network_hosts.c  which program sets the name
src/plugins/exec/system/ps.c          a file of the kernel: whether a name is a whole disk
src/plugins/exec/system/system.c      a query
src/runners/lib/keyfiles.c       a hint
ROWS
for file in $(git ls-files -co --exclude-standard 'src/*.[ch]' | xargs grep -lE '\bfs_exists\('); do
    [ -n "${why[$file]-}" ] || { grep -nE '\bfs_exists\(' "$file" | sed "s|^|$file:|;s|\$|   <- ask fs_look() or fs_absent()|"; rc=1; }
    unset "why[$file]"
done
for file in "${!why[@]}"; do echo "$file asks fs_exists() no more: its row goes"; rc=1; done

# readdir() has no answer that tells the end of a folder from a failure: fs_names() and fs_next() do.
declare -A raw=(
    [src/common/base/fs.c]="fs_next() is made here"
)
for file in $(git ls-files 'src/*.[ch]' | xargs grep -lE '\breaddir(64)?(_r)?\('); do
    [ -n "${raw[$file]-}" ] || { grep -nE '\breaddir(64)?(_r)?\(' "$file" | sed "s|^|$file:|;s|\$|   <- ask fs_names() or fs_next()|"; rc=1; }
    unset "raw[$file]"
done
for file in "${!raw[@]}"; do echo "$file has no readdir() any more: its row goes"; rc=1; done
exit $rc
