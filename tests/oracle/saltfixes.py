#!/usr/bin/python3
"""saltfixes.py LIST [CLASSES] - the mends of Salt that no row of tests/saltfixes.tsv gives a test.

LIST is a Markdown table whose rows are | release | numbers | area | what is right | class | verdict |; CLASSES are the
classes to look at, "AS" by default. Prints each row without a test, and how many there are; a row of the table whose
file is !PATTERN waits for what brings such a file."""
import re
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "saltfixes.tsv"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    classes = sys.argv[2] if len(sys.argv) == 3 else "AS"
    named = [line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    tested = {row[0] for row in named if not row[1].startswith("!")}
    waiting = {row[0] for row in named} - tested
    rows = missing = later = 0
    for line in Path(sys.argv[1]).read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if len(cells) != 6 or cells[4] not in tuple(classes):
            continue
        rows += 1
        numbers = cells[1].split()
        if tested.intersection(numbers):
            continue
        if waiting.intersection(numbers):
            later += 1
        else:
            missing += 1
            print(f"{cells[1]}: {cells[2]}: {cells[3]} ({cells[5]})")
    print(f"{missing} of {rows} rows have no test, {later} wait")
    sys.exit(1 if missing else 0)


main()
