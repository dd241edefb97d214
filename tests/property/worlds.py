"""All worlds, and the states without one."""
import worlds_accounts
import worlds_databases
import worlds_files
import worlds_network
import worlds_packages
import worlds_plain
import worlds_programs
import worlds_system
from rows import REASONS

WORLDS = {**worlds_databases.WORLDS, **worlds_packages.WORLDS, **worlds_files.WORLDS, **worlds_accounts.WORLDS, **worlds_plain.WORLDS,
          **worlds_network.WORLDS, **worlds_programs.WORLDS, **worlds_system.WORLDS}

# {reason of rows.REASONS: functions}
WITHOUT = {
    "service": """consul.acl_absent consul.acl_present ddns.absent ddns.present docker_container.absent docker_container.run docker_container.running docker_container.stopped docker_image.absent
        docker_image.present docker_network.absent docker_network.present docker_volume.absent docker_volume.present redis.slaveof vault.policy_present http.query http.wait_for_successful_query""",
    "kernel": "blockdev.formatted blockdev.tuned btrfs.properties btrfs.subvolume_created btrfs.subvolume_deleted cryptdev.mapped cryptdev.unmapped mount.swap sysfs.present",
    "minion": "beacon.absent beacon.disabled beacon.enabled beacon.present schedule.disabled schedule.enabled",
    "model": """rabbitmq_policy.present rabbitmq_upstream.absent rabbitmq_upstream.present selinux.port_policy_absent selinux.port_policy_present rabbitmq_cluster.join rabbitmq_cluster.joined raid.absent raid.present selinux.boolean selinux.fcontext_policy_applied selinux.mode selinux.module selinux.module_install selinux.module_remove
        postgres_cluster.absent postgres_cluster.present pkgrepo.migrated pkg.group_installed pkg.patch_downloaded pkg.patch_installed""",
    "hook": """at.mod_watch at.watch cmd.mod_watch cmd.wait cmd.wait_call cmd.wait_script cmd.watch docker_container.mod_watch docker_image.mod_watch event.mod_watch file.mod_beacon file.mod_run_check_cmd
        iptables.mod_aggregate module.mod_watch module.wait module.watch mount.mod_watch pkg.mod_aggregate pkg.mod_beacon pkg.mod_init pkg.mod_watch service.mod_beacon service.mod_watch supervisord.mod_watch
        test.mod_watch""",
    "registry": "npm.bootstrap npm.cache_cleaned npm.installed npm.removed pip.uptodate",
    "nothing": """cmd.call disk.status event.fire_master event.send event.wait loop.until loop.until_no_eval module.run mysql_query.run mysql_query.run_file status.loadavg status.process
        test.configurable_test_state test.fail_with_changes test.succeed_with_changes""",
}


def lacking(specs):
    """What is wrong with the tables: a text for each state function of `specs` without a row or a reason, and for rows without a function."""
    rows = {fun for world in WORLDS.values() for fun in world.rows}
    reasons = {fun: why for why, funs in WITHOUT.items() for fun in funs.split()}
    for fun in sorted(specs.keys() - rows - reasons.keys()):
        yield f"{fun}: neither a row in a world of tests/property nor a reason"
    for fun in sorted((rows | reasons.keys()) - specs.keys()):
        yield f"{fun}: has a row or a reason, and is no state function"
    for fun in sorted(rows & reasons.keys()):
        yield f"{fun}: has a row and a reason"
    for why in WITHOUT.keys() - REASONS.keys():
        yield f"{why}: no such reason"
