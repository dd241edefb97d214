#!/bin/bash
# demo.sh - a master and three minions on loopback: keys accepted, commands answered, a highstate, an orchestrated
# deployment and a reaction. `make demo` runs it.
#   demo.sh BIN_DIR [keep]     keep: leave the fleet up, and print how to talk to it and how to stop it
#   demo.sh stop ROOT          end a fleet that was kept, and remove its folder
set -u

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n== %s\n' "$*"; }
die() { echo "demo: $*" >&2; exit 1; }

stop() { # ROOT
    local f pid pids=()
    for f in "$1"/m*/root/var/run/salt-minion.pid "$1"/root/var/run/salt-master.pid; do
        pid=$(cat "$f" 2>/dev/null) && kill "$pid" 2>/dev/null && pids+=("$pid")
    done
    # Until each process has ended: its pid file goes a little before.
    for _ in $(seq 600); do
        kill -0 "${pids[@]}" 2>/dev/null || break
        read -rt 0.05 <> <(:) || :
    done
    rm -rf "$1"
}

if [ "${1:-}" = stop ]; then
    [ -f "${2:-}/etc/master" ] || die "usage: demo.sh stop ROOT (the folder that the demo printed)"
    stop "$2"
    exit 0
fi

srv=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:?usage: demo.sh BIN_DIR [keep]}" && pwd) || exit 1
keep=${2:-}
root=$(mktemp -d /tmp/halite-demo.XXXXXX) || exit 1
conf=$root/etc
[ "$keep" = keep ] || trap 'stop "$root"' EXIT

# Three ports in a row that nobody uses, below those that Linux gives to connections.
port=$((20000 + RANDOM % 12000))
while (exec 3<>/dev/tcp/127.0.0.1/$port || exec 3<>/dev/tcp/127.0.0.1/$((port + 1)) || exec 3<>/dev/tcp/127.0.0.1/$((port + 2))) 2>/dev/null; do
    port=$((20000 + RANDOM % 12000))
done

say "A master on 127.0.0.1, ports $port to $((port + 2)), everything below $root"
mkdir -p "$conf/master.d"
cat >"$conf/master" <<EOF
interface: 127.0.0.1
publish_port: $port
ret_port: $((port + 1))
hello_port: $((port + 2))
root_dir: $root/root
user: $(id -un)
file_roots: {base: [$srv/salt]}
pillar_roots: {base: [$srv/pillar]}
nodegroups:
  web: 'G@role:web'
EOF
# The reactor's rules as they would lie in /etc/salt/master.d; here their files are in this clone, and the highstate is
# applied by hand.
sed -e "s|/srv/reactor|$srv/reactor|" -e '/minion.*start/,+1d' "$srv/master.d/reactor.conf" >"$conf/master.d/reactor.conf"
"$bin/salt-master" -c "$conf" -d || die "the master did not start"

say "Three minions, each with its own folder and grains"
for id in lb1 web1 web2; do
    mkdir -p "$root/m-$id"
    cat >"$root/m-$id/minion" <<EOF
id: $id
master: 127.0.0.1
master_port: $((port + 1))
publish_port: $port
hello_port: $((port + 2))
root_dir: $root/m-$id/root
user: $(id -un)
grains:
  role: ${id%[0-9]}
  site: $root/m-$id/site
EOF
    "$bin/salt-minion" -c "$root/m-$id" -d || die "the minion $id did not start"
done

run() { # show a command, then run it
    local prog=$1 word
    printf '\n$'
    for word; do
        case $word in
        *[!A-Za-z0-9._=/:-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    echo
    shift
    "$bin/$prog" -c "$conf" "$@"
}
until_count() { # N COMMAND...: until the command prints N lines, at most ten seconds
    local n=$1
    shift
    for _ in $(seq 200); do
        [ "$("$@" 2>/dev/null | wc -l)" -ge "$n" ] && return 0
        read -rt 0.05 <> <(:) || :
    done
    die "waited ten seconds in vain for: $*"
}

until_count 4 "$bin/salt-key" -c "$conf" -l pre
say "They have introduced themselves, and wait until somebody vouches for their keys"
run salt-key -L
run salt-key -f web1
echo "(the same on the minion: $("$bin/salt-call" -c "$root/m-web1" --local key.finger --out=newline_values_only))"
run salt-key -A -y

until_count 3 "$bin/salt-run" -c "$conf" manage.up
say "Accepted: they are connected within a moment"
run salt '*' test.ping
run salt -G role:web cmd.run 'echo "hello from $(hostname)"'
run salt -C 'G@role:lb or web2' grains.item os osrelease role
run salt -N web test.echo '{list: [1, 2.5, true], text: "0644"}' --out=yaml

say "A highstate: files from templates, pillar and requisites, from srv/salt and srv/pillar"
run salt '*' state.apply --state-output=terse
run salt web1 cmd.run "cat $root/m-web1/site/etc/motd $root/m-web1/site/etc/web.conf $root/m-web1/site/www/index.html"
say "Once more: everything is as it should be, nothing changes"
again=$(run salt '*' state.apply --state-output=terse --state-verbose=False)
echo "$again"
case $again in *changed=*) die "the second run changed something" ;; esac

say "One minion stops: it is told at once, nobody waits"
kill "$(cat "$root/m-web2/root/var/run/salt-minion.pid")"
until_count 1 "$bin/salt-run" -c "$conf" manage.down
run salt '*' test.ping
echo "(exit code $?)"
"$bin/salt-minion" -c "$root/m-web2" -d || die "the minion web2 did not start"
until_count 3 "$bin/salt-run" -c "$conf" manage.up

say "A deployment across machines: out of the load balancer, release, test, and back, one server after the other"
run salt-run state.orchestrate orch.deploy pillar='{version: "2.0"}' --state-output=terse || die "the deployment failed"
say "Its last step fired an event, and the reactor had the load balancer note the release"
until_count 1 grep 2.0 "$root/m-lb1/site/lb/releases"
run salt lb1 cmd.run "cat $root/m-lb1/site/lb/releases"

say "A release that does not start: the deployment stops, web1 goes back to 2.0 and stays out, web2 is not touched"
run salt-run state.orchestrate orch.deploy pillar='{version: "broken-3", previous: "2.0"}' --state-output=terse && die "a broken release was deployed"
echo "(exit code 1)"
run salt web1 cmd.run "cat $root/m-web1/site/app/release"
run salt web2 cmd.run "cat $root/m-web2/site/app/release"

if [ "$keep" = keep ]; then
    say "The fleet stays up"
    cat <<EOF
talk to it:  export SALT_CONFIG_DIR=$conf PATH=$bin:\$PATH
             salt '*' test.ping
watch it:    tail -f $root/root/var/log/salt/master
stop it:     $srv/demo.sh stop $root
EOF
else
    say "That was it. The daemons end, and $root is removed (make demo KEEP=1 leaves them up)"
fi
