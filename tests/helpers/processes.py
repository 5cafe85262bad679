"""Processes that a test has started."""

import os


def children(parent):
    """Process id and processor time of each worker of a process."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                found.append((int(entry), int(fields[11]) / os.sysconf("SC_CLK_TCK")))
    return found
