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

WORLDS = {**worlds_databases.WORLDS, **worlds_packages.WORLDS, **worlds_files.WORLDS, **worlds_accounts.WORLDS, **worlds_plain.WORLDS, **worlds_network.WORLDS, **worlds_programs.WORLDS, **worlds_system.WORLDS}

# {reason of rows.REASONS: functions}
WITHOUT = {
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
